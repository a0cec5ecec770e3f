"""The inspector's page: it holds everything, says what must be said, and works in a real browser."""

import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from html import escape, unescape

import gymnasium as gym
import pytest
from typer.testing import CliRunner

from gymnasium_gsp.bench.cell import Cell
from gymnasium_gsp.bench.inspection import decisions, with_pictures
from gymnasium_gsp.cli.commands import app
from gymnasium_gsp.inspector.page import POLICY, Decision, page
from gymnasium_gsp.inspector.words import how_sure, which, why_not

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
in_a_browser = pytest.mark.skipif(BROWSER is None, reason="needs Chromium: apt-get install chromium")
NOISE = ("GL Driver Message", "software WebGL")  # of a machine without a graphics card

# The page stands in a frame, which can be as narrow as a phone.
FRAME = """<!doctype html><iframe style="width: WIDTHpx; height: 900px; border: 0" srcdoc="PAGE"></iframe><script>
const look = page => {
  const $ = id => page.getElementById(id);
  const box = element => { const b = element.getBoundingClientRect(); return [b.top, b.bottom]; };
  const say = () => Object.fromEntries(
    ["which", "sure", "whose", "why", "sharing", "where", "counted", "cost"].map(id => [id, $(id).textContent]));
  const seen = {first: say(), facts: box($("facts")), graph: box($("graph")), ready: page.body.dataset.ready,
    scroll: page.documentElement.scrollWidth, width: page.documentElement.clientWidth,
    heads: [...page.querySelectorAll("th")].map(e => e.textContent),
    rows: [...page.querySelectorAll("tbody tr")].map(row => [...row.cells].map(cell => cell.textContent)),
    tabs: [...page.querySelectorAll(".tabs button")].map(e => e.textContent),
    pictures: page.querySelectorAll("#picture img").length, canvases: page.querySelectorAll("#graph canvas").length};
  page.querySelector("tbody tr:last-child").click();
  seen.asked = say();
  const tabs = page.querySelectorAll(".tabs button");
  if (tabs.length > 1) tabs[1].click();
  seen.map = [...page.querySelectorAll("#picture svg rect title")].map(e => e.textContent);
  $("forth").click();
  seen.later = say();
  seen.node = page.defaultView.eval("describe(renderer.getGraph(), '1')");
  seen.rings = page.defaultView.eval("renderer.getGraph().filterNodes((n, a) => a.ring > 0).length");
  seen.line = page.defaultView.eval("renderer.getGraph().filterEdges((e, a) => a.color === LINE).length");
  seen.rest = page.defaultView.eval("renderer.getGraph().filterNodes((n, a) => a.kind).length");
  seen.moved = page.defaultView.eval(`(() => {
    const camera = renderer.getCamera(), point = renderer.getGraph().getNodeAttributes("5");
    const layer = document.querySelector("#graph canvas");
    const spot = () => renderer.graphToViewport(point, {cameraState: camera.getState()}), before = spot();
    const shift = () => new DOMMatrix(getComputedStyle(layer).transform);
    renderer.render();
    cost = 1000;
    camera.setState({x: 0.6, y: 0.55, ratio: 0.5});
    renderer.render();
    const told = {resting: before, moving: spot(), shifted: shift().transformPoint(before)};
    rests = 0;
    renderer.render();
    return {...told, after: shift().isIdentity};
  })()`);
  return seen;
};
onload = () => setTimeout(() => { document.body.dataset.seen = JSON.stringify(look(frames[0].document)); }, 50);
</script>"""


def browse(address, folder, *arguments):
    """What the browser prints; its console has nothing to say."""
    command = [
        BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--enable-unsafe-swiftshader", "--hide-scrollbars",
        "--disable-dev-shm-usage", "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={folder}",
        "--enable-logging=stderr", "--v=0", "--virtual-time-budget=9000", *arguments, address.as_uri(),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line and not any(n in line for n in NOISE)]
    assert console == []
    return done.stdout


def look(text, folder, width=1400, *arguments):
    file = folder / "probe.html"
    content = escape(text.replace(POLICY, "script-src 'unsafe-inline' 'unsafe-eval'; img-src data:"))
    file.write_text(FRAME.replace("WIDTH", str(width)).replace("PAGE", content))
    dom = browse(file, folder / "profile", f"--window-size={max(width, 1000)},1000", "--dump-dom", *arguments)
    return json.loads(unescape(re.search(r'data-seen="([^"]*)"', dom)[1]))


@pytest.fixture(scope="module")
def episode():
    pytest.importorskip("pygame", reason="pictures need pygame-ce")
    return list(decisions(with_pictures(Cell(env="FrozenLake", algorithm="gs-power-uct", budget=256)), 0, 2))


@pytest.fixture(scope="module")
def seen(episode, tmp_path_factory):
    return look(page(episode, "A lake"), tmp_path_factory.mktemp("page"))


@in_a_browser
def test_the_first_screen_says_what_a_person_asks(seen, episode):
    result, first = episode[0].graph.result, seen["first"]
    best, second = (result.name(action) for action in result.ranking()[:2])
    assert first["which"].startswith(f"{best}: value ")
    assert "256 simulations" in first["which"]
    assert "Exactly: " in first["sure"]
    assert first["whose"] == f"Why not {second}, the second best"
    assert "tried" in first["why"]
    assert re.match(r"\d[\d,]* of \d[\d,]* nodes are shared by several parents", first["sharing"])
    assert seen["facts"][1] < 900
    assert seen["graph"][1] < 900, "the graph, too, stands on the first screen"
    assert seen["canvases"] > 3


def test_the_words_say_what_is_counted_what_is_discounted_and_what_an_interval_leaves_out():
    first, later = decisions(Cell(env="FrozenLake", budget=64), 0, 1)
    graph = first.graph
    best, second, *_ = graph.result.ranking()
    assert which(graph).endswith("64 simulations (a simulation that comes back to this state visits it again)")
    kept = later.graph.result.inherited
    assert f"({kept:,} visits are of earlier decisions, whose graph was kept; a simulation" in which(later.graph)
    sure, why = how_sure(graph, first.exact, first.discount), why_not(graph, second, first.exact, first.state_name)
    assert first.discount == 1.0 - 1.0 / 200  # the time limit
    assert re.search(r"Exactly, discounted by 0\.99\d* a step: \w+ is ", sure)
    assert "overlap; they leave out how uncertain the values behind the outcomes are." in sure
    assert "standard errors" not in why
    assert re.match(rf"{graph.result.name(second)} is worth [\d.]+, [\d.]+ less than {graph.result.name(best)}\. ", why)
    bounds = how_sure(replace(graph, bounded=True), None)
    assert re.fullmatch(r"The bounds of \w+ and \w+, the second best, (do not )?overlap\.", bounds)


@in_a_browser
def test_actions_stand_beside_their_exact_values(seen, episode):
    result = episode[0].graph.result
    assert seen["heads"][:4] == ["action", "value", "exact", "visits"]
    assert [row[0] for row in seen["rows"]] == [result.name(action) for action in result.ranking()]
    for row, action in zip(seen["rows"], result.ranking(), strict=True):
        assert float(row[2]) == pytest.approx(episode[0].exact[action], rel=1e-3)
        assert int(row[3].replace(",", "")) == result.visit_counts[action]


@in_a_browser
def test_the_three_views_are_linked(seen, episode):
    last = episode[0].graph.result.ranking()[-1]
    assert seen["asked"]["whose"] == f"Why not {episode[0].graph.result.name(last)}"
    assert seen["asked"]["why"] != seen["first"]["why"]
    assert seen["tabs"] == ["picture", "visits", "values"]
    assert seen["pictures"] == 1
    assert len(seen["map"]) == 64
    assert re.fullmatch(r"column 0, row 0: [\d,]+ visits, value [\d.]+", seen["map"][0])
    assert seen["first"]["where"].startswith("step 0")
    assert seen["later"]["where"].startswith("step 1")
    assert seen["later"]["cost"] == episode[1].graph.result.summary()


@in_a_browser
def test_the_graph_shows_sharing_the_principal_variation_and_what_is_folded(seen, episode):
    graph = episode[0].graph
    assert seen["first"]["counted"] == f"the 300 most visited of {len(graph):,} nodes; {len(graph) - 300:,} are folded"
    assert int(seen["ready"]) > 300
    assert seen["rings"] > 50
    assert seen["line"] >= 3
    assert seen["rest"] > 10
    assert re.match(r"\(\d, \d\), depth \d+: [\d,]+ visits, value [\d.]+, \d+ parents; reached from \(", seen["node"])


@in_a_browser
def test_a_graph_that_is_slow_to_draw_is_moved_as_a_picture_until_it_rests(seen):
    moved = seen["moved"]
    assert abs(moved["resting"]["x"] - moved["moving"]["x"]) > 10
    for side in "xy":
        assert moved["shifted"][side] == pytest.approx(moved["moving"][side], abs=0.5)
    assert moved["after"], "drawn anew"


@in_a_browser
@pytest.mark.parametrize("width", [1400, 800, 390])
def test_nothing_scrolls_sideways(episode, tmp_path, width):
    found = look(page(episode[:2], "A lake"), tmp_path, width)
    assert found["scroll"] <= found["width"] == width


@in_a_browser
def test_the_page_as_it_is_has_nothing_to_complain_of(episode, tmp_path):
    file = tmp_path / "page.html"
    file.write_text(page(episode, "A lake"))
    dom = browse(file, tmp_path / "profile", "--dump-dom")
    assert re.search(r'data-ready="\d{3,}"', dom)


def test_the_page_holds_everything_and_names_no_other_place(episode):
    text = page(episode, "<lake>")
    assert "&lt;lake&gt;" in text
    assert not re.search(r'<(script|link|img)[^>]*(src|href)="(?!data:)', text)
    assert "sourceMappingURL" not in text
    assert text.count("MIT") + text.count("Permission is hereby granted") >= 2, "the libraries' licences"


def test_names_from_an_environment_cannot_end_the_script(episode):
    text = page([Decision(episode[0].graph, state_name=lambda cells: "</script><script>alert(1)</script>")], "x")
    assert "</script><script>alert" not in text


def test_a_notebook_shows_the_inspector(episode):
    html = episode[0].graph._repr_html_()
    assert html.startswith("<iframe srcdoc=")
    assert html.count('"') == 4


def gsp(*arguments):
    return CliRunner().invoke(app, ["inspect", *map(str, arguments)])


def steps(path):
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', path.read_text(), re.DOTALL)[1]
    return json.loads(data.replace("<\\/", "</"))["steps"]


def test_the_command_writes_one_decision_or_an_episode(tmp_path):
    one, all_of_it = tmp_path / "one.html", tmp_path / "all.html"
    answer = gsp("FrozenLake", "-o", one, "--step", 2, "--budget", 64)
    assert answer.stdout == f"1 decision is in {one}\n", answer.output
    (step,) = steps(one)
    assert step["step"] == 2
    assert len(step["nodes"]["n"]) == step["size"], "the whole graph of the one step asked for"
    assert gsp("FrozenLake", "--env-set", "horizon=4", "--episode", "-o", all_of_it, "--budget", 64).exit_code == 0
    assert [step["step"] for step in steps(all_of_it)] == [0, 1, 2, 3]


OWN = """
import gymnasium as gym
from gymnasium_gsp.envs.frozen_lake import FrozenLakeEnv

gym.register("InspectedLake-v0", FrozenLakeEnv, max_episode_steps=4)

def dearer(env):
    return gym.wrappers.TransformReward(env, lambda reward: reward - 1.0)

def simulated():
    return gym.make("InspectedLake-v0")
"""


@pytest.fixture
def own_lake(tmp_path, monkeypatch):
    """A module that registers an environment, with a wrapper and a simulator."""
    (tmp_path / "inspected_lake.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    yield
    gym.registry.pop("InspectedLake-v0", None)
    sys.modules.pop("inspected_lake", None)


@pytest.mark.parametrize(
    ("flags", "title", "value"),
    [
        ([], "InspectedLake-v0, graft, 256 simulations, seed 0", 0.0),
        (["--wrap", "inspected_lake:dearer"], "wrapped by inspected_lake:dearer", -4.0),
        (["--simulator", "inspected_lake:simulated", "--budget", 20], "20 simulations, simulator inspected_lake", 0.0),
    ],
)
def test_modules_wrappers_and_simulators_are_taken_and_the_budget_fits(own_lake, tmp_path, flags, title, value):
    answer = gsp("InspectedLake-v0", "--import", "inspected_lake", "-o", tmp_path / "page.html", *flags)
    assert answer.exit_code == 0, answer.output
    (shown,) = re.findall("<title>(.*)</title>", (tmp_path / "page.html").read_text())
    assert title in shown
    assert ("Budget(model_steps=" in shown) == (flags[:1] == ["--wrap"])
    (step,) = steps(tmp_path / "page.html")
    assert max(action["q"] for action in step["actions"]) == pytest.approx(value, abs=0.5)


@pytest.mark.parametrize("env", ["SysAdminRing", "FourRooms", "FactoredRiverSwim", "PassengerGrid", "CliffWalking-v1"])
def test_every_environment_can_be_inspected(env, tmp_path):
    answer = gsp(env, "-o", tmp_path / "page.html", "--budget", 32, "--preset", "none")
    assert answer.exit_code == 0, answer.output
    (step,) = steps(tmp_path / "page.html")
    assert step["picture"].startswith("data:image/png;base64,")
    known = {"SysAdminRing", "CliffWalking-v1"}.isdisjoint({env})
    assert all((action["exact"] is not None) == known for action in step["actions"])


def test_an_environment_without_a_picture_shows_its_text(tmp_path, monkeypatch):
    monkeypatch.setattr("gymnasium_gsp.bench.inspection.find_spec", lambda name: None)
    assert gsp("FrozenLake", "-o", tmp_path / "page.html", "--budget", 8).exit_code == 0
    assert steps(tmp_path / "page.html")[0]["picture"].startswith("[S] F ")


def test_bad_input_says_what_to_do(tmp_path):
    there = tmp_path / "there.html"
    there.write_text("kept")
    answer = gsp("FrozenLake", "-o", there, "--budget", 8)
    assert answer.exit_code == 2
    assert "exists; give --force" in answer.stderr
    assert there.read_text() == "kept"
    assert gsp("FrozenLake", "-o", there, "--budget", 8, "--force").exit_code == 0
    assert "make it first" in gsp("FrozenLake", "-o", tmp_path / "no" / "page.html").stderr
    assert "is a folder; give the name of a file" in gsp("FrozenLake", "-o", tmp_path, "--force").stderr
    assert "ends in .html or .htm, not 'page.txt'" in gsp("FrozenLake", "-o", tmp_path / "page.txt").stderr
    assert not (tmp_path / "page.txt").exists()
    assert "actions=3 counts points" in gsp("FrozenLake", "-o", tmp_path / "page.html", "--actions", 3).stderr
    late = gsp("FrozenLake", "-o", tmp_path / "late.html", "--env-set", "horizon=3", "--step", 3, "--budget", 8)
    assert "the episode had ended after 3 steps" in late.stderr
