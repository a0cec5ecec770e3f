"""A film of one planned episode of each benchmark environment, as the documentation shows it.

    python -m benchmarks.pictures [FOLDER]

writes NAME.gif for each of them; by default into docs/pictures.
"""

import sys
from pathlib import Path

import gymnasium as gym

import gymnasium_gsp as gsp
from gymnasium_gsp.bench.film import write_film
from gymnasium_gsp.envs import BENCHMARKS

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


def main(folder: Path) -> None:
    """Write every film."""
    folder.mkdir(parents=True, exist_ok=True)
    for benchmark in BENCHMARKS:
        path = folder / f"{benchmark.name}.gif"
        film_of(benchmark.id, path)
        print(f"{path.name}: {path.stat().st_size / 1024:.0f} KiB")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
