"""Evaluation cards: what they hold, that they read back and are paired by reset seed, and what is refused."""

import json
import re
import shlex
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
from scipy import stats

from gymnasium_gsp import Budget, RecipeError, make_recipe
from gymnasium_gsp.agents.seeding import episode_seeds
from gymnasium_gsp.bench.card import KIND, VERSION, read_card, write_card
from gymnasium_gsp.bench.cell import Cell
from gymnasium_gsp.bench.episode import play
from gymnasium_gsp.bench.evaluation import compare, doubt, evaluate
from gymnasium_gsp.bench.intervals import interquartile_mean
from gymnasium_gsp.bench.model_card import model_card
from gymnasium_gsp.exact import shipped_optima

LAKE = "GSP/FrozenLake-v0"


@pytest.fixture(scope="module")
def card():
    return evaluate("FrozenLake", budget=8, episodes=6, seed=3, env_options={"horizon": 12})


def changed(card, **fields):
    """The same card of other returns or with other fields."""
    if "returns" in fields:
        count = len(fields["returns"])
        fields.setdefault("reset_seeds", tuple(range(count)))
        fields |= {"decisions": (1,) * count, "mean_return": float(np.mean(fields["returns"]))}
    return card.changed(**fields)


def test_a_card_holds_what_was_played(card):
    cell = Cell(env="FrozenLake", budget=8, seed=3, env_options={"horizon": 12})
    episodes = list(play(cell, 6))
    assert card.returns == tuple(episode.total_reward for episode in episodes)
    assert card.decisions == tuple(episode.decisions for episode in episodes)
    assert card.mean_return == pytest.approx(np.mean(card.returns), abs=1e-12)
    assert card.reset_seeds == tuple(episode_seeds(3, LAKE, index)[0] for index in range(6))
    assert (card.environment, card.environment_arguments) == (LAKE, {"horizon": 12})
    assert card.wrappers[0] == "TimeLimit"
    assert card.environment_package.startswith("gymnasium")
    assert (card.algorithm, card.budget, card.recipe) == ("graft", 8, repr(make_recipe("graft")))
    assert card.access == "simulator"
    assert not card.covered_by_theorem
    assert card.not_covered_because == tuple(make_recipe("graft").guarantee)
    assert "95%" in card.interval
    assert card.seconds_per_decision > 0.0
    assert card.simulations_per_decision == 8.0
    assert {"gymnasium_gsp", "gymnasium"} <= set(card.versions)
    assert card.machine["cpu"]
    assert evaluate("FrozenLake", budget=8, episodes=2).optimum == shipped_optima()[LAKE]


def test_the_interquartile_mean_leaves_both_quarters_out():
    assert interquartile_mean(np.array([100.0, 1.0, 2.0, -50.0])) == 1.5
    sample = np.random.default_rng(0).normal(size=40)
    assert interquartile_mean(sample) == pytest.approx(np.sort(sample)[10:30].mean())
    assert interquartile_mean(sample) == stats.trim_mean(sample, 0.25)


def test_few_episodes_have_no_interval(card):
    few = evaluate("FrozenLake", budget=4, episodes=2)
    assert few.mean_interval is few.interquartile_mean_interval is None
    assert card.mean_interval[0] <= card.mean_return <= card.mean_interval[1]


def test_the_command_of_a_card_plays_it_again(card, tmp_path):
    from typer.testing import CliRunner

    from gymnasium_gsp.cli.commands import app

    again = tmp_path / "again.json"
    answer = CliRunner().invoke(app, [*shlex.split(card.command)[1:], "--json", str(again)])
    assert answer.exit_code == 0, answer.output
    assert read_card(again).changed(seconds_per_decision=0.0) == card.changed(seconds_per_decision=0.0)


def test_a_budget_that_was_not_given_is_the_one_that_was_chosen():
    card = evaluate("CliffWalking-v1", episodes=1)
    assert card.budget == 256
    assert evaluate("FrozenLake", budget=Budget(model_steps=50), episodes=1).budget == "Budget(model_steps=50)"


def test_a_card_reads_back_the_same(card, tmp_path):
    path = tmp_path / "card.json"
    write_card(card, path)
    assert read_card(path) == card
    text = path.read_text()
    assert len(text.splitlines()) == len(type(card).model_fields) + 2
    assert json.loads(text)["kind"] == KIND


def test_what_is_no_card_of_this_version_is_refused_and_left_as_it_was(card, tmp_path):
    path = tmp_path / "card.json"
    write_card(card, path)
    text, fields = path.read_text(), json.loads(path.read_text())
    without_returns = {name: value for name, value in fields.items() if name != "returns"}
    for content, words in (
        (text[: len(text) // 2], "is no evaluation card: it is no JSON, or only a part of it"),
        ("[1]", "is no evaluation card; `gsp evaluate ENV --json card.json` writes one"),
        ("[" * 100_000, "is no evaluation card"),
        ("{}", "is no evaluation card"),
        (json.dumps(fields | {"version": VERSION + 1}), f"is of version {VERSION + 1}, and this gymnasium-gsp reads"),
        (json.dumps(without_returns), "is damaged: there is no returns"),
        (json.dumps(fields | {"returns": fields["returns"][1:]}), "are not of the same episodes"),
        (json.dumps(fields | {"mean_return": 7.0}), "mean_return is not the mean of the returns"),
        (json.dumps(fields | {"returns": ["x", *fields["returns"][1:]]}), "is damaged: returns 1: "),
        (json.dumps(fields | {"mean_return": float("nan")}), "is damaged: mean_return"),
        (json.dumps(fields | {"access": "weights"}), "is damaged: access"),
        (json.dumps(fields | {"return": 1}), "Did you mean 'returns'"),
    ):
        path.write_text(content)
        with pytest.raises(RecipeError) as refused:
            read_card(path)
        assert words in str(refused.value)
        assert "\n" not in str(refused.value)
        assert path.read_text() == content
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(RecipeError, match="is no evaluation card"):
        read_card(path)
    with pytest.raises(RecipeError, match="cannot be read"):
        read_card(tmp_path)


def test_reading_a_card_imports_nothing_that_it_names(card, tmp_path, monkeypatch):
    (tmp_path / "unwanted.py").write_text("raise SystemExit('imported')")
    monkeypatch.syspath_prepend(tmp_path)
    write_card(card.changed(environment="unwanted:Lake-v0", preset="unwanted.toml"), tmp_path / "card.json")
    assert read_card(tmp_path / "card.json").environment == "unwanted:Lake-v0"


def test_cards_are_paired_by_reset_seed(card):
    """Whatever the order and the number of the episodes."""
    first = changed(card, returns=(1.0, 2.0, 3.0, 4.0, 5.0, 6.0), reset_seeds=(1, 2, 3, 4, 5, 6))
    second = changed(card, returns=(9.0, 5.5, 4.5, 3.5, 2.5, 1.5), reset_seeds=(7, 6, 5, 4, 3, 2))
    found = compare(first, second)
    assert (found.mean_difference, found.episodes, found.interval) == (0.5, 5, (0.5, 0.5))
    assert not found.clear
    assert found.notes == ("1 of the episodes have no partner and were left out",)


def test_an_interval_without_0_over_enough_episodes_is_clear(card):
    """Returns of one seed are alike, so their differences have a narrow interval where the means do not."""
    rng = np.random.default_rng(0)
    levels = 100.0 * rng.random(40)
    first, second = (changed(card, returns=tuple(levels + shift + 0.1 * rng.random(40))) for shift in (0.2, 0.0))
    found = compare(first, second)
    assert found.clear
    assert 0.1 < found.interval[0] < found.mean_difference < found.interval[1] < 0.3
    assert first.mean_interval is not None
    same = compare(first, first)
    assert (same.mean_difference, same.interval, same.clear) == (0.0, (0.0, 0.0), False)
    assert found.verdict == "clear"
    share = 1.0 - 0.05 ** (1.0 / same.episodes)  # none of so many has a chance of 5 % where so many are unlike
    assert same.verdict == f"none seen, and still up to {share:.0%} of episodes may differ"


def test_few_or_equal_returns_are_said_to_show_little():
    assert doubt([0.0, 1.0] * 15) == ""
    assert doubt([0.0, 1.0]) == doubt([1.0]) == "fewer than 30 episodes show little"
    assert doubt([1.0] * 30) == "all are equal, and still up to 10% of episodes may return something else"


def test_cards_that_cannot_be_compared_are_refused(card):
    with pytest.raises(RecipeError, match="different tasks: their environment: 'GSP/FrozenLake-v0' and 'Taxi-v4'"):
        compare(card, card.changed(environment="Taxi-v4"))
    with pytest.raises(RecipeError, match="different tasks: their environment arguments"):
        compare(card, card.changed(environment_arguments={}))
    with pytest.raises(RecipeError, match="different tasks: their wrappers"):
        compare(card, card.changed(wrappers=()))
    with pytest.raises(RecipeError, match=r"share no reset seed.* evaluate both with the same one"):
        compare(card, card.changed(reset_seeds=tuple(range(6)), seed=4))


def test_other_versions_and_machines_are_noted(card):
    other = card.changed(versions=card.versions | {"numpy": "0.1"}, machine={"cpu": "another"})
    notes = compare(card, other).notes
    assert len(notes) == 2
    assert "different versions" in notes[0]
    assert "different machines" in notes[1]


def test_the_model_card_has_the_metadata_of_a_leaderboard(card):
    yaml = pytest.importorskip("yaml", reason="needs PyYAML, which the extra dev brings")
    strange = changed(card, returns=(1.0, 2.0, 6.0), algorithm="a|b: 'c'")
    head, body = model_card(strange).removeprefix("---\n").split("\n---\n", 1)
    metadata = yaml.safe_load(head)
    assert metadata["tags"][:2] == [LAKE, "reinforcement-learning"]
    (model,) = metadata["model-index"]
    (result,) = model["results"]
    assert model["name"] == "a|b: 'c'"
    assert result["task"]["type"] == "reinforcement-learning"
    assert result["dataset"] == {"name": LAKE, "type": LAKE}
    assert result["metrics"] == [
        {"type": "mean_reward", "value": f"3.00 +/- {np.std([1, 2, 6]):.2f}", "name": "mean_reward", "verified": False}
    ]
    assert "**Access: simulator.**" in body
    assert "a\\|b" in body
    assert card.command in body


def test_an_episode_without_a_finite_return_is_named(monkeypatch):
    gym.register("NaNLake-v0", "gymnasium_gsp.envs.frozen_lake:FrozenLakeEnv", max_episode_steps=3)
    from dataclasses import replace

    from gymnasium_gsp.bench.evaluation import make_card

    try:
        cell = Cell(env="NaNLake-v0", budget=2)
        episodes = [replace(episode, total_reward=float("inf")) for episode in play(cell, 1)]
        with pytest.raises(RuntimeError, match=r"episode 0 of NaNLake-v0.* has the return inf"):
            make_card(cell, episodes)
    finally:
        del gym.registry["NaNLake-v0"]


def test_the_python_of_the_document_runs(tmp_path, monkeypatch, capsys):
    page = Path(__file__).parents[2] / "docs" / "evaluation.md"
    (block,) = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(block, {})
    assert capsys.readouterr().out.startswith("Comparison(environment='GSP/FrozenLake-v0'")
