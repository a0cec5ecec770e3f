"""The best expected return of an environment: shipped for the default benchmarks, computed for others."""

import json
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import gymnasium as gym
from gymnasium.wrappers import TimeLimit

from gymnasium_gsp.errors import RecipeError
from gymnasium_gsp.exact.dynamic_programming import truncated_value
from gymnasium_gsp.exact.four_rooms import FourRoomsValues, four_rooms_average
from gymnasium_gsp.exact.state_space import LIMIT
from gymnasium_gsp.exact.sysadmin import ring_of, sysadmin_values

Env: TypeAlias = gym.Env[Any, Any]
"""An environment with any observations and actions."""

DATA = Path(__file__).with_name("optima.json")


@cache
def shipped_optima() -> dict[str, float]:
    """Optimal return of each environment of the package with its default arguments, by its id."""
    return dict(json.loads(DATA.read_text())["optima"])


def optimum(env: Env, limit: int = LIMIT) -> float:
    """The optimum of an environment: the best expected return of an episode, from its reset on.

    The return is discounted where the environment says so (`return_discount`), else a plain sum.  Where a reset draws a
    layout, this is the mean over all layouts.  Time limits are kept; other wrappers are not looked at.  What `gym.make`
    makes of a benchmark's id alone is looked up, everything else is computed.

    Args:
        env: an environment that offers `compiled_model()`, as the benchmarks do.
        limit: most states to enumerate.

    Raises:
        RecipeError: if it is no such environment, or the computation is too dear; says why.
    """
    spec = env.spec
    if spec is not None and spec.id in shipped_optima() and not set(spec.kwargs) - {"render_mode"}:
        registered = gym.spec(spec.id).max_episode_steps
        if registered is not None and _time_limit(env) == registered:
            return shipped_optima()[spec.id]
    return compute_optimum(env, limit)


def compute_optimum(env: Env, limit: int = LIMIT) -> float:
    """The optimum as `optimum` gives it, computed even where one is shipped; arguments and errors are the same."""
    core, steps = _core(env), _time_limit(env)
    fresh = core.make_simulator(seed=0)
    fresh.reset(seed=0)
    if fresh.compiled_model().name == "FourRooms":
        return four_rooms_average(core.room_size, core.slip, core.horizon, steps)
    before = fresh.np_random.bit_generator.state
    fresh.reset()
    if fresh.np_random.bit_generator.state != before:
        raise RecipeError(
            f"{type(core).__name__} draws its start or its layout at reset, and how is not known here; "
            "episode_optimum(env) gives the optimum of the present episode"
        )
    return episode_optimum(TimeLimit(fresh, steps), limit)


def episode_optimum(env: Env, limit: int = LIMIT) -> float:
    """The best expected return of what is left of this episode, from the present state on, in the present layout.

    Arguments and errors as for `optimum`.  Called right after a reset, it is the optimum of the layout just drawn.
    """
    core = _core(env)
    state, model = core.clone_state(), core.compiled_model()
    left = _time_limit(env) - state.elapsed
    if state.terminated or left <= 0:
        return 0.0
    if model.name == "SysAdminRing":
        return float(sysadmin_values(*ring_of(model), left)[state.cells[0]])
    if model.name == "FourRooms":
        return FourRoomsValues(model, state.elapsed + left).value(state.cells)
    return truncated_value(model, state.cells, left, return_discount(env), limit=limit)


def return_discount(env: Env) -> float:
    """The discount of the return that an episode is judged by: a benchmark's `discount`, 1 for other environments."""
    core = env.unwrapped
    return float(getattr(core, "discount", 1.0)) if hasattr(core, "compiled_model") else 1.0


def _core(env: Env) -> Any:
    """The environment without wrappers, if it can say what its rules are."""
    core = env.unwrapped
    if not all(hasattr(core, name) for name in ("compiled_model", "clone_state", "make_simulator", "horizon")):
        raise RecipeError(
            f"{type(core).__name__} offers no exact model; optima are computed for environments with compiled_model(), "
            "clone_state(), make_simulator() and horizon, as the benchmarks have them; for a table of transitions take "
            "models.tabular.tabular_model and exact.truncated_value"
        )
    return core


def _time_limit(env: Env) -> int:
    """Steps until truncation: the environment's own horizon, or the shortest time limit around it."""
    steps = int(_core(env).horizon)
    while isinstance(env, gym.Wrapper):
        if isinstance(env, TimeLimit):
            steps = min(steps, env._max_episode_steps)
        env = env.env
    return steps
