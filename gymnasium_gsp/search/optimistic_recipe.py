"""The recipes of the loop of bounds: how wide an interval is, how long a trajectory, how far news travels."""

import math
from dataclasses import dataclass
from typing import Any, Literal

from gymnasium_gsp.errors import RecipeError, unknown_name
from gymnasium_gsp.search.bounded import check_discount, check_horizon
from gymnasium_gsp.search.horizon import AdaptiveHorizon
from gymnasium_gsp.search.ingredients import check_choices, check_number, make_plain
from gymnasium_gsp.search.recipe import Changeable


@dataclass(frozen=True)
class Confidence:
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
        """The part of beta that neither the node nor the number of samples changes."""
        return math.log(2.0 * actions / self.delta)


_TO_THE_BUDGET = AdaptiveHorizon()

PUBLISHED_FACTOR = 0.1  # the published threshold on transitions is this times log M


_CHOICES = {
    "expansion": ("path", "leaf"),
    "retention": ("episode", "decision"),
    "recommendation": ("best_value", "most_visits"),
}


@dataclass(frozen=True)
class Optimistic(Changeable):
    """A search that keeps an upper and a lower bound for every state and action: GBOP and its deterministic form.

    Attributes:
        discount: per step, at least 0 and below 1.
        accuracy: a bound that moves by more than this, in units of the range of one reward, is told to the nodes that
            lead there.
        threshold: how far the law of an action may lie from the frequencies observed: "published", 0.1 log M for M
            trajectories; `Confidence(delta)`; "none", the frequencies are the law, as they are where nothing is random.
        reward_threshold: the same for mean rewards, as a multiple of log M; 0 for the mean observed.  Only with the
            published threshold: the other ones take outcomes of different reward apart.
        horizon: how long a trajectory is; `AdaptiveHorizon()` is L(M) = ceil(log M / (2 log 1/discount)).
        expansion: "path", a trajectory goes on to its end; "leaf", it ends with the first action that it tries anew.
        retention: "episode", what is known is kept until the episode ends; "decision", a fresh graph each time.
        recommendation: the action whose lower bound is largest, or the one with the most visits.
    """

    discount: float = 0.99
    accuracy: float = 0.001
    threshold: Any = "published"
    reward_threshold: float = 0.0
    horizon: Any = _TO_THE_BUDGET
    expansion: Literal["path", "leaf"] = "path"
    retention: Literal["episode", "decision"] = "episode"
    recommendation: Literal["best_value", "most_visits"] = "best_value"

    def __post_init__(self) -> None:
        make_plain(self)
        check_discount(self.discount)
        check_number("accuracy", self.accuracy)
        if self.accuracy <= 0.0:
            raise RecipeError(
                f"accuracy must be above 0, not {self.accuracy!r}: with 0, partial value iteration on a graph with "
                "cycles goes on until no digit changes; 0.001 is the paper's"
            )
        check_number("reward_threshold", self.reward_threshold, smallest=0.0)
        if not isinstance(self.threshold, Confidence) and self.threshold not in ("published", "none"):
            raise RecipeError(unknown_name("threshold", self.threshold, ["published", "none", "Confidence(delta)"]))
        if self.threshold != "published" and self.reward_threshold != 0.0:
            raise RecipeError(
                f"reward_threshold={self.reward_threshold!r} belongs to threshold='published'; with {self.threshold!r} "
                "rewards are part of the outcome, so leave it at 0"
            )
        check_horizon(self.horizon)
        check_choices(self, _CHOICES)

    @property
    def key(self) -> str:
        """What makes two visits meet in one node: the state."""
        return "state"

    @property
    def guarantee(self) -> tuple[str, ...]:
        """What keeps the bounds from holding at every moment with a stated probability; empty where they do."""
        failed = []
        if self.threshold == "published":
            failed.append("the published threshold 0.1 log M states no confidence; take threshold=Confidence(delta)")
        if self.threshold == "none":
            failed.append("threshold 'none' holds only where the same action always leads to the same state")
        return tuple(failed)
