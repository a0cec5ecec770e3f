"""One cell of a benchmark, as a value with one canonical text for each of its fields.

A cell is the key of a benchmark everywhere: the command line, grid files, the store, the report and tuning.
"""

import importlib
import re
import sys
from collections.abc import Callable, Iterable
from contextlib import closing
from importlib.util import find_spec
from inspect import signature
from typing import Annotated, Any, Self

import gymnasium as gym
from gymnasium.envs.registration import load_env_creator
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from gymnasium_gsp.agents.agent import Agent
from gymnasium_gsp.agents.defaults import other_recipe
from gymnasium_gsp.agents.preset_file import is_preset_file, read_preset
from gymnasium_gsp.agents.seeding import check_seed
from gymnasium_gsp.agents.values import parse_value
from gymnasium_gsp.algorithms.registry import DEFAULT_ALGORITHM, make_recipe
from gymnasium_gsp.bench.texts import LARGEST, arguments_of, arguments_text, budget_text, options_of, options_text
from gymnasium_gsp.envs import ENVIRONMENTS
from gymnasium_gsp.errors import RecipeError, unknown_name
from gymnasium_gsp.search.budget import Budget, as_budget

_BINDING_OPTIONS = ("actions", "state_key", "hold", "commit")  # how the environment is read and simulated
_NOT_OPTIONS = ("algorithm", "preset", "env_id")  # fields of a cell that `make_recipe` takes beside the options

_FAMILIES = (  # ids, the extra with their package, its module, and whether Gymnasium registers them without it
    (r"(MiniGrid|BabyAI)-", "minigrid", "minigrid", False),
    (r"(highway|exit|intersection|lane-keeping|merge|parking|racetrack|roundabout|two-way|u-turn)-", "highway",
     "highway_env", False),
    (r"ALE/|\w+NoFrameskip-", "atari", "ale_py", False),
    (r"LunarLander|BipedalWalker|CarRacing", "box2d", "Box2D", True),
)  # fmt: skip


class Checked(BaseModel):
    """A frozen value that refuses bad input with one sentence.

    Raises:
        RecipeError: for an unknown field (names the nearest), a missing one, or a value that makes no sense.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise RecipeError(_sentence(error, type(self))) from None

    def changed(self, **values: Any) -> Self:
        """The same with other values in some fields, checked again."""
        return type(self)(**{**dict(self), **values})


def _sentence(error: ValidationError, kind: type[BaseModel]) -> str:
    """One mistake that pydantic found, a misspelt key before all else: what was given, and what is allowed."""
    first = min(error.errors(), key=lambda mistake: mistake["type"] != "extra_forbidden")
    name, *inner = first["loc"] or ("",)
    where = f"{name} {inner[0] + 1}: " if inner and isinstance(inner[0], int) else ""
    cause = first.get("ctx", {}).get("error")
    if isinstance(cause, RecipeError):
        return f"{where}{cause}"
    if first["type"] == "extra_forbidden":
        return unknown_name("key", name, [item.alias or field for field, item in kind.model_fields.items()])
    if first["type"] == "missing":
        return f"there is no {name}"
    return f"{where or f'{name}: '}{first['msg'].lower()}, not {first['input']!r}"


def import_modules(modules: Iterable[str]) -> None:
    """Import the modules that register environments and algorithms of others.

    Raises:
        RecipeError: if one cannot be imported.
    """
    for module in modules:
        try:
            importlib.import_module(module)
        except Exception as error:
            raise RecipeError(
                f"{module} cannot be imported: {type(error).__name__}: {error}; a module is found in the current "
                "folder or where Python looks, PYTHONPATH included"
            ) from error


def needed_modules(env: str, modules: Iterable[str] | None) -> list[str]:
    """What must be imported before an environment is made: the modules that were given, and the one before its id."""
    return list(dict.fromkeys(filter(None, [*(modules or ()), env.rpartition(":")[0]])))


def import_needed(env: str, modules: Iterable[str] | None) -> list[str]:
    """Import what must be imported before an environment is made; returns the modules."""
    needed = needed_modules(env, modules)
    import_modules(needed)
    return needed


def registered_id(env: Any) -> str:
    """The id of an environment for a benchmark's short name, an id, or module:Id, whose module is imported."""
    module, _, name = str(env).rpartition(":")
    if module:
        import_modules([module])
    return {entry.name: entry.id for entry in ENVIRONMENTS}.get(name, name)


def _function_name(given: Any) -> Any:
    """The name of a function as module:function; "" for none."""
    if given not in (None, "") and not re.fullmatch(r"[\w.]+:[A-Za-z_]\w*", str(given)):
        raise RecipeError(f"a function is named module:function, such as my_wrappers:with_frames, not {given!r}")
    return given or ""


def find_function(name: str) -> Callable[..., Any]:
    """The function that module:function names; the module is imported.

    Raises:
        RecipeError: if there is no such module or function; names the nearest.
    """
    module, _, function = name.partition(":")
    import_modules([module])
    known = {key: value for key, value in vars(sys.modules[module]).items() if callable(value)}
    if function not in known:
        raise RecipeError(unknown_name(f"function of {module}", function, known))
    return known[function]


def _algorithm_text(given: Any) -> Any:
    """The name of an algorithm, or a recipe as the call that makes it."""
    return repr(parse_value(given)) if isinstance(given, str) and "(" in given else given


AlgorithmText = Annotated[str, BeforeValidator(_algorithm_text)]
EnvironmentId = Annotated[str, BeforeValidator(registered_id)]
BudgetText = Annotated[int | str, BeforeValidator(budget_text)]
Seed = Annotated[int, BeforeValidator(check_seed), Field(le=LARGEST)]
OptionsText = Annotated[str, BeforeValidator(options_text)]
FunctionName = Annotated[str, BeforeValidator(_function_name)]
PresetName = Annotated[str, BeforeValidator(lambda given: "" if given in (None, "none") else given)]
ArgumentsText = Annotated[str, BeforeValidator(arguments_text)]


class Cell(Checked):
    """Everything that decides the numbers of an episode, except its index.

    Attributes:
        env: id of the environment; given as such, as the short name of a benchmark, or as module:Id.
        algorithm: name of a registered algorithm; or a recipe as the call that makes it.
        preset: name of a set of its options, "" for none; a preset file's options are moved to `options`.
        budget: simulations per decision, or another `Budget` as the call that makes it.
        seed: decides the seeds of environment and agent in each episode.
        options: further options of the algorithm as text, see `options_text`, and `actions` of `make_agent`; given in
            any form of `options_of`.
        env_options: arguments of the environment as text, see `arguments_text`; given in any form of `arguments_of`.
        wrap: module:function, which takes the environment and returns it wrapped; "" for none.
        simulator: module:function, which returns a private environment to simulate in; "" to make one where needed.
    """

    env: EnvironmentId
    algorithm: AlgorithmText = DEFAULT_ALGORITHM
    preset: PresetName = ""
    budget: BudgetText = 256
    seed: Seed = 0
    options: OptionsText = ""
    env_options: ArgumentsText = ""
    wrap: FunctionName = ""
    simulator: FunctionName = ""

    @model_validator(mode="before")
    @classmethod
    def _read_preset_file(cls, values: dict[str, Any]) -> dict[str, Any]:
        preset = values.get("preset")
        if preset is None or not is_preset_file(preset):
            return values
        algorithm = values.get("algorithm", DEFAULT_ALGORITHM)
        options = read_preset(preset, algorithm, registered_id(values.get("env")))
        return {**values, "preset": "", "options": {**options, **options_of(values.get("options"))}}

    @classmethod
    def asked(cls, budget: Any = None, algorithm: str | None = None, **fields: Any) -> Self:
        """The cell that somebody asks for; a budget and an algorithm that were not given are chosen, see `Agent`."""
        given = {name: value for name, value in (("budget", budget), ("algorithm", algorithm)) if value is not None}
        cell = cls(**given, **fields)
        if len(given) == 2:
            return cell
        with closing(cell.make_env()) as env:
            agent = cell.make_agent(env, free_budget=budget is None, free_algorithm=algorithm is None)
        options = {**agent.chosen, **options_of(cell.options)}
        return cell.changed(algorithm=options.pop("algorithm", cell.algorithm), budget=agent.budget, options=options)

    def flags(self, modules: Iterable[str] = (), fitting: bool = False) -> list[str]:
        """The words after `gsp run` that name this cell.

        Args:
            modules: that register what it names.
            fitting: whether to leave the budget to be chosen.
        """
        words = [self.env, "--algorithm", self.algorithm]
        more = {
            "--budget": "" if fitting else str(self.budget),
            "--seed": str(self.seed),
            "--preset": self.preset,
            "--set": self.options,
            "--env-set": self.env_options,
            "--wrap": self.wrap,
            "--simulator": self.simulator,
        }
        words += [word for flag, text in more.items() if text for word in (flag, text)]
        return words + [word for module in modules for word in ("--import", module)]

    def __str__(self) -> str:
        spent = f"{self.budget} simulations" if isinstance(self.budget, int) else self.budget
        named = {"preset": self.preset, "wrapped by": self.wrap, "simulator": self.simulator}
        words = [f"{name} {value}" for name, value in named.items() if value]
        return ", ".join(filter(None, [self.env, self.algorithm, spent, *words, self.options, self.env_options]))

    def make_env(self) -> gym.Env[Any, Any]:
        """The environment, wrapped where the cell says so.

        Raises:
            RecipeError: if it cannot be made or wrapped, whatever its constructor raised.
        """
        arguments = arguments_of(self.env_options)
        try:
            env = gym.make(self.env, **arguments)
            wrapped = find_function(self.wrap)(env) if self.wrap else env
        except gym.error.Error as error:
            raise RecipeError(f"{error} {_advice(self.env, error)}".strip()) from error
        except RecipeError as error:
            raise RecipeError(f"{self.env} cannot be made: {error}") from error
        except Exception as error:
            unknown = re.search(r"unexpected keyword argument '(\w+)'", str(error))
            if unknown is not None and unknown[1] in arguments:
                raise RecipeError(_unknown_argument(self.env, unknown[1])) from error
            raise RecipeError(f"{self.env} cannot be made: {type(error).__name__}: {error}") from error
        if not isinstance(wrapped, gym.Env):
            raise RecipeError(f"{self.wrap} must return the wrapped environment, not {wrapped!r}")
        return wrapped

    def make_agent(
        self,
        env: gym.Env[Any, Any],
        keep_outcomes: bool = False,
        free_budget: bool = False,
        free_algorithm: bool = False,
        trial: bool = True,
    ) -> Agent:
        """The agent, bound to an environment that `make_env` made.

        Args:
            env: the environment.
            keep_outcomes: whether outcomes are stored even if the recipe does not need them.
            free_budget: whether the agent chooses its budget.
            free_algorithm: whether it chooses its algorithm where states do not recur.
            trial: whether the agent tries a simulator first, which takes steps.

        Raises:
            RecipeError: for an unknown algorithm, preset or option, or values that make no sense.
        """
        options = {name: value for name, value in options_of(self.options).items() if name not in _BINDING_OPTIONS}
        for name in _NOT_OPTIONS:
            if name in options:
                raise RecipeError(f"{name!r} is no option of an algorithm; it has a place of its own")
        is_recipe = "(" in self.algorithm
        algorithm = parse_value(self.algorithm) if is_recipe else self.algorithm
        recipe = make_recipe(algorithm, preset=self.preset or None, env_id=env_id(env), **options)
        name, limits = "recipe" if is_recipe else self.algorithm, None if free_budget else self.limits()
        other = other_recipe(options) if free_algorithm and not self.preset else None
        return Agent(
            env,
            recipe,
            limits,
            name=name,
            keep_outcomes=keep_outcomes,
            other=other,
            trial=trial,
            **self.binding_options(),
        )

    def binding_options(self) -> dict[str, Any]:
        """How the environment is read and simulated, as `Agent` takes it."""
        options = {name: value for name, value in options_of(self.options).items() if name in _BINDING_OPTIONS}
        return {**options, "simulator": find_function(self.simulator) if self.simulator else None}

    def limits(self) -> Budget:
        """The budget of each decision."""
        return as_budget(parse_value(self.budget) if isinstance(self.budget, str) else self.budget)


def _advice(env: str, error: gym.error.Error) -> str:
    """The remedy for an id that Gymnasium cannot make."""
    for ids, extra, module, registered in _FAMILIES:
        if re.match(ids, env) and module not in sys.modules:
            name = "" if registered else f"{module}:{env}"
            if find_spec(module) is None:
                install = f"Install its package with the extra {extra}: pip install 'gymnasium-gsp[{extra}]'"
                return f"{install}; then give {name}" if name else install
            return f"The module {module} registers it: give {name}" if name else ""
    if f"GSP/{env}" in gym.registry:
        return f"Did you mean GSP/{env}?"
    if isinstance(error, gym.error.UnregisteredEnv):
        return f"The benchmarks are {', '.join(entry.id for entry in ENVIRONMENTS)}."
    return ""


def env_id(env: gym.Env[Any, Any]) -> str:
    """The id that a live environment is registered under."""
    return env.spec.id if env.spec is not None else type(env.unwrapped).__name__


def recipe_text(agent: Agent) -> str:
    """The recipe of an agent as the call that makes it; without addresses, so the same in every process."""
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(agent.recipe))


def _unknown_argument(env: str, name: str) -> str:
    entry_point = gym.spec(env).entry_point
    creator = load_env_creator(entry_point) if isinstance(entry_point, str) else entry_point
    return unknown_name(f"argument of {env}", name, signature(creator).parameters if creator is not None else ())
