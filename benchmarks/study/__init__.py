"""Checks of the paper's theory: each study measures one claim and ends in tables and plots.

    python -m benchmarks.study bias                        print the study
    python -m benchmarks.study bias -o docs/studies        also write its page, plots and CSV files
    python -m benchmarks.study bias --quick --seed 1       small sizes, another seed

docs/studies.md explains the results.
"""
