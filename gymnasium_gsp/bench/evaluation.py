"""Evaluate a planner in an environment, and compare two evaluations that began with the same resets."""

import json
import shlex
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np

from gymnasium_gsp.agents.seeding import episode_seeds
from gymnasium_gsp.algorithms.registry import ALGORITHMS
from gymnasium_gsp.bench.card import Card, Interval
from gymnasium_gsp.bench.cell import Cell, env_id, import_needed, recipe_text
from gymnasium_gsp.bench.episode import Episode, play
from gymnasium_gsp.bench.intervals import (
    CONFIDENCE,
    FEW,
    RESAMPLES,
    bootstrap_interval,
    interquartile_mean,
    is_clear,
    unseen_share,
)
from gymnasium_gsp.bench.provenance import package_of
from gymnasium_gsp.bench.summary import known_optimum
from gymnasium_gsp.bench.texts import arguments_of
from gymnasium_gsp.errors import PlanningError, RecipeError
from gymnasium_gsp.exact import return_discount

INTERVAL = f"bootstrap over episodes, percentiles, {CONFIDENCE:.0%}, {RESAMPLES:,} resamples"
_TASK = ("environment", "environment_arguments", "wrappers", "discount")  # what two cards must share


def evaluate(
    env: str,
    algorithm: str | None = None,
    *,
    budget: Any = None,
    episodes: int = 100,
    seed: int = 0,
    jobs: int = 1,
    modules: Iterable[str] = (),
    **fields: Any,
) -> Card:
    """Play episodes and write down what came of them.

    Args:
        env: id of the environment, short name of a benchmark, or module:Id.
        algorithm: a registered algorithm's name; None for the one that fits.
        budget: number of simulations of a decision, or a `Budget`; None for one that fits the cost of a step.
        episodes: how many to play.
        seed: decides the seeds of environment and agent in each episode.
        jobs: number of processes; they change no return.
        modules: imported first, as they register what is not in this package.
        **fields: further fields of a `Cell`: preset, options, env_options, wrap, simulator.

    Raises:
        RecipeError: for an environment, algorithm, option or number that makes no sense.
        PlanningError: if the environment or a search fails.
    """
    modules = import_needed(env, modules)
    cell = Cell.asked(budget, algorithm, env=env, seed=seed, **fields)
    return make_card(cell, list(play(cell, episodes, jobs, modules)), modules)


def make_card(cell: Cell, episodes: Sequence[Episode], modules: Iterable[str] = ()) -> Card:
    """The card of a cell's episodes, at least one.

    Raises:
        PlanningError: if an episode has no finite return.
    """
    returns = np.array([episode.total_reward for episode in episodes])
    if not np.isfinite(returns).all():
        index = int(np.flatnonzero(~np.isfinite(returns))[0])
        raise PlanningError(f"episode {index} of {cell} has the return {returns[index]}, of which there is no mean")
    decisions = sum(episode.decisions for episode in episodes)
    with closing(cell.make_env()) as env:
        agent, name = cell.make_agent(env), env_id(env)
        reasons = agent.recipe.guarantee
        return Card(
            command=shlex.join(["gsp", "evaluate", *cell.flags(modules), "--episodes", str(len(episodes))]),
            environment=name,
            environment_arguments=arguments_of(cell.env_options),
            environment_package=package_of(type(env.unwrapped)),
            wrappers=tuple(_wrapper_names(env)),
            discount=return_discount(env),
            optimum=known_optimum(env),
            algorithm=cell.algorithm,
            citation=ALGORITHMS[agent.name].citation if agent.name in ALGORITHMS else "",
            preset=cell.preset,
            options=cell.options,
            simulator=cell.simulator,
            recipe=recipe_text(agent),
            covered_by_theorem=not reasons,
            not_covered_because=tuple(reasons),
            budget=cell.budget,
            seed=cell.seed,
            reset_seeds=tuple(episode_seeds(cell.seed, name, episode.index)[0] for episode in episodes),
            returns=tuple(returns.tolist()),
            decisions=tuple(episode.decisions for episode in episodes),
            mean_return=float(returns.mean()),
            mean_interval=bootstrap_interval(returns),
            interquartile_mean=float(interquartile_mean(returns)),
            interquartile_mean_interval=bootstrap_interval(returns, statistic=interquartile_mean),
            interval=INTERVAL,
            seconds_per_decision=sum(episode.seconds for episode in episodes) / decisions,
            simulations_per_decision=sum(episode.simulations for episode in episodes) / decisions,
            versions=json.loads(episodes[0].versions),
            machine=json.loads(episodes[0].machine),
        )


def doubt(returns: Sequence[float]) -> str:
    """A sentence on how little the returns of few episodes, or of alike ones, show; "" for others."""
    count = len(returns)
    words = [f"fewer than {FEW} episodes show little"] if count < FEW else []
    if count > 1 and len(set(returns)) == 1:
        words.append(f"all are equal, and still up to {unseen_share(count):.0%} of episodes may return something else")
    return "; ".join(words)


def _wrapper_names(env: gym.Env[Any, Any]) -> Iterable[str]:
    """Names of an environment's wrappers, outermost first."""
    while isinstance(env, gym.Wrapper):
        yield type(env).__name__
        env = env.env


@dataclass(frozen=True)
class Comparison:
    """Two evaluations, episode by episode.

    Attributes:
        environment: where both were played.
        first, second: the planners.
        mean_difference: mean return of the first minus that of the second, over the shared episodes.
        interval: its bootstrap interval at 95 %; None for fewer than 5 shared episodes.
        episodes: how many reset seeds both were played from.
        clear: whether the interval leaves 0 out and rests on at least 30 episodes.
        notes: what else is different.
    """

    environment: str
    first: str
    second: str
    mean_difference: float
    interval: Interval
    episodes: int
    clear: bool
    notes: tuple[str, ...]

    @property
    def verdict(self) -> str:
        """The difference in words: clear, or how little it shows."""
        if self.clear:
            return "clear"
        if self.episodes < FEW:
            return f"fewer than {FEW} pairs of episodes decide nothing"
        if self.interval == (0.0, 0.0):
            return f"none seen, and still up to {unseen_share(self.episodes):.0%} of episodes may differ"
        return "chance can explain it; more episodes may tell"


def compare(first: Card, second: Card) -> Comparison:
    """Compare two cards over the episodes that began with the same reset seed.

    Raises:
        RecipeError: if they are of different environments, or share no reset seed.
    """
    for field in _TASK:
        theirs = [getattr(card, field) for card in (first, second)]
        if theirs[0] != theirs[1]:
            words = field.replace("_", " ")
            raise RecipeError(f"the cards are of different tasks: their {words}: {theirs[0]!r} and {theirs[1]!r}")
    ours, others = (dict(zip(card.reset_seeds, card.returns, strict=True)) for card in (first, second))
    differences = np.array([value - others[seed] for seed, value in ours.items() if seed in others])
    if not len(differences):
        raise RecipeError(
            f"the cards share no reset seed, so their episodes cannot be paired: they were played with --seed "
            f"{first.seed} and --seed {second.seed}; evaluate both with the same one"
        )
    interval = bootstrap_interval(differences)
    return Comparison(
        first.environment,
        str(first),
        str(second),
        float(differences.mean()),
        interval,
        len(differences),
        interval is not None and is_clear(*interval, len(differences)),
        tuple(_notes(first, second, len(differences))),
    )


def _notes(first: Card, second: Card, shared: int) -> Iterable[str]:
    """Reasons to compare with care."""
    if (first.environment_package, first.versions) != (second.environment_package, second.versions):
        yield "they were played with different versions of the packages"
    if first.machine != second.machine:
        yield "they were played on different machines, so their times and budgets in seconds are not alike"
    alone = max(len(first.returns), len(second.returns)) - shared
    if alone:
        yield f"{alone} of the episodes have no partner and were left out"
