"""Which wrappers of the user's environment change the decision process, and how those are rebuilt on a sibling.

Planning in another process than the user's is a silent wrong answer.  So every layer is either known to change nothing
that a planner sees, or built again around the private sibling in the same order, or refused by name.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import gymnasium as gym
from gymnasium import wrappers as known

from gymnasium_gsp.binding.reading import layers
from gymnasium_gsp.errors import RecipeError

NEUTRAL = (
    "TimeLimit",
    "Autoreset",
    "PassiveEnvChecker",
    "OrderEnforcing",
    "RecordEpisodeStatistics",
    "RecordVideo",
    "HumanRendering",
    "RenderCollection",
    "AddWhiteNoise",
    "ObstructView",
)
"""Wrappers of Gymnasium that leave actions, rewards, observations and dynamics alone; time limits are read off."""

NEUTRAL_ELSEWHERE = ("stable_baselines3.common.monitor.Monitor", "minari.data_collector.data_collector.DataCollector")
"""The same in other packages, by module and name."""

OBSERVING = ("DelayObservation", "FrameStackObservation", "NormalizeObservation", "TimeAwareObservation")
"""Wrappers of Gymnasium that change observations only, but remember things: they can be left out, not rebuilt."""

STATELESS = ("RepeatAction", "MaxAndSkipObservation")
"""Wrappers of Gymnasium that change the dynamics and remember nothing between steps."""

REMEMBERING = ("StickyAction", "NormalizeReward")
"""Wrappers of Gymnasium whose memory changes the process and cannot be restored."""


@dataclass
class Layers:
    """What is to be done with the wrappers around an environment.

    Attributes:
        left_out: names of those that do not matter to a planner, outermost first.
        rebuild: name and builder of those that go around the sibling, innermost first.
        unseen: names of those that change observations and cannot be rebuilt; harmless only where states are keyed by
            what is saved.
    """

    left_out: list[str] = field(default_factory=list)
    rebuild: list[tuple[str, Callable[[Any], Any]]] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)

    @property
    def change_nothing(self) -> bool:
        """Whether the bare environment is the process that the user sees."""
        return not self.rebuild and not self.unseen

    def around(self, sibling: Any) -> Any:
        """The rebuilt layers around a bare sibling."""
        for _, build in self.rebuild:
            sibling = build(sibling)
        return sibling


def read_layers(env: Any) -> Layers:
    """Sort the wrappers around an environment.

    Raises:
        RecipeError: for one that may change the process and cannot be rebuilt, with what to do.
    """
    found = Layers()
    for layer in list(layers(env))[:-1]:
        name = type(layer).__name__
        full_name = f"{type(layer).__module__}.{name}"
        if getattr(layer, "gsp_neutral", False) or _is_known(layer, NEUTRAL) or full_name in NEUTRAL_ELSEWHERE:
            found.left_out.append(name)
        elif _is_known(layer, REMEMBERING):
            raise _refusal(name, "remembers things that a simulation would have to restore")
        elif _is_known(layer, OBSERVING):
            found.unseen.append(name)
        elif (build := _builder(layer)) is not None:
            found.rebuild.insert(0, (name, build))
        elif _only_observes(layer):
            found.unseen.append(name)
        else:
            raise _refusal(name, "is not known to leave actions, rewards and dynamics alone")
    return found


def _is_known(layer: Any, names: tuple[str, ...]) -> bool:
    """Whether a layer is exactly one of these classes of Gymnasium, no subclass of one."""
    name = type(layer).__name__
    if name not in names:
        return False
    return type(layer) is getattr(known, name, None) or type(layer).__module__.startswith("gymnasium.wrappers.")


def _only_observes(layer: Any) -> bool:
    """Whether a layer is an observation wrapper that overrides neither `step` nor `reset`."""
    return isinstance(layer, gym.ObservationWrapper) and _steps_as(layer, gym.ObservationWrapper)


def _steps_as(layer: Any, kind: Any) -> bool:
    return type(layer).step is kind.step and type(layer).reset is kind.reset


def _builder(layer: Any) -> Callable[[Any], Any] | None:
    """A function that puts the same layer around another environment, or None if that cannot be done safely."""
    kinds = (gym.RewardWrapper, gym.ActionWrapper, gym.ObservationWrapper)
    transforms = any(isinstance(layer, kind) and _steps_as(layer, kind) for kind in kinds)
    if not transforms and not _is_known(layer, STATELESS):
        return None
    make: Any = type(layer)
    if isinstance(layer, gym.utils.RecordConstructorArgs):
        arguments = {name: value for name, value in layer._saved_kwargs.items() if name != "env"}
        return lambda env: make(env, **arguments)
    parameters = list(inspect.signature(make).parameters.values())
    if len(parameters) == 1 or (parameters and parameters[0].name == "args"):
        return make
    return None


def _refusal(name: str, reason: str) -> RecipeError:
    return RecipeError(
        f"the wrapper {name} {reason}, so planning below it could be planning in another process than yours. Make it a "
        "RewardWrapper, ActionWrapper or ObservationWrapper that inherits from gymnasium.utils.RecordConstructorArgs "
        "(it is then rebuilt around the simulator), set `gsp_neutral = True` on it if it changes nothing, or give "
        "simulator=, a function that returns a private environment with this wrapper's effect built in"
    )
