"""The inspector's pages in headless Chromium: how large, how soon open, and how long a frame takes while panning.

    python -m benchmarks.inspector

A frame is panned and zoomed.  Its script is what the page costs anywhere; drawn, it also waits for the pixels, which
without a graphics card are computed in software.
"""

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from gymnasium_gsp.bench.cell import Cell
from gymnasium_gsp.bench.inspection import decisions, with_pictures
from gymnasium_gsp.inspector.page import page

FRAMES = 20
PROBE = """<script>
document.body.dataset.opened = performance.now().toFixed(0);
const camera = renderer.getCamera(), script = [], drawn = [], pixel = new Uint8Array(4);
const median = times => times.sort((a, b) => a - b)[Math.floor(times.length / 2)].toFixed(1);
for (let i = 0; i < FRAMES; i++) {
  const begun = performance.now();
  camera.setState({x: 0.5 + 0.2 * Math.sin(i / 9), ratio: 0.55 + 0.45 * Math.cos(i / 9)});
  renderer.render();
  script.push(performance.now() - begun);
  for (const gl of Object.values(renderer.webGLContexts)) gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
  drawn.push(performance.now() - begun);
}
document.body.dataset.script = median(script);
document.body.dataset.drawn = median(drawn);
</script></body>"""
CELLS = {
    "100 decisions of FrozenLake, 256 simulations each": (Cell(env="FrozenLake", env_options={"horizon": 100}), 0, 99),
    "one decision of SysAdminRing, 20,000 nodes": (Cell(env="SysAdminRing", budget=600), 0, 0),
}


def open_page(text: str, *options: str) -> str:
    """Open a page in headless Chromium, 1,400 pixels wide, with more options; return what it prints."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "page.html"
        file.write_text(text)
        command = [
            browser, "--headless", "--no-sandbox", "--disable-gpu", "--enable-unsafe-swiftshader",
            "--disable-dev-shm-usage", f"--user-data-dir={folder}/profile", "--window-size=1400,900", *options,
            file.as_uri(),
        ]  # fmt: skip
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout


def measured(text: str) -> list[float]:
    """Milliseconds until a page is open, and medians of a frame: its script, and drawn."""
    dom = open_page(text.replace("</body>", PROBE.replace("FRAMES", str(FRAMES))), "--dump-dom")
    return [float(re.findall(rf'data-{name}="([\d.]+)"', dom)[0]) for name in ("opened", "script", "drawn")]


def main() -> None:
    """Print a line for each page."""
    for name, (cell, first, last) in CELLS.items():
        whole = 0 if first == last else None
        text = page(list(decisions(with_pictures(cell), first, last, whole)), name)
        opened, script, drawn = measured(text)
        size = f"{len(text) / 1e6:.1f} MB, open after {opened:.0f} ms"
        print(f"{name}: {size}; a frame takes {script:.1f} ms of script, {drawn:.0f} ms drawn")


if __name__ == "__main__":
    main()
