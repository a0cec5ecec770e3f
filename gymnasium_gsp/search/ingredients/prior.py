"""A prior over a node's actions: the selections that it guides, and a root that draws its actions by it.

PUCT: C. D. Rosin, Multi-armed bandits with episode context, 2011; D. Silver et al., Mastering the game of Go without
human knowledge, Nature 550, 2017.
Gumbel: I. Danihelka, A. Guez, J. Schrittwieser and D. Silver, Policy improvement by planning with Gumbel, ICLR 2022.

Untried actions get no turn of their own; the prior says which are worth one.  Without a prior in the recipe it is
uniform over the legal actions.
"""

import math
from dataclasses import dataclass

import numpy as np
from numba import njit

from gymnasium_gsp.abi.context import prior, scratch
from gymnasium_gsp.errors import KnownFields, check_count
from gymnasium_gsp.search.ingredients.ingredient import Ingredient, check_number, make_plain
from gymnasium_gsp.search.ingredients.selection import Scale, ScaledBonus, bonus_scale, pick_best

_TINY = float(np.finfo(np.float64).tiny)


def puct_select(params, context, visits, q, counts, rng):
    """Return the action of the largest Q(s,a) + C P(s,a) sqrt(N(s)) / (1 + N(s,a)).

    params: C, whether C is scaled by the range.
    """
    chances, scores = prior(context), scratch(context)
    tried, total = 0, 0.0
    for a in range(context.actions):
        tried += counts[a]
        total += counts[a] * q[a]
    untried = total / tried if tried > 0 else 0.0
    factor = bonus_scale(params, context) * math.sqrt(float(max(visits, 1)))
    for a in range(context.actions):
        scores[a] = (q[a] if counts[a] > 0 else untried) + factor * chances[a] / (1.0 + counts[a])
    return pick_best(context, scores, rng)


@njit
def mixed_value(context, q, counts):
    """Return the value of an untried action: the node's own as a leaf, mixed with those of its tried actions."""
    chances = prior(context)
    visits, chance, total = 0, 0.0, 0.0
    for a in range(context.actions):
        if counts[a] > 0:
            weight = max(chances[a], _TINY)
            visits += counts[a]
            chance += weight
            total += weight * q[a]
    of_tried = total / chance if visits > 0 else 0.0
    if math.isnan(context.leaf_value):
        return of_tried
    return (context.leaf_value + visits * of_tried) / (1.0 + visits)


@njit
def improve(params, context, q, counts, logits):
    """Write log P(s,a) + sigma(completed Q(s,a)) to `logits`; -infinity where P(s,a) is 0.

    params: c_visit, c_scale.
    """
    chances, untried, most = prior(context), mixed_value(context, q, counts), 0
    for a in range(context.actions):
        most = max(most, counts[a])
    factor = (params[0] + most) * params[1] / context.range
    for a in range(context.actions):
        completed = q[a] if counts[a] > 0 else untried
        logits[a] = math.log(chances[a]) + factor * completed if chances[a] > 0.0 else -math.inf


def improved_select(params, context, visits, q, counts, rng):
    """Return the action whose share of the visits lies furthest below its share of the improved policy.

    params: c_visit, c_scale.
    """
    scores = scratch(context)
    improve(params, context, q, counts, scores)
    tried, top, total = 0, -math.inf, 0.0
    for a in range(context.actions):
        tried += counts[a]
        top = max(top, scores[a])
    for a in range(context.actions):
        scores[a] = math.exp(scores[a] - top)
        total += scores[a]
    for a in range(context.actions):
        scores[a] = scores[a] / total - counts[a] / (1.0 + tried)
    return pick_best(context, scores, rng)


@dataclass(frozen=True)
class PUCT(ScaledBonus):
    """Q(s,a) + C P(s,a) sqrt(N(s)) / (1 + N(s,a)), with the prior P (Rosin 2011; Silver et al. 2017).

    N(s) is at least 1, so that the prior alone decides at first.  The Q of an untried action is the mean of the tried
    ones', weighted by visits, where Silver et al. take 0.

    Attributes:
        c: the exploration constant C, at least 0.  MuZero's 1.25 is relative to the values in one tree, whose range is
            smaller than that of the returns in an episode.
        scale: "raw", or "range" to multiply C by the observed range of returns in this episode.
    """

    c: float = 0.5
    scale: Scale = "range"

    function = staticmethod(puct_select)
    reads_prior = True


@dataclass(frozen=True)
class ImprovedPolicy(Ingredient):
    """Visits in proportion to the improved policy, as in Gumbel MuZero below the root (Danihelka et al. 2022).

    The action of the largest pi'(a) - N(s,a) / (1 + sum_b N(s,b)), where pi' = softmax(log P + sigma(completed Q)),
    sigma(q) = (c_visit + max_b N(s,b)) c_scale q / range, and an untried action's Q is the paper's mixed value of the
    node.  The range is that of the returns in this episode; the paper takes the smallest and largest value in the tree.

    Attributes:
        c_visit: at least 0.
        c_scale: at least 0.
    """

    c_visit: float = 50.0
    c_scale: float = 1.0

    kind = "select"
    function = staticmethod(improved_select)
    reads_prior = True

    def __post_init__(self) -> None:
        make_plain(self)
        for name in ("c_visit", "c_scale"):
            check_number(name, getattr(self, name), smallest=0.0)

    def params(self) -> tuple[float, ...]:
        return (self.c_visit, self.c_scale)


@dataclass(frozen=True)
class GumbelHalving(KnownFields):
    """Draw root actions by the prior and halve them, best first, until the budget is spent (Danihelka et al. 2022).

    Actions are drawn without replacement, by the largest g(a) + log P(a) with Gumbel noise g.  They take turns; after
    each round the half with the larger noise g(a) + log P(a) + sigma(Q(a)) stays, sigma as in `ImprovedPolicy`, and the
    largest of those left is the action.  Rounds have equal shares of the budget, whatever it is counted in.

    Attributes:
        considered: most actions that are drawn, at least 1.
        noise: weight of the noise in the scores: 0 to act, 1 as in the paper, where the noise is to explore.
        c_visit, c_scale: as in `ImprovedPolicy`.
    """

    considered: int = 16
    noise: float = 0.0
    c_visit: float = 50.0
    c_scale: float = 1.0

    def __post_init__(self) -> None:
        make_plain(self)
        check_count("considered", self.considered)
        for name in ("noise", "c_visit", "c_scale"):
            check_number(name, getattr(self, name), smallest=0.0)

    def params(self) -> tuple[float, ...]:
        """The numbers that the halving reads."""
        return (float(self.considered), self.noise, self.c_visit, self.c_scale)
