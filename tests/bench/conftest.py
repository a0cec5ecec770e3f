"""A store with a few rows."""

import pytest
from stored_rows import rows

from gymnasium_gsp.bench.store import Store


@pytest.fixture
def path(tmp_path):
    return tmp_path / "results.sqlite"


@pytest.fixture
def filled(path):
    with Store(path) as store:
        store.add(rows())
    return path
