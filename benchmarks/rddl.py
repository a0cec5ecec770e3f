"""How compiled RDDL instances compare with pyRDDLGym's simulator: steps, compilation, and exact optima.

    python -m benchmarks.rddl                       every domain of both competitions, instances 1, 5 and 10
    python -m benchmarks.rddl --instances 1 --exact also the optimum, horizon 40, where the state space allows
    python -m benchmarks.rddl --competition         the minimal policy of every instance, for the score of `gsp report`

Prints a Markdown table.  A step is timed as the fastest of many short bursts, as other processes may be running.
`--competition` writes the file that the package ships, and the optima of `--instances` into it, with `--exact`.
"""

import argparse
import csv
import time
import warnings
from typing import Any

import numpy as np
from numba import njit

from gymnasium_gsp.abi import below
from gymnasium_gsp.abi.memory import address
from gymnasium_gsp.abi.signatures import TERMINATED, call_legal, call_step
from gymnasium_gsp.bench.published import COMPETITION, competition
from gymnasium_gsp.envs.rddl_instances import IPPC_DOMAINS, competition_instances, make_instance
from gymnasium_gsp.errors import RecipeError
from gymnasium_gsp.exact import truncated_value
from gymnasium_gsp.models.rddl.model import CompiledInstance, compile_instance

HORIZON = 40
BURST, BURSTS = 20_000, 12
EPISODES = 10_000  # of the no-op policy and of the random one


@njit
def steps(step, cells, first, actions, count, word, reward, params):
    """Play random episodes of HORIZON steps."""
    for number in range(count):
        if number % HORIZON == 0:
            cells[:] = first
        action = (number * 7919) % actions
        call_step(step, address(params, 0), address(cells, 0), action, address(word, 0), address(reward, 0))


@njit
def mean_return(step, legal, first, actions, preferred, episodes, params):
    """Mean return of a policy that takes `preferred` where it is legal, and else any legal action, equally likely."""
    cells, mask, word, reward, total = first.copy(), np.ones(actions), np.array([1], np.uint64), np.zeros(1), 0.0
    for _ in range(episodes):
        cells[:] = first
        for _ in range(HORIZON):
            count = call_legal(legal, address(params, 0), address(cells, 0), address(mask, 0)) if legal else actions
            action = preferred
            if action < 0 or mask[action] == 0.0:
                left, action = below(word, count), 0
                while mask[action] == 0.0 or left > 0:
                    left -= int(mask[action] > 0.0)
                    action += 1
            status = call_step(
                step, address(params, 0), address(cells, 0), action, address(word, 0), address(reward, 0)
            )
            total += reward[0]
            if status == TERMINATED:
                break
    return total / episodes


def minimal_return(compiled: CompiledInstance, first: np.ndarray) -> float:
    """The better mean return of doing nothing and of acting at random, which is worth 0 in the competition's score."""
    model = compiled.model
    legal = 0 if model.legal_pointer is None else model.legal_pointer.address
    idle = tuple(fluent.default for fluent in compiled.instance.actions)
    policies = {-1, compiled.joint.values.index(idle) if idle in compiled.joint.values else -1}
    step = model.step_pointer.address
    return max(mean_return(step, legal, first, model.actions, policy, EPISODES, model.params) for policy in policies)


def write_competition(instances: list[int]) -> None:
    """Write the minimal policy of every instance, and the optimum of those that are numbered here; others stay."""
    known = competition() if COMPETITION.exists() else {}
    rows = []
    for name, arguments in competition_instances():
        env = make_instance(**arguments)
        compiled = compile_instance(env)
        first = compiled.instance.layout.pack(env.sampler.init_values)
        best = known[name].optimum if name in known else None
        if arguments["instance"] in instances:
            best = optimum(compiled, first)
        rows.append([name, f"{minimal_return(compiled, first):.6g}", "" if best is None else f"{best:.10g}"])
        print(*rows[-1], flush=True)
    with COMPETITION.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([("env", "minimal", "optimum"), *rows])


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


def optimum(compiled: CompiledInstance, first: np.ndarray) -> float | None:
    """The best expected return of HORIZON steps; None where it is too dear."""
    try:
        return truncated_value(compiled.model, first, HORIZON, limit=1_000_000)
    except RecipeError:
        return None


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
    if exact:
        best = optimum(compiled, first)
        cells.append("-" if best is None else f"{best:,.4f}")
    return " | ".join(map(str, cells))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--domains", nargs="+", default=IPPC_DOMAINS, metavar="DOMAIN")
    parser.add_argument("--instances", nargs="+", type=int, default=[1, 5, 10], metavar="NUMBER")
    parser.add_argument("--exact", action="store_true", help="also compute the optimum where the state space allows")
    parser.add_argument("--competition", action="store_true", help="write the figures of the competition's score")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.competition:
        write_competition(options.instances if options.exact else [])
        return
    heads = ["domain", "instance", "fluents", "choices", "joint actions", "kept", "compile, s", "step, ns"]
    heads += ["pyRDDLGym, us", "times", *(["optimum"] if options.exact else [])]
    print(" | ".join(heads), "|".join(["---"] * len(heads)), sep="\n", flush=True)
    for domain in options.domains:
        for number in options.instances:
            print(row(domain, number, options.exact), flush=True)


if __name__ == "__main__":
    main()
