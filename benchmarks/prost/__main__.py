"""The planners of the package beside PROST, on instances of the planning competitions; resumable.

    python -m benchmarks.prost CHECKOUT                     play what is missing on instance 1 of every domain
    python -m benchmarks.prost CHECKOUT --budgets 0.06s --instances 1 2 3 4 5 6 7 8 9 10 --margin 0.02
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
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.markers import fill
from benchmarks.prost.ends import EPISODES, minimal_policy, optimum, play_optimally
from benchmarks.prost.planner import Programs, ProstError, build
from benchmarks.prost.players import PLAYERS, Limit, Player, Prost
from benchmarks.prost.rows import EXACT, MINIMAL, OPTIMUM, Instance, Rows
from benchmarks.prost.score import scale_of, score
from benchmarks.prost.table import tables
from gymnasium_gsp.envs.rddl_instances import IPPC_DOMAINS, make_instance
from gymnasium_gsp.errors import RecipeError

RESULTS = Path(__file__).with_name("rows.jsonl")
PAGE = Path(__file__).parents[2] / "docs/prost.md"
TWICE = ("CrossingTraffic", "Elevators", "SkillTeaching", "Traffic")
DOMAINS = tuple(name for name in IPPC_DOMAINS if name not in {f"{domain}_MDP_ippc2014" for domain in TWICE})
"""Without the four of 2014 whose ten instances are in rddlrepository the same files as those of 2011."""

MOST_EPISODES = 100
"""Episodes where the standard error of the score exceeds the margin."""


def measure_ends(rows: Rows, instance: Instance, episodes: int) -> None:
    """Write the minimal policy, the optimum and the episodes of the exact policy, where they are missing."""
    if not rows.find(instance, MINIMAL):
        policy, mean, error = minimal_policy(make_instance(instance.domain, instance.number))
        rows.add(instance, MINIMAL, value=round(mean, 6), error=round(error, 6), policy=policy, episodes=EPISODES)
    if not rows.find(instance, OPTIMUM):
        rows.add(instance, OPTIMUM, value=optimum(make_instance(instance.domain, instance.number)))
    done = len(rows.played(instance, EXACT).returns)
    if rows.value(instance, OPTIMUM) is not None and done < episodes:
        batch = play_optimally(make_instance(instance.domain, instance.number), range(done, episodes))
        if batch is not None:
            rows.add_batch(instance, EXACT, done, batch)


def missing(rows: Rows, instance: Instance, options: argparse.Namespace) -> Iterator[tuple[Limit, Player, range]]:
    """The batches that an instance still lacks, with the numbers of their episodes; looked up as they are asked for.

    Every player plays the same number of episodes.  With a margin, those whose score has a larger standard error then
    play on to MOST_EPISODES.
    """
    pairs = [(limit, PLAYERS[name]) for limit in options.budgets for name in options.players]
    for limit, player in pairs:
        done = len(rows.played(instance, player.settings(limit)).returns)
        if done < options.episodes:
            yield limit, player, range(done, options.episodes)
    for limit, player in pairs if options.margin is not None else []:
        played, scale = rows.played(instance, player.settings(limit)), scale_of(rows, instance)
        done = len(played.returns)
        if scale and 1 < done < MOST_EPISODES and score(played, scale)[1] > options.margin:
            yield limit, player, range(done, MOST_EPISODES)


def play(rows: Rows, instances: Sequence[Instance], options: argparse.Namespace, programs: Programs | None) -> bool:
    """Play everything that is missing, until the time is over.

    Returns:
        Whether every batch was played to its end; where PROST broke off is printed.
    """
    whole, deadline = True, time.monotonic() + options.seconds
    for instance in instances:
        if time.monotonic() > deadline:
            break
        measure_ends(rows, instance, options.episodes)
        for limit, player, numbers in missing(rows, instance, options):
            if time.monotonic() > deadline:
                break
            env, settings = make_instance(instance.domain, instance.number), player.settings(limit)
            try:
                rows.add_batch(instance, settings, numbers.start, player.play(programs, env, limit, numbers))
            except ProstError as error:
                print(f"{instance.domain} {instance.number}, {settings}: {error}", file=sys.stderr)
                whole = False
            finally:
                env.close()
    return whole


def limit(text: str) -> Limit:
    """Read a budget of the command line."""
    try:
        return Limit(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def arguments(given: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.prost", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkout", nargs="?", type=Path, help="folder with PROST's sources")
    parser.add_argument("--domains", nargs="+", default=DOMAINS, metavar="DOMAIN", help="all by default")
    parser.add_argument(
        "--instances", nargs="+", type=int, metavar="NUMBER", help="1, or all that were played for --table"
    )
    parser.add_argument("--budgets", nargs="+", type=limit, default=[Limit("0.06s"), Limit("100")], metavar="BUDGET")
    parser.add_argument("--players", nargs="+", default=list(PLAYERS), choices=list(PLAYERS), metavar="PLAYER")
    parser.add_argument("--episodes", type=int, default=30, help="of each player on each instance")
    parser.add_argument("--margin", type=float, help=f"play {MOST_EPISODES} where the score's error is larger")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no batch after this time")
    parser.add_argument("--results", type=Path, default=RESULTS, help="file of the lines")
    parser.add_argument("--table", action="store_true", help="only print, and write the page")
    options = parser.parse_args(given)
    with_prost = any(isinstance(PLAYERS[name], Prost) for name in options.players)
    if with_prost and options.checkout is None and not options.table:
        parser.error("name a checkout of prost-planner/prost, or players without PROST: --players f cautious")
    return options


def main(given: Sequence[str] | None = None) -> None:
    """Play and print."""
    options = arguments(given)
    warnings.simplefilter("ignore")
    rows = Rows(options.results)
    stored = sorted({line["instance"] for line in rows.lines}) if options.table else [1]
    instances = [Instance(domain, number) for domain in options.domains for number in options.instances or stored]
    whole = True
    if not options.table:
        try:
            programs = build(options.checkout) if options.checkout else None
            whole = play(rows, instances, options, programs)
        except (ProstError, RecipeError) as error:
            sys.exit(str(error))
    shown = tables(rows, instances, options.budgets, [PLAYERS[name] for name in options.players])
    print(shown)
    if options.table:
        PAGE.write_text(fill(PAGE.read_text(encoding="utf-8"), "prost", shown), encoding="utf-8")
    sys.exit(0 if whole else 1)


if __name__ == "__main__":
    main()
