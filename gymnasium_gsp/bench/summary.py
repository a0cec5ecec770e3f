"""The outcome of a run: totals and means over its episodes, beside the exact optimum."""

from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np

from gymnasium_gsp.agents.agent import Agent
from gymnasium_gsp.bench.cell import Cell, env_id, recipe_text
from gymnasium_gsp.bench.episode import Episode
from gymnasium_gsp.bench.published import competition
from gymnasium_gsp.bench.texts import limits_of
from gymnasium_gsp.errors import RecipeError
from gymnasium_gsp.exact import optimum, return_discount


def summarise(cell: Cell, agent: Agent, env: gym.Env[Any, Any], episodes: Sequence[Episode]) -> dict[str, Any]:
    """The object that `gsp run --json` prints.

    Args:
        cell: what was played.
        agent: an agent that it made.
        env: the environment that this agent is bound to.
        episodes: those that were played, at least one.

    Returns:
        `env, agent, preset, budget, episodes, seed`: what was run; `agent` is "recipe" for a recipe, `budget` a number
        of simulations, or the limits by name.
        `discount`: of the return.
        `mean_return, standard_error`: of the return of an episode; no error for a single one.
        `optimum`: exact optimum of the environment, or its mean over the layouts played; None where it is not known.
        `optimum_of_all_layouts`: its mean over all layouts that a reset can draw; None where it draws none.
        `mean_regret, regret_standard_error`: of the sum over an episode's decisions of V*(s) - Q*(s, a), which has the
        mean of optimum - return and less noise; None without an exact oracle.
        `decisions, simulations, model_steps`: totals.
        `seconds`: total wall-clock time of planning, summed over jobs.
        `nodes_per_decision`: mean number of nodes added by a decision.
        `recipe`: how the agent planned, as the call that makes it.
    """
    returns = np.array([episode.total_reward for episode in episodes])
    regrets = np.array([episode.regret for episode in episodes if episode.regret is not None])
    names = ("decisions", "simulations", "model_steps", "seconds", "nodes")
    layouts = [episode.optimum for episode in episodes if episode.optimum is not None]
    totals = {name: sum(getattr(episode, name) for episode in episodes) for name in names}
    return {
        "env": env_id(env),
        "agent": agent.name,
        "preset": cell.preset or None,
        "budget": limits_of(agent.budget),
        "episodes": len(episodes),
        "seed": cell.seed,
        "discount": return_discount(env),
        "mean_return": float(returns.mean()),
        "standard_error": standard_error(returns),
        "optimum": float(np.mean(layouts)) if layouts else known_optimum(env),
        "optimum_of_all_layouts": known_optimum(env) if layouts else None,
        "mean_regret": float(regrets.mean()) if len(regrets) else None,
        "regret_standard_error": standard_error(regrets),
        "nodes_per_decision": totals.pop("nodes") / totals["decisions"],
        **totals,
        "recipe": recipe_text(agent),
    }


def known_optimum(env: gym.Env[Any, Any]) -> float | None:
    """The exact optimum of an environment; None where it is not known, and where wrappers may change the rules."""
    if env.spec is not None and env.spec.additional_wrappers:
        return None
    instance = competition().get(env_id(env))
    if instance is not None:
        assert env.spec is not None
        return instance.optimum if env.spec.kwargs == gym.spec(env.spec.id).kwargs else None
    try:
        return optimum(env)
    except RecipeError:
        return None


def standard_error(samples: np.ndarray) -> float | None:
    """Standard error of the mean of independent samples; None for a single one."""
    if len(samples) < 2:
        return None
    if np.ptp(samples) == 0.0:
        return 0.0  # exactly, where the mean of equal numbers rounds
    return float(samples.std(ddof=1) / np.sqrt(len(samples)))
