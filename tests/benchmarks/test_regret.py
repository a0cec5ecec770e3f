"""The five benchmarks by regret: budgets in every unit, and a table that runs to its end."""

import pytest

import gymnasium_gsp as gsp
from benchmarks import regret


@pytest.mark.parametrize(
    ("text", "budget"),
    [
        ("16", gsp.Budget(simulations=16)),
        ("0.5ms", gsp.Budget(seconds=0.0005)),
        ("4096steps", gsp.Budget(model_steps=4096)),
        ("Budget(nodes=3)", gsp.Budget(nodes=3)),
    ],
)
def test_budgets(text, budget):
    assert regret.read_budget(text) == budget


def test_seconds_are_shown_with_what_was_spent_beyond_them():
    assert regret.spent_text(gsp.Budget(seconds=0.001), 1.25) == "1.25 (+25%)"
    assert regret.spent_text(gsp.Budget(simulations=1), 1.25) == "1.25"


def test_the_table_of_kept_and_fresh_graphs(baselines, capsys):
    for arguments in ([], ["--fresh"]):
        regret.main(["--budgets", "2", "100steps", "--episodes", "2", "--jobs", "1", *arguments])
    lines = capsys.readouterr().out.splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if "graft" in line]
    assert [row[:2] for row in rows] == [
        ["2", "graft"],
        ["model_steps=100", "graft"],
        ["2", "graft, fresh graph"],
        ["model_steps=100", "graft, fresh graph"],
    ]
    for row in rows:
        assert len(row) == 10
        scores = [float(cell.split()[0]) for cell in row[2:7]]
        assert max(scores) <= 1.0 + 1e-9
        assert float(row[7].split()[0].strip("*")) == pytest.approx(sum(scores) / 5, abs=0.001)
        assert float(row[8].replace(",", "")) > 0.0
