"""Selection: which action a simulation tries at a node.  Untried actions come first, ties are broken at random."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numba import njit

from gymnasium_gsp.abi.context import is_legal, legal_mask, scratch
from gymnasium_gsp.abi.stream import below
from gymnasium_gsp.errors import KnownFields, RecipeError, unknown_name
from gymnasium_gsp.search.ingredients.ingredient import Ingredient, check_number, make_plain

Scale = Literal["raw", "range"]

_FOURTH_ROOTS = np.sqrt(np.sqrt(np.arange(1024.0)))


@njit
def pick_untried(context, counts, rng):
    """One of the legal actions never tried at this node, each equally likely; -1 if all were tried."""
    actions, untried = context.actions, 0
    for action in range(actions):
        untried += counts[action] == 0 and is_legal(context, action)
    if untried == 0:
        return -1
    choice = below(rng, untried)
    for action in range(actions):
        if counts[action] == 0 and is_legal(context, action):
            if choice == 0:
                return action
            choice -= 1
    return -1


@njit
def pick_best(context, scores, rng):
    """The legal action with the largest score, ties at random."""
    masked = context.masked != 0
    if masked:
        return pick_drawing(context, scores, masked, rng)
    # Which action is best nobody can predict, so a first look has no branches; mostly it meets no ties.
    best, top, tied = 0, scores[0], False
    for action in range(1, context.actions):
        score = scores[action]
        larger = score > top
        tied |= not (larger | (score < top))
        best = action if larger else best
        top = score if larger else top
    return pick_drawing(context, scores, masked, rng) if tied else best


@njit
def pick_drawing(context, scores, masked, rng):
    """The same, with a draw at each tie with the largest score so far."""
    best, top, ties = -1, -math.inf, 0
    for action in range(context.actions):
        score = scores[action]
        if score < top or (masked and legal_mask(context)[action] == 0.0):
            continue
        if score > top or best < 0:
            best, top, ties = action, score, 1
        else:
            ties += 1
            if below(rng, ties) == 0:
                best = action
    return best


@njit
def pick_tried(context, q, counts, rng):
    """Return the legal action with the largest value among those tried, ties at random; -1 if none was tried."""
    best, ties = -1, 0
    for action in range(context.actions):
        if counts[action] == 0 or not is_legal(context, action):
            continue
        if best < 0 or q[action] > q[best]:
            best, ties = action, 1
        elif q[action] == q[best]:
            ties += 1
            if below(rng, ties) == 0:
                best = action
    return best


@njit
def pick_any(context, rng):
    """Return one of the legal actions, each equally likely."""
    actions, legal = context.actions, 0
    for action in range(actions):
        legal += is_legal(context, action)
    choice = below(rng, legal)
    for action in range(actions):
        if is_legal(context, action):
            if choice == 0:
                return action
            choice -= 1
    return -1


@njit
def fourth_root(n):
    """Two square roots, looked up where n is small: one after the other is what a selection would wait for longest."""
    return _FOURTH_ROOTS[n] if n < len(_FOURTH_ROOTS) else math.sqrt(math.sqrt(float(n)))


@njit
def bonus_scale(params, context):
    """The exploration constant: raw, or times the observed range of returns."""
    return params[0] * context.range if params[1] != 0.0 else params[0]


def ucb1_select(params, context, visits, q, counts, rng):
    """The action of the largest Q(s,a) + C sqrt(log N(s) / N(s,a)); params: C, whether C is scaled by the range."""
    action = pick_untried(context, counts, rng)
    if action >= 0:
        return action
    scores = scratch(context)
    factor = bonus_scale(params, context) * math.sqrt(math.log(float(visits)))
    for a in range(context.actions):
        scores[a] = q[a] + factor / math.sqrt(float(max(counts[a], 1)))
    return pick_best(context, scores, rng)


def polynomial_select(params, context, visits, q, counts, rng):
    """The action of the largest Q(s,a) + C N(s)^(b/beta) / N(s,a)^(alpha/beta), eq. action_selection of the paper.

    params: C, whether C is scaled by the range, number of depths with exponents of their own, then per depth
    b/beta and alpha/beta.  Without any, 1/4 and 1/2 (eq. uniform_bonus).
    """
    action = pick_untried(context, counts, rng)
    if action >= 0:
        return action
    actions, depths = context.actions, int(params[2])
    scores = scratch(context)
    factor = bonus_scale(params, context)
    if depths == 0:
        factor *= fourth_root(visits)
        for a in range(actions):
            scores[a] = q[a] + factor / math.sqrt(float(max(counts[a], 1)))
    else:
        depth = min(context.depth, depths - 1)
        factor *= float(visits) ** params[3 + 2 * depth]
        exponent = params[4 + 2 * depth]
        for a in range(actions):
            scores[a] = q[a] + factor / float(max(counts[a], 1)) ** exponent
    return pick_best(context, scores, rng)


def greedy_select(params, context, visits, q, counts, rng):
    """The action of the largest Q(s,a)."""
    action = pick_untried(context, counts, rng)
    return action if action >= 0 else pick_best(context, q, rng)


def uniform_select(params, context, visits, q, counts, rng):
    """Return any legal action, each equally likely."""
    return pick_any(context, rng)


def balanced_select(params, context, visits, q, counts, rng):
    """Return the legal action tried least."""
    scores = scratch(context)
    for a in range(context.actions):
        scores[a] = -float(counts[a])
    return pick_best(context, scores, rng)


def check_scale(scale: str) -> None:
    """Refuse a scale that does not exist."""
    if scale not in ("raw", "range"):
        raise RecipeError(unknown_name("scale", scale, ("raw", "range")))


class ScaledBonus(Ingredient):
    """A selection by a bonus whose constant may be relative to the range of the returns.

    Subclasses are frozen dataclasses with the fields `c` and `scale`.
    """

    c: float
    scale: Scale

    kind = "select"

    def __post_init__(self) -> None:
        make_plain(self)
        check_number("c", self.c, smallest=0.0)
        check_scale(self.scale)

    def params(self) -> tuple[float, ...]:
        return (self.c, float(self.scale == "range"))


@dataclass(frozen=True)
class UCB1(ScaledBonus):
    """Q(s,a) + C sqrt(log N(s) / N(s,a)) (Auer, Cesa-Bianchi and Fischer 2002; Kocsis and Szepesvari 2006).

    Attributes:
        c: the exploration constant C, at least 0.
        scale: "raw", or "range" to multiply C by the observed range of returns in this episode.
    """

    c: float = 1.0
    scale: Scale = "raw"

    function = staticmethod(ucb1_select)


@dataclass(frozen=True)
class Table1(KnownFields):
    """A claim of the paper's Table 1: constants per depth, h = 0 .. H, checked when the recipe is.

    Attributes:
        alpha: exponents alpha_h of the concentration.
        beta: beta_h.
        b: the bonus constants b_h.
    """

    alpha: tuple[float, ...]
    beta: tuple[float, ...]
    b: tuple[float, ...]

    def __post_init__(self) -> None:
        make_plain(self)
        for name in ("alpha", "beta", "b"):
            values = getattr(self, name)
            if not isinstance(values, tuple | list) or not values:
                raise RecipeError(f"Table1: {name} must be a sequence of numbers, one per depth, not {values!r}")
            for value in values:
                check_number(name, value)
            object.__setattr__(self, name, tuple(map(float, values)))
        if not len(self.alpha) == len(self.beta) == len(self.b):
            raise RecipeError("Table1: alpha, beta and b must be equally long, one entry per depth")

    @cached_property
    def _depths(self) -> range:
        return range(len(self.alpha))

    def failures(self, p: float) -> list[str]:
        """Rows of Table 1 that do not hold for these constants and the power p, each named with its depth."""
        failed = []
        for h in self._depths:
            alpha, beta, b = self.alpha[h], self.beta[h], self.b[h]
            failed += table1_row_failures(h, alpha, beta, b, p)
            if h + 1 < len(self.alpha):
                next_b, next_alpha = self.b[h + 1], self.alpha[h + 1]
                if next_alpha == 0.0 or not _close(alpha, (next_b - 1.0) * (1.0 - next_b / next_alpha)):
                    failed.append(f"h={h}: alpha_h = (b_(h+1) - 1) (1 - b_(h+1) / alpha_(h+1)) does not hold")
                if not _close(beta, next_b - 1.0):
                    failed.append(f"h={h}: beta_h = b_(h+1) - 1 does not hold")
        return failed


def _close(left: float, right: float) -> bool:
    return abs(left - right) <= 1e-9 * max(1.0, abs(left), abs(right))


def table1_row_failures(h: int, alpha: float, beta: float, b: float, p: float) -> list[str]:
    """The rows of Table 1 that concern one depth alone and do not hold there."""
    failed = []
    slack = 1e-9 * max(1.0, abs(alpha), abs(beta))
    if not 2.0 < b < alpha:
        failed.append(f"h={h}: 2 < b_h < alpha_h does not hold (b_h {b:g}, alpha_h {alpha:g})")
    if not alpha - b <= b + slack:
        failed.append(f"h={h}: alpha_h (1 - b_h / alpha_h) <= b_h does not hold (b_h {b:g}, alpha_h {alpha:g})")
    if not alpha <= beta / 2.0 + slack:
        failed.append(f"h={h}: alpha_h <= beta_h / 2 does not hold (alpha_h {alpha:g}, beta_h {beta:g})")
    if p > 2.0 and not 0.0 < alpha - beta / p < 1.0:
        gap = alpha - beta / p
        failed.append(f"h={h}: 0 < alpha_h - beta_h / p < 1 does not hold for p = {p:g} (it is {gap:g})")
    return failed


@dataclass(frozen=True)
class PolynomialBonus(ScaledBonus):
    """Q(s,a) + C N(s)^(b/beta) / N(s,a)^(alpha/beta), eq. action_selection of the paper.

    Attributes:
        c: the exploration constant C, at least 0.
        scale: "raw", or "range" to multiply C by the observed range of returns in this episode.
        constants: exponents per depth as a claim of Table 1; None for 1/4 and 1/2 at every depth.
    """

    c: float = 0.5
    scale: Scale = "raw"
    constants: Table1 | None = None

    function = staticmethod(polynomial_select)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.constants is not None and not isinstance(self.constants, Table1):
            raise RecipeError(f"constants must be a Table1(alpha, beta, b) or None, not {self.constants!r}")

    def params(self) -> tuple[float, ...]:
        ratios: list[float] = []
        if self.constants is not None:
            # The bonus at depth h uses the constants of depth h + 1; the last ones serve all deeper nodes.
            last = len(self.constants.alpha) - 1
            for h in range(last + 1):
                k = min(h + 1, last)
                beta = self.constants.beta[k]
                ratios += [self.constants.b[k] / beta, self.constants.alpha[k] / beta]
        return (*super().params(), len(ratios) / 2, *ratios)


@dataclass(frozen=True)
class Greedy(Ingredient):
    """The action with the best value so far."""

    kind = "select"
    function = staticmethod(greedy_select)


@dataclass(frozen=True)
class Uniform(Ingredient):
    """Any action, each equally likely."""

    kind = "select"
    function = staticmethod(uniform_select)


@dataclass(frozen=True)
class Balanced(Ingredient):
    """The action tried least, ties at random."""

    kind = "select"
    function = staticmethod(balanced_select)
