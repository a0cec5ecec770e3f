"""Online planning for Gymnasium: benchmark environments, planners as agents, and the exact optimum beside them.

Importing this package registers the environments `GSP/*` and nothing more; compiled parts are loaded when first used.
"""

import importlib
from typing import TYPE_CHECKING, Any

from gymnasium_gsp.envs import register_envs

if TYPE_CHECKING:
    from gymnasium_gsp import ingredients
    from gymnasium_gsp.agents.agent import Agent, make_agent, plan
    from gymnasium_gsp.agents.preset_file import read_preset
    from gymnasium_gsp.agents.wrapper import PlanningWrapper
    from gymnasium_gsp.algorithms.registry import ALGORITHMS, make_recipe
    from gymnasium_gsp.binding.adapters import register_adapter
    from gymnasium_gsp.binding.adapters.adapter import Adapter
    from gymnasium_gsp.binding.check import check_snapshot
    from gymnasium_gsp.binding.keys import ObservationKey
    from gymnasium_gsp.errors import PlanningError, RecipeError
    from gymnasium_gsp.models.compiled import CompiledModel
    from gymnasium_gsp.models.tabular import tabular_model, tabular_model_from_arrays
    from gymnasium_gsp.search.budget import Budget, Progress, SearchResult
    from gymnasium_gsp.search.recipe import Recipe

__version__ = "0.1.0"

_HOMES = {
    "ALGORITHMS": "algorithms.registry",
    "Adapter": "binding.adapters.adapter",
    "Agent": "agents.agent",
    "Budget": "search.budget",
    "CompiledModel": "models.compiled",
    "check_snapshot": "binding.check",
    "ObservationKey": "binding.keys",
    "PlanningError": "errors",
    "PlanningWrapper": "agents.wrapper",
    "Progress": "search.budget",
    "Recipe": "search.recipe",
    "RecipeError": "errors",
    "SearchResult": "search.budget",
    "tabular_model_from_arrays": "models.tabular",
    "make_agent": "agents.agent",
    "make_recipe": "algorithms.registry",
    "plan": "agents.agent",
    "read_preset": "agents.preset_file",
    "register_adapter": "binding.adapters",
    "tabular_model": "models.tabular",
}

__all__ = [
    "ALGORITHMS",
    "Adapter",
    "Agent",
    "Budget",
    "CompiledModel",
    "ObservationKey",
    "PlanningError",
    "PlanningWrapper",
    "Progress",
    "Recipe",
    "RecipeError",
    "SearchResult",
    "check_snapshot",
    "ingredients",
    "make_agent",
    "make_recipe",
    "plan",
    "read_preset",
    "register_adapter",
    "register_envs",
    "tabular_model",
    "tabular_model_from_arrays",
]


def __getattr__(name: str) -> Any:
    """Public names and modules, loaded when first asked for."""
    if name in _HOMES:
        return getattr(importlib.import_module(f"gymnasium_gsp.{_HOMES[name]}"), name)
    if name == "ingredients":
        return importlib.import_module("gymnasium_gsp.ingredients")
    raise AttributeError(f"module 'gymnasium_gsp' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


register_envs()
