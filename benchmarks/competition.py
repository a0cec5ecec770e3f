"""The figures of the planning competitions that the package ships for `gsp report`.

    python -m benchmarks.competition                   PROST's mean returns, from what `benchmarks.prost` has played
    python -m benchmarks.competition --ends 1 2        also every instance's minimal policy, and the optima of these

The files are `gymnasium_gsp/bench/data/other_planners.csv`, in which rows of the same planner, instance and budget are
replaced and all others stay, and `competition.csv`; optima of instances that are not numbered stay.
"""

import argparse
import csv
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks.prost.__main__ import RESULTS
from benchmarks.prost.ends import minimal_policy, optimum
from benchmarks.prost.players import PLAYERS, Limit, Prost
from benchmarks.prost.rows import Instance, Rows
from gymnasium_gsp.bench.published import COMPETITION, OTHER_PLANNERS, competition
from gymnasium_gsp.envs.rddl_instances import competition_instances, make_instance

BUDGETS = (Limit("0.06s"), Limit("100"))


def write_prost(results: Path, file: Path) -> None:
    """Put PROST's figures into the table of other planners."""
    with file.open(newline="") as table:
        reader = csv.DictReader(table)
        fields, found = reader.fieldnames or (), {(row["env"], row["planner"], row["budget"]): row for row in reader}
    rows = Rows(results)
    for env, arguments in competition_instances():
        instance = Instance(arguments["domain"], arguments["instance"])
        played = rows.players(instance)
        for player in (player for player in PLAYERS.values() if isinstance(player, Prost)):
            for limit in (limit for limit in BUDGETS if player.settings(limit) in played):
                result = rows.played(instance, player.settings(limit))
                figures = {
                    "mean": f"{result.mean:.6g}",
                    "standard_error": f"{result.error:.3g}",
                    "source": "docs/prost.md",
                }
                key = {"env": env, "planner": player.title, "budget": str(limit)}
                found[env, player.title, str(limit)] = key | figures | {"episodes": str(len(result.returns))}
    _write(file, fields, ([row[name] for name in fields] for row in found.values()))


def write_ends(numbers: Sequence[int], file: Path) -> None:
    """Write the minimal policy of every instance, and the optimum of those with these numbers."""
    known = competition() if file.exists() else {}
    rows = []
    for env, arguments in competition_instances():
        best = known[env].optimum if env in known else None
        if arguments["instance"] in numbers:
            best = optimum(make_instance(**arguments))
        _, minimal, _ = minimal_policy(make_instance(**arguments))
        rows.append((env, f"{minimal:.6g}", "" if best is None else f"{best:.10g}"))
        print(*rows[-1], flush=True)
    _write(file, ("env", "minimal", "optimum"), rows)


def _write(file: Path, fields: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    with file.open("w", newline="") as table:
        csv.writer(table, lineterminator="\n").writerows([fields, *rows])


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--ends", nargs="*", type=int, metavar="NUMBER", help="also measure minimal policies and optima"
    )
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.ends is not None:
        write_ends(options.ends, COMPETITION)
    write_prost(RESULTS, OTHER_PLANNERS)


if __name__ == "__main__":
    main()
