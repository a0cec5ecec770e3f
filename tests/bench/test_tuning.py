"""Candidates, their scores, the search, preset files, and the command."""

import contextlib
import math
import tomllib

import gymnasium
import numpy as np
import pytest
from typer.testing import CliRunner

import gymnasium_gsp as gsp
from gymnasium_gsp.agents.preset_file import read_preset
from gymnasium_gsp.agents.values import parse_value
from gymnasium_gsp.algorithms.registry import preset_options
from gymnasium_gsp.bench.benchmark import Benchmark, UnplayedError
from gymnasium_gsp.bench.cell import Cell
from gymnasium_gsp.bench.episode import play
from gymnasium_gsp.bench.executors import start_workers
from gymnasium_gsp.bench.grid import Grid
from gymnasium_gsp.bench.store import Store, read
from gymnasium_gsp.bench.texts import options_of
from gymnasium_gsp.bench.tuning import (
    GRID,
    Score,
    Tuning,
    best,
    choices_of,
    named,
    preset_text,
    search,
    verdict,
    write_preset,
)
from gymnasium_gsp.cli.commands import app
from gymnasium_gsp.ingredients import Cautious, FixedHorizon, Sweep

optuna = pytest.importorskip("optuna", reason="Optuna is not installed: pip install 'gymnasium-gsp[tune]'")


def refused(words, call, *arguments):
    with pytest.raises(gsp.RecipeError, match=words):
        call(*arguments)


@contextlib.contextmanager
def tuning(path, env="FourRooms", agent="uct", budgets=(4, 8), episodes=3, **grid):
    """A search for options, played in this process."""
    grid = Grid(envs=[env], algorithms=[agent], budgets=budgets, episodes=episodes, **grid)
    with Store(path) as store, start_workers(1) as workers:
        yield Tuning(grid, store, workers)


def outcomes(into):
    """A watch that collects the outcome of every candidate."""
    return lambda number, total, outcome: into.append((number, total, outcome))


def test_the_default_grid_has_the_options_that_the_algorithm_takes():
    assert choices_of("gs-power-uct") == {"c": GRID["c"], "p": GRID["p"]}
    assert choices_of("ments") == {"temperature": GRID["temperature"]}
    refused("none of the options", choices_of, "olop")


def test_values_are_read_as_settings_are_and_calls_are_not_cut():
    assert choices_of("gs-power-uct", ["p=1, inf, 1.0"]) == {"p": ("1", "inf")}
    choices = choices_of("gs-power-uct", ["horizon=FixedHorizon(3),FixedHorizon(5)", "decision=Sweep(Cautious(0.3))"])
    assert choices == {"horizon": ("FixedHorizon(3)", "FixedHorizon(5)"), "decision": ("Sweep(Cautious(0.3))",)}
    assert named({name: values[0] for name, values in choices.items()}) == (
        "horizon=FixedHorizon(3), decision=Sweep(Cautious(0.3))"
    )


@pytest.mark.parametrize(
    ("tries", "words"),
    [
        (["cc=1"], "Did you mean 'c'"),
        (["c"], "written option=value"),
        (["c="], "written option=value"),
        (["c=1,,2"], "empty value"),
        (["c=1", "c=2"], "given twice"),
        (["c=__import__('os')"], "unknown ingredient '__import__'"),
    ],
)
def test_what_makes_no_sense_is_refused(tries, words):
    refused(words, choices_of, "uct", tries)


def test_scores_are_means_of_the_episodes_that_run_plays(path):
    with tuning(path) as task:
        candidates = [{"c": "0.1"}, {"c": "1.0"}]
        scores = [task.score(candidate) for candidate in candidates]
        for found in scores:
            cells = [Cell(env="FourRooms", algorithm="uct", budget=b, options=found.candidate) for b in (4, 8)]
            means = [np.mean([episode.total_reward for episode in play(cell, 3)]) for cell in cells]
            assert found.mean == pytest.approx(np.mean(means))
        assert best(scores).mean == max(one.mean for one in scores)
        assert len(read(path)) == 2 * 2 * 3
        nobody = Tuning(task.grid, task.store, workers=None)  # all episodes are in the store
        assert [nobody.score(candidate) for candidate in candidates] == scores
        fresh = task.score(candidates[0], seed=1)
        assert fresh.returns != scores[0].returns
        assert len(read(path)) == 3 * 2 * 3


def test_a_standard_error_is_that_of_episodes_and_a_gain_is_paired(path):
    """At both budgets an episode has the same layout, so the returns of its budgets are one sample and not two."""
    with tuning(path, episodes=6) as task:
        one, other = task.score({"c": "0.1"}), task.score({"c": "1.0"})
    cells = [Cell(env="FourRooms", algorithm="uct", budget=budget, options={"c": 0.1}) for budget in (4, 8)]
    samples = np.array([[episode.total_reward for episode in play(cell, 6)] for cell in cells]).mean(axis=0)
    assert one.returns == pytest.approx(tuple(samples))
    assert one.standard_error == pytest.approx(samples.std(ddof=1) / math.sqrt(6))
    differences = np.array(one.returns) - np.array(other.returns)
    gain = one.gain(other)
    assert gain.mean == pytest.approx(one.mean - other.mean)
    assert gain.standard_error == pytest.approx(differences.std(ddof=1) / math.sqrt(6))
    assert (one.gain(one).mean, one.gain(one).standard_error) == (0.0, 0.0)


def test_a_grid_is_searched_whole_and_repeated_it_costs_nothing(path):
    choices, first, again = {"c": ("0.1", "1.0"), "horizon": ("FixedHorizon(5)", "StepsLeft()")}, [], []
    with tuning(path, budgets=4, episodes=1) as task:
        scores = search(task, choices, watch=outcomes(first))
        assert {named(one.candidate) for one in scores} == {
            f"c={c}, horizon={horizon}" for c in choices["c"] for horizon in choices["horizon"]
        }
        assert [(number, total) for number, total, _ in first] == [(number, 4) for number in (1, 2, 3, 4)]
        nobody = Tuning(task.grid, task.store, workers=None)
        assert search(nobody, choices, watch=outcomes(again)) == scores
    assert again == first


def test_what_is_worse_in_every_episode_is_given_up_early(path, monkeypatch):
    """Returns are invented: 1 for one candidate and 0 for the others, in each of 50 episodes."""
    played = []

    def score(self, candidate, episodes=None, seed=None):
        played.append((candidate["c"], episodes))
        return Score(candidate, (float(candidate["c"] == "1"),) * episodes)

    monkeypatch.setattr(Tuning, "score", score)
    told, choices = [], {"c": tuple(map(str, range(1, 8)))}
    with tuning(path, episodes=50) as task:
        scores = search(task, choices, watch=outcomes(told))
    winner = best(scores)
    assert winner.candidate == {"c": "1"}
    whole = [outcome.partition(":")[0] for _, _, outcome in told if "given up" not in outcome]
    place = whole.index("c=1")
    assert place == len(whole) - 1  # from the winner on, everything else is given up
    for candidate in {c for c, _ in played} - {one.candidate["c"] for one in scores}:
        assert max(episodes for c, episodes in played if c == candidate) == 10


def test_an_interrupted_search_asks_for_what_an_unbroken_one_asks_for(tmp_path, monkeypatch):
    """Stopped after two trials, and again in the middle of the fourth: the same trials with the same values follow."""
    choices = {"c": ("0.1", "0.2", "0.5", "1.0"), "horizon": ("FixedHorizon(5)", "FixedHorizon(9)", "StepsLeft()")}
    whole, calls = Benchmark.play, []

    def cut(*arguments, **more):
        calls.append(1)
        if len(calls) == 8:
            raise KeyboardInterrupt
        return whole(*arguments, **more)

    def trials(name, *ends):
        told = []
        with tuning(tmp_path / f"{name}.sqlite", budgets=4, episodes=5) as task:
            for end in ends:
                told.clear()
                try:
                    search(task, choices, end, outcomes(told))
                except KeyboardInterrupt:
                    monkeypatch.setattr(Benchmark, "play", whole)
        return [outcome for _, _, outcome in told]

    unbroken = trials("unbroken", 6)
    monkeypatch.setattr(Benchmark, "play", cut)
    assert trials("broken", 2, 5, 6) == unbroken
    assert len(calls) == 8
    assert len(unbroken) == 6


def test_optuna_is_told_of_earlier_trials(path):
    """More trials than a search had before go on from them: the first ones are the same."""
    choices, few, more = {"c": ("0.1", "0.5", "1.0", "2.0")}, [], []
    with tuning(path) as task:
        search(task, choices, 2, outcomes(few))
        scores = search(task, choices, 4, outcomes(more))
    assert [outcome for _, _, outcome in more][:2] == [outcome for _, _, outcome in few]
    assert 1 <= len({named(one.candidate) for one in scores}) == len(scores) <= 4


def test_what_cannot_be_played_is_given_up_and_the_search_goes_on(path, own_ids):
    told = []
    with tuning(path, "FailingLake-v0", budgets=4, episodes=8) as task:
        assert search(task, {"c": ("0.1", "0.5", "1.0")}, watch=outcomes(told)) == []
        assert [number for number, _, _ in told] == [1, 2, 3]
        assert all("the ice is broken" in outcome for _, _, outcome in told)
        with pytest.raises(UnplayedError, match="the ice is broken"):
            task.score({})
    command = ["tune", "FailingLake-v0", "--algorithm", "uct", "--budgets", "4", "--runs", "8", "--try", "c=0.1,1"]
    preset = path.with_name("p.toml")
    answer = CliRunner().invoke(app, [*command, "--jobs", "1", "--store", str(path), "-o", str(preset)])
    assert answer.exit_code == 2
    assert answer.stderr.count("given up, a cell could not be played to its end") == 2
    assert "no candidate was complete" in answer.stderr
    assert not preset.exists()


def test_a_value_that_the_algorithm_refuses_is_refused_before_anything_is_played(path):
    with tuning(path) as task:
        refused("c=-1", search, task, {"c": ("1", "-1")})
        set_already = Tuning(task.grid.changed(options="discount=1"), task.store, task.workers)
        refused("discount is both set and tried", search, set_already, {"discount": ("1",)})
    assert read(path).empty


def test_a_combination_that_is_refused_is_given_up_by_name_and_the_search_goes_on(path):
    """A fixed horizon does not go with a graph that is kept and keyed by time, which only planning finds out."""
    told = []
    with tuning(path, agent="gs-power-uct", budgets=4, episodes=2) as task:
        scores = search(task, {"horizon": ("StepsLeft()", "FixedHorizon(5)")}, watch=outcomes(told))
    assert [named(one.candidate) for one in scores] == ["horizon=StepsLeft()"]
    (given_up,) = [outcome for _, _, outcome in told if "given up" in outcome]
    assert given_up.startswith("horizon=FixedHorizon(5): given up, a graph keyed by")


def test_a_gain_that_may_be_luck_is_called_so():
    defaults = Score({}, (0.4, 0.5, 0.6))
    clear = Score({"c": "1"}, (0.7, 0.8, 0.9))
    lucky = Score({"c": "1"}, (0.3, 0.5, 1.0))
    assert not any("no clear gain" in line for line in verdict([clear], clear, clear, defaults))
    for found in (lucky, defaults):
        assert "no clear gain" in verdict([clear], clear, found, defaults)[-1]
    assert "that is a loss" in verdict([clear], clear, defaults, clear)[-1]


def test_every_preset_can_be_written_as_text(path, tmp_path):
    with Store(path) as store:
        for algorithm in gsp.ALGORITHMS.values():
            for preset, by_env in algorithm.presets.items():
                for env in (env for env in by_env if env != "*"):
                    grid = Grid(envs=[env], algorithms=[algorithm.name], budgets=4, episodes=1, preset=preset)
                    score = Score({}, (0.5,))
                    write_preset(tmp_path / "p.toml", Tuning(grid, store, None), "gsp tune", [score], *[score] * 3)
                    env_id = f"GSP/{env}-v0"
                    expected = preset_options(algorithm, preset, env_id)
                    assert read_preset(tmp_path / "p.toml", algorithm.name, env_id) == expected


def test_what_stands_below_is_played_and_written(path, tmp_path):
    """A preset and settings below: the episodes are those of a run with all of them, and the file holds all of them."""
    below = {"preset": "paper", "options": ["p=2.5"], "env_options": {"slip": 0.0}}
    preset = tmp_path / "p.toml"
    with tuning(path, "FrozenLake", "power-uct", budgets=4, episodes=2, **below) as task:
        found = task.score({"c": "0.75"})
        refused("p is both set and tried", task.score, {"p": "1"})
        write_preset(preset, task, "gsp tune", [found], found, found, found)
    options = {"p": 2.5, "c": 0.75}
    cell = Cell(
        env="FrozenLake", algorithm="power-uct", budget=4, preset="paper", options=options, env_options={"slip": 0.0}
    )
    assert found.returns == tuple(episode.total_reward for episode in play(cell, 2))
    expected = preset_options(gsp.ALGORITHMS["power-uct"], "paper", "GSP/FrozenLake-v0") | options
    assert read_preset(preset, "power-uct", "GSP/FrozenLake-v0") == expected
    assert tomllib.loads(preset.read_text())["found"]["env_options"] == '{"slip": 0.0}'
    grid = Grid(envs=["FrozenLake"], algorithms=["power-uct"], budgets=4, episodes=2, preset=str(preset))
    (again,) = grid.cells()
    assert options_of(again.options) == expected


def test_an_agent_takes_a_preset_file(tmp_path):
    path = tmp_path / "p.toml"
    path.write_text(
        preset_text("gs-power-uct", "GSP/FourRooms-v0", {"c": "0.25", "p": "2"}, {"candidates": ["a", "b"]})
    )
    env = gymnasium.make("GSP/FourRooms-v0")
    expected = gsp.make_recipe("gs-power-uct", c=0.25, p=3.0)
    for given in (path, str(path)):
        assert gsp.make_agent(env, "gs-power-uct", preset=given, p=3.0).recipe == expected
    refused("for the algorithm gs-power-uct", lambda: gsp.make_agent(env, "uct", preset=path))
    other = gymnasium.make("GSP/FrozenLake-v0")
    refused("for the environment GSP/FourRooms-v0", lambda: gsp.make_agent(other, "gs-power-uct", preset=path))
    refused("belongs to a named algorithm", lambda: gsp.make_agent(env, expected, preset=path))


def test_a_preset_file_holds_options_as_they_are_typed(tmp_path):
    options = {"c": "0.25", "p": "inf", "decision": "Sweep(Cautious(0.3))"}
    path = tmp_path / "p.toml"
    path.write_text(preset_text("gs-power-uct", "GSP/FourRooms-v0", options, {"score": 0.5, "command": 'say "x"\\'}))
    found = read_preset(path, "gs-power-uct", "GSP/FourRooms-v0")
    assert found == gsp.read_preset(path) == {"c": 0.25, "p": math.inf, "decision": Sweep(Cautious(0.3))}
    assert found == {name: parse_value(text) for name, text in options.items()}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("algorithm = ", "no TOML"),
        ("algorithm = 'uct'", "must have texts"),
        ("algorithm = 'uct'\nenv = 'x'\n[optoins]\nc = 1", "Did you mean 'options'"),
        ("algorithm = 'uct'\nenv = 'x'\n[options]\ncc = 1", "Did you mean 'c'"),
        ("algorithm = 'uct'\nenv = 'x'\n[options]\nc = [1]", "a number or a text"),
        ("algorithm = 'uctt'\nenv = 'x'\n[options]\nc = 1", "Did you mean 'uct'"),
    ],
)
def test_a_file_that_is_none_is_refused(tmp_path, text, words):
    path = tmp_path / "p.toml"
    path.write_text(text)
    refused(words, read_preset, path)
    refused("cannot be read", read_preset, tmp_path / "absent.toml")


def test_a_horizon_is_tried_as_an_ingredient(path):
    with tuning(path, budgets=4, episodes=1) as task:
        (run,) = task.runs({"horizon": "FixedHorizon(3)"})
    assert options_of(run.cell.options) == {"horizon": FixedHorizon(3)}


def test_the_command_writes_a_preset_that_run_takes(tmp_path):
    store, preset = str(tmp_path / "t.sqlite"), tmp_path / "p.toml"
    tune = [
        "tune",
        "FourRooms",
        "--algorithm",
        "uct",
        "--budgets",
        "4",
        "--runs",
        "2",
        "--try",
        "c=0.5,1",
        "--jobs",
        "1",
    ]
    answer = CliRunner().invoke(app, [*tune, "--store", store, "-o", str(preset)])
    assert answer.exit_code == 0, answer.output
    misspelt = CliRunner().invoke(app, ["tune", "FourRoms", *tune[2:], "--store", store])
    assert misspelt.exit_code == 2
    assert "The benchmarks are " in misspelt.output
    assert "on fresh episodes" in answer.output
    assert read_preset(preset, "uct")["c"] in (0.5, 1)
    found = tomllib.loads(preset.read_text())["found"]
    assert len(found["candidates"]) == 2
    assert found["gain"] == pytest.approx(found["fresh_score"] - found["default_score"])
    (tmp_path / "grid.toml").write_text("[[grid]]")
    run = ["run", "FourRooms", "--algorithm", "uct", "--budget", "4", "--episodes", "1", "--preset", str(preset)]
    assert CliRunner().invoke(app, run).exit_code == 0
    for wrong, words in (
        (["-o", "p.json"], "ends in .toml"),
        (["--env-set", "slipp=1"], "unknown argument of GSP/FourRooms-v0 'slipp'"),
        (["--budgets", "8,0"], "budget: simulations"),
        (["--try", "x=1"], "unknown"),
        (["--set", "c=1"], "c is both set and tried"),
        (["--preset", "papper"], "Did you mean 'paper'"),
        (["--import", "no_such_module"], "no_such_module"),
        (["-o", str(tmp_path / "grid.toml")], "is there and was left as it was"),
    ):
        answer = CliRunner().invoke(app, [*tune, "--store", store, *wrong])
        assert answer.exit_code == 2
        assert words in answer.output
    assert (tmp_path / "grid.toml").read_text() == "[[grid]]"
