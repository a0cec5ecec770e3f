"""A decision as a person sees it: the printed table, the notebook, the figure."""

import subprocess
import sys

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.wrappers import TransformAction

import gymnasium_gsp as gsp

SMALL = {
    "action": 1,
    "value": 0.5,
    "simulations": 40,
    "model_steps": 100,
    "seconds": 0.0123,
    "nodes": 3,
    "graph_size": 4,
    "stopped_by": "simulations",
}


def result(q, visits, **changes):
    return gsp.SearchResult(**{**SMALL, "q_values": np.array(q), "visit_counts": np.array(visits), **changes})


def test_a_result_prints_as_a_table_with_names_the_recommended_action_first():
    found = result([0.25, 0.5, -np.inf], [30, 10, 0], action_names=("left", "right", "jump"))
    head, columns, *rows, why = repr(found).splitlines()
    assert head.startswith(
        "action 1 right, root value 0.5; 40 simulations, 100 model steps, 3 new nodes, 4 stored, 12.3"
    )
    assert columns.split() == ["action", "value", "visits"]
    assert [row.split() for row in rows] == [
        [">", "1", "right", "0.5000", "10"],
        ["0", "left", "0.2500", "30"],
        ["2", "jump", "-", "0"],
    ]
    assert why == "right has the highest value: 0.5."


def test_values_that_differ_look_different():
    text = repr(result([0.4999999, 0.5], [5, 5]))
    assert "0.4999999" in text
    assert "0.5000000" in text
    assert "highest value" in text


@pytest.mark.parametrize(
    ("q", "visits", "changes", "words"),
    [
        ([1.0, 1.0, 0.5], [5, 5, 5], {}, "0, 1 tie at 1; the tie was broken at random."),
        ([0.9, 0.5], [4, 9], {"recommendation": "most_visits"}, "1 has the most visits: 9 visits."),
        ([0.9, 0.5], [9, 9], {"recommendation": "most_visits"}, "0, 1 tie at 9 visits; of these, values decide first"),
        ([0.9, 0.5], [2, 9], {}, "1 was preferred with 0.5: the 0.9 of 0 rests on weaker evidence."),
        ([-np.inf, -np.inf], [0, 0], {}, "No action was tried"),
        ([0.0, 0.0], [0, 0], {"stopped_by": "terminal"}, "The episode has ended"),
    ],
)
def test_the_reason_of_a_decision_is_said(q, visits, changes, words):
    assert words in repr(result(q, visits, **changes)).splitlines()[-1]


def test_many_actions_are_cut_and_counted():
    text = repr(result(np.arange(30.0)[::-1], np.full(30, 2), action=0))
    assert "... and 18 more" in text
    assert len(text.splitlines()) == 1 + 1 + 12 + 1 + 1


def test_the_notebook_shows_the_same_table():
    html = result([0.25, 0.5], [30, 10], action_names=("<left>", "right"))._repr_html_()
    assert html.count("<tr") == 3
    assert "&lt;left&gt;" in html
    assert "width:120px" in html
    assert "right has the highest value" in html


def test_the_figure_has_a_bar_for_each_action():
    axes = result([0.25, 0.5, -np.inf], [30, 10, 0]).plot()
    assert [bar.get_width() for bar in axes.patches] == [0.25, 0.5, 0.0]
    assert [text.get_text() for text in axes.texts] == ["30 visits", "10 visits", "never tried"]
    assert result([0.1, 0.2], [1, 1]).plot(axes) is axes


NAMES = {
    "GSP/FrozenLake-v0": ("left", "down", "right", "up"),
    "GSP/FactoredRiverSwim-v0": (
        "rest", "swim 1", "swim 2", "swim 1+2", "swim 3", "swim 1+3", "swim 2+3", "swim 1+2+3",
    ),
    "CliffWalking-v1": (),
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_an_agent_knows_the_names_that_the_environment_has(name):
    with gym.make(name) as env:
        agent = gsp.make_agent(env, budget=4, seed=0)
        agent.act(*env.reset(seed=0))
        assert agent.result.action_names == NAMES[name]


def test_names_of_another_action_space_are_not_used():
    env = TransformAction(gym.make("GSP/FrozenLake-v0"), lambda action: action + 1, gym.spaces.Discrete(2))
    agent = gsp.make_agent(env, budget=4, seed=0)
    agent.act(*env.reset(seed=0))
    assert agent.result.action_names == ()


USER = """
import gymnasium as gym
import gymnasium_gsp as gsp

env = gym.make("GSP/FrozenLake-v0")
agent = gsp.make_agent(env)
observation, info = env.reset()
action = agent.act(observation, info)
best: int = agent.result.action
nodes: int = len(agent.graph())
"""


@pytest.mark.slow
def test_a_users_type_check_passes_after_act(tmp_path):
    pytest.importorskip("mypy", reason="needs mypy")
    (tmp_path / "user.py").write_text(USER)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", str(tmp_path / "user.py")], capture_output=True, text=True
    )
    assert "user.py" not in done.stdout, done.stdout
