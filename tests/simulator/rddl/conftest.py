"""Instances for the tests of compiled RDDL; skipped where pyRDDLGym or rddlrepository is absent."""

from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def instance():
    """A function of (domain, number) that makes an environment of rddlrepository."""
    pytest.importorskip("pyRDDLGym", reason="pyRDDLGym is absent")
    pytest.importorskip("rddlrepository", reason="rddlrepository is absent")
    from gymnasium_gsp.envs.rddl_instances import make_instance

    return make_instance


@pytest.fixture
def written(tmp_path):
    """A function of pairs (old, new) that makes the workshop's environment with these changes to its texts."""
    pyrddlgym = pytest.importorskip("pyRDDLGym", reason="pyRDDLGym is absent")

    def make(*changes, **options):
        paths = []
        for name in ("workshop_domain.rddl", "workshop_instance.rddl"):
            text = (HERE / name).read_text()
            for old, new in changes:
                text = text.replace(old, new)
            paths.append(tmp_path / name)
            paths[-1].write_text(text)
        return pyrddlgym.RDDLEnv(*map(str, paths), **options)

    return make


@pytest.fixture
def made_up_states():
    """A function of (compiled instance, environment, how many, stream) that invents states: cells, no two ways alike.

    Half are the first state with some fluents changed, half are drawn fluent by fluent with various densities, so that
    branches are met that play seldom meets.
    """

    def invent(compiled, env, number, draw):
        layout = compiled.instance.layout
        first = layout.pack(env.sampler.init_values)
        for case in range(number):
            values = layout.unpack(first)
            density = draw.choice([0.05, 0.2, 0.5, 0.8])
            for fluent in layout.fluents:
                kind = env.model.variable_ranges[fluent.name]
                size = {"bool": 2, "int": 4}.get(kind) or len(env.model.type_to_objects[kind])
                if case % 2:
                    changed = draw.random() < 0.1
                    value = draw.integers(size) if changed else values[fluent.name][fluent.index]
                else:
                    value = draw.random() < density if size == 2 else draw.integers(size)
                values[fluent.name][fluent.index] = value
            yield layout.pack(values)

    return invent


@pytest.fixture
def put():
    """A function of (compiled instance, environment, cells, action) that puts pyRDDLGym's simulator in that place."""

    def place(compiled, env, cells, action):
        simulator = env.sampler
        for name, value in compiled.instance.layout.unpack(cells).items():
            simulator.subs[name] = value if value.ndim else value[()]
        simulator.subs.update(simulator.prepare_actions_for_sim(compiled.action(env, action)))
        return simulator

    return place


@pytest.fixture
def stream():
    """A random stream with a fixed seed."""
    return np.random.default_rng(20260101)
