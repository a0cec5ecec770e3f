"""The instances of the planning competitions of 2011 and 2014, by the names of their domains in rddlrepository.

Their ids for Gymnasium are IPPC/DOMAIN-NUMBER, such as IPPC/SysAdmin_MDP_ippc2011-1.
"""

from collections.abc import Iterator
from types import ModuleType
from typing import Any

from gymnasium_gsp.errors import RecipeError, unknown_name

IPPC_DOMAINS = (
    "CooperativeRecon_MDP_ippc2011",
    "CrossingTraffic_MDP_ippc2011",
    "Elevators_MDP_ippc2011",
    "GameOfLife_MDP_ippc2011",
    "Navigation_MDP_ippc2011",
    "SkillTeaching_MDP_ippc2011",
    "SysAdmin_MDP_ippc2011",
    "Traffic_CTM_MDP_ippc2011",
    "AcademicAdvising_MDP_ippc2014",
    "CrossingTraffic_MDP_ippc2014",
    "Elevators_MDP_ippc2014",
    "SkillTeaching_MDP_ippc2014",
    "Tamarisk_MDP_ippc2014",
    "Traffic_MDP_ippc2014",
    "TriangleTireworld_MDP_ippc2014",
    "Wildfire_MDP_ippc2014",
)
"""The fully observed domains of both competitions, each with instances 1 to 10."""


def competition_instances() -> Iterator[tuple[str, dict[str, Any]]]:
    """Each instance of both competitions: its id, and the arguments of `make_instance`."""
    for domain in IPPC_DOMAINS:
        for number in range(1, 11):
            yield f"IPPC/{domain}-{number}", {"domain": domain, "instance": number}


def make_instance(domain: str, instance: int | str) -> Any:
    """An environment of pyRDDLGym for an instance of rddlrepository.

    Args:
        domain: the domain's name in rddlrepository, `IPPC_DOMAINS` for example.
        instance: the instance's number there.

    Raises:
        RecipeError: if pyRDDLGym or rddlrepository is missing, a name is unknown (with the nearest one), or pyRDDLGym
            cannot read the instance.
    """
    pyrddlgym = _package("pyRDDLGym")
    manager = _package("rddlrepository.core.manager").RDDLRepoManager()
    domains = manager.list_problems()
    if domain not in domains:
        raise RecipeError(unknown_name("RDDL domain", domain, domains))
    instances = manager.get_problem(domain).list_instances()
    if str(instance) not in instances:
        raise RecipeError(unknown_name(f"instance of {domain}", str(instance), instances))
    try:
        return pyrddlgym.make(domain, str(instance))
    except Exception as error:  # its parser and checks raise errors of many kinds
        reason = f"{type(error).__name__}: {error}".strip().splitlines()[0]
        raise RecipeError(f"pyRDDLGym cannot read instance {instance} of {domain}: {reason}") from error


def _package(name: str) -> ModuleType:
    """A module of the extra `rddl`."""
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError as error:
        raise RecipeError(
            f"RDDL needs {name.partition('.')[0]}, which is missing: pip install 'gymnasium-gsp[rddl]'"
        ) from error
