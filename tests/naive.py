"""The search as a textbook has it: dictionaries, recursion, formulas as they are printed.  An oracle, slow and obvious.

It shares nothing with the package, not even the random numbers, and is fed by the same two words of seed, so that
its graph can be compared with the compiled one number by number.  The order of draws is part of that:

    search stream   the choice among untried actions, ties of scores as they are met, uniform actions at a new node
                    and in a rollout, ties of the recommendation
    model stream    one draw per step

Keys are (state, action, state, ...) from the first root for a tree, (state, elapsed steps), or the state.
"""

import math
from dataclasses import dataclass, field
from typing import Any

from naive_parts import Settings, Stream, cautious, power_mean, table_step, total

END, UNSTORED = "the episode's end", "what no node was made for"
HORIZON_WITHOUT_LIMIT = 200


@dataclass
class Node:
    """N(s), V(s), and by action N(s,a), Q(s,a) and outcomes: child -> [times, sum of rewards]."""

    n: list[int]
    q: list[float]
    outcomes: list[dict]
    visits: int = 0
    value: float = 0.0


@dataclass
class Decision:
    """What a search says of its root."""

    action: int
    value: float
    q: list[float]
    counts: list[int]
    simulations: int
    steps: int
    added: int


@dataclass
class Textbook:
    """One planner with its graph.

    Args:
        table: the process.
        settings: how to search.
        words: seeds of the search's stream and the model's.
        max_nodes: cap on nodes, for graphs that live for one decision.
    """

    table: dict
    settings: Settings
    words: tuple[int, int]
    max_nodes: float = math.inf
    nodes: dict = field(default_factory=dict)
    returns: list[float] = field(default_factory=list)
    root: Any = None
    recommended: int = 0

    def __post_init__(self):
        self.search_stream, self.model_stream = map(Stream, self.words)
        self.actions = range(len(self.table[0]))

    # --- a decision

    def decide(self, state, simulations, elapsed=0, left=None, same_root=False, steps=math.inf, nodes=math.inf):
        """Search from a state and recommend."""
        s = self.settings
        self.elapsed, self.left, self.step_limit, self.node_limit = elapsed, left, steps, nodes
        self.horizon = self.find_horizon(simulations)
        self.end = math.inf if left is None else left
        self.rollout_end = max(self.horizon, HORIZON_WITHOUT_LIMIT) if left is None else left
        self.steps = self.added = done = 0
        if s.retention == "decision" or not same_root or self.root is None:
            self.enter(state)
        while done < simulations and self.steps < steps and self.added < nodes:
            self.was_cut = False
            _, sampled = self.simulate(self.root, state, 0, False)
            if not self.was_cut:
                self.returns.append(sampled)
            done += 1
        value, q = self.judge()
        counts = self.nodes[self.root].n
        action = self.recommend(q, counts)
        q = [q[a] if counts[a] > 0 else -math.inf for a in self.actions]
        self.recommended = action
        return Decision(action, value, q, list(counts), done, self.steps, self.added)

    def recommend(self, q, counts):
        scores = q if self.settings.recommendation == "best_value" else counts
        return self.first_of_the_best([a for a in self.actions if counts[a] > 0], scores)

    def find_horizon(self, simulations):
        s = self.settings
        wanted = s.horizon
        if wanted == "adaptive" and s.discount < 1.0:
            wanted = max(1, math.ceil(math.log(simulations) / (2.0 * math.log(1.0 / s.discount))))
        elif wanted in ("adaptive", "steps left"):
            wanted = HORIZON_WITHOUT_LIMIT if self.left is None else self.left
        return wanted if self.left is None else min(wanted, self.left)

    def enter(self, state):
        """Find the root's node, or begin one; a tree goes on from the child that fits, first the recommended one."""
        s = self.settings
        if s.retention == "decision":
            self.nodes.clear()
            self.root = None
        if s.key == "path":
            fitting = []
            if self.root is not None:
                fitting = [(a, key) for a in self.actions if (key := (*self.root, a, state)) in self.nodes]
            if fitting:
                _, self.root = max(fitting, key=lambda one: (one[0] == self.recommended, self.nodes[one[1]].visits))
                return
            self.nodes.clear()
        self.root = {"path": (state,), "state_elapsed": (state, self.elapsed), "state": state}[s.key]
        if self.root not in self.nodes:
            self.nodes[self.root] = self.new_node()

    def new_node(self):
        return Node([0 for _ in self.actions], [0.0 for _ in self.actions], [{} for _ in self.actions])

    # --- a simulation: SimulateV of Algorithms 1 and 2

    def simulate(self, key, state, depth, fresh):
        """Play on from a node; returns V there after the update, and the sampled return."""
        s, node = self.settings, self.nodes[key]
        if depth >= self.horizon:
            z = self.evaluate(state, depth)
            node.visits += 1
            node.value += (z - node.value) / node.visits
            return node.value, z
        if self.steps >= self.step_limit:
            self.was_cut = True
            return node.value, node.value
        a = self.search_stream.below(len(self.actions)) if fresh else self.select(node, depth)
        after, reward, ended = self.step(state, a)
        child = END if ended else self.child_key(key, a, after, depth + 1)
        child_value = sampled = 0.0
        if not ended:
            new = child not in self.nodes
            if new and (len(self.nodes) >= self.max_nodes or self.added >= self.node_limit):
                child = UNSTORED
            elif new:
                self.nodes[child] = self.new_node()
                self.added += 1
            if child == UNSTORED or (new and s.expansion == "leaf"):
                child_value = sampled = self.evaluate(after, depth + 1)
                if child != UNSTORED:
                    self.nodes[child].visits, self.nodes[child].value = 1, child_value
            else:
                child_value, sampled = self.simulate(child, after, depth + 1, new)
        return self.learn(node, a, reward, child, depth, child_value, sampled)

    def learn(self, node, a, reward, child, depth, child_value, sampled):
        """Count one step at its node; returns V there after the update, and the sampled return."""
        s = self.settings
        sampled_here = reward + s.discount * sampled
        target = sampled_here if s.target == "return" else reward + s.discount * child_value
        node.n[a] += 1
        outcome = node.outcomes[a].setdefault(child, [0, 0.0])
        outcome[0] += 1
        outcome[1] += target if child == UNSTORED else reward
        if s.estimator == "running":
            node.q[a] += (target - node.q[a]) / node.n[a]
        else:
            node.q[a], _ = self.mean_and_variance(node, a, {})
        node.visits += 1
        node.value = power_mean(node.q, node.n, node.visits, s.p, s.printed, self.lower_bound(depth))
        return node.value, sampled_here

    def child_key(self, key, action, after, depth):
        if self.settings.key == "path":
            return (*key, action, after)
        return (after, self.elapsed + depth) if self.settings.key == "state_elapsed" else after

    def step(self, state, action):
        self.steps += 1
        return table_step(self.table, state, action, self.model_stream.uniform())

    def select(self, node, depth):
        untried = [a for a in self.actions if node.n[a] == 0]
        if untried:
            return untried[self.search_stream.below(len(untried))]
        bonus = self.settings.bonus
        if depth == 0 and self.settings.root_bonus is not None:
            bonus = self.settings.root_bonus
        spread = (max(self.returns) - min(self.returns)) if self.returns else 0.0
        scores = [node.q[a] + bonus(node.visits, node.n[a], depth, spread or 1.0) for a in self.actions]
        return self.first_of_the_best(self.actions, scores)

    def first_of_the_best(self, candidates, scores):
        """Of the candidates with the best score each equally likely: the k-th that ties replaces with odds 1 / k."""
        best, ties = None, 0
        for a in candidates:
            if best is None or scores[a] > scores[best]:
                best, ties = a, 1
            elif scores[a] == scores[best]:
                ties += 1
                if self.search_stream.below(ties) == 0:
                    best = a
        return best

    def evaluate(self, state, depth):
        """V_0: 0 without steps left, a constant, or the discounted return of uniform actions."""
        s = self.settings
        if depth >= self.end:
            return 0.0
        if s.constant is not None:
            return s.constant
        z, factor, ended = 0.0, 1.0, False
        last = min(self.rollout_end, depth + s.rollout_steps)
        while not ended and depth < last and self.steps < self.step_limit:
            action = self.search_stream.below(len(self.actions))
            state, reward, ended = self.step(state, action)
            z += factor * reward
            factor *= s.discount
            depth += 1
        return z

    def lower_bound(self, depth):
        """L: the smallest reward at every step that is left; from the root on where depths share a node."""
        s = self.settings
        end = max(self.horizon, HORIZON_WITHOUT_LIMIT) if self.left is None else self.left
        left = end if s.key == "state" else end - depth
        return s.smallest_reward * total(s.discount**k for k in range(left)) if s.smallest_reward < 0.0 else 0.0

    # --- before the decision

    def mean_and_variance(self, node, action, swept):
        """Of the targets mean reward + discount * V(child) over the outcomes of an action, weighted by counts."""
        discount = self.settings.discount

        def value(child):
            return 0.0 if child in (END, UNSTORED) else swept.get(child, self.nodes[child].value)

        outcomes = [(child, n, rewards) for child, (n, rewards) in node.outcomes[action].items()]
        count = sum(n for _, n, _ in outcomes)
        mean = total(rewards + discount * n * value(child) for child, n, rewards in outcomes) / count
        spread = total(n * (rewards / n + discount * value(child) - mean) ** 2 for child, n, rewards in outcomes)
        return mean, spread / count

    def sweep(self, backup):
        """V and Q of all that the root reaches, recomputed from the farthest to the nearest."""
        born = {key: number for number, key in enumerate(self.nodes)}
        order, level, met = [], [self.root], {self.root, END, UNSTORED}
        while level:
            order += level
            after = {child: 0 for key in level for outcomes in self.nodes[key].outcomes for child in outcomes}
            level = sorted((child for child in after if child not in met), key=born.get)
            met.update(level)
        values, q = {}, {}
        for key in reversed(order):
            node = self.nodes[key]
            pairs = [self.mean_and_variance(node, a, values) if node.n[a] else (0.0, 0.0) for a in self.actions]
            q[key] = [mean for mean, _ in pairs]
            values[key] = backup(key, node, q[key], [variance for _, variance in pairs]) if any(node.n) else node.value
        return values, q

    def judge(self):
        """The root's value and its actions': as searched, brought up to date, or with caution."""
        s, node = self.settings, self.nodes[self.root]
        if not s.sweep:
            return node.value, node.q

        def depth_of(key):
            if s.key == "path":
                return (len(key) - len(self.root)) // 2
            return key[1] - self.elapsed if s.key == "state_elapsed" else 0

        def searched(key, node, q, variances):
            return power_mean(q, node.n, node.visits, s.p, s.printed, self.lower_bound(depth_of(key)))

        def careful(key, node, q, variances):
            return cautious(q, node.n, variances, prior, s.kappa)

        if s.estimator == "current":
            values, q = self.sweep(searched)
            for key, value in values.items():
                self.nodes[key].value, self.nodes[key].q = value, q[key]
        if s.estimator == "running" and s.kappa is None:
            values, q = self.sweep(searched)
        if s.kappa is not None:
            mean = total(self.returns) / max(len(self.returns), 1)
            prior = total((z - mean) ** 2 for z in self.returns) / max(len(self.returns), 1)
            values, q = self.sweep(careful)
        return values[self.root], q[self.root]
