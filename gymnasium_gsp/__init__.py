"""Online planning for Gymnasium: benchmark environments, planners as agents, and the exact optimum beside them.

Importing this package registers the environments `GSP/*` and nothing more; compiled parts are loaded when first used.
"""

import importlib
from typing import TYPE_CHECKING, Any

from gymnasium_gsp.envs import register_envs as register_envs

if TYPE_CHECKING:
    from gymnasium_gsp import ingredients as ingredients
    from gymnasium_gsp.agents.agent import Agent as Agent
    from gymnasium_gsp.agents.agent import make_agent as make_agent
    from gymnasium_gsp.agents.agent import plan as plan
    from gymnasium_gsp.agents.preset_file import read_preset as read_preset
    from gymnasium_gsp.agents.sb3 import from_sb3 as from_sb3
    from gymnasium_gsp.agents.vector import VectorAgent as VectorAgent
    from gymnasium_gsp.agents.vector import make_vector_agent as make_vector_agent
    from gymnasium_gsp.agents.wrapper import PlanningWrapper as PlanningWrapper
    from gymnasium_gsp.algorithms.registry import ALGORITHMS as ALGORITHMS
    from gymnasium_gsp.algorithms.registry import make_recipe as make_recipe
    from gymnasium_gsp.binding.adapters import register_adapter as register_adapter
    from gymnasium_gsp.binding.adapters.adapter import Adapter as Adapter
    from gymnasium_gsp.binding.cells import Cells as Cells
    from gymnasium_gsp.binding.check import check_snapshot as check_snapshot
    from gymnasium_gsp.binding.keys import ObservationKey as ObservationKey
    from gymnasium_gsp.errors import PlanningError as PlanningError
    from gymnasium_gsp.errors import RecipeError as RecipeError
    from gymnasium_gsp.inspector.graph import SearchGraph as SearchGraph
    from gymnasium_gsp.models.compiled import CompiledModel as CompiledModel
    from gymnasium_gsp.models.tabular import tabular_model as tabular_model
    from gymnasium_gsp.models.tabular import tabular_model_from_arrays as tabular_model_from_arrays
    from gymnasium_gsp.search.budget import Budget as Budget
    from gymnasium_gsp.search.budget import Progress as Progress
    from gymnasium_gsp.search.recipe import Recipe as Recipe
    from gymnasium_gsp.search.result import SearchResult as SearchResult

__version__ = "0.1.0"

_PUBLIC = {  # names by the module that they are loaded from
    "agents.agent": ("Agent", "make_agent", "plan"),
    "agents.preset_file": ("read_preset",),
    "agents.sb3": ("from_sb3",),
    "agents.vector": ("VectorAgent", "make_vector_agent"),
    "agents.wrapper": ("PlanningWrapper",),
    "algorithms.registry": ("ALGORITHMS", "make_recipe"),
    "binding.adapters": ("register_adapter",),
    "binding.adapters.adapter": ("Adapter",),
    "binding.cells": ("Cells",),
    "binding.check": ("check_snapshot",),
    "binding.keys": ("ObservationKey",),
    "errors": ("PlanningError", "RecipeError"),
    "inspector.graph": ("SearchGraph",),
    "models.compiled": ("CompiledModel",),
    "models.tabular": ("tabular_model", "tabular_model_from_arrays"),
    "search.budget": ("Budget", "Progress"),
    "search.recipe": ("Recipe",),
    "search.result": ("SearchResult",),
}
_HOMES = {name: module for module, names in _PUBLIC.items() for name in names}
__all__ = ["ingredients", "register_envs", *_HOMES]


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
