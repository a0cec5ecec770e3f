"""How compiled RDDL instances compare with pyRDDLGym's simulator: steps, compilation, and exact optima.

    python -m benchmarks.rddl                       every domain of both competitions, instances 1, 5 and 10
    python -m benchmarks.rddl --instances 1 --exact also the optimum, horizon 40, where the state space allows

Prints a Markdown table.  A step is timed as the fastest of many short bursts, as other processes may be running.
"""

import argparse
import time
import warnings
from typing import Any

import numpy as np
from numba import njit

from gymnasium_gsp.abi.memory import address
from gymnasium_gsp.abi.signatures import call_step
from gymnasium_gsp.envs.rddl_instances import IPPC_DOMAINS, make_instance
from gymnasium_gsp.errors import RecipeError
from gymnasium_gsp.exact import truncated_value
from gymnasium_gsp.models.rddl.model import CompiledInstance, compile_instance

HORIZON = 40
BURST, BURSTS = 20_000, 12


@njit
def steps(step, cells, first, actions, count, word, reward, params):
    """Play random episodes of HORIZON steps."""
    for number in range(count):
        if number % HORIZON == 0:
            cells[:] = first
        action = (number * 7919) % actions
        call_step(step, address(params, 0), address(cells, 0), action, address(word, 0), address(reward, 0))


def compiled_seconds(compiled: CompiledInstance, first: np.ndarray) -> float:
    """Seconds of one compiled step."""
    model, best = compiled.model, np.inf
    arguments = (np.array([1], np.uint64), np.zeros(1), model.params)
    for _ in range(BURSTS):
        begun = time.perf_counter()
        steps(model.step_pointer.address, first.copy(), first, model.actions, BURST, *arguments)
        best = min(best, time.perf_counter() - begun)
    return best / BURST


def simulator_seconds(env: Any, compiled: CompiledInstance, seconds: float = 0.5) -> float:
    """Seconds of one step of pyRDDLGym, the fastest burst of HORIZON steps."""
    draw, best, end = np.random.default_rng(0), np.inf, time.perf_counter() + seconds
    while time.perf_counter() < end:
        env.reset(seed=0)
        actions = [compiled.action(env, int(number)) for number in draw.integers(compiled.model.actions, size=HORIZON)]
        begun, played = time.perf_counter(), 0
        for action in actions:
            played += 1
            if any(env.step(action)[2:4]):
                break
        best = min(best, (time.perf_counter() - begun) / played)
    return best


def optimum(compiled: CompiledInstance, first: np.ndarray) -> str:
    """The best expected return of HORIZON steps, or why it is not known."""
    try:
        return f"{truncated_value(compiled.model, first, HORIZON, limit=1_000_000):,.4f}"
    except RecipeError as error:
        return str(error).partition(" has ")[2].partition(":")[0] or str(error)


def row(domain: str, number: int, exact: bool) -> str:
    """One line of the table."""
    env = make_instance(domain, number)
    begun = time.perf_counter()
    compiled = compile_instance(env)
    spent = time.perf_counter() - begun
    first = compiled.instance.layout.pack(env.sampler.init_values)
    fast, slow = compiled_seconds(compiled, first), simulator_seconds(env, compiled)
    fluents, choices = len(compiled.instance.layout.fluents), len(compiled.instance.choices)
    cells = [domain, number, fluents, choices, f"{compiled.joint.combinations:,}", f"{compiled.model.actions:,}"]
    cells += [f"{spent:.2f}", f"{fast * 1e9:.0f}", f"{slow * 1e6:,.0f}", f"{slow / fast:,.0f}"]
    return " | ".join(map(str, [*cells, *([optimum(compiled, first)] if exact else [])]))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--domains", nargs="+", default=IPPC_DOMAINS, metavar="DOMAIN")
    parser.add_argument("--instances", nargs="+", type=int, default=[1, 5, 10], metavar="NUMBER")
    parser.add_argument("--exact", action="store_true", help="also compute the optimum where the state space allows")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    heads = ["domain", "instance", "fluents", "choices", "joint actions", "kept", "compile, s", "step, ns"]
    heads += ["pyRDDLGym, us", "times", *(["optimum"] if options.exact else [])]
    print(" | ".join(heads), "|".join(["---"] * len(heads)), sep="\n", flush=True)
    for domain in options.domains:
        for number in options.instances:
            print(row(domain, number, options.exact), flush=True)


if __name__ == "__main__":
    main()
