"""The comparison with PROST, whose place a stand-in takes: building, the protocol, stored rows, and the scale."""

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.prost import __main__ as command
from benchmarks.prost.planner import ProstError, build, play_session
from benchmarks.prost.players import PLAYERS, Limit
from benchmarks.prost.rows import EXACT, MINIMAL, OPTIMUM, Batch, Instance, Rows
from benchmarks.prost.table import tables
from benchmarks.study.state_keyed import uniform_policy
from gymnasium_gsp.exact import enumerate_model

HERE = Path(__file__).parent
SYSADMIN = "SysAdmin_MDP_ippc2011"
ENGINE = "[IPC2014 -T TRIALS -r 100]"
BUILD = """
from pathlib import Path

with Path("built").open("a") as file:
    file.write("once ")
folder = Path("builds/release")
for name, text in (("search/search", Path("search.py").read_text()), ("rddl_parser/rddl-parser", "#!/bin/sh\\n")):
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    (folder / name).chmod(0o755)
"""


@pytest.fixture
def checkout(tmp_path):
    """A folder that builds as PROST does; what it builds is the stand-in."""
    folder = tmp_path / "checkout"
    folder.mkdir()
    (folder / "build.py").write_text(BUILD)
    (folder / "search.py").write_text(f"#!{sys.executable}\n{(HERE / 'stand_in_prost.py').read_text()}")
    return folder


@pytest.fixture
def sysadmin():
    """pyRDDLGym's environment of SysAdmin 1."""
    pytest.importorskip("pyRDDLGym", reason="pyRDDLGym is absent")
    pytest.importorskip("rddlrepository", reason="rddlrepository is absent")
    from gymnasium_gsp.envs.rddl_instances import make_instance

    return make_instance(SYSADMIN, 1)


def sessions(checkout):
    """What the stand-in wrote about its sessions."""
    return [json.loads(text) for text in (checkout / "builds/release/search/sessions.jsonl").read_text().splitlines()]


def test_a_checkout_is_built_once(checkout):
    programs = build(checkout)
    assert build(checkout) == programs
    assert programs.search.is_absolute()
    assert (checkout / "built").read_text() == "once "


def test_a_failing_build_says_what_failed(checkout, tmp_path):
    with pytest.raises(ProstError, match=r"has no build\.py: name a checkout of prost-planner/prost"):
        build(tmp_path)
    (checkout / "build.py").write_text("print('flex is missing')")  # PROST's script answers 0 as well
    with pytest.raises(ProstError, match=r"(?s)does not build.*flex is missing"):
        build(checkout)


def test_a_session_plays_every_step_of_every_episode(checkout, sysadmin):
    """As many actions as the horizon, and the returns that the same policy has in pyRDDLGym from the same seed."""
    batch = play_session(build(checkout), sysadmin, ENGINE, episodes=3, seed=5)
    (session,) = sessions(checkout)
    assert session["actions"] == [40, 40, 40]
    assert session["planner"] == f"[PROST -s 5 -se {ENGINE} -log SILENT]"
    assert session["task"] == Path(sysadmin.domain_text).read_text() + Path(sysadmin.instance_text).read_text()
    assert len(batch.decisions) == 120
    assert min(batch.decisions) > 0
    assert batch.depth == 7
    sysadmin.seed(5)
    expected = []
    for _ in range(3):
        (state, _), total = sysadmin.reset(), 0.0
        for _ in range(40):
            down = [name.partition("___")[2] for name, runs in state.items() if not runs]
            state, reward, *_ = sysadmin.step({f"reboot___{name}": True for name in down[:1]})
            total += float(reward)
        expected.append(total)
    np.testing.assert_allclose(batch.returns, expected, rtol=1e-12)


def test_a_file_that_is_not_utf8_is_served(checkout, sysadmin, tmp_path):
    sysadmin.domain_text = shutil.copy(sysadmin.domain_text, tmp_path / "domain.rddl")
    with Path(sysadmin.domain_text).open("ab") as file:
        file.write(b"// Andr\xe9\n")
    assert len(play_session(build(checkout), sysadmin, ENGINE, episodes=1, seed=1).returns) == 1
    assert "// Andr\ufffd" in sessions(checkout)[0]["task"]


@pytest.mark.parametrize(
    ("engine", "said"),
    [("[BROKEN]", r"(?s)did not connect \(exit status 1\).*Error: broken"), ("[RUDE]", "session-request tag missing")],
)
def test_a_session_that_breaks_off_says_why(checkout, sysadmin, engine, said):
    with pytest.raises(ProstError, match=said):
        play_session(build(checkout), sysadmin, engine, episodes=1, seed=1)


def test_the_command_plays_what_is_missing(checkout, sysadmin, tmp_path, capsys):
    results = tmp_path / "rows.jsonl"
    given = [str(checkout), "--domains", SYSADMIN, "--budgets", "20", "--results", str(results)]

    def run(*more):
        with pytest.raises(SystemExit) as ending:
            command.main([*given, *more])
        assert ending.value.code == 0
        return results.read_text()

    first = run("--episodes", "2", "--players", "prost-2014", "f")
    assert [json.loads(text)["settings"] for text in first.splitlines()] == [
        MINIMAL,
        OPTIMUM,
        EXACT,
        "[IPC2014 -T TRIALS -r 20]",
        "gs-power-uct-f(), 20 simulations",
    ]
    assert run("--episodes", "2", "--players", "prost-2014", "f") == first
    assert run("--episodes", "3", "--players", "f", "--seconds", "-1") == first
    longer = run("--episodes", "3", "--players", "prost-2014", "f")
    assert longer.startswith(first)
    assert [json.loads(text)["first"] for text in longer.splitlines()[5:]] == [2, 2, 2]
    assert [len(session["actions"]) for session in sessions(checkout)] == [2, 1]
    assert [session["planner"][:11] for session in sessions(checkout)] == ["[PROST -s 1", "[PROST -s 3"]
    printed = capsys.readouterr().out
    assert "| 20 trials a decision | instance | minimal | optimum | exact policy | PROST 2014 |" in printed
    assert "| SysAdmin 2011 | 1 | 216 | 342.7 |" in printed
    rows = Rows(results)
    assert len(rows.played(Instance(SYSADMIN, 1), "gs-power-uct-f(), 20 simulations").returns) == 3


def test_what_is_uncertain_is_played_on(tmp_path):
    """30 episodes each, and 100 where the score's standard error exceeds the margin."""
    rows, limit, instance = invented(tmp_path), Limit("100"), Instance("Toy_MDP_ippc2011", 1)
    given = ["--domains", instance.domain, "--players", "f", "cautious", "--budgets", "100", "--margin", "0.05"]
    options = command.arguments(given)
    batches = command.missing(rows, instance, options)
    for name, missing, returns in (("f", range(2, 30), [15.0] * 28), ("cautious", range(30), [5.0, 35.0] * 15)):
        assert next(batches) == (limit, PLAYERS[name], missing)
        rows.add_batch(instance, PLAYERS[name].settings(limit), missing.start, Batch(returns, [0.1]))
    assert next(batches) == (limit, PLAYERS["cautious"], range(30, 100))
    assert not list(batches)


def test_a_player_that_breaks_off_leaves_the_others_playing(checkout, sysadmin, tmp_path, capsys):
    (checkout / "search.py").write_text(f"#!{sys.executable}\nimport sys\nsys.exit('Error: no memory')")
    given = [str(checkout), "--domains", SYSADMIN, "--budgets", "5", "--episodes", "1"]
    with pytest.raises(SystemExit) as ending:
        command.main([*given, "--players", "prost-2011", "f", "--results", str(tmp_path / "rows.jsonl")])
    assert ending.value.code == 1
    printed = capsys.readouterr()
    assert "Error: no memory" in printed.err
    assert "(nan) |  | " in printed.out


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--players", "prost-2014"], "name a checkout of prost-planner/prost"),
        (["--players", "f", "--budgets", "1.5"], "seconds (0.06s) or a number of trials (100), not '1.5'"),
    ],
)
def test_bad_arguments_are_refused_with_a_sentence(given, said, capsys):
    with pytest.raises(SystemExit):
        command.main(given)
    assert said in capsys.readouterr().err


def test_an_unknown_instance_is_refused_with_the_nearest(sysadmin, tmp_path):
    given = ["--players", "f", "--domains", "SysAdmin_MDP_ippc2012", "--results", str(tmp_path / "rows.jsonl")]
    with pytest.raises(SystemExit, match="SysAdmin_MDP_ippc2011"):
        command.main(given)


def test_budgets_are_seconds_or_trials():
    prost, planner = PLAYERS["prost-2011"], PLAYERS["f"]
    assert prost.settings(Limit("0.06s")) == "[IPC2011 -T TIME -t 0.06]"
    assert planner.settings(Limit("0.06s")) == "gs-power-uct-f(), 0.06 seconds"
    for nonsense in ("-1s", "0", "0.0s", "none", "1.5"):
        with pytest.raises(ValueError, match=f"seconds .* or a number of trials .*, not '{nonsense}'"):
            Limit(nonsense)


@pytest.mark.parametrize("domain", ["Navigation_MDP_ippc2011", "TriangleTireworld_MDP_ippc2014"])
def test_the_random_policy_has_its_exact_value(sysadmin, domain):
    """10,000 episodes; false alarm 1e-6.  The second domain masks actions."""
    from benchmarks.prost.ends import minimal_policy
    from gymnasium_gsp.envs.rddl_instances import make_instance
    from gymnasium_gsp.models.rddl.model import compile_instance

    env = make_instance(domain, 1)
    policy, mean, error = minimal_policy(env)
    compiled = compile_instance(env)
    root = compiled.instance.layout.pack(env.sampler.init_values)
    space = enumerate_model(compiled.model, root, horizon=40)
    uniform, values = uniform_policy(space), np.zeros(len(space))
    for _ in range(40):
        q = space.q_values(values, 1.0)
        values = (uniform * np.where(uniform > 0.0, q, 0.0)).sum(axis=1)
    exact = values[0]
    assert policy == "random"
    assert abs(mean - exact) < 4.9 * error


def test_the_idle_policy_is_the_minimal_one_where_it_is_better(sysadmin):
    from benchmarks.prost.ends import minimal_policy
    from gymnasium_gsp.envs.rddl_instances import make_instance

    assert minimal_policy(make_instance("AcademicAdvising_MDP_ippc2014", 1)) == ("idle", -200.0, 0.0)


def test_the_exact_policy_reaches_the_optimum(sysadmin):
    """300 episodes; false alarm 1e-6."""
    from benchmarks.prost.ends import optimum, play_optimally
    from gymnasium_gsp.envs.rddl_instances import make_instance

    env = make_instance("SkillTeaching_MDP_ippc2011", 1)
    returns = np.array(play_optimally(env, range(300)).returns)
    assert abs(returns.mean() - optimum(env)) < 4.9 * returns.std(ddof=1) / np.sqrt(300)


def invented(tmp_path):
    """Two instances: one with an optimum of 20, one without; minimal policies of 10."""
    rows, limit = Rows(tmp_path / "rows.jsonl"), Limit("100")
    for number, returns in ((1, [14.0, 16.0]), (2, [28.0, 32.0])):
        instance = Instance("Toy_MDP_ippc2011", number)
        rows.add(instance, MINIMAL, value=10.0)
        rows.add(instance, OPTIMUM, value=20.0 if number == 1 else None)
        rows.add_batch(instance, PLAYERS["f"].settings(limit), 0, Batch(returns, [0.1, 0.3]))
    rows.add_batch(Instance("Toy_MDP_ippc2011", 2), PLAYERS["f"].settings(Limit("9")), 0, Batch([50.0], [0.1]))
    return rows


def test_the_score_lies_between_the_minimal_policy_and_the_best(tmp_path):
    """The best is the optimum, or where that is unknown the highest mean of any player with any budget."""
    rows = invented(tmp_path)
    assert Rows(rows.path).lines == rows.lines
    instances = [Instance("Toy_MDP_ippc2011", number) for number in (1, 2, 3)]  # nobody has played the last one
    assert not tables(rows, instances, [Limit("7s")], [PLAYERS["f"]])
    shown = tables(rows, instances, [Limit("100")], [PLAYERS["f"], PLAYERS["prost-2014"]]).splitlines()
    assert shown[2] == "| Toy 2011 | 1 | 10 | 20 |  | 15 (1), 0.50 |  |"
    assert shown[3] == "| Toy 2011 | 2 | 10 |  |  | 30 (2), 0.50 |  |"
    assert not shown[4]  # no mean score: PROST has played nothing
    assert shown[5].endswith("`gs-power-uct-f` 0.2000, 0.300; PROST 2014 not played")
    alone = tables(rows, instances, [Limit("100")], [PLAYERS["f"]]).splitlines()
    assert alone[4] == "| mean score, 2 instances |  |  |  |  | 0.500 (0.056) |"


def test_the_table_goes_into_the_page(tmp_path, monkeypatch, capsys):
    page = tmp_path / "prost.md"
    page.write_text("before\n<!-- prost -->\n\nold\n\n<!-- /prost -->\nafter\n")
    monkeypatch.setattr(command, "PAGE", page)
    rows = invented(tmp_path)
    with pytest.raises(SystemExit):
        command.main(["--table", "--domains", "Toy_MDP_ippc2011", "--results", str(rows.path)])
    assert "| Toy 2011 | 1 | 10 | 20 |" in page.read_text()
    assert "old" not in page.read_text()
    assert page.read_text().startswith("before\n<!-- prost -->")
