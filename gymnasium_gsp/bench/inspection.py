"""Decisions of a planner recorded for the inspector: graph, picture, exact values and heat maps."""

import base64
import io
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import gymnasium as gym
import numpy as np

from gymnasium_gsp.agents.agent import Agent, OnProgress
from gymnasium_gsp.agents.seeding import episode_seeds
from gymnasium_gsp.bench.cell import Cell, env_id
from gymnasium_gsp.bench.texts import arguments_of
from gymnasium_gsp.envs.grid import GridEnv
from gymnasium_gsp.errors import RecipeError, noting
from gymnasium_gsp.exact import HorizonValues, backward_induction, enumerate_model
from gymnasium_gsp.exact.elimination import can_eliminate, has_wide_rows
from gymnasium_gsp.inspector.graph import SearchGraph
from gymnasium_gsp.inspector.page import MOST_NODES, MOST_WHOLE, Decision, Heat, cells_text, heat_of

PIXELS = 440  # width of a picture
MOST_STATES = 20_000  # that exact values are computed for


def with_pictures(cell: Cell, order: tuple[str, ...] = ("rgb_array", "ansi")) -> Cell:
    """The cell with an environment that shows itself in the first of these ways that it can, else not at all."""
    with closing(cell.make_env()) as env:
        modes = env.metadata.get("render_modes", [])
    pictures = find_spec("pygame") is not None and find_spec("PIL") is not None
    for mode in order:
        if mode in modes and (pictures or mode == "ansi"):
            return cell.changed(env_options={**arguments_of(cell.env_options), "render_mode": mode})
    return cell


@dataclass(frozen=True)
class Moment:
    """An episode between a decision and its step, or at its end.

    Attributes:
        env, agent: the environment before the step, and its planner.
        step: steps taken.
        total: return so far.
        seconds: that the searches took so far.
        ended: whether the episode has ended; the agent's result is then that of the last decision.
    """

    env: gym.Env[Any, Any]
    agent: Agent
    step: int
    total: float
    seconds: float
    ended: bool = False


def moments(cell: Cell, on_progress: OnProgress | None = None) -> Iterator[Moment]:
    """Play the first episode of a cell: a moment after each decision, and one at the end.

    Args:
        cell: what to play; see `with_pictures`.
        on_progress: called between chunks of a search.
    """
    with closing(cell.make_env()) as env:
        raw: Any = env.unwrapped
        if isinstance(getattr(raw, "render_size", None), int):
            raw.render_size = PIXELS
        env_seed, agent_seed = episode_seeds(cell.seed, env_id(env), 0)
        agent = cell.make_agent(env, keep_outcomes=True)
        agent.on_progress = on_progress
        observation, info = env.reset(seed=env_seed)
        agent.reset(seed=agent_seed)
        step, total, seconds, done = 0, 0.0, 0.0, False
        while not done:
            with noting(f"in a simulation, while step {step + 1} was planned"):
                action = agent.act(observation, info)
            seconds += agent.result.seconds
            yield Moment(env, agent, step, total, seconds)
            with noting(f"in step {step + 1} of the real environment"):
                observation, reward, terminated, truncated, info = env.step(action)
            total += float(reward)
            step, done = step + 1, terminated or truncated
        yield Moment(env, agent, step, total, seconds, ended=True)


def decisions(
    cell: Cell,
    first: int = 0,
    last: int | None = None,
    whole: int | None = None,
    show: Callable[[int, str], object] = lambda done, note: None,
) -> Iterator[Decision]:
    """Play the first episode of a cell, and record its decisions.

    Args:
        cell: what to play; see `with_pictures`.
        first: step of the first decision to record; those before it are played, too.
        last: step of the last; None for all until the episode ends.
        whole: the step whose graph is drawn whole, up to MOST_WHOLE nodes; others show the MOST_NODES most visited.
        show: told how many decisions were made, with a note.
    """
    oracle = None
    for moment in moments(cell):
        if moment.ended or (last is not None and moment.step > last):
            break
        show(moment.step + 1, f"return so far {moment.total:.4g}")
        if moment.step == 0:
            oracle = exact_values(moment.agent)
        if moment.step >= first:
            yield _recorded(moment, oracle, MOST_WHOLE if moment.step == whole else MOST_NODES)
    if moment.step < first or (moment.ended and moment.step == first):
        raise RecipeError(f"the episode had ended after {moment.step} steps; there is no decision at step {first}")


def exact_values(agent: Agent) -> HorizonValues | None:
    """The exact values from an agent's root on, where its model has a law that can be enumerated and a time limit."""
    root = agent.root
    if root is None or not root.steps_left or getattr(root.model, "law", None) is None:
        return None
    try:
        if can_eliminate(root.model) and has_wide_rows(root.model, root.cells):
            return None
        space = enumerate_model(root.model, root.cells, root.steps_left, MOST_STATES)
        return backward_induction(space, root.steps_left, _discount(agent))
    except RecipeError:
        return None


def _discount(agent: Agent) -> float:
    """The discount that an agent with a time limit plans with."""
    root = agent.root
    assert root is not None
    assert root.steps_left is not None
    return agent.recipe.discount_in(root.elapsed + root.steps_left)


def _recorded(moment: Moment, oracle: HorizonValues | None, most: int) -> Decision:
    graph, raw, root = moment.agent.graph(), moment.env.unwrapped, moment.agent.root
    exact = oracle.q_values(root.cells, moment.step) if oracle is not None and root is not None else None
    name = getattr(raw, "state_name", None)
    by_state = graph.states.shape[1] > 0 and callable(name)
    return Decision(
        graph=graph,
        step=moment.step,
        total=moment.total,
        picture=picture_of(moment.env),
        exact=exact,
        discount=1.0 if exact is None else _discount(moment.agent),
        heat=_heat(graph, raw),
        state_name=name if by_state and name is not None else cells_text,
        most=most,
    )


def picture_of(env: gym.Env[Any, Any]) -> str:
    """What an environment shows, as an image's data URI or as text; empty if it shows nothing."""
    if env.render_mode is None:
        return ""
    shown = env.render()
    if not isinstance(shown, np.ndarray):
        return str(shown or "")
    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(shown).quantize(128).save(buffer, "PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()


def _heat(graph: SearchGraph, raw: Any) -> Heat | None:
    if not isinstance(raw, GridEnv) or not graph.states.shape[1]:
        return None
    return heat_of(graph, graph.states[:, 0] % raw.places, raw.columns, raw.places)
