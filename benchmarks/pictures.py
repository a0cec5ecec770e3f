"""The pictures of the documentation: a film of each benchmark environment, and the inspector's page.

    python -m benchmarks.pictures [FOLDER]

writes NAME.gif for each environment, one planned episode, and inspector.png; by default into docs/pictures.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import gymnasium as gym

import gymnasium_gsp as gsp
from benchmarks.inspector import chromium
from gymnasium_gsp.bench.cell import Cell
from gymnasium_gsp.bench.film import write_film
from gymnasium_gsp.bench.inspection import decisions, with_pictures
from gymnasium_gsp.envs import BENCHMARKS
from gymnasium_gsp.inspector.page import page

FOLDER = Path(__file__).parents[1] / "docs" / "pictures"
PIXELS, FRAMES, SEED = 320, 60, 4


def film_of(env_id: str, path: Path) -> None:
    """Play an episode with the default algorithm, and write its first frames."""
    with gym.make(env_id, render_mode="rgb_array") as env:
        env.unwrapped.render_size = PIXELS  # type: ignore[attr-defined]
        agent = gsp.make_agent(env, budget=1024, seed=SEED)
        observation, info = env.reset(seed=SEED)
        frames, done = [env.render()], False
        while not done and len(frames) < FRAMES:
            observation, _, terminated, truncated, info = env.step(agent.act(observation, info))
            frames.append(env.render())
            done = terminated or truncated
    write_film(path, frames, 4)  # type: ignore[arg-type]


def screenshot(path: Path) -> None:
    """Write a picture of the page that `gsp inspect FrozenLake` makes."""
    text = page(list(decisions(with_pictures(Cell(env="FrozenLake")), 0, 0)), "GSP/FrozenLake-v0, graft")
    with tempfile.TemporaryDirectory() as folder:
        shown = Path(folder) / "page.html"
        shown.write_text(text, encoding="utf-8")
        options = (f"--screenshot={path.resolve()}", "--virtual-time-budget=5000")
        subprocess.run(chromium(folder, *options, shown.as_uri()), capture_output=True, check=True, timeout=300)


def main(folder: Path) -> None:
    """Write every picture."""
    folder.mkdir(parents=True, exist_ok=True)
    screenshot(folder / "inspector.png")
    for benchmark in BENCHMARKS:
        path = folder / f"{benchmark.name}.gif"
        film_of(benchmark.id, path)
        print(f"{path.name}: {path.stat().st_size / 1024:.0f} KiB")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
