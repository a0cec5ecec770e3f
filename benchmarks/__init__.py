"""Measurements of the package: speed, play, the paper's theory.  Not part of the wheel.

Install with `pip install -e '.[benchmarks]'` and run from the root of the repository:

    python -m benchmarks.speed              the search beside C++, every algorithm, the first decision, bytes
    python -m benchmarks.python_speed       the cost of planning on top of a simulator in Python
    python -m benchmarks.gate               fails where an algorithm has become slow
    python -m benchmarks.lines              lines of code by room
    python -m benchmarks.play               returns in third-party environments
    python -m benchmarks.experiments NAME   the tables of docs/experiments.md
    python -m benchmarks.study NAME         the paper's theory: convergence, bias, sharing, overhead
"""
