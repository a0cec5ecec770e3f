"""The planners of the package beside PROST, on instances of the planning competitions; resumable.

    python -m benchmarks.prost CHECKOUT                     play what is missing on instance 1 of every domain
    python -m benchmarks.prost CHECKOUT --budgets 0.06s --instances 1 2 3 4 5 6 7 8 9 10
    python -m benchmarks.prost --players f cautious         only planners of the package, without PROST
    python -m benchmarks.prost --table                      only print, and write the table into docs/prost.md

CHECKOUT is a folder with the sources of prost-planner/prost (MIT), which this command builds; nothing is fetched, and
nothing of PROST is in this repository.  The build needs cmake, a C++ compiler, flex, bison, BuDDy and Z3; playing needs
the extra `rddl`.  Every batch of episodes is one line of `benchmarks/prost/rows.jsonl`; lines with other settings are
kept and left out.  Budgets in seconds ask for an idle machine; budgets in trials do not.
"""

import argparse
import sys
import time
import warnings
from collections.abc import Sequence
from pathlib import Path

from benchmarks.markers import fill
from benchmarks.prost.ends import EPISODES, minimal_policy, optimum
from benchmarks.prost.planner import Programs, ProstError, build
from benchmarks.prost.players import PLAYERS, Limit, Prost
from benchmarks.prost.rows import MINIMAL, OPTIMUM, Instance, Rows
from benchmarks.prost.table import tables
from gymnasium_gsp.binding.rddl_instances import IPPC_DOMAINS, make_instance

RESULTS = Path(__file__).with_name("rows.jsonl")
PAGE = Path(__file__).parents[2] / "docs/prost.md"


def measure_ends(rows: Rows, instance: Instance) -> None:
    """Write the minimal policy and the optimum of an instance, where they are missing."""
    if not rows.find(instance, MINIMAL):
        policy, mean, error = minimal_policy(make_instance(instance.domain, instance.number))
        rows.add(instance, MINIMAL, value=round(mean, 6), error=round(error, 6), policy=policy, episodes=EPISODES)
    if not rows.find(instance, OPTIMUM):
        rows.add(instance, OPTIMUM, value=optimum(make_instance(instance.domain, instance.number)))


def play(
    rows: Rows,
    instance: Instance,
    limits: Sequence[Limit],
    names: Sequence[str],
    episodes: int,
    programs: Programs | None,
    deadline: float,
) -> bool:
    """Play the missing episodes of an instance, those of a player and a budget in one batch.

    Returns:
        Whether every player played; what broke off is printed.
    """
    whole = True
    for limit in limits:
        for player in map(PLAYERS.__getitem__, names):
            settings = player.settings(limit)
            done = len(rows.played(instance, settings).returns)
            if done >= episodes or time.monotonic() > deadline:
                continue
            env = make_instance(instance.domain, instance.number)
            try:
                batch = player.play(programs, env, limit, range(done, episodes))
            except ProstError as error:
                print(f"{instance.domain} {instance.number}, {settings}: {error}", file=sys.stderr)
                whole = False
            else:
                rows.add_batch(instance, settings, done, batch)
            env.close()
    return whole


def arguments(given: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.prost", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkout", nargs="?", type=Path, help="folder with PROST's sources")
    parser.add_argument("--domains", nargs="+", default=IPPC_DOMAINS, metavar="DOMAIN", help="all sixteen by default")
    parser.add_argument("--instances", nargs="+", type=int, default=[1], metavar="NUMBER", help="1 by default")
    parser.add_argument("--budgets", nargs="+", type=Limit, default=[Limit("0.06s"), Limit("100")], metavar="BUDGET")
    parser.add_argument("--players", nargs="+", default=list(PLAYERS), choices=list(PLAYERS), metavar="PLAYER")
    parser.add_argument("--episodes", type=int, default=30, help="of each player on each instance")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no batch after this time")
    parser.add_argument("--results", type=Path, default=RESULTS, help="file of the lines")
    parser.add_argument("--table", action="store_true", help="only print, and write the page")
    options = parser.parse_args(given)
    if (
        options.checkout is None
        and not options.table
        and any(isinstance(PLAYERS[name], Prost) for name in options.players)
    ):
        parser.error("name a checkout of prost-planner/prost, or players without PROST: --players f cautious")
    return options


def main(given: Sequence[str] | None = None) -> None:
    """Play and print."""
    options = arguments(given)
    warnings.simplefilter("ignore")
    rows = Rows(options.results)
    instances = [Instance(domain, number) for domain in options.domains for number in options.instances]
    whole, deadline = True, time.monotonic() + options.seconds
    if not options.table:
        try:
            programs = build(options.checkout) if options.checkout else None
        except ProstError as error:
            sys.exit(str(error))
        for instance in instances:
            measure_ends(rows, instance)
            whole &= play(rows, instance, options.budgets, options.players, options.episodes, programs, deadline)
    shown = tables(rows, instances, options.budgets, [PLAYERS[name] for name in options.players])
    print(shown)
    if options.table:
        PAGE.write_text(fill(PAGE.read_text(encoding="utf-8"), "prost", shown), encoding="utf-8")
    sys.exit(0 if whole else 1)


if __name__ == "__main__":
    main()
