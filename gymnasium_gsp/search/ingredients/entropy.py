"""Regularised search: a policy with some randomness of its own, and the value that belongs to it.

With q = Q(s,a) over the tried actions, t the temperature and w a reference policy, the three regularisers give

    shannon   V = t log sum_a exp(q_a / t)                      pi_a = exp(q_a / t) / sum_b exp(q_b / t)
    relative  V = t log sum_a w_a exp(q_a / t)                  pi_a = w_a exp(q_a / t) / sum_b w_b exp(q_b / t)
    tsallis   V = t (1/2 + 1/2 sum_K (z_a^2 - c^2)), z = q / t  pi_a = max(0, z_a - c)

where K are the actions with z_a > c and c is such that pi sums to one (sparsemax).  `soft_policy` is the only place
where these formulas stand; the selection samples from pi, the backup returns V.
"""

import math
from dataclasses import dataclass
from typing import Literal

from numba import njit

from gymnasium_gsp.abi.context import UNKNOWN, is_legal, notes, scratch
from gymnasium_gsp.abi.stream import uniform
from gymnasium_gsp.errors import RecipeError, unknown_name
from gymnasium_gsp.search.ingredients.ingredient import Ingredient, check_number, make_plain
from gymnasium_gsp.search.ingredients.selection import Scale, check_scale, pick_untried

Regulariser = Literal["shannon", "relative", "tsallis"]

REGULARISERS = ("shannon", "relative", "tsallis")
SHANNON, RELATIVE, TSALLIS = 0.0, 1.0, 2.0

# The parameters that selection and backup share, in front of their own.
_REGULARISER, _TEMPERATURE, _BY_RANGE, _OWN = range(4)


@njit
def temperature(params, context):
    """The temperature: raw, or times the observed range of returns."""
    return params[_TEMPERATURE] * (context.range if params[_BY_RANGE] != 0.0 else 1.0)


@njit
def reference_mass(context, counts):
    """Return the mass of the reference, the parent's policy on this trajectory, on the tried actions; 0 without one."""
    depth = context.depth
    if depth == 0:
        return 0.0
    reference, mass = notes(context, depth - 1), 0.0
    if reference[0] == UNKNOWN:
        return 0.0
    for a in range(context.actions):
        if counts[a] > 0:
            mass += reference[a]
    return mass


@njit
def exponential_policy(context, relative, t, q, counts, tried, policy):
    """Write pi of the first two regularisers, 0 for untried actions, and return V; w is uniform without a parent's."""
    actions, mass, top = context.actions, 0.0, -math.inf
    if relative:
        mass = reference_mass(context, counts)
    for a in range(actions):
        policy[a] = 0.0
        if counts[a] > 0:
            policy[a] = 1.0 / tried if relative else 1.0
            if mass > 0.0:
                policy[a] = notes(context, context.depth - 1)[a] / mass
            if policy[a] > 0.0:
                top = max(top, q[a])
    total = 0.0
    for a in range(actions):
        if policy[a] > 0.0:
            policy[a] *= math.exp((q[a] - top) / t)
            total += policy[a]
    for a in range(actions):
        policy[a] /= total
    return top + t * math.log(total)


@njit
def sparse_policy(context, t, q, counts, policy):
    """Write pi of the third regulariser, 0 for untried actions, and return V.

    z is taken relative to the largest q, so c is at least -1 and no square overflows.  The support is found by
    leaving out what lies below the threshold of those that remain (Michelot 1986), which needs no sorting.
    """
    actions, top = context.actions, -math.inf
    for a in range(actions):
        if counts[a] > 0:
            top = max(top, q[a])
    c, before, size = -1.0, actions + 2, actions + 1
    while size < before:  # not "differs": rounding may let an action on the threshold in again
        before, size, total = size, 0, 0.0
        for a in range(actions):
            if counts[a] > 0 and (q[a] - top) / t > c:
                total += (q[a] - top) / t
                size += 1
        c = (total - 1.0) / size
    squares = 0.0
    for a in range(actions):
        policy[a] = 0.0
        if counts[a] > 0 and (q[a] - top) / t > c:
            z = (q[a] - top) / t
            policy[a] = z - c
            squares += z * z - c * c
    return top + t * (0.5 + 0.5 * squares)


@njit
def soft_policy(params, context, q, counts, policy):
    """Write pi over the tried actions to `policy` and return V; without any, `policy` is marked UNKNOWN and V NaN."""
    tried = 0
    for a in range(context.actions):
        tried += counts[a] > 0
    if tried == 0:
        policy[0] = UNKNOWN
        return math.nan
    t = temperature(params, context)
    if params[_REGULARISER] == TSALLIS:
        return sparse_policy(context, t, q, counts, policy)
    return exponential_policy(context, params[_REGULARISER] == RELATIVE, t, q, counts, tried, policy)


@njit
def constant_bias(params, context, counts):
    """By how much V exceeds q where all tried actions have the same q."""
    tried = 0
    for a in range(context.actions):
        tried += counts[a] > 0
    if params[_REGULARISER] == SHANNON:
        return temperature(params, context) * math.log(float(tried))
    if params[_REGULARISER] == TSALLIS:
        return temperature(params, context) * 0.5 * (1.0 - 1.0 / tried)
    return 0.0


def entropy_mixed_select(params, context, visits, q, counts, rng):
    """A draw from `(1 - lambda) pi(a) + lambda / |A|`, `lambda = min(1, epsilon |A| / log(sum_a N(s,a) + 1))`.

    params: regulariser, temperature, whether it is scaled by the range, epsilon, whether lambda has the factor `|A|`.
    The policy is left in the notes of this depth, where the next node of the trajectory finds its reference.
    """
    policy = notes(context, context.depth)
    action = pick_untried(context, counts, rng)
    if action < 0 or params[_REGULARISER] == RELATIVE:
        soft_policy(params, context, q, counts, policy)
    if action >= 0:
        return action
    actions, legal, total = context.actions, 0, 0
    for a in range(actions):
        if is_legal(context, a):
            legal += 1
            total += counts[a]
    wanted, spread = params[_OWN] * (legal if params[_OWN + 1] != 0.0 else 1), math.log(total + 1.0)
    mixing = 1.0 if wanted >= spread else wanted / spread
    left, last = uniform(rng), -1
    for a in range(actions):
        if is_legal(context, a):
            share = (1.0 - mixing) * policy[a] + mixing / legal
            left -= share
            last = a if share > 0.0 or last < 0 else last
            if left < 0.0:
                return a
    return last


def soft_value_backup(params, context, visits, q, counts, variance, value, target):
    """V of the regulariser over the tried actions; params: regulariser, temperature, whether scaled, corrected."""
    soft = soft_policy(params, context, q, counts, scratch(context))
    return soft - constant_bias(params, context, counts) if params[_OWN] != 0.0 else soft


def _check_regularised(regulariser: str, temperature: float, scale: str) -> None:
    """Refuse what neither the selection nor the backup can work with."""
    if regulariser not in REGULARISERS:
        raise RecipeError(unknown_name("regulariser", regulariser, REGULARISERS))
    check_number("temperature", temperature)
    if not temperature > 0.0:
        raise RecipeError(
            f"temperature must be above 0, not {temperature!r}; its limit at 0 is the maximum, PowerMean(inf) as backup"
        )
    check_scale(scale)


def _check_switch(name: str, value: bool) -> None:
    if not isinstance(value, bool):
        raise RecipeError(f"{name} must be True or False, not {value!r}")


@dataclass(frozen=True)
class EntropyMixed(Ingredient):
    """A draw from a regularised policy mixed with a uniform one (E2W, Xiao et al. 2019; E3W, Dam et al. 2021).

    Attributes:
        regulariser: "shannon", "relative" (to the policy of the parent on this trajectory), or "tsallis".
        temperature: of the policy, above 0.
        scale: "raw", or "range" to multiply the temperature by the observed range of returns in this episode.
        epsilon: weight of the uniform policy, from 0 to 1: `lambda = epsilon |A| / log(N(s) + 1)`, at most 1.
        per_action: False for lambda without the factor `|A|`, as in the code of thts++.
    """

    regulariser: Regulariser = "shannon"
    temperature: float = 1.0
    scale: Scale = "raw"
    epsilon: float = 0.5
    per_action: bool = True

    kind = "select"
    function = staticmethod(entropy_mixed_select)

    def __post_init__(self) -> None:
        make_plain(self)
        _check_regularised(self.regulariser, self.temperature, self.scale)
        check_number("epsilon", self.epsilon, smallest=0.0, largest=1.0)
        _check_switch("per_action", self.per_action)

    def params(self) -> tuple[float, ...]:
        head = (float(REGULARISERS.index(self.regulariser)), self.temperature, float(self.scale == "range"))
        return (*head, self.epsilon, float(self.per_action))


@dataclass(frozen=True)
class SoftValue(Ingredient):
    """The value of the regularised policy: log-sum-exp, relative entropy, or sparsemax.

    Attributes:
        regulariser, temperature, scale: as in `EntropyMixed`.
        non_expansive: take off what the operator adds to equal values, t log k or t (1 - 1/k) / 2 with k tried actions,
            so that a constant stays a constant.  Without it a cycle of zero rewards among state keys grows for ever
            at discount 1.  The relative entropy adds nothing, with its weights summing to one.
    """

    regulariser: Regulariser = "shannon"
    temperature: float = 1.0
    scale: Scale = "raw"
    non_expansive: bool = False

    kind = "backup"
    function = staticmethod(soft_value_backup)
    reads_notes = True

    def __post_init__(self) -> None:
        make_plain(self)
        _check_regularised(self.regulariser, self.temperature, self.scale)
        _check_switch("non_expansive", self.non_expansive)

    def params(self) -> tuple[float, ...]:
        head = (float(REGULARISERS.index(self.regulariser)), self.temperature, float(self.scale == "range"))
        return (*head, float(self.non_expansive))
