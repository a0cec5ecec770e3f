"""The order in which a benchmark plays, and the time that it says remains, on a clock of the test's own."""

import heapq
import types

import numpy as np
import pytest

from gymnasium_gsp.bench import schedule
from gymnasium_gsp.bench.schedule import Schedule


@pytest.fixture
def clock(monkeypatch):
    clock = types.SimpleNamespace(now=0.0)
    clock.monotonic = lambda: clock.now
    monkeypatch.setattr(schedule, "time", clock)
    return clock


def simulated(clock, costs, workers):
    """Play episodes that take so many seconds; what was said to remain at which time, and the order of series."""
    keys, seconds = zip(*costs, strict=True)
    planned = Schedule(keys, [range(len(of_one)) for of_one in seconds], workers)
    waiting, playing, said, order, number = [], [], [], [], 0
    while True:
        while planned and planned.waiting < 2 * workers:
            series, indices = planned.hand_out(number)
            waiting.append((number, sum(seconds[series][index] for index in indices), len(indices)))
            order.append(series)
            number += 1
        while waiting and len(playing) < workers:
            batch, length, episodes = waiting.pop(0)
            heapq.heappush(playing, (clock.now + length, batch, length, episodes))
        if not playing:
            return said, order
        clock.now, batch, length, episodes = heapq.heappop(playing)
        planned.take_back(batch, episodes, length)
        said.append((clock.now, planned.remaining()))


def grid(rng, episodes):
    """Four algorithms at four budgets; the last takes a hundred times as long, and longer than budgets let expect."""
    level = {"a": 1e-3, "b": 2e-3, "c": 4e-3, "dear": 0.1}
    return [
        (
            (env, name, budget),
            level[name]
            * (budget / 16) ** (1.4 if name == "dear" else 0.9)
            * factor
            * rng.gamma(40.0, 1 / 40, episodes if name != "dear" else max(2, episodes // 6)),
        )
        for env, factor in (("lake", 1.0), ("rooms", 0.3), ("ring", 3.0))
        for name in level
        for budget in (16, 64, 256)
    ]


@pytest.mark.parametrize("workers", [1, 2, 4])
@pytest.mark.parametrize("seed", range(5))
def test_what_is_said_to_remain_is_within_three_tenths_from_a_tenth_on(clock, seed, workers):
    """Where no episode takes longer than a twentieth of the way: nothing can be known of one that is not over."""
    said, _ = simulated(clock, grid(np.random.default_rng(seed), 180), workers)
    end = said[-1][0]
    for now, remaining in said:
        if 0.1 * end <= now <= 0.9 * end:
            assert abs(remaining - (end - now)) <= 0.3 * (end - now), (now / end, remaining, end - now)


def test_the_smallest_budgets_begin_then_the_dearest_and_then_all_at_the_same_pace(clock):
    costs = [((env, "uct", budget), [0.6 * budget] * 4) for env in ("lake", "rooms") for budget in (1, 2, 4)]
    _, order = simulated(clock, costs, 1)
    assert sorted(order[:2]) == [0, 3]
    assert [costs[series][0][2] for series in order[2:6]] == [4, 4, 2, 2]
    for begun in range(0, len(order), 6):
        assert sorted(order[begun : begun + 6]) == list(range(6))


def test_nobody_waits_at_the_end_for_an_episode_that_outlasts_all_else(clock):
    """Three episodes of nine seconds among many short ones on three workers: they are played side by side."""
    costs = [(("lake", "uct", 4), [0.1] * 50), (("ring", "gbop", 4), [9.0] * 3)]
    said, _ = simulated(clock, costs, 3)
    assert said[-1][0] < 9.0 * 2


def test_the_first_episode_of_a_cell_says_more_by_going_on(clock):
    planned = Schedule([("lake", "uct", 4), ("lake", "uct", 8)], [[0], [0, 1]], 1)
    assert planned.remaining() is None
    planned.hand_out(0)
    planned.take_back(0, 1, 1.0)
    planned.hand_out(1)
    assert planned.remaining() == pytest.approx(4.0)
    clock.now = 10.0
    assert planned.remaining() == pytest.approx(2 * 15.0 - 10.0)


def test_series_of_one_key_have_costs_of_their_own(clock):
    """Candidates of a search share environment, algorithm and budget; one is a thousand times as dear."""
    costs = [(("lake", "uct", 4), [0.005] * 200), (("lake", "uct", 4), [5.0] * 200)]
    said, _ = simulated(clock, costs, 1)
    end = said[-1][0]
    assert all(abs(left - (end - now)) <= 0.3 * (end - now) for now, left in said if 0.1 * end <= now <= 0.9 * end)


def test_a_batch_that_brought_nothing_says_nothing_about_costs(clock):
    planned = Schedule([("lake", "uct", 4), ("lake", "uct", 4)], [range(100), range(100)], 1)
    planned.hand_out(0)
    planned.take_back(0, 0, 0.001)
    assert planned.remaining() is None


def test_thousands_of_series_are_handed_out_in_time_that_grows_with_their_number():
    """Counted in looks at a series, not in seconds: a survey is good for a hundred times the time that it took."""
    keys = [(f"env {number}", "uct", budget) for number in range(500) for budget in (4, 8)]
    planned, looks = Schedule(keys, [range(2)] * len(keys), 1), 0
    seconds = planned._costs.seconds

    def counted(series):
        nonlocal looks
        looks += 1
        return seconds(series)

    planned._costs.seconds = counted
    batches = 0
    while planned:
        _, taken = planned.hand_out(batches)
        planned.take_back(batches, len(taken), 1e-4 * len(taken))
        planned.remaining()
        batches += 1
    assert looks < 100 * batches


def test_a_series_that_was_given_up_is_not_handed_out():
    planned = Schedule([("lake", "uct", 4), ("lake", "uct", 8)], [[0, 1], [0, 1]], 1)
    first, _ = planned.hand_out(0)
    planned.give_up(first)
    handed_out = []
    while planned:
        handed_out.append(planned.hand_out(len(handed_out) + 1)[0])
    assert set(handed_out) == {1 - first}
