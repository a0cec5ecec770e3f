"""MENTS, RENTS and TENTS in the textbook search: formulas as printed, and trajectories that carry their policies."""

import math

from naive import Textbook
from naive_bridge import settings_of
from naive_parts import total

from gymnasium_gsp.ingredients import PolynomialBonus, PowerMean


def soft(kind, t, q, n, reference=None):
    """(V, pi) of a regulariser over the tried actions, as section 5.3 of algorithms.md has them."""
    tried = [a for a in range(len(q)) if n[a] > 0]
    pi = [0.0] * len(q)
    if kind == "tsallis":
        z = sorted((q[a] / t for a in tried), reverse=True)
        k = max(i for i in range(1, len(z) + 1) if 1 + i * z[i - 1] > sum(z[:i]))
        c = (sum(z[:k]) - 1) / k
        for a in tried:
            pi[a] = max(0.0, q[a] / t - c)
        return t * (0.5 + 0.5 * sum(x * x - c * c for x in z[:k])), pi
    weights = [1.0] * len(q)
    if kind == "relative":
        mass = 0.0 if reference is None else total(reference[a] for a in tried)
        weights = [1 / len(tried)] * len(q) if mass == 0.0 else [w / mass for w in reference]
    top = max(q[a] for a in tried if weights[a] > 0.0)
    parts = {a: weights[a] * math.exp((q[a] - top) / t) for a in tried if weights[a] > 0.0}
    for a in parts:
        pi[a] = parts[a] / total(parts.values())
    return top + t * math.log(total(parts.values())), pi


class SoftTextbook(Textbook):
    """The textbook search with a regularised policy and value; a trajectory carries the policies it has passed."""

    def __init__(self, table, recipe, words, left):
        plain = recipe.changed(selection=PolynomialBonus(), backup=PowerMean())
        super().__init__(table, settings_of(plain, left is not None, 0.0), words)
        self.how, self.corrected, self.policies = recipe.selection, recipe.backup.non_expansive, {}
        self.references_met = set()

    def soft(self, node, depth):
        spread = (max(self.returns) - min(self.returns)) if self.returns else 0.0
        t = self.how.temperature * ((spread or 1.0) if self.how.scale == "range" else 1.0)
        value, pi = soft(self.how.regulariser, t, node.q, node.n, self.policies.get(depth - 1))
        if self.corrected:
            value -= soft(self.how.regulariser, t, [0.0] * len(node.q), node.n)[0]
        return value, pi

    def select(self, node, depth):
        untried = [a for a in self.actions if node.n[a] == 0]
        self.policies[depth] = self.soft(node, depth)[1] if any(node.n) else None
        if untried:
            return untried[self.search_stream.below(len(untried))]
        k = len(node.n)
        weight = min(1.0, self.how.epsilon * (k if self.how.per_action else 1) / math.log(sum(node.n) + 1.0))
        left = self.search_stream.uniform()
        for a, p in enumerate(self.policies[depth]):
            left -= (1.0 - weight) * p + weight / k
            if left < 0.0:
                return a
        return k - 1

    def simulate(self, key, state, depth, fresh):
        if fresh:
            self.policies[depth] = None
        node, before = self.nodes[key], sum(self.nodes[key].n)
        value, sampled = super().simulate(key, state, depth, fresh)
        if sum(node.n) > before:
            reference = self.policies.get(depth - 1)
            self.references_met.add((key, None if reference is None else tuple(round(p, 3) for p in reference)))
            value = node.value = self.soft(node, depth)[0]
        return value, sampled
