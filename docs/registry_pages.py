"""The pages that are made from the registries when the site is built: algorithms, environments, the command line.

Their text stands in docstrings, so nothing is written twice.  Other pages include what is in `parts`.
"""

import inspect
import re
import sys
from itertools import groupby
from pathlib import Path
from typing import Any

import gymnasium as gym
import typer.main
from gymnasium.envs.registration import load_env_creator
from typer.cli import get_docs_for_click

import gymnasium_gsp.ingredients
from gymnasium_gsp.algorithms.registry import ALGORITHMS
from gymnasium_gsp.bench.catalogue import catalogue
from gymnasium_gsp.cli.commands import app

DOCS = Path(__file__).parent


def write(folder: Path) -> None:
    """Write every page into a folder."""
    entries = catalogue()
    pages = {f"algorithms/{entry['name']}": algorithm_page(entry) for entry in entries["algorithms"]}
    pages |= {f"environments/{entry['name']}": environment_page(entry) for entry in entries["environments"]}
    pages["parts/algorithms"] = algorithm_table(entries["algorithms"])
    pages["parts/environments"] = environment_table(entries["environments"])
    pages["parts/ingredients"] = ingredients()
    pages["command-line"] = command_line()
    for name, text in pages.items():
        path = folder / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def algorithm_page(entry: dict[str, Any]) -> str:
    """Return the page of an algorithm: citation, options, recipe, presets, guarantee, the docstring of its module."""
    recipe = ALGORITHMS[entry["name"]].recipe
    slots = "\n".join(f"| `{slot}` | `{choice}` |" for slot, choice in entry["ingredients"].items())
    presets = "\n".join(f"* `{preset}`: {', '.join(known)}" for preset, known in entry["presets"].items())
    doubts = "\n".join(f"* {reason}" for reason in entry["guarantee"]["not_covered_because"])
    return f"""# {entry["name"]}

{entry["citation"]}.

```python
agent = gsp.make_agent(env, "{entry["name"]}", budget=256)
```

## Options

```{{eval-rst}}
.. autofunction:: {recipe.__module__}.{recipe.__name__}
   :no-index:
```

## Recipe

Any slot is an option, too: see {{class}}`gymnasium_gsp.Recipe`.

| slot | choice |
|---|---|
{slots}

## Presets

{presets or "None."}

## Guarantee

{"No theorem covers the default setting:" if doubts else "The convergence theorem of GS-Power-UCT covers it."}

{doubts}

## Sources, idea, departures

```{{eval-rst}}
.. automodule:: {recipe.__module__}
   :no-index:
```
"""


def algorithm_table(entries: list[dict[str, Any]]) -> str:
    """Return the table of all algorithms."""
    rows = [f"| {link('algorithms', entry['name'])} | {entry['citation']} |" for entry in entries]
    return "\n".join(["| algorithm | from |", "|---|---|", *rows, ""])


def environment_page(entry: dict[str, Any]) -> str:
    """Return the page of an environment: picture, optimum, and the docstring of its class, which is Markdown."""
    name, entry_point = entry["name"], gym.spec(entry["id"]).entry_point
    kind = load_env_creator(entry_point) if isinstance(entry_point, str) else entry_point
    first, _, rest = (inspect.getdoc(kind) or "").partition("\n")
    return f"""# {name}

{first}

{picture(name)}

```python
env = gym.make("{entry["id"]}")
```

Optimum: **{entry["optimum"]:.6g}**, the best expected return of an episode of {entry["max_episode_steps"]} steps, by
{entry["optimum_source"]}.
{rest}
"""


def environment_table(entries: list[dict[str, Any]]) -> str:
    """Return the table of all environments."""
    rows = [
        f"| {link('environments', entry['name'])} | {entry['title']} | {entry['max_episode_steps']} | "
        f"{entry['optimum']:.6g} | {picture(entry['name'])} |"
        for entry in entries
    ]
    return "\n".join(["| environment | | steps | optimum | |", "|---|---|---|---|---|", *rows, ""])


def link(folder: str, name: str) -> str:
    """Return a link to a page that is made here."""
    return f"[{name}](/generated/{folder}/{name}.md)"


def picture(name: str) -> str:
    """Return the film of an environment as Markdown, empty where there is none."""
    path = f"pictures/{name}.gif"
    return f"![An episode of {name}](/{path})" if (DOCS / path).exists() else ""


def ingredients() -> str:
    """Return all ingredients in the order of the files that they stand in, one a slot."""
    room, elsewhere, lines = gymnasium_gsp.ingredients, {"inf", *gymnasium_gsp.__all__}, []
    names = [name for name in room.__all__ if name not in elsewhere]
    for module, group in groupby(names, lambda name: str(getattr(room, name).__module__)):
        title = (inspect.getdoc(sys.modules[module]) or "").partition(":")[0]
        directives = "\n".join(f".. autoclass:: gymnasium_gsp.ingredients.{name}" for name in group)
        lines += [f"## {title}", f"```{{eval-rst}}\n{directives}\n```"]
    return "\n\n".join(lines)


def command_line() -> str:
    """Return the help of every command."""
    command = typer.main.get_command(app)
    text = get_docs_for_click(obj=command, ctx=typer.Context(command), name="gsp", title="The command line")
    return re.sub(r"\*\*Commands\*\*:.*?(?=^## )", "", text, flags=re.DOTALL | re.MULTILINE)  # cut-off sentences
