"""The private sibling in which simulations run: how it is made, what goes around it, and how it reaches the root."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np

from gymnasium_gsp.binding.adapters.adapter import Adapter
from gymnasium_gsp.binding.wrappers import Layers, read_layers
from gymnasium_gsp.errors import PlanningError, RecipeError


@dataclass
class Sibling:
    """A private environment of the user's kind.

    Attributes:
        env: with the rebuilt wrappers around it; what is stepped.
        raw: the bare environment; what is saved and restored.
        adapter: how.
        layers: what became of the user's wrappers.
        origin: where it came from, in words.
        first_info: the info of its first reset.
        snapshot: the root of the present search.
    """

    env: Any
    raw: Any
    adapter: Adapter
    layers: Layers
    origin: str
    first_info: dict[str, Any]
    snapshot: Any = None

    def restore(self) -> None:
        """Go to the root, and draw anew what is hidden there."""
        self.adapter.load(self.raw, self.snapshot)
        self.adapter.redraw(self.raw)

    def observe(self) -> Any:
        """The observation of the present state through the rebuilt wrappers, as the user's environment shows it."""
        observation = self.adapter.observe(self.raw)
        if self.adapter.outermost:
            return observation
        layer, above = self.env, []
        while layer is not self.raw:
            above.append(layer)
            layer = layer.env
        for layer in reversed(above):
            if isinstance(layer, gym.ObservationWrapper):
                observation = layer.observation(observation)
        return observation

    @property
    def shows_all(self) -> bool:
        """Whether `observe` tells what the user's environment shows: no layer remembers observations."""
        return not self.layers.unseen and all(name != "MaxAndSkipObservation" for name, _ in self.layers.rebuild)


def make_sibling(env: Any, adapter: Adapter, simulator: Any = None) -> Sibling:
    """A sibling of an environment, reset, with the wrappers that matter around it.

    Args:
        env: the user's environment.
        adapter: the one that fits it.
        simulator: a function without arguments that returns a private environment of the same kind; wrappers that
            matter are then those it has.  None to make one from the environment.

    Raises:
        RecipeError: if none can be made, or it has other spaces than the user's environment.
    """
    layers = read_layers(env) if simulator is None else Layers()
    raw, origin = _given(simulator, env) if simulator is not None else _made(env.unwrapped, adapter)
    if simulator is not None:
        layers, raw = read_layers(raw), raw.unwrapped
    if raw is env.unwrapped:
        raise RecipeError(
            "simulator= returned the user's own environment; it must return a new one, as simulations run in it"
        )
    outer = layers.around(raw)
    same_observations = outer.observation_space == env.observation_space or layers.unseen
    if outer.action_space != env.action_space or not same_observations:
        raise RecipeError(
            f"the simulator made for {type(env.unwrapped).__name__} ({origin}) has other spaces than the environment: "
            f"{outer.action_space} and {outer.observation_space}, not {env.action_space} and {env.observation_space}; "
            "give simulator=, a function that returns a private environment with the same arguments"
        )
    info = _first_reset(outer, origin)
    adapter.prepare(outer, env.unwrapped)
    return Sibling(outer, raw, adapter, layers, origin, info)


def _first_reset(sibling: Any, origin: str) -> dict[str, Any]:
    """Reset a new sibling and return the info of it."""
    name = type(sibling.unwrapped).__name__
    try:
        answer = sibling.reset(seed=0)
    except Exception as error:  # a third party's reset may want anything
        raise RecipeError(
            f"the simulator made for {name} ({origin}) cannot be reset(seed=0): {type(error).__name__}: {error}. Give "
            "simulator=, a function that returns a private environment which can"
        ) from error
    if not isinstance(answer, tuple | list) or len(answer) != 2:
        raise RecipeError(
            f"{name}: reset returned a {type(answer).__name__}; it must return (observation, info). For environments "
            "of the old gym there is the package shimmy"
        )
    return answer[1] if isinstance(answer[1], dict) else {}


def _given(simulator: Any, env: Any) -> tuple[Any, str]:
    if not callable(simulator):
        raise RecipeError(
            "simulator must be a function without arguments that returns a private environment, not "
            f"{simulator!r}; for example simulator=lambda: {type(env.unwrapped).__name__}()"
        )
    made = simulator()
    if not isinstance(made, gym.Env) or type(made.unwrapped) is not type(env.unwrapped):
        raise RecipeError(
            f"simulator= returned {made!r}, and a simulator of {type(env.unwrapped).__name__} must be another one"
        )
    return made, "a function given as simulator="


def _made(raw: Any, adapter: Adapter) -> tuple[Any, str]:
    sibling = adapter.sibling(raw, 0)
    if sibling is not None:
        return sibling.unwrapped, "its own make_simulator" if hasattr(raw, "make_simulator") else "its adapter"
    make, known, origin = _maker(raw)
    try:
        return make(**known).unwrapped, origin
    except Exception as error:  # a third party's constructor may want anything
        raise RecipeError(
            f"no simulator of {type(raw).__name__} can be made by {origin}: {type(error).__name__}: {error}. Give "
            f"simulator=, for example lambda: {type(raw).__name__}(...)"
        ) from error


def _maker(raw: Any) -> tuple[Callable[..., Any], dict[str, Any], str]:
    """What makes another environment like this one, its arguments, and that in words."""
    if raw.spec is not None:
        return raw.spec.make, {"render_mode": None} if "render_mode" in raw.spec.kwargs else {}, "its spec"
    make: Callable[..., Any] = type(raw)
    parameters = inspect.signature(make).parameters.values()
    named = [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    known = {p.name: vars(raw)[p.name] for p in named if p.name in vars(raw) and p.name != "render_mode"}
    if missing := [p.name for p in named if p.default is p.empty and p.name not in known]:
        raise RecipeError(
            f"{type(raw).__name__} is not registered and its constructor wants {', '.join(missing)}, so no simulator "
            f"can be made: give simulator=, for example lambda: {type(raw).__name__}(...), or register it and use "
            "gymnasium.make"
        )
    described = ", ".join(f"{name}={value!r}" for name, value in known.items())
    return make, known, f"its class{f', with the attributes {described}' if known else ''}"


def check_step(answer: Any, name: str) -> None:
    """Refuse what is no answer of `step`.

    Raises:
        PlanningError: says what came.
    """
    if not isinstance(answer, tuple | list) or len(answer) != 5:
        size = f" of {len(answer)}" if hasattr(answer, "__len__") else ""
        raise PlanningError(
            f"{name}: step returned a {type(answer).__name__}{size}; it must return (observation, reward, terminated, "
            "truncated, info)"
        )


def check_reward(reward: Any, name: str) -> float:
    """A reward as a float.

    Raises:
        PlanningError: if it is no finite number.
    """
    try:
        number = float(np.asarray(reward).reshape(()))
    except (TypeError, ValueError):
        number = float("nan")
    if not np.isfinite(number):
        raise PlanningError(f"{name}: step returned the reward {reward!r}; a reward is a finite number")
    return number
