"""The speed measurements run and time what they say, and the gate finds a slow algorithm."""

import math

import pytest

from benchmarks import gate, speed
from gymnasium_gsp.algorithms.registry import ALGORITHMS, make_recipe


def test_episodes_are_timed():
    timing = speed.time_episodes("FrozenLake", make_recipe("uct"), 16, 1)
    assert 0.0 < timing.kernel_ns_per_step < timing.ns_per_simulation
    assert timing.front_us_per_decision > 0.0


def test_a_limit_on_seconds_ends_the_timing():
    assert speed.time_episodes("FrozenLake", make_recipe("uct"), 16, 10**9, 0.0).ns_per_simulation > 0.0


@pytest.mark.slow
def test_every_case_is_compared_without_a_compiler_too():
    cases = list(speed.compare(None, rounds=1, scale=0.001))
    assert len(cases) == 12
    assert all(case.ours > 0.0 and case.yardstick is None for case in cases)


def test_the_yardstick_is_built_and_timed(tmp_path):
    program = speed.build_yardstick(tmp_path)
    if program is None:
        pytest.skip("no C++ compiler")
    case = next(speed.compare(program, rounds=1, scale=0.001))
    assert case.yardstick > 0.0


@pytest.mark.slow
def test_a_fresh_process_makes_a_decision():
    imports, cold, warm = speed.time_start(rounds=1)
    assert imports > 0.0
    assert cold > warm > 0.0


def test_bytes_of_nodes_and_edges():
    """A row without edges has 4 + 8 cells, one with edges 4 more; an edge has 3 cells."""
    sizes = speed.measure_memory()
    assert sizes["bytes per edge"] == 24.0
    assert sizes["bytes per node with edges"] - sizes["bytes per node without edges"] == 32.0


@pytest.mark.parametrize("arguments", [["--rounds", "0"], ["--scale", "0"], ["--scale", "nan"]])
def test_sizes_that_make_no_sense_are_refused(arguments):
    with pytest.raises(SystemExit):
        speed.main(arguments)


def timings(costs):
    def time_algorithms(episodes, algorithms):
        for algorithm in algorithms:
            yield algorithm, "Lake", speed.Timing(costs[algorithm], math.nan, math.nan)

    return time_algorithms


def test_the_gate_finds_slow_algorithms(monkeypatch, capsys):
    costs = {"uct": 20.0, "olop": 15.1 * 20.0, "gs-power-uct": 29.0 * 20.0}
    monkeypatch.setattr(gate, "time_algorithms", timings(costs))
    assert gate.main(["olop", "gs-power-uct"]) == 1
    printed = capsys.readouterr().out
    assert "olop on Lake: 302.0 ns a step, 15.1 times UCT's, limit 15.0" in printed
    assert "gs-power-uct on Lake: " not in printed
    costs["olop"] = 280.0
    assert gate.main(["olop", "gs-power-uct"]) == 0
    costs["uct"] = 121.0
    assert gate.main(["olop"]) == 1


def test_the_gate_refuses_an_unknown_algorithm(capsys):
    with pytest.raises(SystemExit):
        gate.main(["ucd"])
    assert "Did you mean 'uct'" in capsys.readouterr().err


def test_limits_are_those_of_registered_algorithms():
    assert set(gate.LIMITS) <= set(ALGORITHMS)
