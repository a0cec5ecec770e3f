"""Graph-based optimistic planning as a textbook has it: dictionaries, bisection, formulas as they are printed.

An oracle that shares nothing with the package but the two words of seed.  The order of draws is part of that: ties of
upper bounds as they are met and ties of the recommendation from the search stream, one draw per step from the model's.
"""

import math
from dataclasses import dataclass, field

from naive_parts import Stream, pick, table_step

END = "the process's end"


def bernoulli_kl(p, q):
    left = 0.0 if p == 0.0 else math.inf if q == 0.0 else p * math.log(p / q)
    right = 0.0 if p == 1.0 else math.inf if q == 1.0 else (1.0 - p) * math.log((1.0 - p) / (1.0 - q))
    return left + right


def reward_bound(mean, radius, end):
    """The q between mean and end that is furthest from the mean with kl(mean, q) <= radius."""
    inside, outside = mean, float(end)
    for _ in range(200):
        middle = (inside + outside) / 2.0
        if bernoulli_kl(mean, middle) <= radius:
            inside = middle
        else:
            outside = middle
    return inside


def largest_mean(f, q, radius):
    """(value, law): the largest p . f with KL(q || p) <= radius, by the cases of KL-UCRL; where q is 0, f is unseen."""
    seen, unseen = [i for i in range(len(f)) if q[i] > 0.0], [i for i in range(len(f)) if q[i] == 0.0]

    def theta(x):
        return sum(q[i] * math.log(x - f[i]) for i in seen) + math.log(sum(q[i] / (x - f[i]) for i in seen))

    if radius <= 0.0:
        return sum(q[i] * f[i] for i in seen), list(q)
    top, z = max(f), 0.0
    only_unseen = all(f[i] < top for i in seen)
    if only_unseen and theta(top) < radius:
        x, z = top, 1.0 - math.exp(theta(top) - radius)
    elif len({f[i] for i in seen}) == 1 and not only_unseen:
        return f[seen[0]], list(q)
    else:
        low, high = top, top + 1.0
        while theta(high) > radius:
            high = top + 2.0 * (high - top)
        for _ in range(400):
            middle = (low + high) / 2.0
            if middle in (low, high):
                break
            low, high = (middle, high) if theta(middle) > radius else (low, middle)
        x = high
    weights = {i: q[i] / (x - f[i]) for i in seen}
    law = [(1.0 - z) * weights[i] / sum(weights.values()) if i in weights else 0.0 for i in range(len(f))]
    best = [i for i in unseen if f[i] == top]
    for i in best if z > 0.0 else []:
        law[i] = z / len(best)
    return sum(p * v for p, v in zip(law, f, strict=True)), law


@dataclass
class Settings:
    """What the textbook needs to know beside the table."""

    low: float
    high: float
    discount: float
    accuracy: float
    log_m: float  # log of the number of trajectories
    length: int
    factor: float = 0.1  # of the published threshold
    reward_factor: float = 0.0
    delta: float | None = None  # confidence; None for the published threshold
    first_only: bool = False  # deterministic form
    legal: dict = field(default_factory=dict)


class Node:
    """One state: bounds, and per action counts of (next state, reward or None) -> [times, sum of rewards]."""

    def __init__(self, birth, actions, top, bottom):
        self.birth, self.upper, self.lower = birth, top, bottom
        self.outcomes = [{} for _ in range(actions)]
        self.predecessors = []

    def tried(self, action):
        return sum(times for times, _ in self.outcomes[action].values())


class Gbop:
    """The planner; `plan` may be called for one root after the other, and keeps what it knows."""

    def __init__(self, table, settings, words):
        self.table, self.s, self.nodes = table, settings, {}
        self.search, self.model = Stream(words[0]), Stream(words[1])
        s, lasting = settings, 1.0 / (1.0 - settings.discount)
        self.top = s.high * (lasting if s.high > 0.0 else 1.0)
        self.bottom = s.low * (lasting if s.low < 0.0 else 1.0)
        self.actions = len(table[0])

    def node(self, state):
        if state not in self.nodes:
            self.nodes[state] = Node(len(self.nodes) + 1, self.actions, self.top, self.bottom)
        return self.nodes[state]

    def threshold(self, node, n):
        if self.s.delta is not None:
            k = node.birth
            return math.log(2 * self.actions * (k + 1) * (k + 2) / self.s.delta) + math.log(n + 1)
        return self.s.factor * self.s.log_m

    def bound(self, node, action, side):
        n = node.tried(action)
        extreme = self.top if side > 0 else self.bottom
        if n == 0:
            return extreme
        f, q = [], []
        for (after, reward), (times, total) in node.outcomes[action].items():
            if reward is None:
                reward = total / times
                radius = self.s.reward_factor * self.s.log_m / times
                if radius > 0.0:
                    span = self.s.high - self.s.low
                    scaled = min(max((reward - self.s.low) / span, 0.0), 1.0)
                    reward = self.s.low + span * reward_bound(scaled, radius, side > 0)
            child = None if after == END else self.nodes[after]
            value = 0.0 if child is None else child.upper if side > 0 else child.lower
            f.append(side * (reward + self.s.discount * value))
            q.append(times / n)
        mean, _ = largest_mean([*f, side * extreme], [*q, 0.0], self.threshold(node, n) / n)
        return min(max(side * mean, self.bottom), self.top)

    def legal(self, state):
        return self.s.legal.get(state, range(self.actions))

    def trajectory(self, root, observe=None):
        state, visited, steps = root, [], 0
        while state != END and steps < self.s.length:
            node = self.node(state)
            if state not in visited:
                visited.append(state)
            bounds = ((a, self.bound(node, a, 1) if node.tried(a) else math.inf) for a in self.legal(state))
            action = pick(self.search, bounds)
            new = node.tried(action) == 0
            after, reward, ended = table_step(self.table, state, action, self.model.uniform())
            after = END if ended else after
            steps += 1
            if after != END:
                child = self.node(after)
                if state not in child.predecessors:
                    child.predecessors.insert(0, state)
            grouped = self.s.delta is None and not self.s.first_only
            entry = node.outcomes[action].setdefault((after, None if grouped else reward), [0, 0.0])
            entry[0] += 1
            entry[1] += reward
            if observe:
                observe()
            if self.s.first_only and new:
                break
            state = after
        queue = list(reversed(visited))
        while queue:
            node = self.nodes[here := queue.pop(0)]
            upper = max(self.bound(node, a, 1) for a in self.legal(here))
            lower = max(self.bound(node, a, -1) for a in self.legal(here))
            moved = max(abs(upper - node.upper), abs(lower - node.lower))
            node.upper, node.lower = upper, lower
            if moved > self.s.accuracy * ((self.s.high - self.s.low) or 1.0):
                queue += [state for state in node.predecessors if state not in queue]
        return steps

    def plan(self, root, trajectories):
        """(action, lower bounds of the root's actions, steps)."""
        self.node(root)
        steps = sum(self.trajectory(root) for _ in range(trajectories))
        node = self.nodes[root]
        q = [self.bound(node, a, -1) if node.tried(a) else -math.inf for a in range(self.actions)]
        return pick(self.search, ((a, q[a]) for a in self.legal(root) if node.tried(a))), q, steps
