"""Progress in decisions: nothing where it is quick, counts where it takes long."""

import pytest

from gymnasium_gsp.bench.cell import Cell
from gymnasium_gsp.bench.console import progress_shown
from gymnasium_gsp.bench.episode import play


def test_what_is_quick_prints_nothing(capsys):
    with progress_shown(3, unit="decisions", delay=2.0) as show:
        show(1, "a note")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("total", "words"), [(3, "3/3"), (None, "3 decisions")])
def test_what_takes_long_is_counted_in_decisions(capsys, total, words):
    with progress_shown(total, unit="decisions") as show:
        show(1, "a note")
        show(3, "another")
    shown = capsys.readouterr().err
    assert words in shown
    assert "decisions/s" in shown or "s/ decisions" in shown


def test_every_decision_is_told():
    told = []
    episodes = list(play(Cell(env="FrozenLake", budget=4, env_options={"horizon": 5}), 2, on_decision=told.append))
    assert len(told) == sum(episode.decisions for episode in episodes)
    assert {result.simulations for result in told} == {4}
