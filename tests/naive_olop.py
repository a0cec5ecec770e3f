"""Open-loop optimistic planning as it is printed: every sequence of actions is enumerated.  An oracle for tests."""

import itertools
import math

from naive_gbop import bernoulli_kl
from naive_parts import Stream, table_step


class Olop:
    """OLOP, or KL-OLOP with `kl`, on a table; rewards are between 0 and 1."""

    def __init__(self, table, discount, length, trajectories, kl, words):
        self.table, self.discount, self.length, self.kl = table, discount, length, kl
        self.actions = range(len(table[0]))
        self.search, self.model = Stream(words[0]), Stream(words[1])
        log_m = math.log(trajectories)
        self.f = 2.0 * log_m + (2.0 * math.log(log_m) if kl and log_m > 1.0 else 0.0)
        self.n, self.mean, self.returns = {}, {}, {}

    def reward_bound(self, prefix):
        """U of the last step of a prefix."""
        n = self.n.get(prefix, 0)
        if n == 0:
            return 1.0 if self.kl else math.inf
        if not self.kl:
            return self.mean[prefix] + math.sqrt(self.f / n)
        inside, outside = self.mean[prefix], 1.0
        for _ in range(100):
            middle = (inside + outside) / 2.0
            fits = bernoulli_kl(self.mean[prefix], middle) <= self.f / n
            inside, outside = (middle, outside) if fits else (inside, middle)
        return inside

    def value_bounds(self, sequence):
        """U_a(h) for h = 0 .. L: discounted bounds of the first h steps, and 1 for ever after."""
        total, bounds = 0.0, [1.0 / (1.0 - self.discount)]
        for h in range(1, self.length + 1):
            total += self.discount ** (h - 1) * self.reward_bound(sequence[:h])
            bounds.append(total + self.discount**h / (1.0 - self.discount))
        return bounds

    def b_value(self, sequence):
        """B(a) = the smallest U_a(h)."""
        return min(self.value_bounds(sequence))

    def score(self, prefix):
        """The best B of a sequence with this prefix, as far as the last step of it and those behind decide."""
        h = len(prefix)
        best, before = -math.inf, 0.0
        for i in range(1, h):
            before += self.discount ** (i - 1) * self.reward_bound(prefix[:i])
        for rest in itertools.product(self.actions, repeat=self.length - h):
            bounds = self.value_bounds(prefix + rest)
            best = max(best, min([bounds[h - 1], *bounds[h:]]) - before)
        return best / self.discount ** (h - 1)

    def choose(self, prefix):
        best, largest, ties, rounding = None, -math.inf, 0, 1e-12 / (1.0 - self.discount)
        for action in self.actions:
            here = self.score((*prefix, action)) if self.n.get((*prefix, action)) else math.inf
            if best is None or here > largest + rounding:
                best, largest, ties = action, here, 1
            elif here >= largest - rounding:
                ties += 1
                if self.search.below(ties) == 0:
                    best = action
        return best

    def trajectory(self, root):
        """Play one sequence; returns it."""
        sequence, rewards, state, ended = (), [], root, False
        while len(sequence) < self.length:
            action, reward = self.choose(sequence), 0.0
            if not ended:
                state, reward, ended = table_step(self.table, state, action, self.model.uniform())
            sequence, rewards = (*sequence, action), [*rewards, reward]
        for h in range(1, self.length + 1):
            prefix = sequence[:h]
            self.n[prefix] = self.n.get(prefix, 0) + 1
            mean = self.mean.get(prefix, 0.0)
            self.mean[prefix] = mean + (rewards[h - 1] - mean) / self.n[prefix]
        sampled = sum(self.discount**i * reward for i, reward in enumerate(rewards))
        before = self.returns.get(sequence[0], 0.0)
        self.returns[sequence[0]] = before + (sampled - before) / self.n[sequence[:1]]
        return sequence
