"""The table of other planners is brought up to date by what was played, and keeps everything else."""

import csv

from benchmarks.competition import write_prost
from benchmarks.prost.players import PLAYERS, Limit
from benchmarks.prost.rows import Batch, Instance, Rows
from gymnasium_gsp.bench.published import OTHER_PLANNERS


def table_of(file):
    with file.open(newline="") as table:
        return {(row["env"], row["planner"], row["budget"]): row for row in csv.DictReader(table)}


def test_rows_of_what_was_played_are_replaced_and_others_stay(tmp_path):
    file, results = tmp_path / "other_planners.csv", tmp_path / "rows.jsonl"
    file.write_bytes(OTHER_PLANNERS.read_bytes())
    before = table_of(file)
    settings = PLAYERS["prost-2014"].settings(Limit("0.06s"))
    Rows(results).add_batch(Instance("Navigation_MDP_ippc2011", 1), settings, 0, Batch([-8.0, -10.0], [0.05] * 80))
    write_prost(results, file)
    after = table_of(file)
    key = ("IPPC/Navigation_MDP_ippc2011-1", "PROST 2014", "0.06 s")
    assert (float(after[key]["mean"]), float(after[key]["standard_error"]), after[key]["episodes"]) == (-9.0, 1.0, "2")
    assert after[key]["source"] == "docs/prost.md"
    assert {name: row for name, row in after.items() if name != key} == {
        n: row for n, row in before.items() if n != key
    }


def test_the_shipped_table_is_that_of_the_rows(tmp_path):
    """Whoever plays PROST again runs `python -m benchmarks.competition`, too."""
    from benchmarks.prost.__main__ import RESULTS

    file = tmp_path / "other_planners.csv"
    file.write_bytes(OTHER_PLANNERS.read_bytes())
    write_prost(RESULTS, file)
    assert file.read_bytes() == OTHER_PLANNERS.read_bytes()
