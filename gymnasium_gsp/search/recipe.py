"""A recipe: one choice for each slot of trial-based search on a graph.  A named algorithm is such a value.

The frame is trial-based heuristic tree search (Keller and Helmert 2013) on a graph; the slots and what may stand in
them are the fields of `Recipe`.
"""

import math
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, Self

from gymnasium_gsp.errors import KnownFields, RecipeError, check_count
from gymnasium_gsp.search.ingredients.backup import PowerMean
from gymnasium_gsp.search.ingredients.evaluation import (
    Constant,
    Evaluation,
    Heuristic,
    PythonValue,
    Rollout,
    SampledTree,
)
from gymnasium_gsp.search.ingredients.functions import ObservationFunction, ValueFunction
from gymnasium_gsp.search.ingredients.horizon import DEFAULT_DISCOUNT, AdaptiveHorizon, FixedHorizon, Horizon, StepsLeft
from gymnasium_gsp.search.ingredients.ingredient import Custom, as_ingredient, check_choices, check_number, make_plain
from gymnasium_gsp.search.ingredients.optimism import Optimism, Propagation
from gymnasium_gsp.search.ingredients.prior import GumbelHalving
from gymnasium_gsp.search.ingredients.selection import PolynomialBonus, table1_row_failures
from gymnasium_gsp.search.ingredients.switching import Switching
from gymnasium_gsp.search.ingredients.widening import Widening

MOST_LEAVES = 4096
"""Simulations that may wait for their leaves' values at once; each has a trail of its own."""


@dataclass(frozen=True)
class SearchValues(KnownFields):
    """Decide by the values that the search ended with."""


@dataclass(frozen=True)
class Sweep(KnownFields):
    """Decide after a sweep over what the root reaches, deepest first.

    Attributes:
        backup: the sweep's own backup; None for the search's.
        passes: how often it may go over them, until values are as close as the accuracy of the propagation; more than
            once only with learned values, whose states hold no clock.  Where few nodes are reached it goes on until it
            has made a quarter as many updates as the search made steps.
        caution: how many standard errors are taken off a root action's value before the best is recommended, also where
            paired scenarios decide; only with learned values.
        every: simulations after which the search's own backup is swept into the graph in the middle of a decision, too;
            None for only at its end.  Only with present values, which a long search leaves behind the counts.
    """

    backup: Any = None
    passes: int = 1
    caution: float = 0.0
    every: int | None = None

    def __post_init__(self) -> None:
        make_plain(self)
        check_count("passes", self.passes)
        check_number("caution", self.caution, smallest=0.0)
        if self.every is not None:
            check_count("every", self.every)
        if self.backup is not None:
            object.__setattr__(self, "backup", as_ingredient(self.backup, "backup", "backup of a sweep"))


@dataclass(frozen=True)
class PairedScenarios(KnownFields):
    """Compare the root's actions under common random numbers where what exploring meets hardly ever recurs.

    Ng and Jordan 2000 (PEGASUS) and, for who goes on, Karnin, Koren and Somekh 2013; see `search.scenarios`.  They
    decide where both shares below say so, the first over about the last 1,000 tries, the second over about 100 steps.

    Attributes:
        novelty: share of the second to fourth tries of actions, from which on scenarios decide, that led to something
            unknown: an outcome that the action had not had before, and a state that had not been visited once for each
            of its actions, nor 24 times. Where no action was tried again, hardly anything recurs either.
        known: share of exploring steps, from which on they do not, that led to states that had been.
        evidence: exploring steps that must have been made in the episode before they decide.
    """

    novelty: float = 0.5
    known: float = 0.9
    evidence: float = 500.0

    def __post_init__(self) -> None:
        make_plain(self)
        check_number("novelty", self.novelty, smallest=0.0, largest=1.0)
        check_number("known", self.known, smallest=0.0)
        check_number("evidence", self.evidence, smallest=0.0)


@dataclass(frozen=True)
class GreedySimulations(KnownFields):
    """Let some simulations follow the largest plain value, in place of the largest optimistic one.

    They look where the decision will lead, as the trials of RTDP do (Barto, Bradtke and Singh 1995).  In a large space
    optimism finds something unknown everywhere, and without them no path would be looked at twice.

    Attributes:
        every: one simulation in so many is greedy, once the root was visited as often as it has actions; at least 2, so
            that the others explore.
        after: simulations in the graph before the first greedy one.
    """

    every: int = 2
    after: int = 32

    def __post_init__(self) -> None:
        make_plain(self)
        check_count("every", self.every, 2)
        check_count("after", self.after, 0)


_CHOICES = {
    "key": (None, "path", "actions", "state_elapsed", "state"),
    "target": ("value", "return"),
    "estimator": ("running", "current"),
    "expansion": ("leaf", "path"),
    "learning": ("on_the_trail", "at_the_switch"),
    "retention": ("decision", "episode"),
    "recommendation": ("best_value", "most_visits"),
}
_VALUES: dict[str, tuple[type, ...]] = {
    "evaluation": (Rollout, Constant, Heuristic, PythonValue, SampledTree, ValueFunction),
    "horizon": (StepsLeft, FixedHorizon, AdaptiveHorizon),
    "propagation": (Propagation, type(None)),
    "greedy_simulations": (GreedySimulations, type(None)),
    "root_allocation": (PairedScenarios, GumbelHalving, type(None)),
    "widening": (Widening, type(None)),
    "decision": (SearchValues, Sweep),
}
_INGREDIENTS = {
    "selection": "select",
    "root_selection": "select",
    "backup": "backup",
    "prior": "prior",
}
_OF_MEANS = (
    "selection",
    "root_selection",
    "target",
    "backup",
    "estimator",
    "learning",
    "evaluation",
    "decision",
    "keep_variance",
    "prior",
)
"""Slots that mean nothing where a recipe has optimism."""


@dataclass(frozen=True)
class Recipe(KnownFields):
    """One choice for each slot.

    Attributes:
        key: what makes two visits meet in one node: "path" (a tree), "actions" (the actions since the root, whatever
            states they led through), "state_elapsed" (the state at the same time of the episode), "state"; None for
            "state_elapsed" where a time limit is known, else "state".
        selection: which action a simulation tries.
        root_selection: the same at the root; None for `selection`.
        target: what an action's value averages: "value", reward + discount * V(child), or "return", the sampled
            return.
        backup: a node's value from its actions'.
        estimator: "running", the mean of the targets as they were; "current", recomputed from counts and children's
            present values.
        expansion: "leaf", one new node a simulation, then the evaluation; "path", every visited state becomes a node
            and actions are uniform until a known node is met again.
        learning: "on_the_trail", every node of a trail learns from a simulation; "at_the_switch", only the one at the
            switching point of `Switching`.
        evaluation: what a leaf is worth.
        leaf_batch: most leaves that a `ValueFunction` and a prior of observations are asked about in one call, while
            as many simulations wait for the answer; None to ask about one observation at a time.
        horizon: how deep a simulation selects.
        discount: per step; None for 1 where a time limit is known, else 0.99; "from_horizon" for 1 - 1/H with the steps
            H of an episode, 0.99 where no time limit is known.
        optimism: bounds on values in place of means; selection and backup are then theirs, and the model must declare
            reward bounds.  None for means.
        propagation: the reach of a change in a bound, beyond the trail; only with optimism, None for Propagation().
        greedy_simulations: which simulations follow plain values in place of optimism; only with learned values,
            None for none.
        root_allocation: `PairedScenarios` where the root's actions may be compared by them, only with learned values;
            `GumbelHalving` to draw the root's actions by the prior and halve them.
        prior: weights of a node's actions; None for equal ones where something reads a prior.
        widening: how many of its actions a node may try, by its visits; None for all of them.
        retention: "decision", a fresh graph each time; "episode", the graph is kept until the episode ends.
        decision: by the search's own values, or after a sweep.
        recommendation: the action with the best value (with optimism, lower bound) or with the most visits.
        keep_variance: whether a backup of your own gets the variance of the targets per action; null if not.
    """

    key: Literal["path", "actions", "state_elapsed", "state"] | None = None
    selection: Any = PolynomialBonus()
    root_selection: Any = None
    target: Literal["value", "return"] = "value"
    backup: Any = PowerMean()
    estimator: Literal["running", "current"] = "running"
    expansion: Literal["leaf", "path"] = "leaf"
    learning: Literal["on_the_trail", "at_the_switch"] = "on_the_trail"
    evaluation: Evaluation = Rollout()
    leaf_batch: int | None = None
    horizon: Horizon = StepsLeft()
    discount: float | Literal["from_horizon"] | None = None
    optimism: Optimism | None = None
    propagation: Propagation | None = None
    greedy_simulations: GreedySimulations | None = None
    root_allocation: PairedScenarios | GumbelHalving | None = None
    prior: Any = None
    widening: Widening | None = None
    retention: Literal["decision", "episode"] = "decision"
    decision: SearchValues | Sweep = SearchValues()
    recommendation: Literal["best_value", "most_visits"] = "best_value"
    keep_variance: bool = False

    def __post_init__(self) -> None:
        make_plain(self)
        check_choices(self, _CHOICES)
        for slot, kinds in _VALUES.items():
            value = getattr(self, slot)
            if not isinstance(value, kinds):
                names = ", ".join(kind.__name__ for kind in kinds if kind is not type(None))
                raise RecipeError(f"{slot} was given {value!r}; allowed is a value of one of: {names}")
        if not isinstance(self.keep_variance, bool):
            raise RecipeError(f"keep_variance must be True or False, not {self.keep_variance!r}")
        for slot, kind in _INGREDIENTS.items():
            value = getattr(self, slot)
            if value is not None or slot not in ("root_selection", "prior"):
                object.__setattr__(self, slot, as_ingredient(value, kind, slot))
        if self.discount not in (None, "from_horizon"):
            check_number("discount", self.discount, smallest=0.0, largest=1.0)
        if self.optimism is not None:
            self._check_optimism()
        elif self.propagation is not None:
            raise RecipeError("propagation belongs to a recipe with optimism: give optimism=, or leave it out")
        if self.optimism is None or not self.optimism.learned:
            self._check_nothing_learned()
        if isinstance(self.decision, Sweep) and self.decision.every is not None and self.estimator != "current":
            raise RecipeError("every of a sweep brings present values up to date: give estimator='current' with it")
        self._check_prior()
        if self.leaf_batch is not None:
            self._check_leaf_batch()
        if self.learning == "at_the_switch":
            self._check_switching()
        constants = getattr(self.selection, "constants", None)
        if constants is not None and (failures := constants.failures(self.power)):
            raise RecipeError(
                "these constants do not meet the paper's Table 1: "
                + "; ".join(failures)
                + ". Leave `constants` out for the default exponents, or correct the row"
            )

    def _check_nothing_learned(self) -> None:
        if self.greedy_simulations is not None:
            raise RecipeError("greedy_simulations belong to a recipe with optimism=ImaginedOutcomes(): leave them out")
        if isinstance(self.root_allocation, PairedScenarios):
            raise RecipeError("PairedScenarios belongs to a recipe with optimism=ImaginedOutcomes(): leave it out")
        if isinstance(self.decision, Sweep) and self.decision.passes > 1:
            raise RecipeError(
                f"a sweep of {self.decision.passes} passes belongs to a recipe with optimism=ImaginedOutcomes(); "
                "elsewhere it is one pass"
            )
        if isinstance(self.decision, Sweep) and self.decision.caution > 0.0:
            raise RecipeError("caution of a sweep belongs to a recipe with optimism=ImaginedOutcomes(): leave it out")

    def _check_prior(self) -> None:
        if self.prior is not None and not self.keeps_prior:
            raise RecipeError(
                f"nothing in this recipe reads a prior: use the algorithm puct, or selection=PUCT() in place of "
                f"{self.selection!r}"
            )
        if isinstance(self.root_allocation, GumbelHalving) and (
            self.root_selection is not None or self.recommendation != "best_value" or self.optimism is not None
        ):
            raise RecipeError(
                "GumbelHalving chooses the root's actions and decides by itself, without bounds: leave root_selection, "
                "recommendation and optimism out"
            )

    def _check_leaf_batch(self) -> None:
        check_count("leaf_batch", self.leaf_batch, largest=MOST_LEAVES)
        if not isinstance(self.evaluation, ValueFunction):
            raise RecipeError(
                f"leaf_batch asks a function about several observations at once, and the evaluation is "
                f"{self.evaluation!r}: give value_function= with it"
            )
        swept = getattr(self.decision, "every", None) is not None
        if self.expansion != "leaf" or self.learning != "on_the_trail" or swept or self.backup.reads_notes:
            raise RecipeError(
                "with leaf_batch simulations wait while others descend: that takes expansion='leaf', "
                "learning='on_the_trail', no backup=SoftValue() and no sweep in the middle of a decision"
            )

    def _check_switching(self) -> None:
        if self.target != "return" or self.estimator != "running":
            raise RecipeError(
                "learning='at_the_switch' averages sampled returns: it takes target='return' and estimator='running'"
            )
        if not isinstance(self.selection, Switching) or self.root_selection is not None:
            raise RecipeError(
                "learning='at_the_switch' learns at the switching points of selection=Switching(), without a "
                f"root_selection; not of {self.selection!r}"
            )

    def _check_optimism(self) -> None:
        if not isinstance(self.optimism, Optimism):
            raise RecipeError(
                f"optimism was given {self.optimism!r}; allowed is a value of KullbackLeibler, RewardBound"
            )
        if self.optimism.learned and (self.key != "state" or not isinstance(self.decision, Sweep)):
            raise RecipeError(
                f"{type(self.optimism).__name__} decides by plain values that a sweep brings up to date: give "
                'key="state" and decision=Sweep(Cautious())'
            )
        if self.key not in ("state", "actions"):
            raise RecipeError(f"optimism keeps bounds by key='state' or key='actions', not by {self.key!r}")
        if self.discount == "from_horizon" and not self.optimism.learned:
            raise RecipeError(
                'discount="from_horizon" belongs to a recipe with optimism=ImaginedOutcomes(); bounds from declared '
                "rewards need the discount beforehand, for instance 0.99"
            )
        if self.discount is None or (not isinstance(self.discount, str) and self.discount >= 1.0):
            raise RecipeError(
                f"discount must be at least 0 and below 1, not {self.discount!r}: bounds on a sum of rewards without "
                "end need a discount, for instance 0.99"
            )
        for field in fields(self):
            swept = self.optimism.learned and field.name == "decision"
            if not swept and field.name in _OF_MEANS and getattr(self, field.name) != field.default:
                raise RecipeError(
                    f"{field.name} means nothing to a recipe with optimism, which chooses, backs up and decides by its "
                    "bounds: leave it out"
                )

    def changed(self, **slots: Any) -> Self:
        """Return the same recipe with other choices in the given slots.

        Raises:
            RecipeError: for a slot that does not exist.
        """
        return replace(self, **slots)

    @property
    def power(self) -> float:
        """The power p of the backup; 1 where the backup is no power mean."""
        return self.backup.p if isinstance(self.backup, PowerMean) else 1.0

    def discount_in(self, steps: int | None) -> float:
        """Return the discount in episodes of so many steps, at least 1; None where no time limit is known."""
        if self.discount is None or isinstance(self.discount, str):
            if steps is None:
                return DEFAULT_DISCOUNT
            return 1.0 if self.discount is None else 1.0 - 1.0 / steps
        return float(self.discount)

    @property
    def functions(self) -> tuple[ObservationFunction, ...]:
        """The Python functions of observations in its slots."""
        slots = (self.evaluation, getattr(self.evaluation, "policy", None), self.prior)
        return tuple(function for function in slots if isinstance(function, ObservationFunction))

    @property
    def keeps_prior(self) -> bool:
        """True if something reads a prior over a node's actions."""
        selections = [part for part in (self.selection, self.root_selection) if part is not None and part.reads_prior]
        custom = all(isinstance(part, Custom) for part in selections)
        return isinstance(self.root_allocation, GumbelHalving) or bool(selections and (self.prior or not custom))

    @property
    def needs_edges(self) -> bool:
        """True if outcomes are stored: for present values, bounds, a sweep, or to know what a root still reaches."""
        kept_by_state = self.key == "state" and self.retention == "episode"
        swept = isinstance(self.decision, Sweep)
        return self.estimator == "current" or self.optimism is not None or swept or kept_by_state

    @property
    def looks_to_the_end(self) -> bool:
        """True if every return counts all that is left of the episode, wherever the horizon lies."""
        plays_out = isinstance(self.evaluation, Rollout) and self.evaluation.steps is None
        return self.target == "return" and self.estimator == "running" and plays_out

    @property
    def guarantee(self) -> tuple[str, ...]:
        """Reasons why the paper's convergence theorem does not cover this recipe; empty where it does.

        With optimism, reasons why its bounds may fail.  Rows of Table 1 are named with their depth; with the default
        exponents b_(h+1) = 4 b_h + 1 from a b_0 just above 2, the best that any b_0 can do.
        """
        failed = []
        if self.key == "actions":
            failed.append("action keys mix states: the best sequence of actions is found, not the best policy")
        if self.optimism is not None:
            return (*failed, *(() if failed else self.optimism.doubts))
        if not isinstance(self.selection, PolynomialBonus):
            failed.append("the selection is not the polynomial bonus of eq. action_selection")
        elif self.selection.constants is None:
            failed += _default_table1_failures(self.power, self.horizon)
        if not isinstance(self.backup, PowerMean):
            failed.append("the backup is not a power mean")
        if self.target != "value":
            failed.append("the target is the sampled return, not reward + discount * V(child)")
        if self.key == "state":
            failed.append("state keys mix remaining horizons: the limit carries the cross-depth gap")
        if self.expansion != "leaf":
            failed.append("path expansion chooses uniform actions below a new node, which the theorem does not treat")
        return tuple(failed)

    def settled(self, timed: bool) -> "Recipe":
        """Return the recipe with nothing left open: key and discount as they are with or without a known time limit.

        Raises:
            RecipeError: if a kept graph would mix values that look to different ends.
        """
        key = self.key or ("state_elapsed" if timed else "state")
        discount = (1.0 if self.discount is None else self.discount) if timed else self.discount_in(None)
        adaptive = isinstance(self.horizon, AdaptiveHorizon) and discount != 1.0
        moving_end = not timed or (not self.looks_to_the_end and (adaptive or isinstance(self.horizon, FixedHorizon)))
        if key == "state_elapsed" and self.retention == "episode" and moving_end:
            raise RecipeError(
                "a graph keyed by (state, elapsed steps) stays valid only while the end is fixed, and here it moves "
                "with the root: use retention='decision', key='state', or a time limit with horizon=StepsLeft()"
            )
        return self.changed(key=key, discount=discount)


def _default_table1_failures(p: float, horizon: Any) -> list[str]:
    """The first row of Table 1 that the default exponents break for the power p, if any, with its depth."""
    depths = horizon.depth if isinstance(horizon, FixedHorizon) else 3
    b = math.nextafter(2.0, 3.0)
    for h in range(min(depths, 3)):
        beta = 4.0 * b
        failures = table1_row_failures(h, beta / 2.0, beta, b, p)
        if failures:
            return failures[:1]
        b = beta + 1.0
    return []
