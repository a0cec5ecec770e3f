"""GRAFT's exploring half and its cautious decision in plain Python: dictionaries, lists, formulas as they are printed.

An oracle that shares nothing with the package but the two words of seed.  The order of draws is part of that: ties of
optimistic values as they are met and ties of the recommendation from the search stream, one draw per step from the
model's.
"""

import math
from dataclasses import dataclass, field

from naive_parts import Stream, pick, table_step, total

END = "the process's end"


@dataclass
class Settings:
    """What the textbook needs to know beside the table."""

    discount: float
    return_discount: float
    horizon: int
    weight: float = 0.3
    margin: float = 1.0
    floor: float = 0.05
    patience: float | None = 300.0
    accuracy: float = 0.001
    backups: int | None = 2
    kappa: float | None = None  # caution of the sweep; None for the largest value
    passes: int = 8
    caution: float = 0.0
    every: int | None = 2  # one simulation in so many is greedy
    after: int = 32  # simulations before the first greedy one
    hurried: bool = False  # no time to sweep: one update of the root, and of the newest state where all are renewed
    legal: dict = field(default_factory=dict)  # state -> actions, where not all are legal


class Node:
    """One state: its optimistic value, its plain one, and per action the outcomes, state -> [times, sum of rewards].

    The error is the squared standard error of the plain value.
    """

    def __init__(self, order, actions, top):
        self.order, self.upper, self.plain, self.error, self.visits = order, top, 0.0, 0.0, 0
        self.opened = False
        self.q = [top] * actions
        self.outcomes = [{} for _ in range(actions)]
        self.plain_q = {}  # action -> plain value
        self.stale = set()  # actions whose optimistic value is to be computed anew
        self.leading_here = []  # (state, action), the newest first

    def tried(self, action):
        return sum(times for times, _ in self.outcomes[action].values())


class Graft:
    """The planner; `plan` may be called for one root after the other, and keeps what it knows."""

    def __init__(self, table, settings, words):
        self.table, self.s, self.nodes = table, settings, {}
        self.search, self.model = Stream(words[0]), Stream(words[1])
        self.actions = len(table[0])
        self.returns = []  # of simulations, from the root
        self.low, self.high = math.inf, -math.inf  # of returns-to-go
        self.top, self.renewed_at, self.returns_a_node, self.accuracy = 1e-200, 0, 0.0, 0.0
        self.seen, self.waiting_since = None, 0.0  # smallest and largest return when `top` was set; see `set_top`
        self.baseline = 0.0  # what rewards are read less

    def legal(self, state):
        return self.s.legal.get(state, range(self.actions))

    def node(self, state):
        if state not in self.nodes:
            self.nodes[state] = Node(len(self.nodes), self.actions, self.top)
        return self.nodes[state]

    def set_baseline(self, trail):
        """The lower median of the rewards of a trail; 0 without any."""
        self.baseline = sorted(reward for _, _, reward in trail)[(len(trail) - 1) // 2] if trail else 0.0

    def end_value(self):
        """What the end of the process is worth: instead of the baseline, 0 is paid at every step."""
        return -self.baseline / (1.0 - self.s.discount) if self.baseline else 0.0

    def optimistic(self, node, action):
        """The mean over the outcomes seen and m imagined ones of the largest value."""
        m = self.s.weight + self.s.floor * self.returns_a_node
        summed = m * self.top
        for after, (times, rewards) in node.outcomes[action].items():
            behind = self.end_value() if after == END else self.nodes[after].upper
            summed += rewards - times * self.baseline + self.s.discount * times * behind
        return min(summed / (node.tried(action) + m), self.top)

    def renew_stale(self, state):
        """The largest optimistic value of the actions of a state, those that are stale computed anew."""
        node = self.nodes[state]
        for action in self.legal(state):
            if not node.outcomes[action]:
                node.q[action] = self.top
            elif action in node.stale:
                node.q[action] = self.optimistic(node, action)
        node.stale = set()
        return max(node.q[action] for action in self.legal(state))

    def renew(self, state):
        """Whether the optimistic value of a state has moved by more than the accuracy."""
        node, before = self.nodes[state], self.nodes[state].upper
        node.upper = self.renew_stale(state)
        return abs(node.upper - before) > self.accuracy

    def simulate(self, root, greedy):
        """Follow the largest optimistic or plain value; the number of steps."""
        state, trail = root, []
        while state != END and len(trail) < self.s.horizon:
            node = self.node(state)
            if not node.opened:
                node.opened, node.q = True, [self.top] * self.actions
            if node.stale and not greedy:
                self.renew_stale(state)
            if greedy:
                action = self.greedy_action(state)
            else:
                values = ((a, node.q[a] if node.outcomes[a] else self.top) for a in self.legal(state))
                action = pick(self.search, values)
            after, reward, ended = table_step(self.table, state, action, self.model.uniform())
            after = END if ended else after
            trail.append((state, action, reward))
            if not self.returns and len(trail) == 1:
                self.set_baseline(trail)
            node.visits += 1
            node.stale.add(action)
            if after != END:
                child = self.node(after)
                if after not in node.outcomes[action]:
                    child.leading_here.insert(0, (state, action))
            entry = node.outcomes[action].setdefault(after, [0, 0.0])
            entry[0] += 1
            entry[1] += reward
            state = after
        if not greedy:
            self.propagate(trail)
        self.learn(trail, state == END)
        return len(trail)

    def greedy_action(self, state):
        """The best action among those tried by plain values, any where none was."""
        node, legal = self.nodes[state], list(self.legal(state))
        tried = [(action, node.plain_q.get(action, -math.inf)) for action in legal if node.outcomes[action]]
        return pick(self.search, tried) if tried else legal[self.search.below(len(legal))]

    def propagate(self, trail):
        """Renew the trail, the state that was met last at the front, and then what leads to a value that moved."""
        queue = list(reversed(dict.fromkeys(state for state, _, _ in trail)))
        allowed = math.inf if self.s.backups is None else self.s.backups * len(trail)
        while queue:
            state = queue.pop(0)
            if not self.renew(state):
                continue
            for before, action in self.nodes[state].leading_here:
                self.nodes[before].stale.add(action)
                if before not in queue and allowed > 0:
                    allowed -= 1
                    queue.append(before)

    def learn(self, trail, ended):
        """Widen the range of returns; where that or the simulations of the episode say so, renew all states."""
        if not self.returns:
            self.set_baseline(trail[:-1] if ended else trail)
        value = self.end_value() if ended else 0.0
        for state, _, reward in reversed(trail):
            value = reward - self.baseline + self.s.discount * value
            self.low, self.high = min(self.low, value), max(self.high, value)
            if self.nodes[state].visits == 1:
                self.nodes[state].plain = value
        self.returns.append(value)
        if self.s.hurried or self.s.every:
            self.renew_trail(trail)
        grown = 4 * (len(self.returns) - self.renewed_at) > self.renewed_at
        if self.seen == (self.low, self.high) and not grown:
            return
        if grown:
            self.renewed_at = len(self.returns)
            self.returns_a_node = len(self.returns) / len(self.nodes)
        self.set_top()
        newest_first = sorted(self.nodes, key=lambda state: -self.nodes[state].order)
        for _ in range(1 if self.s.hurried else 60 if grown else 2):
            moved = False
            for state in newest_first[: 1 if self.s.hurried else None]:
                if self.nodes[state].opened:
                    self.nodes[state].stale = set(range(self.actions))
                    moved = self.renew(state) or moved
                else:
                    self.nodes[state].upper = self.top
            if not moved:
                break

    def set_top(self):
        """The largest value: above the returns seen, the less the more simulations returned no more."""
        now, width = len(self.returns), self.high - self.low
        if self.seen is None:
            self.waiting_since = now
        elif self.high > self.seen[1]:
            self.waiting_since += (self.high - self.seen[1]) / width * (now - self.waiting_since)
        self.seen = self.low, self.high
        patience = math.inf if self.s.patience is None else self.s.patience
        waited = (now - self.waiting_since) / (patience * (1.0 + self.returns_a_node))
        self.top = self.high + self.s.margin / (1.0 + waited) * width
        if width == 0.0:
            self.top = self.high + abs(self.high) or 1e-200
        self.accuracy = self.s.accuracy * (self.top - self.low)

    def renew_trail(self, trail):
        """Bring the plain values of a trail up to date, at each state that of the action taken."""
        prior = self.variance_of_returns()
        for state, taken, _ in reversed(trail):
            node, behind = self.nodes[state], {state: each.plain for state, each in self.nodes.items()}
            present, _ = self.plain_values(node, self.s.discount, self.end_value(), behind)
            counts = [node.tried(action) for action in range(self.actions)]
            for action, count in enumerate(counts):
                if count and (action == taken or action not in node.plain_q):
                    node.plain_q[action] = present[action]
            q = [node.plain_q.get(action, 0.0) for action in range(self.actions)]
            node.plain = self.value(q, counts, [0.0] * self.actions, prior)

    def reached(self, root):
        """The states that edges lead to from the root, nearest first, equally near ones in the order of their birth."""
        order, level = [root], [root]
        while level:
            behind = {a for s in level for outcomes in self.nodes[s].outcomes for a in outcomes if a != END}
            level = sorted(behind - set(order), key=lambda state: self.nodes[state].order)
            order += level
        return order

    def plain_values(self, node, discount, end, behind):
        """(q, variances) of the targets of each action; `behind` holds the values of states, `end` is the end's."""
        q, variances = [0.0] * self.actions, [0.0] * self.actions
        for action, outcomes in enumerate(node.outcomes):
            seen = [(n, r, end if a == END else behind[a]) for a, (n, r) in outcomes.items()]
            if seen:
                tried = node.tried(action)
                paid = total(r - n * self.baseline + discount * n * value for n, r, value in seen)
                q[action] = paid / tried
                away = [(n, r / n - self.baseline + discount * value - q[action]) for n, r, value in seen]
                variances[action] = total(n * x * x for n, x in away) / tried
        return q, variances

    def variance_of_returns(self):
        """Welford's recurrence, divided by the number of returns."""
        mean = variance = 0.0
        for count, value in enumerate(self.returns, start=1):
            before = value - mean
            mean += before / count
            variance += (before * (value - mean) - variance) / count
        return variance

    def value(self, q, counts, variances, prior):
        """The largest value, or the largest less kappa standard errors and at least the mean."""
        if self.s.kappa is None:
            return max(value for value, count in zip(q, counts, strict=True) if count)
        best = total(count * value for count, value in zip(counts, q, strict=True)) / sum(counts)
        for count, value, variance in zip(counts, q, variances, strict=True):
            if count > 0:
                spread = (prior + count * variance) / (count + 1.0)
                best = max(best, value - self.s.kappa * math.sqrt(spread / count))
        return best

    def errors(self, node, discount, counts, variances, prior):
        """Squared standard errors of a state's actions: of the mean, and of the values behind the outcomes."""
        squared = [0.0] * self.actions
        for action, (n, variance) in enumerate(zip(counts, variances, strict=True)):
            if n:
                known = [(times, self.nodes[a].error) for a, (times, _) in node.outcomes[action].items() if a != END]
                weighted = [(discount * times, error) for times, error in known]
                behind = total(weight * weight * error for weight, error in weighted) / (n * n)
                squared[action] = (prior + n * variance) / (n + 1.0) / n + behind
        return squared

    def renewed(self, state, discount, end, behind, prior, with_errors):
        """(value, values of actions, their squared errors) of a state from the values behind its outcomes.

        Without errors its own stays as it was.
        """
        node = self.nodes[state]
        q, variances = self.plain_values(node, discount, end, behind)
        counts = [node.tried(action) for action in range(self.actions)]
        squared = self.errors(node, discount, counts, variances, prior)
        if with_errors:
            node.error = squared[max((a for a in range(self.actions) if counts[a]), key=lambda a: q[a])]
        return self.value(q, counts, variances, prior), q, squared

    def sweep(self, root, steps, left):
        """Bring the plain values of what the root reaches up to date; its value, and those and errors of its actions.

        Where the passes suffice for the steps left, they are those of backward induction with the return's discount.
        """
        order, prior = [root] if self.s.hurried else self.reached(root), self.variance_of_returns()
        tried = [state for state in reversed(order) if self.nodes[state].visits]
        passes = 1 if self.s.hurried else max(self.s.passes, steps // (4 * len(order)))
        plain = {state: node.plain for state, node in self.nodes.items()}
        for number in range(passes):
            moved = 0.0
            for state in tried:
                with_errors = number == 0 or state == root
                value, q, squared = self.renewed(state, self.s.discount, self.end_value(), plain, prior, with_errors)
                moved, plain[state] = max(moved, abs(value - plain[state])), value
                self.nodes[state].plain = value
                self.nodes[state].plain_q = {a: q[a] for a in range(self.actions) if self.nodes[state].outcomes[a]}
            if moved <= self.accuracy * (1.0 - self.s.discount):
                break
        value, end = plain[root], self.end_value()
        if left is not None and left <= passes:
            behind, end = plain | dict.fromkeys(order, 0.0), 0.0
            for _ in range(left):
                here = plain | dict.fromkeys(order, 0.0)
                for state in tried:
                    here[state], q, squared = self.renewed(
                        state, self.s.return_discount, end, behind, prior, state == root
                    )
                behind, end = here, self.s.return_discount * end - self.baseline
            value = behind[root]
        return value - end, [each - end for each in q], squared

    def plan(self, root, simulations, left=None):
        """(action, the root's value, plain values of its actions, steps) with so many steps left."""
        self.node(root)
        steps = 0
        for number in range(1, simulations + 1):
            known = (
                len(self.returns) >= self.s.after
                and self.nodes[root].opened
                and self.nodes[root].visits >= len(self.legal(root))
            )
            steps += self.simulate(root, bool(self.s.every and known and number % self.s.every == 0))
        (value, q, squared), node = self.sweep(root, steps, left), self.nodes[root]
        scores = ((a, q[a] - self.s.caution * math.sqrt(squared[a])) for a in self.legal(root) if node.outcomes[a])
        action = pick(self.search, scores)
        q = [q[action] if node.outcomes[action] else -math.inf for action in range(self.actions)]
        return action, value, q, steps
