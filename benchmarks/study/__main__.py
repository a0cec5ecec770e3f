"""The command line of the studies: `python -m benchmarks.study NAME`, see `benchmarks.study`."""

import argparse
import math
import sys
from collections.abc import Callable
from dataclasses import asdict, fields
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.study import bias, convergence, overhead, sharing
from gymnasium_gsp.envs import BENCHMARKS

STUDIES: dict[str, Any] = {"convergence": convergence, "bias": bias, "sharing": sharing, "overhead": overhead}
LARGEST = 2**24  # simulations of one search; a study with more would not end


def budgets(text: str) -> tuple[int, ...]:
    """Read at least two budgets in ascending order."""
    try:
        found = tuple(map(int, text.split(",")))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} are no whole numbers of simulations, as in 16,64,256") from None
    if len(found) < 2 or found[0] < 2 or found[-1] > LARGEST or any(a >= b for a, b in pairwise(found)):
        raise argparse.ArgumentTypeError(f"must be at least two numbers from 2 to {LARGEST:,} in ascending order")
    return found


def env_names(text: str) -> tuple[str, ...]:
    """Read names of benchmarks, each once."""
    names, known = tuple(text.split(",")), [benchmark.name for benchmark in BENCHMARKS]
    if not set(names) <= set(known) or len(set(names)) < len(names):
        raise argparse.ArgumentTypeError(f"must be some of {', '.join(known)}, each once; not {text!r}")
    return names


def at_least(smallest: int) -> Callable[[str], int]:
    """Return a reader of whole numbers that are at least `smallest`."""

    def read(text: str) -> int:
        number = int(text) if text.removeprefix("-").isdecimal() else -math.inf
        if number < smallest:
            raise argparse.ArgumentTypeError(f"must be a whole number of at least {smallest}, not {text}")
        return int(number)

    return read


READERS: dict[str, Callable[[str], Any]] = {
    "budgets": budgets,
    "env_budgets": budgets,
    "envs": env_names,
    "replicates": at_least(2),  # a standard error needs two
}


def parser() -> argparse.ArgumentParser:
    """Return the parser: one command a study, one option a size."""
    found = argparse.ArgumentParser(prog="python -m benchmarks.study", description="check the paper's theory")
    commands = found.add_subparsers(dest="name", required=True, metavar="STUDY")
    for name, study in STUDIES.items():
        command = commands.add_parser(name, help=study.QUESTION, description=study.__doc__)
        command.add_argument("-o", "--output", type=Path, metavar="FOLDER", help="write Markdown, CSV and SVG there")
        command.add_argument("--seed", type=at_least(0), default=0, help="the same seed gives the same numbers")
        command.add_argument("--quick", action="store_true", help="small sizes: seconds instead of minutes")
        for size in fields(study.FULL):
            reader = READERS.get(size.name, at_least(1))
            command.add_argument(
                "--" + size.name.replace("_", "-"), type=reader, help=f"{getattr(study.FULL, size.name)}"
            )
    return found


def main(arguments: list[str] | None = None) -> None:
    """Run a study, print it and write it."""
    options = parser()
    given = vars(options.parse_args(arguments))
    if given["output"] is not None and given["output"].is_file():
        options.error(f"{given['output']} is a file; -o takes a folder")
    study = STUDIES[given["name"]]
    sizes = study.QUICK if given["quick"] else study.FULL
    changes = {name: given[name] for name in asdict(sizes) if given[name] is not None}
    result = study.run(
        study.Sizes(**{**asdict(sizes), **changes}), given["seed"], lambda words: print(words, file=sys.stderr)
    )
    print(result.page())
    if given["output"] is not None:
        result.write(given["output"])


if __name__ == "__main__":
    main()
