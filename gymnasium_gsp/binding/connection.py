"""The way an environment is planned in: its own compiled model, its table, its RDDL instance, or a simulator."""

import warnings
from collections.abc import Callable
from typing import Any

import gymnasium as gym
from gymnasium import spaces

from gymnasium_gsp.binding.actions import ActionGrid, Actions
from gymnasium_gsp.binding.binding import Binding
from gymnasium_gsp.binding.compiled import CompiledBinding, TableBinding
from gymnasium_gsp.binding.environment import Env, EnvironmentView
from gymnasium_gsp.binding.private_simulator import given_simulator
from gymnasium_gsp.binding.rddl import RDDLBinding, bind_rddl
from gymnasium_gsp.binding.simulated import SimulatedBinding
from gymnasium_gsp.binding.wrappers import sort_wrappers
from gymnasium_gsp.errors import RecipeError


def connect(
    env: Any,
    simulator: Callable[[], Env] | None = None,
    observing: bool = False,
    actions: ActionGrid | None = None,
    **options: Any,
) -> Binding:
    """Bind to an environment by the fastest way that it allows.

    Args:
        env: the environment, wrapped or not.
        simulator: a function that returns a private environment to simulate in; it rules out the compiled ways.
        observing: whether functions of observations are asked during the search.
        actions: of a continuous action space, points in each dimension; None for a grid that refines.
        **options: of `SimulatedBinding`; any of them rules out the compiled ways.

    Raises:
        RecipeError: if there is no way, with what to do.
    """
    view = read_environment(env, actions)
    given = {name: value for name, value in options.items() if value is not None and value != "auto"}
    if simulator is not None or given:
        return _observed(simulate(view, simulator, observing=observing, actions=actions, **given), observing)
    wrappers = sort_wrappers(view)
    if not wrappers.builders and not wrappers.unseen:
        for kind in (CompiledBinding, TableBinding):
            if kind.fits(view.raw):
                return kind(view)
        if RDDLBinding.fits(view.raw):
            return bind_rddl(view, wrappers, observing)
    binding = _observed(SimulatedBinding(view, wrappers, observing=observing, actions=actions), observing)
    if not binding.masked:
        _hint_at_observed_mask(view.env)
    return binding


def _observed(binding: SimulatedBinding, observing: bool) -> SimulatedBinding:
    """The binding, if its simulator shows what the agent sees wherever that is asked for.

    Raises:
        RecipeError: where a wrapper that changes observations is missing.
    """
    if observing and binding.simulator.wrappers.unseen:
        raise RecipeError(
            f"value_function, policy and prior take observations, and {', '.join(binding.simulator.wrappers.unseen)} "
            "cannot be rebuilt around a simulator: leave the wrapper out, and do its work in the function"
        )
    return binding


def read_environment(env: Any, actions: ActionGrid | None = None) -> EnvironmentView:
    """Read an environment, whose actions are numbered; arguments as for `connect`.

    Raises:
        RecipeError: if it is none, or its actions cannot be numbered.
    """
    if isinstance(env, gym.vector.VectorEnv) or (hasattr(env, "num_envs") and hasattr(env, "step_async")):
        raise RecipeError(
            "an agent is bound to one environment, and this is a vector of them; take "
            "gymnasium_gsp.make_vector_agent(envs, ...), which takes the same options"
        )
    if not hasattr(env, "unwrapped") or not hasattr(env, "action_space"):
        raise RecipeError(
            f"an agent is bound to a Gymnasium environment, not to {env!r}; make one with gymnasium.make(...)"
        )
    if actions is not None or not isinstance(env.action_space, spaces.Dict):  # an adapter may be able to list those
        Actions(env.action_space, points=actions)
    return EnvironmentView(env)


def _hint_at_observed_mask(env: Env) -> None:
    """Warn of a mask that only the observation holds, where nothing looks for it."""
    space = env.observation_space
    if isinstance(space, spaces.Dict) and "action_mask" in space.spaces:
        warnings.warn(
            f"{type(env.unwrapped).__name__} observes an action_mask, and masks are read from info alone: give "
            "action_mask=, a function of the bare environment that returns its legal actions",
            RuntimeWarning,
            stacklevel=5,
        )


def simulate(view: EnvironmentView, simulator: Callable[[], Env] | None = None, **options: Any) -> SimulatedBinding:
    """Bind to an environment through a private simulator; arguments and errors as for `connect`."""
    if simulator is None:
        return SimulatedBinding(view, sort_wrappers(view), **options)
    given = given_simulator(simulator, view)
    return SimulatedBinding(view, sort_wrappers(given), given.raw, **options)
