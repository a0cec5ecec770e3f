"""The recipe of BRUE, and the front that runs it."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from gymnasium_gsp.search import switching
from gymnasium_gsp.search.engine import Search
from gymnasium_gsp.search.evaluation import Rollout
from gymnasium_gsp.search.horizon import StepsLeft
from gymnasium_gsp.search.program import Assembly, assemble
from gymnasium_gsp.search.recipe import Changeable, Recipe
from gymnasium_gsp.search.selection import Uniform


@dataclass(frozen=True)
class Switching(Changeable):
    """Explore uniformly to a switching point, follow the best estimates behind it, and learn at that point alone.

    The action with the best estimate is recommended; visits say nothing, as they are uniform.

    Attributes:
        horizon: how deep a simulation goes; the switching points take turns over all its steps.
        evaluation: what is left of the return there.
        discount: per step; None for 1 where a time limit is known, else 0.99.
        retention: "decision", each decision starts afresh; "episode", estimates are kept until the episode ends.
    """

    counts_every_simulation = False  # only those that switch at the root

    horizon: Any = StepsLeft()
    evaluation: Any = Rollout()
    discount: float | None = None
    retention: Literal["decision", "episode"] = "decision"

    def __post_init__(self) -> None:
        checked = self.searched()
        object.__setattr__(self, "discount", checked.discount)

    @property
    def key(self) -> str:
        """What makes two visits meet in one node: the state at the same time of the episode."""
        return "state_elapsed"

    @property
    def guarantee(self) -> tuple[str, ...]:
        """What the paper's bound on the simple regret does not cover."""
        return ("the bound holds for states to the end of the process, not for a leaf that a playout evaluates",)

    @property
    def plays_to_the_end(self) -> bool:
        """Whether every return counts all that is left of the episode, wherever the root stands."""
        return isinstance(self.evaluation, Rollout) and self.evaluation.steps is None

    def searched(self) -> Recipe:
        """The slots that this loop shares with a `Recipe`, checked as there."""
        return Recipe(
            key="state_elapsed",
            selection=Uniform(),
            target="return",
            evaluation=self.evaluation,
            horizon=self.horizon,
            discount=self.discount,
            retention=self.retention,
        )

    def settled(self, timed: bool) -> "Switching":
        """The recipe with its discount as it is with or without a known time limit.

        Raises:
            RecipeError: if kept estimates would mix returns that look to different ends.
        """
        frame = self.searched()
        if self.plays_to_the_end:
            frame = frame.changed(horizon=StepsLeft())
        return self.changed(discount=frame.settled(timed).discount)


def assemble_switching(model: Any, recipe: Switching) -> Assembly:
    """Bind a recipe to a model."""
    return assemble(model, recipe.searched())


class SwitchingSearch(Search):
    """A planner by switching points, for one model; arguments as for `Search`."""

    assemble: ClassVar[Any] = staticmethod(assemble_switching)
    loop: ClassVar[Any] = staticmethod(switching.search)
