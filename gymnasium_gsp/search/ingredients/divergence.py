"""Extreme means over balls of the Kullback-Leibler divergence around what was sampled.

`extreme_mean` solves the subproblem of KL-UCRL (Filippi, Cappe and Garivier 2010, "Optimism in reinforcement learning
and Kullback-Leibler divergence", Algorithm 1): the largest p . f over laws p with KL(q || p) <= radius, where p may
also put mass on one outcome that was never seen.  With l the multiplier of sum p = 1,

    theta(l) = sum_i q_i log(l - f_i) + log sum_i q_i / (l - f_i)        over the outcomes seen, decreasing in l
    p_i = (1 - z) [q_i / (l - f_i)] / sum_j q_j / (l - f_j)

and either l = f_unseen, z = 1 - exp(theta(f_unseen) - radius), or z = 0 and theta(l) = radius.
"""

import math

from numba import njit

PAIR = 2  # an outcome in the working memory of a solver: its value, then its frequency
_LAST_STEP = 1e-7  # a Newton step so small, relative to l - max f, leaves an error of about its square
_MOST_STEPS = 200
_TINY = 1e-290  # below this, l - max f stands for 0: all the mass is on the largest value


@njit
def theta(outcomes, count, top, above):
    """Theta at l = top + above, where top is at least every value; `above` is apart so that no digits are lost."""
    logs, weight = 0.0, 0.0
    for i in range(count):
        value, frequency = outcomes[PAIR * i], outcomes[PAIR * i + 1]
        logs += frequency * math.log(above + (top - value))
        weight += frequency / (above + (top - value))
    return logs + math.log(weight)


@njit
def slope_of_theta(outcomes, count, top, above):
    """Derivative of theta in l."""
    first, second = 0.0, 0.0
    for i in range(count):
        inverse = 1.0 / (above + (top - outcomes[PAIR * i]))
        first += outcomes[PAIR * i + 1] * inverse
        second += outcomes[PAIR * i + 1] * inverse * inverse
    return first - second / first


@njit
def multiplier_above(outcomes, count, top, mean, radius):
    """The distance l - top at which theta(l) = radius, l > top.

    theta^(-1/2) is close to linear, so Newton's method is applied to it; where that leaves the bracket, the bracket
    is halved on a logarithmic scale.
    """
    spread = 0.0
    for i in range(count):
        spread += outcomes[PAIR * i + 1] * (outcomes[PAIR * i] - mean) ** 2
    above = math.sqrt(spread / (2.0 * radius))
    low, high = 0.0, math.inf
    for _ in range(_MOST_STEPS):
        here = theta(outcomes, count, top, above)
        if here > radius:
            low = above
        else:
            high = above
        following = math.nan
        if here > 0.0:
            slope = -0.5 * here**-1.5 * slope_of_theta(outcomes, count, top, above)
            following = above + (radius**-0.5 - here**-0.5) / slope
        if low < following < high:
            if abs(following - above) <= _LAST_STEP * above:
                return following
        else:
            following = 8.0 * low if high == math.inf else math.sqrt(low * high) if low > 0.0 else high / 64.0
            if following < _TINY or high - low <= 1e-15 * high:
                return following
        above = following
    return above


@njit
def tilt(outcomes, count, unseen, radius):
    """The law that attains the largest mean: (f_max, l - f_max, z), with l infinite where p = q.

    Args:
        outcomes: pairs of the value and the frequency of each outcome seen, all frequencies above 0.
        count: how many there are.
        unseen: value of the outcome that was never seen; minus infinity if there is none.
        radius: of the ball, above 0.
    """
    top, bottom, mean = outcomes[0], outcomes[0], 0.0
    for i in range(count):
        top, bottom = max(top, outcomes[PAIR * i]), min(bottom, outcomes[PAIR * i])
        mean += outcomes[PAIR * i] * outcomes[PAIR * i + 1]
    if unseen > top:
        here = theta(outcomes, count, unseen, 0.0)
        if here < radius:
            return unseen, 0.0, -math.expm1(here - radius)
        return unseen, multiplier_above(outcomes, count, unseen, mean, radius), 0.0
    if top == bottom:
        return top, math.inf, 0.0
    return top, multiplier_above(outcomes, count, top, mean, radius), 0.0


@njit
def extreme_mean(outcomes, count, unseen, radius):
    """Largest p . f over the ball around the observed frequencies; arguments as for `tilt`, radius 0 allowed."""
    if radius <= 0.0:
        mean = 0.0
        for i in range(count):
            mean += outcomes[PAIR * i] * outcomes[PAIR * i + 1]
        return mean
    top, above, mass = tilt(outcomes, count, unseen, radius)
    if above == math.inf:
        return outcomes[0]
    weight, gap = 0.0, 0.0
    for i in range(count):
        share = outcomes[PAIR * i + 1] / (above + (top - outcomes[PAIR * i]))
        weight += share
        gap += share * (top - outcomes[PAIR * i])
    # Where mass goes to the unseen outcome, top is its value, and its own gap is 0.
    return top - (1.0 - mass) * gap / weight


@njit
def bernoulli_divergence(p, q):
    """kl(p, q) of two Bernoulli laws."""
    divergence = 0.0
    if p > 0.0:
        divergence += math.inf if q <= 0.0 else p * math.log(p / q)
    if p < 1.0:
        divergence += math.inf if q >= 1.0 else (1.0 - p) * math.log((1.0 - p) / (1.0 - q))
    return divergence


@njit
def extreme_reward(mean, radius, end):
    """The q between `mean` and `end` (0 or 1) that is furthest from the mean with kl(mean, q) <= radius.

    kl(mean, q) is convex in q and grows towards the end, so Newton's method comes down to the root from any point
    behind it.  Two bounds give one: kl >= 2 (q - mean)^2 (Pinsker), and kl without the part that q < 1 makes smaller.
    """
    if radius <= 0.0 or mean == end:
        return mean
    if bernoulli_divergence(mean, end) <= radius:
        return end
    if end == 0.0:
        return 1.0 - extreme_reward(1.0 - mean, radius, 1.0)
    rest = 1.0 - mean
    entropy = -mean * math.log(mean) if mean > 0.0 else 0.0
    q = min(mean + math.sqrt(0.5 * radius), 1.0 - rest * math.exp(-(radius + entropy) / rest))
    for _ in range(_MOST_STEPS):
        if q <= mean or q >= 1.0:
            break
        following = q - (bernoulli_divergence(mean, q) - radius) * q * (1.0 - q) / (q - mean)
        if not following < q - 1e-16:
            break
        q = following
    return min(max(q, mean), 1.0)
