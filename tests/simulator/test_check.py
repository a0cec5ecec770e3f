"""What `gsp check` finds, and what it passes."""

import gymnasium as gym
import pytest
from simulator.toys import (
    Card,
    Corridor,
    Diary,
    EzCorridor,
    Forgetful,
    Global,
    Lying,
    Masked,
    NativeCorridor,
    Timed,
    Uncopyable,
)

import gymnasium_gsp as gsp
from gymnasium_gsp.binding import adapters
from gymnasium_gsp.binding.adapters.toy_text import ToyText


def outcomes(env, **options):
    report = gsp.check_snapshot(env, **options)
    return {row.claim: row.outcome for row in report.rows}, report


@pytest.mark.parametrize(
    "make",
    [
        lambda: "CartPole-v1",
        lambda: "Taxi-v4",
        lambda: "FrozenLake-v1",
        lambda: "Blackjack-v1",
        lambda: "gymnasium_gsp:GSP/PassengerGrid-v0",
        lambda: gym.make("GSP/FourRooms-v0"),
        lambda: gym.wrappers.TimeLimit(Corridor(slip=0.2), 30),
        lambda: gym.wrappers.TimeLimit(NativeCorridor(slip=0.2), 30),
        lambda: gym.wrappers.TimeLimit(Corridor(length=40), 10),
        lambda: gym.wrappers.TimeLimit(Diary(), 30),
        lambda: gym.wrappers.TimeLimit(Uncopyable(), 30),
        lambda: gym.wrappers.TimeLimit(Masked(), 30),
        lambda: gym.wrappers.TimeLimit(Timed(), 30),
        lambda: gym.wrappers.FrameStackObservation(gym.make("CartPole-v1"), 3),
        Card,
    ],
)
def test_what_can_be_planned_in_passes(make):
    report = gsp.check_snapshot(make())
    assert report.passed, str(report)
    assert {"step", "save", "restore"} <= set(report.costs)
    assert report.adapter in str(report)


def unbounded():
    return gym.wrappers.ClipAction(gym.make("Pendulum-v1"))


@pytest.mark.parametrize(
    ("make", "claim", "remedy"),
    [
        (Lying, "a snapshot can be taken and restored", "loading must undo saving"),
        (Forgetful, "same future under the same randomness", "the snapshot lacks what decides it"),
        (Global, "the global random streams are not used", "self.np_random"),
        (EzCorridor, "actions are numbered, wrappers understood", "clone_state"),
        (unbounded, "actions are numbered, wrappers understood", "TransformAction"),
    ],
)
def test_what_cannot_is_found_with_its_remedy(make, claim, remedy):
    report = gsp.check_snapshot(make())
    assert not report.passed
    row = next(row for row in report.rows if row.claim == claim)
    assert row.outcome == "FAILED"
    assert remedy in row.note


def test_a_table_that_lies_is_found():
    env = gym.make("FrozenLake-v1", is_slippery=False)
    assert outcomes(env)[0]["the table P tells what steps do"] == "passed"
    env.unwrapped.P = {**env.unwrapped.P, 0: {action: [(1.0, 5, 1.0, False)] for action in range(4)}}
    real, env.unwrapped.step = env.unwrapped.step, lambda action: (0, 0.0, False, False, {})
    found, report = outcomes(env)
    assert found["the table P tells what steps do"] == "FAILED", str(report)
    assert "action" in str(report)
    env.unwrapped.step = real


def test_hidden_state_is_warned_of():
    for env in ("Blackjack-v1", Card()):
        found, _ = outcomes(env)
        assert found["the observation tells the saved state"] == "warning"
    found, _ = outcomes(Timed())
    assert found["the observation tells the saved state"] == "passed"


def test_a_shared_object_is_found(monkeypatch):
    class Sharing(ToyText):
        def load(self, env, snapshot):
            super().load(env, snapshot)
            self.original.s = 0

        def prepare(self, simulator, env):
            super().prepare(simulator, env)
            Sharing.original = env

    monkeypatch.setattr(adapters, "_adapters", [Sharing])
    found, _ = outcomes("Taxi-v4")
    assert "FAILED" in found.values()


def test_a_render_in_between_does_no_harm():
    pytest.importorskip("pygame", reason="rendering needs pygame, which is absent")
    for env_id in ("CartPole-v1", "Taxi-v4"):
        found, report = outcomes(gym.make(env_id, render_mode="rgb_array"))
        assert found["also after a render"] == "passed", str(report)


def test_steps_that_draw_in_some_states_alone_are_seen():
    """Blackjack draws where somebody takes a card; a dealer who stands and a player who sticks draw nothing."""
    for seed in range(5):
        report = gsp.check_snapshot(gym.make("Blackjack-v1"), seed=seed)
        (row,) = (row for row in report.rows if row.claim == "another future under other randomness")
        assert row.outcome == "passed"
        assert "seeds differ" in row.note


def row_of(report, claim):
    return next(row for row in report.rows if row.claim == claim)


@pytest.mark.parametrize(
    ("env", "words"),
    [("CartPole-v1", "0% of 9"), ("FrozenLake-v1", "random steps led to a state that other actions had led to")],
)
def test_what_recurs_is_measured_and_a_coarser_key_is_named_where_nothing_does(env, words):
    row = row_of(gsp.check_snapshot(env), "how often states are met again")
    assert row.outcome == "passed"
    assert words in row.note
    assert ("a coarser state_key=" in row.note) == (env == "CartPole-v1")


def test_where_no_stream_moves_one_copy_of_each_state_is_enough():
    """The others would do the same: a seed reaches a step through its streams alone."""
    for make in (lambda: gym.make("CartPole-v1"), lambda: gym.wrappers.TimeLimit(Corridor(length=40), 30)):
        note = row_of(gsp.check_snapshot(make()), "another future under other randomness").note
        assert note in ("steps draw nothing", "no step drew anything, from 20 states")
    note = row_of(
        gsp.check_snapshot(gym.wrappers.TimeLimit(Corridor(slip=0.2), 30)), "another future under other randomness"
    )
    assert "of 8 seeds differ" in note.note


def test_slow_steps_are_tried_from_fewer_states(monkeypatch):
    monkeypatch.setattr("gymnasium_gsp.binding.trial._PATIENCE", 0.0)
    report = gsp.check_snapshot(gym.wrappers.TimeLimit(Corridor(length=40), 30))
    assert report.passed, str(report)
    assert "from 1 states" in row_of(report, "another future under other randomness").note
    lying = gsp.check_snapshot(Lying())
    assert not lying.passed
