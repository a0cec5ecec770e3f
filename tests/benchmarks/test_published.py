"""The table beside the published cells runs to its end, and names the published cells as they were printed."""

from benchmarks import published


def test_best_published():
    algorithm, cell = published.best_published("FrozenLake", 64)
    assert (algorithm, cell.mean, cell.runs) == ("gs-power-uct", 0.227, 1000)


def test_the_table(baselines, capsys):
    published.main(["--budgets", "16", "--episodes", "2", "--jobs", "1"])
    *table, _, last = capsys.readouterr().out.splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table[2:]]
    assert [row[0] for row in rows] == ["FrozenLake", "PassengerGrid", "FactoredRiverSwim", "SysAdminRing", "FourRooms"]
    assert last == f"reached: {sum(row[-1] == 'yes' for row in rows)} of 5"
