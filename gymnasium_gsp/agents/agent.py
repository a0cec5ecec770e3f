"""The agent: bound to one environment, it replans at every step and answers with an action."""

import inspect
import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import gymnasium as gym
import numpy as np

from gymnasium_gsp.agents.action_names import action_names
from gymnasium_gsp.agents.batch import unbatch
from gymnasium_gsp.agents.defaults import OtherRecipe, fit, other_recipe
from gymnasium_gsp.agents.functions import ObservedValue, ObservedWeights, check_spaces, with_functions
from gymnasium_gsp.agents.preset_file import is_preset_file, read_preset
from gymnasium_gsp.agents.seeding import agent_stream, fresh_seed, simulator_seed
from gymnasium_gsp.algorithms.registry import DEFAULT_ALGORITHM, ingredients_of, make_recipe
from gymnasium_gsp.binding.actions import ActionGrid
from gymnasium_gsp.binding.binding import Root
from gymnasium_gsp.binding.connection import connect
from gymnasium_gsp.binding.simulated import ActionMask, SimulatedBinding, StateKey
from gymnasium_gsp.errors import PlanningError, RecipeError, check_count
from gymnasium_gsp.inspector.graph import SearchGraph, read_graph
from gymnasium_gsp.models.legal import legal_actions
from gymnasium_gsp.models.model import Model, RewardBounds
from gymnasium_gsp.search.budget import Budget, Progress, as_budget
from gymnasium_gsp.search.ingredients.ingredient import Ingredient
from gymnasium_gsp.search.recipe import Recipe
from gymnasium_gsp.search.result import SearchResult
from gymnasium_gsp.search.search import Search
from gymnasium_gsp.search.store import MEMORY, SMALLEST_MEMORY

OnProgress = Callable[[Progress], Any]
"""Called between chunks of a search; a true answer stops it."""


class Agent:
    """Plans in the environment it is bound to, and never changes it.

    Attributes:
        recipe: how it plans.
        budget: what each decision may spend; may be changed between decisions.
        name: the algorithm's name, or "recipe".
        chosen: the options that were not given and were chosen to fit the environment, by name.

    Args:
        env: the environment, wrapped or not.
        recipe: how to plan.
        budget: what each decision may spend; None to choose it by what a step costs, see `agents.defaults`.
        seed: seed of the agent's own stream, unrelated to the environment's; None for entropy.
        max_nodes: cap on stored nodes; None for what fits into `memory`.
        memory: bytes that the graph may take.
        on_progress: called between chunks of a search; a true answer stops it.
        name: name of the algorithm in `describe`.
        keep_outcomes: whether outcomes are stored even if the recipe does not need them, for `graph`.
        commit: whether an action that simulations hold is held in the environment too, without a decision in between.
        other: the recipe of another algorithm, to choose it where states do not recur; None to keep `recipe`.
        trial: whether the claims that planning rests on are tried first, on a simulator, which takes steps.
        **binding: how the environment is read and simulated, see `binding.connection.connect`.
    """

    def __init__(
        self,
        env: gym.Env,
        recipe: Recipe,
        budget: Budget | None = None,
        seed: int | None = None,
        max_nodes: int | None = None,
        memory: int = MEMORY,
        on_progress: OnProgress | None = None,
        name: str = "recipe",
        keep_outcomes: bool = False,
        hold: int | None = None,
        commit: bool | None = None,
        other: OtherRecipe | None = None,
        trial: bool = True,
        **binding: Any,
    ) -> None:
        self.on_progress = on_progress
        self._result: SearchResult | None = None
        check_spaces(recipe, env)
        if commit not in (None, True, False):
            raise RecipeError(f"commit must be True, False or None, not {commit!r}; hold= says for how many steps")
        self._binding = connect(env, observing=bool(recipe.functions), hold=hold, **binding)
        self._action_names = action_names(env) or self._binding.actions.names()
        if trial and isinstance(self._binding, SimulatedBinding):
            self._binding.warn_of_failed_claims()
        self.budget, self.recipe, self.chosen = fit(self._binding, recipe, budget, hold, commit, other)
        self.name = self.chosen.get("algorithm", name)
        self.commit = self.chosen.get("commit", bool(commit))
        self._max_nodes = None if max_nodes is None else check_count("max_nodes", max_nodes)
        self._memory = check_count("memory", memory, SMALLEST_MEMORY)
        self._keep_outcomes = keep_outcomes
        self._search: Search | None = None
        self.reset(fresh_seed(seed))

    @property
    def result(self) -> SearchResult:
        """The answer of the last search.

        Raises:
            PlanningError: before the first decision, and after one that failed.
        """
        if self._result is None:
            raise PlanningError("there is no result before the first decision or after one that failed; call act()")
        return self._result

    @property
    def root(self) -> Root | None:
        """The state that the last decision planned from, with the model; None before the first decision."""
        return self._last_root

    @property
    def simulates(self) -> bool:
        """True if planning steps a private environment, and False if it runs a compiled model."""
        return isinstance(self._binding, SimulatedBinding)

    def graph(self, steps: int | None = None) -> SearchGraph:
        """The graph of the last search: what its root reaches, copied.

        Args:
            steps: how many steps from the root outcomes are followed; all of them if None.

        Raises:
            PlanningError: if there is none: before the first decision, where the episode had ended, in an agent that
                was pickled since, or where states are shared and no outcomes stored.
        """
        if self.result.stopped_by == "terminal" or self._search is None:
            raise PlanningError("there is no searched graph: the last decision searched nothing, or was made elsewhere")
        return read_graph(self._search, self.result, steps)

    def reset(self, seed: int | None = None) -> None:
        """Begin a new episode; with a seed, begin the agent's stream anew."""
        if seed is not None:
            self._seed, self._episode = fresh_seed(seed), -1
        self._last_root: Root | None = None
        self._acted, self._taken = False, 0
        self._binding.begin_episode()

    def act(self, observation: object, info: dict[str, Any] | None = None) -> Any:
        """Plan from the environment's present state and return the recommended action, as its `step` takes it."""
        if self._is_held(observation, info):
            number = self.result.action
        else:
            number, self._taken = self.plan(observation, info).action, 0
        self._acted, self._taken = True, self._taken + 1
        self._binding.action_taken(number)
        return self._binding.actions[number]

    def _is_held(self, observation: object, info: dict[str, Any] | None) -> bool:
        """Return whether the last action goes on, as the agent has committed to it."""
        last = self._last_root
        if not self.commit or last is None or not 0 < self._taken < self._binding.hold:
            return False
        root = self._binding.root(observation, info)
        return not root.terminated and (not root.steps_counted or root.elapsed == last.elapsed + self._taken)

    def any_action(self) -> Any:
        """Some action, without planning; for a state in which the episode has ended."""
        return self._binding.actions[0]

    def plan(self, observation: object, info: dict[str, Any] | None = None) -> SearchResult:
        """Plan from the environment's present state.

        Args:
            observation: what the environment last returned; checked against its state.
            info: what came with it; needed where it holds the "action_mask".

        Raises:
            gymnasium.error.ResetNeeded: if the environment has not been reset.
            PlanningError: if the observation is not the environment's, or the search failed.
        """
        self._result = None
        root = self._binding.root(observation, info)
        self._binding.check_observation(observation, root)
        if self._begins_episode(root):
            self._begin_episode(root)
        search = self._bound_search(root)
        same_root = self._is_last_root(root) and (not self._acted or root.steps_counted)
        before, self._last_root, self._acted = (self._last_root, self._acted), root, False
        hold = self._binding.hold
        elapsed, steps_left = _in_decisions(root, hold)
        try:
            budget = as_budget(self.budget).in_decisions(hold)
            result = search.plan(root.cells, budget, elapsed, steps_left, same_root, self.on_progress)
        except RecipeError:  # refused before anything was searched, so the graph still stands at the root before
            self._last_root, self._acted = before
            raise
        self._result = replace(result, action_names=self._action_names, model_steps=hold * result.model_steps)
        self._warn_of_untried_actions(root, result)
        return self._result

    def predict(
        self, observation: object, state: object = None, episode_start: object = None, deterministic: bool = True
    ) -> tuple[Any, Any]:
        """The action in the shape that Stable-Baselines3 expects of a model: with a leading axis if given one.

        Raises:
            RecipeError: if the batch holds more than one observation; an agent is bound to one environment.
        """
        single, batched = unbatch(self._binding.view.env.observation_space, observation)
        if episode_start is not None and np.any(np.asarray(episode_start)):
            self.reset()
        action = np.asarray(self.act(single))
        return (action[None] if batched else action[()]), state

    def describe(self) -> dict[str, Any]:
        """Algorithm, environment, model, time limit, and the settled recipe by slot, in words."""
        return {
            "algorithm": self.name,
            **self._binding.describe(),
            "recipe": ingredients_of(self.recipe.settled(self._binding.time_limit is not None)),
            "budget": repr(self.budget),
            **({"chosen": {name: repr(value) for name, value in self.chosen.items()}} if self.chosen else {}),
            "not covered by the theorem because": list(self.recipe.guarantee),
        }

    def __repr__(self) -> str:
        return f"<Agent {self.name} in {self._binding.view.name}, {self.budget}>"

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the graph: an unpickled agent begins its episode anew."""
        return {**self.__dict__, "_search": None, "_last_root": None, "_acted": False, "_taken": 0, "on_progress": None}

    def _warn_of_untried_actions(self, root: Root, result: SearchResult) -> None:
        """Say that there are more actions than simulations, where nothing chooses among them."""
        chosen = self.recipe.widening is not None or self.recipe.keeps_prior or result.stopped_by == "terminal"
        if chosen or result.simulations >= (actions := root.model.actions):
            return
        if (legal_actions(root.model, root.cells.tolist()) & (result.visit_counts == 0)).any():
            warnings.warn(
                f"{self._binding.view.name} has {actions} actions, and a decision fewer simulations, so some are never "
                "tried: give a larger budget, or widening=Widening(), which tries some of them more often",
                RuntimeWarning,
                stacklevel=3,
            )

    def _is_last_root(self, root: Root) -> bool:
        """Return whether nothing has happened since the last decision."""
        last = self._last_root
        return last is not None and last.elapsed == root.elapsed and bool((last.cells == root.cells).all())

    def _begins_episode(self, root: Root) -> bool:
        last = self._last_root
        if last is None or last.model is not root.model or root.elapsed < last.elapsed:
            return True
        if (last.steps_left is None) != (root.steps_left is None):  # a time limit was set, or dropped
            self._search = None
            return True
        return root.steps_counted and root.elapsed == 0 and self._acted

    def _begin_episode(self, root: Root) -> None:
        self._episode += 1
        if self._search is not None and self._search.model is root.model:
            self._search.begin_episode()
        else:
            self._search = None
        self._bound_search(root).seed(agent_stream(self._seed, self._episode))
        self._binding.seed(simulator_seed(self._seed, self._episode))

    def _bound_search(self, root: Root) -> Search:
        if self._search is None:
            timed = root.steps_left is not None
            self._search = Search(
                root.model,
                self.recipe,
                timed,
                self._max_nodes,
                self._memory,
                keep_outcomes=self._keep_outcomes,
                observe=self._binding.observation,
                coarse_first=self._binding.actions.refine,
            )
        return self._search


def _in_decisions(root: Root, hold: int) -> tuple[int, int | None]:
    """Steps since reset and until the time limit, where an action is held for so many of them."""
    if root.terminated or root.steps_left is None:
        return root.elapsed // hold, 0 if root.terminated else None
    left = -(-root.steps_left // hold)
    return -(-(root.elapsed + root.steps_left) // hold) - left, left


def make_agent(
    env: gym.Env,
    algorithm: str | Recipe | None = None,
    *,
    budget: int | Budget | None = None,
    seed: int | None = None,
    preset: str | os.PathLike[str] | None = None,
    max_nodes: int | None = None,
    memory: int = MEMORY,
    on_progress: OnProgress | None = None,
    simulator: Callable[[], gym.Env] | None = None,
    state_key: StateKey = "auto",
    hold: int | None = None,
    commit: bool | None = None,
    action_mask: ActionMask | None = None,
    reward_bounds: RewardBounds | None = None,
    actions: ActionGrid | None = None,
    value_function: ObservedValue | None = None,
    policy: ObservedWeights | None = None,
    prior: ObservedWeights | Ingredient | None = None,
    leaf_batch: int | None = None,
    keep_outcomes: bool = False,
    **overrides: Any,
) -> Agent:
    """Make an agent that plans in `env`.

    Args:
        env: a Gymnasium environment, wrapped or not, whose actions are discrete or a Box with bounds.
        algorithm: a registered algorithm's name, or a recipe; None for "graft", or where states do not recur for
            "gs-power-uct-f", or "uct-max" if that is due to noise.
        budget: what each decision may spend: a number of simulations, or a `Budget`.  If it is not given, it is chosen
            by what a step costs: simulations of a compiled model, or model steps of a Python simulator and a depth
            that fits, for about a tenth of a second; `describe()` says what was chosen.
        seed: seed of the agent's own random stream; None for entropy.
        preset: a named set of options for this environment, or a file of them as `gsp tune` writes it, NAME.toml.
        max_nodes: cap on stored nodes; None for what fits into `memory`.
        memory: bytes that the graph may take.
        on_progress: called between chunks of a search with a `Progress`; a true answer stops it.
        simulator: a function that returns a private environment to simulate in; None to make one where one is needed.
        state_key: in a simulator, the identity of a state: an `ObservationKey`, `Cells`, or a function of (bare
            environment, observation); "exact" for the saved state, or the observation where that is not enough;
            "actions" for the actions since the root; "auto" for what a probe finds to fit.
        hold: in a simulator, steps of the environment for which simulations hold an action; None for what fits.
        commit: whether the environment's actions are held for as long, too, with one decision for all of these steps;
            False to decide anew at each step, None for what fits.
        action_mask: in a simulator, a function of the bare environment that returns its legal actions; None to read
            `info["action_mask"]` where there is one.
        reward_bounds: in a simulator, smallest and largest reward of one step, if known; a finite p > 1 needs them
            where rewards may be negative.
        actions: how many points of a continuous action space are tried in each dimension, both bounds included, or a
            sequence with a number for each; None for a grid that refines, of which a state that is visited more often
            gets more, see `Widening`.
        value_function: a function of an observation that returns what a leaf is worth, the discounted return to expect
            from there; it takes the place of playouts.
        policy: a function of an observation that returns each action's probability, which playouts follow.
        prior: the same for where to search first; asked once for a state, by algorithms such as "puct" and "gumbel".
        leaf_batch: most leaves of a decision that `value_function` and `prior` are asked about in one call; they then
            get observations with a leading axis, and return as many rows.  None to ask about one at a time.
        keep_outcomes: whether outcomes are stored even if the recipe does not need them, so that `graph()` has them;
            it takes memory and changes no result.
        **overrides: options of the algorithm, or slots of the recipe.

    Raises:
        RecipeError: for an unknown name, preset or option (with the nearest), or values that make no sense; before
            anything is compiled.
    """
    env_id = getattr(getattr(env, "spec", None), "id", None)
    if preset is not None and not isinstance(algorithm, Recipe) and is_preset_file(preset):
        overrides = {**read_preset(preset, algorithm or DEFAULT_ALGORITHM, env_id), **overrides}
        saved = overrides.pop("actions", None)
        actions = saved if actions is None else actions
        preset = None
    named = None if preset is None else str(preset)
    given = DEFAULT_ALGORITHM if algorithm is None else algorithm
    recipe = make_recipe(given, preset=named, env_id=env_id, others=OWN_OPTIONS, **overrides)
    recipe = with_functions(recipe, value_function, policy, prior, leaf_batch)
    functions = value_function, policy, prior
    free = algorithm is None and preset is None and all(function is None for function in functions)
    return Agent(
        env,
        recipe,
        None if budget is None else as_budget(budget),
        seed,
        max_nodes,
        memory,
        on_progress,
        name=given if isinstance(given, str) else "recipe",
        simulator=simulator,
        state_key=state_key,
        hold=hold,
        commit=commit,
        other=other_recipe(overrides) if free else None,
        action_mask=action_mask,
        reward_bounds=reward_bounds,
        actions=actions,
        keep_outcomes=keep_outcomes,
    )


OWN_OPTIONS = tuple(
    name
    for name, parameter in inspect.signature(make_agent).parameters.items()
    if parameter.kind is parameter.KEYWORD_ONLY
)
"""The options that `make_agent` takes itself, beside those of an algorithm."""


def plan(
    model: Model,
    state: Any,
    algorithm: str | Recipe = DEFAULT_ALGORITHM,
    budget: int | Budget = 256,
    seed: int | None = None,
    *,
    elapsed: int = 0,
    steps_left: int | None = None,
    max_nodes: int | None = None,
    memory: int = MEMORY,
    on_progress: OnProgress | None = None,
    value_function: ObservedValue | None = None,
    policy: ObservedWeights | None = None,
    prior: ObservedWeights | Ingredient | None = None,
    leaf_batch: int | None = None,
) -> SearchResult:
    """Plan once from a state of a model, without any environment.

    Args:
        model: a `CompiledModel`, for instance from `tabular_model`.
        state: the root, a whole number or `model.width` of them.
        algorithm: a registered algorithm's name, or a recipe.
        budget: a number of simulations, or a `Budget`.
        seed: seed of the search's stream; None for entropy.
        elapsed: steps since the start of the episode.
        steps_left: steps until the time limit; None if there is none.
        max_nodes: cap on stored nodes; None for what fits into `memory`.
        memory: bytes that the graph may take.
        on_progress: called between chunks with a `Progress`; a true answer stops the search.
        value_function: as for `make_agent`, a function of the state as it is given here.
        policy: the same.
        prior: the same.
        leaf_batch: as for `make_agent`.
    """
    allowance, number = as_budget(budget), fresh_seed(seed)
    elapsed = check_count("elapsed", elapsed, 0)
    steps_left = None if steps_left is None else check_count("steps_left", steps_left, 0)
    recipe = with_functions(make_recipe(algorithm), value_function, policy, prior, leaf_batch)

    def observe(cells: Sequence[int]) -> Any:
        return cells[0] if len(cells) == 1 else np.array(cells, np.int64)

    search = Search(model, recipe, steps_left is not None, max_nodes, memory, observe=observe)
    cells = model.cells(state)
    search.seed(agent_stream(number, 0))
    ended = model.terminal is not None and model.terminal(cells)
    return search.plan(cells, allowance, elapsed, 0 if ended else steps_left, on_progress=on_progress)
