import importlib

import pytest

from gymnasium_gsp.algorithms.registry import ALGORITHMS


@pytest.fixture
def baselines():
    """The module of the baselines; what it registers is gone after the test."""
    before = dict(ALGORITHMS)
    yield importlib.reload(importlib.import_module("benchmarks.baselines"))
    for name in set(ALGORITHMS) - set(before):
        del ALGORITHMS[name]
