"""The inspector's page: it holds everything, says what must be said, and works in a real browser."""

import json
import re
import shutil
import subprocess
from html import escape, unescape

import pytest
from typer.testing import CliRunner

from gymnasium_gsp.bench.cell import Cell
from gymnasium_gsp.bench.inspection import decisions, with_pictures
from gymnasium_gsp.cli.commands import app
from gymnasium_gsp.inspector.page import POLICY, Decision, page

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
    assert "make it first, or give another one" in gsp("FrozenLake", "-o", tmp_path / "no" / "page.html").stderr
    late = gsp("FrozenLake", "-o", tmp_path / "late.html", "--env-set", "horizon=3", "--step", 3, "--budget", 8)
    assert "the episode had ended after 3 steps" in late.stderr
