"""The private environment in which simulations run: made, wrapped as the user's, and restored to the root."""

import inspect
from collections.abc import Callable
from typing import Any

import gymnasium as gym

from gymnasium_gsp.binding.adapters.adapter import Adapter, NoObservation
from gymnasium_gsp.binding.environment import BareEnv, Env, EnvironmentView
from gymnasium_gsp.binding.shared import changed_outside, outside_state, private_copy, separate
from gymnasium_gsp.binding.wrappers import SortedWrappers
from gymnasium_gsp.errors import RecipeError


class PrivateSimulator:
    """A private environment of the user's kind, reset, with the wrappers that matter around it.

    Attributes:
        env: the wrapped environment; what is stepped.
        raw: the bare environment; what is saved and restored.
        adapter: how it is saved and restored.
        wrappers: what became of the user's wrappers.
        origin: how it was made, in words.
        first_info: the info of its first reset.
        observers: the rebuilt wrappers that only change observations, innermost first.
        snapshot: the root of the present search.

    Args:
        view: the user's environment.
        wrappers: its wrappers, or those of the simulator that the user gave.
        adapter: the one that fits.
        given: the bare simulator that the user gave; None to make one.

    Raises:
        RecipeError: if none can be made or reset, or it has other spaces than the user's environment.
    """

    def __init__(
        self, view: EnvironmentView, wrappers: SortedWrappers, adapter: Adapter, given: BareEnv | None = None
    ) -> None:
        before = outside_state(view.raw)
        made = _make(view.raw, adapter) if given is None else (given, "a function given as simulator=")
        self.raw, self.origin = made
        separate(self.raw, view.raw)
        self.adapter, self.wrappers = adapter, wrappers
        self.env = wrappers.rebuild(self.raw)
        self.snapshot: object = None
        rebuilt = reversed(EnvironmentView(self.env).wrappers)
        self.observers = [wrapper for wrapper in rebuilt if isinstance(wrapper, gym.ObservationWrapper)]
        env = view.env
        same_observations = self.env.observation_space == env.observation_space or wrappers.unseen
        if self.env.action_space != env.action_space or not same_observations:
            raise RecipeError(
                f"the simulator made for {type(view.raw).__name__} ({self.origin}) has other spaces than the "
                f"environment: {self.env.action_space} and {self.env.observation_space}, not {env.action_space} and "
                f"{env.observation_space}; give simulator=, a function that returns a private environment with the "
                "same arguments"
            )
        self.first_info = _reset(self.env, self.origin)
        if changed := changed_outside(view.raw, before):
            raise RecipeError(
                f"making a simulator of {type(view.raw).__name__} has changed {changed}, which every "
                "environment of this kind shares: keep it in self, and set it in reset()"
            )
        adapter.prepare(self.env, view.raw)

    def restore(self) -> None:
        """Go to the root, and draw anew what is hidden there."""
        self.adapter.load(self.raw, self.snapshot)
        self.adapter.redraw_hidden(self.raw)

    def skip_observations(self) -> None:
        """Stop computing observations, if they are not used."""
        self.adapter.skip_observations(self.raw)
        for wrapper in self.observers:
            vars(wrapper)["observation"] = NoObservation()

    def observe(self) -> object:
        """The observation of the present state through the rebuilt wrappers, as the user's environment shows it."""
        observation = self.adapter.observe(self.raw)
        for wrapper in () if self.adapter.observes_wrapped else self.observers:
            observation = wrapper.observation(observation)
        return observation


def given_simulator(simulator: object, view: EnvironmentView) -> EnvironmentView:
    """Make and read the private environment that a user's function returns.

    Raises:
        RecipeError: if it is no function, or returns something else or the user's own environment.
    """
    name = type(view.raw).__name__
    if not callable(simulator):
        raise RecipeError(
            f"simulator must be a function without arguments that returns a private environment, not {simulator!r}; "
            f"for example simulator=lambda: {name}()"
        )
    try:
        made = simulator()
    except Exception as error:  # a user's function may raise anything
        raise RecipeError(
            f"simulator= raised {type(error).__name__}: {error}; it must be a function without arguments that returns "
            f"a private environment; for example simulator=lambda: {name}()"
        ) from error
    if not isinstance(made, gym.Env) or type(made.unwrapped) is not type(view.raw):
        raise RecipeError(f"simulator= returned {made!r}, and a simulator of {name} must be another one")
    if made.unwrapped is view.raw:
        raise RecipeError(
            "simulator= returned the user's own environment; it must return a new one, as simulations run in it"
        )
    return EnvironmentView(made)


def _reset(env: Env, origin: str) -> dict[str, Any]:
    """Reset a new simulator and return the info."""
    name = type(env.unwrapped).__name__
    try:
        answer: object = env.reset(seed=0)
    except Exception as error:  # a third party's reset may raise anything
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


def _make(raw: BareEnv, adapter: Adapter) -> tuple[BareEnv, str]:
    """A bare simulator, and its origin in words."""
    simulator = adapter.make_simulator(raw, 0)
    if simulator is not None:
        return simulator.unwrapped, "its own make_simulator" if hasattr(raw, "make_simulator") else "its adapter"
    make, arguments, origin = _constructor(raw)
    try:
        return make(**arguments).unwrapped, origin
    except Exception as error:  # a third party's constructor may raise anything
        raise RecipeError(
            f"no simulator of {type(raw).__name__} can be made by {origin}: {type(error).__name__}: {error}. Give "
            f"simulator=, for example lambda: {type(raw).__name__}(...)"
        ) from error


def _constructor(raw: BareEnv) -> tuple[Callable[..., Env], dict[str, Any], str]:
    """The function that makes another environment like this one, its arguments, and both in words."""
    if raw.spec is not None:
        return raw.spec.make, {"render_mode": None} if "render_mode" in raw.spec.kwargs else {}, "its spec"
    make: Callable[..., Env] = type(raw)
    parameters = inspect.signature(make).parameters.values()
    named = [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    known = {p.name: vars(raw)[p.name] for p in named if p.name in vars(raw) and p.name != "render_mode"}
    try:
        known = private_copy(None, known)
    except Exception as error:  # a third party's object may raise anything
        raise RecipeError(
            f"the arguments {', '.join(known)} of {type(raw).__name__} cannot be copied for a simulator: {error}. Give "
            "simulator=, a function that returns a private environment with objects of its own"
        ) from error
    if missing := [p.name for p in named if p.default is p.empty and p.name not in known]:
        raise RecipeError(
            f"{type(raw).__name__} is not registered and its constructor wants {', '.join(missing)}, so no simulator "
            f"can be made: give simulator=, for example lambda: {type(raw).__name__}(...), or register it and use "
            "gymnasium.make"
        )
    described = ", ".join(f"{name}={value!r}" for name, value in known.items())
    return make, known, f"its class{f', with the attributes {described}' if known else ''}"
