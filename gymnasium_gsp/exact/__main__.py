"""`python -m gymnasium_gsp.exact`: compute the optima of the benchmarks anew, and compare with those shipped."""

import argparse
import sys

from gymnasium_gsp.exact.optima import COMMAND, recompute, write

_DIFFERENCE = 1e-9


def main(arguments: list[str] | None = None) -> int:
    """Print the optima; 1 if one differs from what the package ships, else 0."""
    parser = argparse.ArgumentParser(prog="python -m gymnasium_gsp.exact", description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"make them the shipped ones ({COMMAND})")
    options = parser.parse_args(arguments)
    rows = []
    for row in recompute():
        rows.append(row)
        shipped = "none" if row.shipped is None else f"{row.shipped:.10f}"
        print(f"{row.id:28} {row.optimum:14.10f}   shipped {shipped}   {row.seconds:6.1f} s", flush=True)
    if options.write:
        write(rows)
        return 0
    wrong = [row.id for row in rows if row.shipped is None or abs(row.optimum - row.shipped) > _DIFFERENCE]
    if wrong:
        print(f"differs from what is shipped: {', '.join(wrong)}; if rightly so, run {COMMAND}", file=sys.stderr)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
