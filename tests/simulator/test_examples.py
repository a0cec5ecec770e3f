"""The examples run as they stand."""

import importlib.util
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def load(name):
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_an_environment_of_ones_own():
    assert -60.0 < load("own_environment").main() <= -7.0


def test_an_environment_of_ones_own_takes_less_than_twenty_lines():
    lines = (EXAMPLES / "own_environment.py").read_text().split("\n")
    first = next(i for i, line in enumerate(lines) if line.startswith("class Ice"))
    last = next(i for i, line in enumerate(lines) if line.startswith("def main"))
    assert len([line for line in lines[first:last] if line.strip()]) < 20


def test_minigrid():
    pytest.importorskip("minigrid", reason="minigrid is absent")
    assert load("minigrid_door_key").main(budget=30, env_id="MiniGrid-Empty-5x5-v0") > 0.0


def test_rddl():
    pytest.importorskip("pyRDDLGym", reason="pyRDDLGym is absent")
    assert load("rddl_sysadmin").main(budget=5, steps=5) > 0.0


def test_a_planner_becomes_a_data_set_and_a_policy(tmp_path, monkeypatch):
    minari = pytest.importorskip("minari", reason="minari is absent")
    for package in ("h5py", "jax"):
        pytest.importorskip(package, reason=f"{package}, with which minari records, is absent")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    planner, policy = load("planner_to_policy").main(recorded=3, evaluated=10, max_episode_steps=60)
    dataset = minari.load_dataset("cartpole/planner-v0")
    assert dataset.total_episodes == 3
    assert dataset.total_steps == 3 * planner
    assert planner == 60.0
    assert policy > 40.0  # a random policy reaches 22


def test_search_on_ppo():
    """On CartPole after 5,000 steps of training, where a search is better than the policy."""
    pytest.importorskip("stable_baselines3", reason="stable-baselines3 is absent")
    returns = load("search_on_ppo").main("CartPole-v1", training=5_000, budgets=(32,), episodes=3)
    assert list(returns) == ["PPO alone", "32 simulations"]
    assert sum(returns["32 simulations"]) >= sum(returns["PPO alone"])


def test_every_example_is_tried_here():
    tried = Path(__file__).read_text()
    assert all(f'load("{path.stem}")' in tried for path in EXAMPLES.glob("*.py"))
