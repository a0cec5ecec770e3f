"""Adapters of third parties: registered, or brought by an installed package; and how ours are found."""

import importlib.metadata
import subprocess
import sys
import warnings

import gymnasium as gym
import pytest
from simulator.toys import Corridor, Uncopyable

import gymnasium_gsp as gsp
from gymnasium_gsp.binding import adapters
from gymnasium_gsp.binding.adapters.generic import Generic
from gymnasium_gsp.binding.adapters.replay import Replay


class Positions(gsp.Adapter):
    """Corridors by their position alone."""

    name = "corridor positions"

    @classmethod
    def fits(cls, env):
        return isinstance(env, Corridor)

    def save(self, env):
        return env.position

    def load(self, env, snapshot):
        env.position = snapshot

    def state_key(self, env):
        return env.position


class Others(Positions):
    name = "other corridor positions"


class Nameless(gsp.Adapter):
    @classmethod
    def fits(cls, env):
        return True


@pytest.fixture(autouse=True)
def registry(monkeypatch):
    """A registry of the test's own, filled anew at first use."""
    monkeypatch.setattr(adapters, "_adapters", [])


def entry_points(monkeypatch, **values):
    """Let installed packages declare these entry points."""
    declared = [importlib.metadata.EntryPoint(name, value, adapters.ENTRY_POINTS) for name, value in values.items()]
    monkeypatch.setattr(
        importlib.metadata, "entry_points", lambda group: declared if group == adapters.ENTRY_POINTS else []
    )


def test_ours_are_found_without_a_list_in_a_settled_order():
    names = [kind.__name__ for kind in adapters.all_adapters()]
    assert names[0] == "Native"
    assert names[-2:] == ["Generic", "Replay"]
    families = {
        "ToyText",
        "Blackjack",
        "ClassicControl",
        "MuJoCo",
        "LunarLander",
        "Atari",
        "MiniGrid",
        "Highway",
        "RDDL",
    }
    assert set(names[1:-2]) == families


def test_a_registered_adapter_serves_before_ours_and_plans(play):
    assert gsp.register_adapter(Positions) is Positions
    env = gym.wrappers.TimeLimit(Uncopyable(), 8)
    agent = gsp.make_agent(env, "gs-power-uct", budget=40, seed=0)
    assert agent.describe()["adapter"] == "corridor positions"
    assert play(env, agent=agent) == [1.0]
    report = gsp.check_snapshot(env)
    assert report.passed, str(report)


def test_an_adapter_may_be_put_before_another_one():
    gsp.register_adapter(Positions, before=Replay)
    assert adapters.choose(Corridor()).name == "instance variables"
    assert adapters.choose(Uncopyable()).name == "corridor positions"
    gsp.register_adapter(Positions, before=Generic)
    assert adapters.choose(Corridor()).name == "corridor positions"
    gsp.register_adapter(Others)
    assert adapters.choose(Corridor()).name == "other corridor positions"
    assert [kind for kind in adapters.all_adapters() if issubclass(kind, Positions)] == [Others, Positions]


@pytest.mark.parametrize(
    ("adapter", "before", "says"),
    [
        (Corridor, None, "subclass of gymnasium_gsp.Adapter, not <class 'simulator.toys.Corridor'>"),
        (3, None, "subclass of gymnasium_gsp.Adapter, not 3"),
        (Nameless, None, "Nameless lacks save, load, name"),
        (Positions, Others, "registered adapter, not <class .*Others'>; registered are Native"),
        (Positions, "Generic", "registered adapter, not 'Generic'"),
        (Positions, Positions, "another registered adapter"),
    ],
)
def test_what_is_no_adapter_is_refused(adapter, before, says):
    with pytest.raises(gsp.RecipeError, match=says):
        gsp.register_adapter(adapter, before=before)


def test_an_installed_package_brings_its_own(monkeypatch):
    entry_points(monkeypatch, positions=f"{__name__}:Positions")
    assert adapters.choose(Corridor()).name == "corridor positions"


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("no_such_package.planning:Mine", "ModuleNotFoundError"),
        (f"{__name__}:Absent", "AttributeError"),
        (f"{__name__}:Nameless", "lacks save, load, name"),
        ("simulator.toys:Corridor", "subclass of gymnasium_gsp.Adapter"),
    ],
)
def test_an_entry_point_that_fails_is_named_and_left_out(monkeypatch, value, says):
    entry_points(monkeypatch, broken=value, positions=f"{__name__}:Positions")
    with pytest.warns(RuntimeWarning, match=rf"entry point broken = {value} cannot be loaded: .*{says}"):
        assert adapters.choose(Corridor()).name == "corridor positions"
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # said once
        adapters.choose(Corridor())


def test_one_of_ours_that_fails_is_named_and_left_out(monkeypatch):
    monkeypatch.setitem(sys.modules, "gymnasium_gsp.binding.adapters.rddl", None)
    with pytest.warns(RuntimeWarning, match=r"adapters\.rddl cannot be loaded: ModuleNotFoundError"):
        names = [kind.__name__ for kind in adapters.all_adapters()]
    assert "RDDL" not in names
    assert "Generic" in names


def test_a_package_on_the_path_is_enough(tmp_path):
    """A distribution as pip installs it: nobody imports it, and its adapter is asked."""
    (tmp_path / "corridors.py").write_text(
        "import gymnasium_gsp as gsp\n"
        "class Mine(gsp.Adapter):\n"
        "    name = 'mine'\n"
        "    fits = classmethod(lambda cls, env: type(env).__name__ == 'CartPoleEnv')\n"
        "    save = lambda self, env: env.state\n"
        "    load = lambda self, env, snapshot: setattr(env, 'state', snapshot)\n"
        "    state_key = lambda self, env: tuple(env.state)\n"
    )
    info = tmp_path / "corridors-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: corridors\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[gymnasium_gsp.adapters]\nmine = corridors:Mine\n")
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "import gymnasium as gym, gymnasium_gsp as gsp\n"
        "assert 'corridors' not in sys.modules\n"
        "print(gsp.check_snapshot(gym.make('CartPole-v1')).adapter)"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "mine"
