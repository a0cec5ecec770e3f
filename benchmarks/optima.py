"""The optima of the benchmarks computed anew, beside those shipped: `python -m benchmarks.optima`."""

import argparse
import json
import sys
import time

import gymnasium as gym

import gymnasium_gsp  # noqa: F401  registers the environments
from gymnasium_gsp.exact.optima import DATA, compute_optimum, shipped_optima

_COMMAND = "python -m benchmarks.optima --write"
_DIFFERENCE = 1e-9


def main(arguments: list[str] | None = None) -> int:
    """Print the optima; 1 if one differs from what the package ships, else 0."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.optima", description=__doc__)
    parser.add_argument("ids", nargs="*", metavar="ID", help="environments, such as GSP/FourRooms-v0; all if none")
    parser.add_argument("--write", action="store_true", help=f"make them the shipped ones ({_COMMAND})")
    options = parser.parse_args(arguments)
    registered = [name for name, spec in gym.registry.items() if spec.namespace == "GSP"]
    shipped, computed, wrong = shipped_optima(), {}, []
    for name in options.ids or registered:
        started = time.perf_counter()
        computed[name] = value = compute_optimum(gym.make(name))
        was = f"{shipped[name]:.10f}" if name in shipped else "none"
        print(f"{name:28} {value:14.10f}   shipped {was}   {time.perf_counter() - started:6.1f} s", flush=True)
        if name not in shipped or abs(value - shipped[name]) > _DIFFERENCE:
            wrong.append(name)
    if options.write:
        optima = {name: value for name, value in {**shipped, **computed}.items() if name in registered}
        content = {"command": _COMMAND, "optima": optima}
        DATA.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
        shipped_optima.cache_clear()
    elif wrong:
        print(f"differs from what is shipped: {', '.join(wrong)}; if rightly so, run {_COMMAND}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
