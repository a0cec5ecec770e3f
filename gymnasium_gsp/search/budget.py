"""Budget: what a decision may spend, and what it has spent so far."""

import math
from dataclasses import dataclass, fields, replace
from typing import Any, Self

from gymnasium_gsp.errors import KnownFields, RecipeError, check_count


@dataclass(frozen=True)
class Budget(KnownFields):
    """The limits of one decision; the first to be reached ends the search.

    Simulations, model steps and nodes are never exceeded: a simulation that runs out of model steps is backed up
    from where it stands, one that runs out of nodes goes on without adding any.  Seconds are exceeded by at most
    5 ms and one simulation of a compiled model, or one step of a Python simulator.  A budget in nodes alone also ends
    where most simulations have added none.  Only this decision's own work counts, not what a kept graph brings along.

    Attributes:
        simulations: trajectories from the root.
        model_steps: calls of the model's step, rollouts included.
        seconds: wall-clock time; the only limit that is not reproducible.
        nodes: new nodes.
    """

    simulations: int | None = None
    model_steps: int | None = None
    seconds: float | None = None
    nodes: int | None = None

    def __post_init__(self) -> None:
        for name in ("simulations", "model_steps", "nodes"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, check_count(f"budget: {name}", value, advice=_ADVICE))
        if self.seconds is not None:
            seconds = self.seconds
            if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0.0 < seconds < math.inf:
                raise RecipeError(f"budget: seconds must be a finite number above 0, not {seconds!r}")
        if all(getattr(self, field.name) is None for field in fields(self)):
            raise RecipeError("an empty budget would search for ever: give simulations, model_steps, seconds or nodes")

    def in_decisions(self, hold: int) -> Self:
        """The same where a step of the model holds an action for so many steps of the environment; at least one."""
        steps = self.model_steps
        return self if steps is None or hold == 1 else replace(self, model_steps=max(1, steps // hold))


_ADVICE = "; for a time limit give Budget(seconds=...)"


def as_budget(value: Any) -> Budget:
    """A budget as given, or a number of simulations."""
    if isinstance(value, Budget):
        return value
    return Budget(simulations=check_count("budget: simulations", value, advice=_ADVICE))


@dataclass(frozen=True)
class Progress:
    """The work of a search so far, given to `on_progress` between two chunks of it.

    Attributes:
        simulations, model_steps, seconds, nodes: spent in this decision.
    """

    simulations: int
    model_steps: int
    seconds: float
    nodes: int
