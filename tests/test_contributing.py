"""The worked examples of CONTRIBUTING.md, in a copy of the package."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import gymnasium_gsp as gsp

ROOT = Path(__file__).parents[1]
BLOCKS = re.findall(r"```(?:python|text)\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.DOTALL)
USE = """
import gymnasium as gym
import gymnasium_gsp as gsp
from gymnasium_gsp.exact import optimum

recipe = gsp.make_recipe("epsilon-greedy-uct", epsilon=0.2)
assert recipe.selection == gsp.ingredients.EpsilonGreedy(0.2)
assert eval(repr(recipe), vars(gsp.ingredients)) == recipe
env = gym.make("GSP/CoinWalk-v0")
agent = gsp.make_agent(env, "epsilon-greedy-uct", budget=50, seed=0)
observation, _ = env.reset(seed=0)
assert agent.act(observation) == 1
print(optimum(env))
"""


@pytest.fixture
def package(tmp_path):
    """A copy of the package with the examples in it."""
    copy = tmp_path / "gymnasium_gsp"
    shutil.copytree(Path(gsp.__file__).parent, copy, ignore=shutil.ignore_patterns("*.pyc"))
    for block in BLOCKS:
        place, _, code = block.removeprefix("# ").partition("\n")
        if place.endswith(".py"):
            (tmp_path / place).write_text(code, encoding="utf-8")
        elif place.endswith(", in ENVIRONMENTS"):
            listing = tmp_path / place.removesuffix(", in ENVIRONMENTS")
            text = listing.read_text(encoding="utf-8")
            listing.write_text(text.replace("ENVIRONMENTS = (\n", f"ENVIRONMENTS = (\n{code}"), encoding="utf-8")
    return tmp_path


@pytest.mark.slow
def test_what_the_examples_add_is_found_and_plays(package):
    """An ingredient, an algorithm and an environment, each in the files that CONTRIBUTING names and nowhere else."""
    environment = {**os.environ, "PYTHONPATH": str(package), "NUMBA_CACHE_DIR": str(package / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", USE], env=environment, cwd=package, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert 0.9 < float(done.stdout) < 1.0


def test_the_adapter_of_the_example_can_be_registered():
    block = next(block for block in BLOCKS if "class MyAdapter" in block)
    names = {}
    exec(block, names)
    gsp.register_adapter(names["MyAdapter"])
