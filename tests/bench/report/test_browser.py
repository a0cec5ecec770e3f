"""The page in a real browser: no complaint on its console, nothing asked of a network, figures that can be seen."""

import json
import re
import shutil
import subprocess
from html import escape, unescape

import numpy as np
import pytest
from invented_rows import frame, paper, rows
from matplotlib.image import imread

from gymnasium_gsp.bench.report.contents import make_report
from gymnasium_gsp.bench.report.figures import COLOURS
from gymnasium_gsp.bench.report.page import POLICY, STYLE, page

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="needs Chromium: apt-get install chromium")

# A window cannot be as narrow as a phone, a frame can.
PROBE = """<!doctype html><iframe style="width: WIDTHpx; height: 900px; border: 0" srcdoc="PAGE"></iframe><script>
const look = page => {
  const box = element => { const b = element.getBoundingClientRect(); return [b.left, b.right, b.width, b.height]; };
  const all = what => [...page.querySelectorAll(what)];
  const top = element => element.getBoundingClientRect().top;
  const end = cell => {  // of the number that a cell begins with
    const range = page.createRange();
    range.selectNodeContents(cell.firstChild);
    return range.getBoundingClientRect().right;
  };
  const isNumber = cell => cell.matches("td.n") && cell.firstChild && cell.firstChild.nodeType === 3;
  const column = (table, place) => [...table.tBodies[0].rows].map(row => row.cells[place]).filter(isNumber).map(end);
  const columns = table => [...table.rows[0].cells].map((_, place) => column(table, place)).filter(c => c.length > 1);
  const style = page.defaultView.getComputedStyle(page.body);
  return {
    title: page.title,
    figures: all("figure svg").map(box).filter(b => b[2] > 0),
    headline: box(page.querySelector(".headline")),
    cut: all(".scroll").filter(f => f.scrollWidth > f.clientWidth + 1).length,
    shades: all(".scroll").map(f => page.defaultView.getComputedStyle(f).backgroundImage),
    lines: all("figure svg [id*=line2d] path").filter(path => path.getTotalLength() > 20).length,
    texts: all("figure svg text").map(box).filter(b => b[2] > 0),
    tables: all("table").map(box),
    frames: all(".scroll").map(box),
    width: page.documentElement.clientWidth,
    scroll: page.documentElement.scrollWidth,
    headings: all("h2, h3").map(e => [e.textContent, ...box(e)]),
    winners: all("#winners tbody td").map(e => e.innerText),
    commands: all(".notice .commands li").filter(e => box(e)[3] > 0).map(e => e.textContent),
    contents: box(page.querySelector("nav")), tops: all("#returns-FrozenLake, #returns-FourRooms").map(top),
    places: [".headline", "#alarm", "#figure", "#winners"].flatMap(what => all(what).map(top)),
    ends: all("table").flatMap(columns),
    lettering: page.defaultView.getComputedStyle(all("figure svg text").find(e => box(e)[2] > 0)).fill,
    ink: style.color,
    paper: style.backgroundColor,
  };
};
onload = () => document.body.dataset.seen = JSON.stringify(look(frames[0].document));
</script>"""


def browse(address, folder, *arguments):
    """What the browser prints, and what it says on its console."""
    command = [
        BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage",
        "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={folder}", "--enable-logging=stderr", "--v=0",
        *arguments, address.as_uri(),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


@pytest.fixture(scope="module")
def text():
    found = paper(12, envs=("FrozenLake", "FourRooms"), budgets=(16, 64, 256, 1024))
    found += rows(np.ones(200), algorithm="power-uct", preset="", budget=64)  # an alarm
    found += rows([np.nan] * 3, algorithm="uct", preset="", budget=64)  # failures
    return page(make_report(frame(found)))


@pytest.fixture
def seen(text, tmp_path):
    """The page's own measurements at a width, in light or dark; the policy is lifted for the script that measures."""

    def measure(width, *arguments, text=text):
        probe = tmp_path / "probe.html"
        content = escape(text.replace(POLICY, ""))
        probe.write_text(PROBE.replace("WIDTH", str(width)).replace("PAGE", content))
        dom, console = browse(probe, tmp_path / "profile", "--window-size=1400,1000", "--dump-dom", *arguments)
        assert console == []
        return json.loads(unescape(re.search(r'data-seen="([^"]*)"', dom)[1]))

    return measure


def luminance(colour):
    return sum(map(int, re.findall(r"\d+", colour)[:3])) / 3.0


def test_the_browser_has_nothing_to_complain_of_and_sees_the_figure(text, tmp_path):
    file = tmp_path / "report.html"
    file.write_text(text)
    shot = tmp_path / "shot.png"
    _, console = browse(file, tmp_path / "profile", "--window-size=1280,1600", f"--screenshot={shot}")
    assert console == []
    pixels = (imread(shot)[..., :3] * 255).round().astype(int)
    assert pixels.shape[:2] == (1600, 1280)
    for colour in (COLOURS[0], COLOURS[4]):  # of uct and of gs-power-uct
        wanted = [int(colour[place : place + 2], 16) for place in (1, 3, 5)]
        assert (np.abs(pixels - wanted).max(axis=2) <= 8).sum() > 300, colour


def test_a_console_that_has_something_to_say_is_heard(tmp_path):
    """The test above is awake: a picture from elsewhere is refused by the page's policy, and the console says so."""
    file = tmp_path / "bad.html"
    file.write_text(
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}"><img src="https://example.org/x.png">'
    )
    _, console = browse(file, tmp_path / "profile", "--dump-dom")
    assert console


@pytest.mark.parametrize("width", [1400, 800, 390])
def test_figures_and_tables_fit_the_window(seen, width):
    found = seen(width)
    assert found["title"] == "Planning benchmark"
    assert found["scroll"] <= found["width"]  # the page itself never scrolls sideways
    (figure,) = found["figures"]  # one of three drawings: two environments and the score
    left, right, wide, high = figure
    assert wide > 0.85 * width
    assert high > 150
    assert 0 <= left < right <= width
    assert found["headline"][0] >= 0
    assert found["headline"][1] <= width
    assert found["lines"] >= 3 * 3 * 6
    assert len(found["texts"]) > 30
    assert min(high for *_, high in found["texts"]) >= 9  # pixels: text that can be read
    assert len(found["places"]) == 4
    assert found["places"] == sorted(found["places"])
    assert [title for title, *_ in found["headings"]][1] == "Return against budget"
    assert all(high > 0 for *_, high in found["headings"])
    assert "gsp run FrozenLake --algorithm uct --budget 64 --episodes 3" in found["commands"]
    assert len(found["tables"]) == len(found["frames"])
    assert all(right <= width for _, right, *_ in found["frames"])


def test_numbers_stand_under_each_other_whether_marked_or_not(seen):
    ends = seen(1400)["ends"]
    assert len(ends) > 20
    assert max(max(column) - min(column) for column in ends) < 1.0


def test_environments_stand_side_by_side_where_there_is_room(seen):
    text = page(make_report(frame(paper(6, ("FrozenLake", "FourRooms"), ("uct", "ments"), (16, 64)))))
    one, other = seen(1400, text=text)["tops"]
    assert one == other
    one, other = seen(800, text=text)["tops"]
    assert other > one


def test_who_wins_where_can_be_read(seen):
    winners = seen(1400)["winners"]
    assert len(winners) == 2 * 4
    assert all(re.match(r"(tie|[a-z+-]+ \(\w+\).*)\n\d\.\d{3}", words) for words in winners)


def test_tables_that_go_on_say_so(seen):
    found = seen(390)
    assert found["cut"] > 5
    assert all(shade.count("gradient") == 4 for shade in found["shades"])


def test_the_shade_of_a_table_that_goes_on_can_be_seen(tmp_path):
    """Both ends: there is a shade where the table goes on, and none where it ends."""

    def right_edge(wide):
        file = tmp_path / f"{wide}.html"
        file.write_text(
            f"<style>{STYLE.read_text()}</style><body style='padding: 0; margin: 0'><div class='scroll' "
            f"style='margin: 0'><div style='width: {wide}px; height: 400px'></div></div>"
        )
        shot = tmp_path / f"{wide}.png"
        browse(file, tmp_path / "profile", "--window-size=600,400", f"--screenshot={shot}")
        return imread(shot)[200, -3:, :3].mean()

    assert right_edge(600) > 0.99
    assert right_edge(1200) < 0.9


def test_the_page_can_be_printed(text, tmp_path):
    file = tmp_path / "report.html"
    file.write_text(text)
    printed = tmp_path / "report.pdf"
    _, console = browse(file, tmp_path / "profile", f"--print-to-pdf={printed}", "--no-pdf-header-footer")
    assert console == []
    assert printed.read_bytes().startswith(b"%PDF")
    assert printed.stat().st_size > 20_000


def test_dark_is_dark_and_light_is_light(seen):
    light = seen(1280, "--blink-settings=preferredColorScheme=1")
    dark = seen(1280, "--blink-settings=preferredColorScheme=0")
    assert luminance(light["paper"]) > 200 > 100 > luminance(light["ink"])
    assert luminance(dark["paper"]) < 50 < 150 < luminance(dark["ink"])
    assert luminance(light["lettering"]) < 100
    assert luminance(dark["lettering"]) > 150
