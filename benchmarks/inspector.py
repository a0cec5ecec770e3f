"""The inspector's pages in headless Chromium: how large, how soon open, and how smoothly they are panned and zoomed.

    python -m benchmarks.inspector

The graph is moved from frame to frame for some seconds; the frames that the browser shows are counted.  Without a
graphics card a graph is drawn in software; what that takes is given beside them.
"""

import json
import shutil
import statistics
import subprocess
import tempfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from gymnasium_gsp.bench.cell import Cell
from gymnasium_gsp.bench.inspection import decisions, with_pictures
from gymnasium_gsp.inspector.page import POLICY, page

FRAMES = 100
PROBE = """<script>{
  const opened = performance.now(), times = [];
  let before = 0;
  const move = time => {
    if (before) times.push(time - before);
    before = time;
    const i = times.length;
    renderer.getCamera().setState({x: 0.5 + 0.2 * Math.sin(i / 9), ratio: 0.55 + 0.45 * Math.cos(i / 9)});
    if (i < FRAMES) requestAnimationFrame(move);
    else fetch("/", {method: "POST", body: JSON.stringify({opened, drawn: cost, times})});
  };
  requestAnimationFrame(move);
}</script></body>"""
CELLS = {
    "100 decisions of FrozenLake, 256 simulations each": (Cell(env="FrozenLake", env_options={"horizon": 100}), 0, 99),
    "one decision of SysAdminRing, 20,000 nodes": (
        Cell(env="SysAdminRing", algorithm="gs-power-uct", budget=600), 0, 0
    ),
}  # fmt: skip


def chromium(folder: str, *arguments: str) -> list[str]:
    """The command of a headless Chromium, 1,400 pixels wide, with its profile in a folder."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    return [
        browser, "--headless", "--no-sandbox", "--disable-gpu", "--enable-unsafe-swiftshader",
        "--disable-dev-shm-usage", f"--user-data-dir={folder}/profile", "--window-size=1400,900", *arguments,
    ]  # fmt: skip


def measured(text: str) -> dict[str, Any]:
    """Milliseconds until a page is open, of a drawing of its graph, and between the frames that were shown."""
    shown = text.replace(POLICY, "").replace("</body>", PROBE.replace("FRAMES", str(FRAMES))).encode()
    answers: list[dict[str, Any]] = []

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(shown)

        def do_POST(self) -> None:
            answers.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *words: object) -> None:
            pass

    with tempfile.TemporaryDirectory() as folder, ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        command = chromium(folder, f"http://127.0.0.1:{server.server_port}/")
        server.timeout = 1.0
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
            while not answers:
                server.handle_request()
            process.terminate()
    return answers[0]


def main() -> None:
    """Print a line for each page."""
    for name, (cell, first, last) in CELLS.items():
        whole = 0 if first == last else None
        text = page(list(decisions(with_pictures(cell), first, last, whole)), name)
        seen = measured(text)
        print(
            f"{name}: {len(text) / 1e6:.1f} MB, open after {seen['opened']:.0f} ms; moved, "
            f"{1e3 / statistics.fmean(seen['times']):.0f} frames a second, the slowest after {max(seen['times']):.0f} "
            f"ms; a drawing takes {seen['drawn']:.0f} ms"
        )


if __name__ == "__main__":
    main()
