"""Optimism: bounds on an action's value from its outcomes, in place of means.

A bound reads `count` outcomes, three numbers each: how often it came, the sum of its rewards, and the present bound on
the value behind it, 0 behind the end of the process.  What found no room in memory is in `visits` alone.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from numba import njit

from gymnasium_gsp.errors import KnownFields, RecipeError, check_count, unknown_name
from gymnasium_gsp.search.ingredients.divergence import PAIR, extreme_mean, extreme_reward
from gymnasium_gsp.search.ingredients.ingredient import Ingredient, check_number, make_plain

_SMALLEST_ACCURACY = 1e-12
PUBLISHED_FACTOR = 0.1  # GBOP's published threshold on transitions is this times log M

_BASE, _PER_VISIT, _PER_NODE, _REWARDS, _APART = range(5)  # params of `divergence_bound`
_THRESHOLD, _BY_DIVERGENCE = range(2)  # params of `reward_bound`
_TIMES, _REWARD, _BEHIND, _OUTCOME = 0, 1, 2, 3
_WEIGHT, _FLOOR = range(2)  # params of `imagined_bound`


@njit
def bounded_mean_reward(context, mean, radius, side):
    """Return the end of the Kullback-Leibler interval around a mean reward; side is 1 for the upper end."""
    span = context.highest_reward - context.lowest_reward
    if radius == 0.0 or span == 0.0:
        return mean
    scaled = min(max((mean - context.lowest_reward) / span, 0.0), 1.0)
    return context.lowest_reward + span * extreme_reward(scaled, radius, 1.0 if side > 0.0 else 0.0)


@njit
def divergence_radius(params, context, n):
    """Return how far in divergence an action's law may lie from the frequencies of n samples."""
    threshold = params[_BASE]
    if params[_PER_VISIT] != 0.0:
        threshold += params[_PER_VISIT] * math.log(1.0 + n)
        threshold += params[_PER_NODE] * (math.log(context.node_order + 1.0) + math.log(context.node_order + 2.0))
    return threshold / n


def divergence_bound(params, context, visits, outcomes, count, side):
    """Return the extreme mean of r + discount * V(s') over a Kullback-Leibler ball around the observed frequencies.

    Outcomes that found no room in memory are one more that was seen, of extreme value; all outcomes that were never
    seen are one, of extreme value, too.  The solver gets values between 0 and 1, so that no choice depends on the unit
    of rewards.
    """
    extreme = context.top if side > 0.0 else context.bottom
    span, unstored, mean = context.top - context.bottom, float(visits), 0.0
    for i in range(count):
        times, value = outcomes[_OUTCOME * i + _TIMES], outcomes[_OUTCOME * i + _REWARD]
        if params[_APART] == 0.0:
            value = bounded_mean_reward(context, value / times, params[_REWARDS] / times, side)
        value += context.discount * outcomes[_OUTCOME * i + _BEHIND]
        outcomes[PAIR * i], outcomes[PAIR * i + 1] = side * (value - extreme) / span, times / visits
        mean += value * (times / visits)
        unstored -= times
    if unstored > 0.0:
        outcomes[PAIR * count], outcomes[PAIR * count + 1] = 0.0, unstored / visits
        mean += extreme * (unstored / visits)
        count += 1
    radius = divergence_radius(params, context, visits)
    if radius > 0.0 and span > 0.0:
        mean = extreme + side * span * extreme_mean(outcomes, count, 0.0, radius)
    return mean


def reward_bound(params, context, visits, outcomes, count, side):
    """Return the mean of u + discount * V(s'), u an upper bound on the mean reward; below, the mean reward itself.

    Outcomes that found no room in memory have the largest value above, and 0 below.
    """
    span, value, unstored = context.highest_reward - context.lowest_reward, 0.0, float(visits)
    for i in range(count):
        times, behind = outcomes[_OUTCOME * i + _TIMES], outcomes[_OUTCOME * i + _BEHIND]
        reward, radius = outcomes[_OUTCOME * i + _REWARD] / times, params[_THRESHOLD] / times
        if side > 0.0 and params[_BY_DIVERGENCE] != 0.0:
            reward = bounded_mean_reward(context, reward, radius, side)
        elif side > 0.0:
            reward += span * math.sqrt(radius)
        value += (reward + context.discount * behind) * (times / visits)
        unstored -= times
    return value + (context.top if side > 0.0 else 0.0) * (unstored / visits)


@dataclass(frozen=True)
class Confidence(KnownFields):
    """A threshold under which, in each graph, all bounds hold at every moment with probability 1 - delta.

    After n samples of an action of the k-th node, with A actions, the outcomes' frequencies q are taken to be within

        n KL(q || p) <= beta(n) = log(2 A (k + 1) (k + 2) / delta) + log(n + 1).

    Only the mean of f = reward + discount * V*(next state) has to be bounded, a fixed function with values in a known
    range [b, B]; so neither the support of the law nor its size matters.  Let mu be the true mean.  By duality
    (Honda and Takemura 2010) the smallest KL(q || p) over laws on [b, B] with mean at least mu is
    max over w in [0, 1] of (1/n) sum_i log(1 - w (f_i - mu) / (B - mu)), and it is attained on the outcomes seen and
    B, the implicit outcome.  Each factor is the wealth of a portfolio of two assets, cash and (B - f) / (B - mu), both
    of mean 1; the uniform mixture over w loses at most a factor n + 1 to the best w (Cover 1991, "Universal
    Portfolios"), and is a martingale, so by Ville's inequality n KL exceeds log((n + 1) / x) at some n with probability
    at most x.  The same holds from below.  The shares x = delta / (2 A (k + 1) (k + 2)) sum to delta over nodes,
    actions and sides.  Samples of one outcome with several rewards count as several outcomes.

    Attributes:
        delta: probability that some bound fails, above 0 and below 1.
    """

    delta: float = 0.1

    def __post_init__(self) -> None:
        make_plain(self)
        check_number("delta", self.delta, smallest=0.0, largest=1.0)
        if self.delta in (0.0, 1.0):
            raise RecipeError(f"delta must be above 0 and below 1, not {self.delta!r}")

    def base(self, actions: int) -> float:
        """Return the part of beta that neither the node nor the number of samples changes."""
        return math.log(2.0 * actions / self.delta)


class Optimism(Ingredient):
    """A choice for the slot `optimism`: bounds whose width may depend on the number of simulations M.

    Attributes:
        zero_is_a_reward: whether the bounds on rewards must include 0.
        lower_is_mean: whether the lower end of an interval is no bound but the mean sampled return.
        rounding: by how little two bounds may differ and still be equal, relative to the range of values.
    """

    kind = "bound"
    lower_is_mean: ClassVar[bool] = False
    zero_is_a_reward: ClassVar[bool] = False
    rounding: ClassVar[float] = 0.0

    @property
    def rewards_apart(self) -> bool:
        """True if outcomes that differ in their reward are stored apart."""
        return False

    @property
    def needs_trajectories(self) -> bool:
        """True if M must be known."""
        return True

    @property
    def margin(self) -> float | None:
        """By how much of the range of returns seen the largest value lies above it; None if it follows from a model."""
        return None

    @property
    def patience(self) -> float | None:
        """Simulations without a larger return after which half of the margin is left; None if it stays as it is."""
        return None

    @property
    def learned(self) -> bool:
        """True if the largest value follows from the returns seen; the lower end is then a plain value."""
        return self.margin is not None

    def bound_params(self, actions: int, trajectories: int | None) -> tuple[float, ...]:
        """Return the numbers that the bound gets as its `params`; without M, as many of them."""
        raise NotImplementedError

    @property
    def doubts(self) -> tuple[str, ...]:
        """Reasons why the bounds may not hold at every moment with a stated probability."""
        raise NotImplementedError


@dataclass(frozen=True)
class KullbackLeibler(Optimism):
    """Bounds over Kullback-Leibler balls around the observed frequencies (Leurent and Maillard 2020).

    Attributes:
        threshold: how far the law of an action may lie from the frequencies observed: "published", 0.1 log M for M
            simulations; `Confidence(delta)`; "none", the frequencies are the law, as they are where nothing is random.
        rewards: the same for mean rewards, as a multiple of log M; 0 for the mean observed.  Only with the published
            threshold: the other ones take outcomes of different reward apart.
    """

    threshold: Any = "published"
    rewards: float = 0.0

    function = staticmethod(divergence_bound)

    def __post_init__(self) -> None:
        make_plain(self)
        check_number("reward_threshold", self.rewards, smallest=0.0)
        if not isinstance(self.threshold, Confidence) and self.threshold not in ("published", "none"):
            raise RecipeError(unknown_name("threshold", self.threshold, ["published", "none", "Confidence(delta)"]))
        if self.threshold != "published" and self.rewards != 0.0:
            raise RecipeError(
                f"reward_threshold={self.rewards!r} belongs to threshold='published'; with {self.threshold!r} "
                "rewards are part of the outcome, so leave it at 0"
            )

    @property
    def rewards_apart(self) -> bool:
        return self.threshold != "published"

    @property
    def needs_trajectories(self) -> bool:
        return self.threshold == "published"

    def bound_params(self, actions: int, trajectories: int | None) -> tuple[float, ...]:
        if isinstance(self.threshold, Confidence):
            return (self.threshold.base(actions), 1.0, 1.0, 0.0, 1.0)
        if self.threshold == "none" or trajectories is None:
            return (0.0, 0.0, 0.0, 0.0, float(self.rewards_apart))
        log_m = math.log(trajectories)
        return (PUBLISHED_FACTOR * log_m, 0.0, 0.0, self.rewards * log_m, 0.0)

    @property
    def doubts(self) -> tuple[str, ...]:
        if self.threshold == "published":
            return ("the published threshold 0.1 log M states no confidence; take threshold=Confidence(delta)",)
        if self.threshold == "none":
            return ("threshold 'none' holds only where the same action always leads to the same state",)
        return ()


@dataclass(frozen=True)
class RewardBound(Optimism):
    """Bounds on mean rewards alone, for sequences of actions (Bubeck and Munos 2010; Leurent and Maillard 2019).

    The lower end of an interval is no bound but the mean sampled return, by which ties in visits are broken.

    Attributes:
        by: "hoeffding", mean + sqrt(2 log M / n) with rewards taken between 0 and 1; "kl", the largest q with
            n kl(mean, q) <= 2 log M + 2 log log M.
    """

    by: Literal["hoeffding", "kl"] = "hoeffding"

    function = staticmethod(reward_bound)
    lower_is_mean = True
    zero_is_a_reward = True  # what follows the end of the process pays 0
    rounding = 1e-12  # bounds by divergence come so close to 1 that rounding would decide between them

    def __post_init__(self) -> None:
        make_plain(self)
        if self.by not in ("hoeffding", "kl"):
            raise RecipeError(unknown_name("bound", self.by, ("hoeffding", "kl")))

    def threshold(self, trajectories: int) -> float:
        """Return what n times the divergence, or n times the squared deviation, may come to."""
        log_m = math.log(trajectories)
        if self.by == "hoeffding":
            return 2.0 * log_m
        return 2.0 * log_m + 2.0 * max(math.log(max(log_m, 1.0)), 0.0)

    def bound_params(self, actions: int, trajectories: int | None) -> tuple[float, ...]:
        return (0.0 if trajectories is None else self.threshold(trajectories), float(self.by == "kl"))

    @property
    def doubts(self) -> tuple[str, ...]:
        return ("only rewards are bounded: the law of the next states is taken to be what was observed",)


def imagined_bound(params, context, visits, outcomes, count, side):
    """Return the mean of r + discount * V(s') over the outcomes seen and some imagined ones of the largest value.

    Outcomes that found no room in memory have the largest value, too.
    """
    weight = params[_WEIGHT] + params[_FLOOR] * context.root_returns_a_node
    total, unstored = weight * context.top, float(visits)
    for i in range(count):
        times = outcomes[_OUTCOME * i + _TIMES]
        total += outcomes[_OUTCOME * i + _REWARD] + context.discount * times * outcomes[_OUTCOME * i + _BEHIND]
        unstored -= times
    return (total + unstored * context.top) / (visits + weight)


@dataclass(frozen=True)
class ImaginedOutcomes(Optimism):
    """Believe that every action has led to the largest value a few times more often than it was tried.

    An optimistic initial model (Szita and Lorincz 2008) whose largest value follows from the returns seen, so that no
    bounds on rewards are needed and the unit of rewards plays no part:

        U(s,a) = (sum of rewards + discount * sum over s' of n(s,a,s') max_b U(s',b) + m Umax) / (n(s,a) + m),
        Umax = largest + margin / (1 + w / (patience (1 + T / N))) * (largest - smallest return-to-go of a simulation),
        m = weight + floor * T / N, for T simulations since the graph was begun and N states that they have met.

    Whether more can be had than this episode's simulations have seen is not known, but each of those that find no more
    makes it less likely; w counts them.  A larger return takes as large a share of w away as it adds to the range.  In
    a small graph Umax hardly falls: w / (T / N) is at most N.

    With a constant m a bonus dies like 1 / n, and one unlucky draw can close an action for good.  As m grows with T,
    an action of which n stayed bounded would come to be worth Umax while the others, tried a constant share of T times,
    stay below: where states are finitely many, every action of every one that can be reached is tried again and again,
    and means over outcomes, with them the plain values that a sweep computes, converge to those of backward induction.
    A large graph takes more simulations to explore than a small one; so m grows with those that come to a state.

    Attributes:
        weight: imagined outcomes at the start of an episode.
        margin: by how much of the range of returns seen the largest value lies above it, at first.
        floor: imagined outcomes that each action gains where there is one more simulation in the graph for each state.
        patience: simulations without a larger return after which half of the margin is left; None if it stays.
    """

    weight: float = 0.3
    margin: float = 1.0
    floor: float = 0.05
    patience: float | None = 300.0

    function = staticmethod(imagined_bound)
    lower_is_mean = True

    def __post_init__(self) -> None:
        make_plain(self)
        for name in ("weight", "margin", "floor"):
            check_number(name, getattr(self, name), smallest=0.0)
        if self.patience is not None:
            check_number("patience", self.patience, smallest=1.0)
        if self.weight == 0.0:
            raise RecipeError("weight must be above 0: without an imagined outcome nothing is optimistic")

    @property
    def needs_trajectories(self) -> bool:
        return False

    def bound_params(self, actions: int, trajectories: int | None) -> tuple[float, ...]:
        return (self.weight, self.floor)

    @property
    def doubts(self) -> tuple[str, ...]:
        return ("an optimistic value is no bound that holds with a stated probability",)


@dataclass(frozen=True)
class Propagation(KnownFields):
    """The reach of a change in a bound.

    Attributes:
        accuracy: a bound that moves by more than this, in units of the range of one reward, is told to the nodes that
            lead there.  With learned values the unit is their range.
        backups: nodes that may be renewed beyond the trail for each of its steps; None for as many as it takes.
    """

    accuracy: float = 0.001
    backups: int | None = None

    def __post_init__(self) -> None:
        make_plain(self)
        if self.backups is not None:
            check_count("backups", self.backups)
        check_number("accuracy", self.accuracy)
        if self.accuracy < _SMALLEST_ACCURACY:
            raise RecipeError(
                f"accuracy must be above 0 and at least {_SMALLEST_ACCURACY:g}, not {self.accuracy!r}: finer than "
                "rounding, partial value iteration on a graph with cycles never ends; 0.001 is the paper's"
            )
