"""The textbook search with a prior: PUCT, the improved policy of Gumbel MuZero, and a root that halves drawn actions.

The search stream gives, besides the draws of `naive`, one uniform number for each action with a prior above 0, in the
order of the actions, when a decision with a Gumbel root begins.
"""

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from naive import Textbook
from naive_parts import total


@dataclass
class PriorTextbook(Textbook):
    """A textbook search whose selections read a prior.

    Args:
        prior: function of a state that returns the weights of its actions.
        c, scaled: PUCT's constant, and whether it is scaled by the range of returns; c is None for the improved policy.
        considered: most actions that the root draws; None for a root like other nodes.
        noise: weight of the Gumbel noise in the scores of the root.
        c_visit, c_scale: of the improved policy.
    """

    prior: Callable[[Any], list[float]] = lambda state: [1.0]
    c: float | None = None
    scaled: bool = True
    considered: int | None = None
    noise: float = 0.0
    c_visit: float = 50.0
    c_scale: float = 1.0
    asked: dict = field(default_factory=dict)

    def decide(self, state, simulations, *arguments, **limits):
        self.budget, self.begun, self.drawn = simulations, 0, None
        if self.settings.retention == "decision":
            self.asked.clear()
        decision = super().decide(state, simulations, *arguments, **limits)
        return decision if self.considered is None else replace(decision, value=decision.q[decision.action])

    def simulate(self, key, state, depth, fresh):
        self.here = key, state
        return super().simulate(key, state, depth, fresh)

    def select(self, node, depth):
        key, state = self.here
        if key not in self.asked:
            self.asked[key] = self.prior(state), node.value if node.visits else None
        weights, leaf = self.asked[key]
        p = [weight / total(weights) for weight in weights]
        if depth == 0 and self.considered is not None:
            return self.next_drawn(node, p, leaf)
        tried = sum(node.n)
        if self.c is not None:
            untried = total(n * q for n, q in zip(node.n, node.q, strict=True)) / tried if tried else 0.0
            factor = (self.c * self.spread() if self.scaled else self.c) * math.sqrt(max(node.visits, 1))
            values = [q if n else untried for n, q in zip(node.n, node.q, strict=True)]
            scores = [values[a] + factor * p[a] / (1.0 + node.n[a]) for a in self.actions]
        else:
            logits = self.improved(node.q, node.n, p, leaf)
            powers = [math.exp(logit - max(logits)) for logit in logits]
            scores = [powers[a] / total(powers) - node.n[a] / (1.0 + tried) for a in self.actions]
        return self.first_of_the_best(self.actions, scores)

    def spread(self):
        return (max(self.returns) - min(self.returns) if self.returns else 0.0) or 1.0

    def improved(self, q, n, p, leaf):
        """log P + (c_visit + max N) c_scale Q / range, where untried actions have the mixed value."""
        tried = [a for a in self.actions if n[a] > 0]
        mixed = 0.0
        if tried:
            weight = [max(chance, sys.float_info.min) for chance in p]
            mixed = total(weight[a] * q[a] for a in tried) / total(weight[a] for a in tried)
        if leaf is not None:
            mixed = (leaf + sum(n) * mixed) / (1.0 + sum(n))
        factor = (self.c_visit + max(n)) * self.c_scale / self.spread()
        return [math.log(p[a]) + factor * (q[a] if n[a] else mixed) if p[a] > 0.0 else -math.inf for a in self.actions]

    def next_drawn(self, node, p, leaf):
        """The root's actions in turn; those that are left after each round are half as many."""
        if self.drawn is None:
            possible = [a for a in self.actions if p[a] > 0.0]
            self.gumbel = {a: -math.log(-math.log(max(self.search_stream.uniform(), 1e-300))) for a in possible}
            order = sorted(possible, key=lambda a: -(self.gumbel[a] + math.log(p[a])))
            self.drawn = order[: min(self.considered, self.budget)]
            self.rounds, self.turn = math.ceil(math.log2(len(self.drawn))), 0
            self.goal = 1.0 / max(self.rounds, 1)
        elif self.turn == len(self.drawn):
            self.turn, spent = 0, self.begun / self.budget
            if len(self.drawn) > 1 and spent >= self.goal:
                scores = self.scores(node.q, node.n, p, leaf)
                self.drawn = sorted(self.drawn, key=lambda a: -scores[a])[: (len(self.drawn) + 1) // 2]
                self.rounds -= 1
                self.goal = spent + (1.0 - spent) / max(self.rounds, 1)
        self.begun += 1
        self.turn += 1
        return self.drawn[self.turn - 1]

    def scores(self, q, n, p, leaf):
        logits = self.improved(q, n, p, leaf)
        return {a: self.noise * self.gumbel[a] + logits[a] for a in self.drawn}

    def recommend(self, q, counts):
        if self.considered is None:
            return super().recommend(q, counts)
        weights, leaf = self.asked[self.root]
        p = [weight / total(weights) for weight in weights]
        tried = [a for a in self.drawn if counts[a] > 0]
        return self.first_of_the_best(tried, self.scores(q, counts, p, leaf))
