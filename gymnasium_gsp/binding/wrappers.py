"""The wrappers around a user's environment: which change the decision process, and how those are rebuilt.

A planner that ignored a wrapper could plan in another process than the user's, a silent wrong answer.  So each wrapper
either is known to change nothing that a planner sees, or is built again around the private simulator in the same order,
or is refused by name.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field

import gymnasium as gym
from gymnasium import wrappers as gymnasium_wrappers

from gymnasium_gsp.binding.environment import Env, EnvironmentView
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
"""Wrappers of Gymnasium that leave actions, rewards, observations and dynamics alone; see `environment` for limits."""

NEUTRAL_ELSEWHERE = ("stable_baselines3.common.monitor.Monitor", "minari.data_collector.data_collector.DataCollector")
"""The same in other packages, by module and name."""

OBSERVING = ("DelayObservation", "FrameStackObservation", "NormalizeObservation", "TimeAwareObservation")
"""Wrappers of Gymnasium with a memory that changes observations only: they can be left out, not rebuilt."""

STATELESS = ("RepeatAction", "MaxAndSkipObservation")
"""Wrappers of Gymnasium that change the dynamics and remember nothing between steps."""

REMEMBERING = ("StickyAction", "NormalizeReward")
"""Wrappers of Gymnasium with a memory that changes the process and cannot be restored."""

_TRANSFORMS = (gym.RewardWrapper, gym.ActionWrapper, gym.ObservationWrapper)


@dataclass
class SortedWrappers:
    """The wrappers of an environment by what is done with them; names are outermost first.

    Attributes:
        neutral: names of those that change nothing for a planner.
        unseen: names of those that change observations and cannot be rebuilt; harmless only where states are keyed by
            the saved state.
        builders: name and builder of those that are rebuilt around the simulator, innermost first.
    """

    neutral: list[str] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)
    builders: list[tuple[str, Callable[[Env], Env]]] = field(default_factory=list)

    @property
    def rebuilt(self) -> list[str]:
        """Names of the wrappers that are rebuilt, innermost first."""
        return [name for name, _ in self.builders]

    @property
    def observations_agree(self) -> bool:
        """Return whether the simulator shows what the user's environment shows: no wrapper remembers observations."""
        return not self.unseen and "MaxAndSkipObservation" not in self.rebuilt

    def rebuild(self, env: Env) -> Env:
        """Put the wrappers around a bare simulator."""
        for _, build in self.builders:
            env = build(env)
        return env


def sort_wrappers(view: EnvironmentView) -> SortedWrappers:
    """Sort the wrappers around an environment.

    Raises:
        RecipeError: for one that may change the process and cannot be rebuilt, with what to do.
    """
    result = SortedWrappers()
    for wrapper in view.wrappers:
        name, module = type(wrapper).__name__, type(wrapper).__module__
        declared = getattr(wrapper, "gsp_neutral", False) or f"{module}.{name}" in NEUTRAL_ELSEWHERE
        if declared or _is_one_of(wrapper, NEUTRAL):
            result.neutral.append(name)
        elif _is_one_of(wrapper, REMEMBERING):
            raise _refusal(name, "remembers things that a simulation would have to restore")
        elif _is_one_of(wrapper, OBSERVING):
            result.unseen.append(name)
        elif (build := _builder(wrapper)) is not None:
            result.builders.insert(0, (name, build))
        elif _inherits_step(wrapper, gym.ObservationWrapper):
            result.unseen.append(name)
        else:
            raise _refusal(name, "is not known to leave actions, rewards and dynamics alone")
    return result


def _is_one_of(wrapper: gym.Wrapper, names: tuple[str, ...]) -> bool:
    """Return whether a wrapper is exactly one of these classes of Gymnasium, not a subclass of one."""
    kind = type(wrapper)
    ours = kind is getattr(gymnasium_wrappers, kind.__name__, None) or kind.__module__.startswith("gymnasium.wrappers.")
    return kind.__name__ in names and ours


def _inherits_step(wrapper: gym.Wrapper, parent: type[gym.Wrapper]) -> bool:
    """Return whether a wrapper is of this kind and overrides neither its `step` nor its `reset`."""
    kind = type(wrapper)
    return isinstance(wrapper, parent) and kind.step is parent.step and kind.reset is parent.reset


def _builder(wrapper: gym.Wrapper) -> Callable[[Env], Env] | None:
    """A function that puts the same wrapper around another environment, or None if that cannot be done safely."""
    if not any(_inherits_step(wrapper, kind) for kind in _TRANSFORMS) and not _is_one_of(wrapper, STATELESS):
        return None
    make: Callable[..., Env] = type(wrapper)
    if isinstance(wrapper, gym.utils.RecordConstructorArgs):
        arguments = {name: value for name, value in wrapper._saved_kwargs.items() if name != "env"}
        return lambda env: make(env, **arguments)
    parameters = list(inspect.signature(make).parameters.values())
    return make if len(parameters) == 1 or (parameters and parameters[0].name == "args") else None


def _refusal(name: str, reason: str) -> RecipeError:
    return RecipeError(
        f"the wrapper {name} {reason}, so a simulator without it could be another process than yours. Make it a "
        "RewardWrapper, ActionWrapper or ObservationWrapper that inherits from gymnasium.utils.RecordConstructorArgs "
        "(it is then rebuilt around the simulator), set `gsp_neutral = True` on it if it changes nothing, or give "
        "simulator=, a function that returns a private environment with this wrapper's effect built in"
    )
