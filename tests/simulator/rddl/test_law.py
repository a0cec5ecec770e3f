"""The compiled law against pyRDDLGym: chances and rewards on made-up states, and samples of the joint law."""

import numpy as np
import pytest

from gymnasium_gsp.abi import signatures as abi
from gymnasium_gsp.abi.pointers import ctypes_type
from gymnasium_gsp.envs.rddl_instances import IPPC_DOMAINS
from gymnasium_gsp.models.factors import Factors
from gymnasium_gsp.models.rddl.law import FluentLaws

FEW = [
    ("SysAdmin_MDP_ippc2011", 1),
    ("CrossingTraffic_MDP_ippc2011", 2),
    ("Elevators_MDP_ippc2014", 5),
    ("TriangleTireworld_MDP_ippc2014", 1),
    ("Wildfire_MDP_ippc2014", 1),
]
ALL = [
    pytest.param(domain, number, marks=[] if (domain, number) in FEW else pytest.mark.slow)
    for domain in IPPC_DOMAINS
    for number in range(1, 11)
]
FALSE_ALARM = 1e-6


def compiled_instance(env):
    from gymnasium_gsp.models.rddl.model import compile_instance

    return compile_instance(env)


@pytest.mark.parametrize(("domain", "number"), ALL)
def test_chances_and_rewards_are_those_of_pyrddlgym(monkeypatch, instance, made_up_states, put, stream, domain, number):
    """To 1e-9, for every fluent of 60 made-up states: pyRDDLGym's expressions with Bernoulli(p) giving p."""
    env = instance(domain, number)
    compiled = compiled_instance(env)
    laws = FluentLaws(compiled.instance, compiled.model.factors)
    chance = lambda self, expression, subs: np.asarray(self._sample(expression.args[0], subs)) * 1.0  # noqa: E731
    monkeypatch.setattr(type(env.sampler), "_sample_bernoulli", chance)
    layout, compared = compiled.instance.layout, 0
    for cells in made_up_states(compiled, env, 60, stream):
        action = int(stream.integers(compiled.model.actions))
        simulator = put(compiled, env, cells, action)
        theirs = {name: np.asarray(simulator._sample(body, simulator.subs), float) for name, body, _ in simulator.cpfs}
        for fluent, law in zip(layout.fluents, laws.fluents(cells, action), strict=True):
            shape = np.shape(env.sampler.init_values[fluent.name])
            expected = np.broadcast_to(theirs[env.model.next_state[fluent.name]], shape)[fluent.index]
            assert law.get(True, 0.0) == pytest.approx(expected, abs=1e-9), (fluent, cells)
            assert sum(law.values()) == pytest.approx(1.0, abs=1e-12)
            compared += 1
        assert laws.reward(cells, action) == pytest.approx(simulator.sample_reward(), abs=1e-9)
    assert compared == 60 * len(layout.fluents)


def frequencies_agree(sampled, rows, draw, sets=24):
    """Whether samples (tuples of numbers, states behind each other) come from a joint law given as rows.

    Parities of random sets of bits, and of random hashes, are compared with their exact chance by the exact binomial
    test; all together raise a false alarm with a chance of at most FALSE_ALARM.
    """
    from scipy.stats import binomtest

    support = {after for _, after in rows}
    assert set(sampled) <= support, "an outcome that the law does not have"
    weights = {after: [draw.integers(2) for _ in range(sets)] for after in sorted(support)}
    for number in range(sets):
        chance = min(1.0, sum(p for p, after in rows if weights[after][number]))
        met = sum(int(weights[after][number]) for after in sampled)
        assert binomtest(met, len(sampled), chance).pvalue > FALSE_ALARM / sets, number


def merged(rows):
    """Rows as (probability, (cells, reward, terminated)), equal outcomes merged."""
    joint = {}
    for probability, after, reward, ended in rows:
        key = (after, round(reward, 9), ended)
        joint[key] = joint.get(key, 0.0) + probability
    return [(probability, key) for key, probability in joint.items()]


@pytest.mark.parametrize(("domain", "number"), FEW)
def test_pyrddlgym_draws_from_the_joint_law(instance, put, stream, domain, number):
    """Four states of a random walk, 300 steps of pyRDDLGym from each."""
    env = instance(domain, number)
    samples_from_the_law(env, put, stream, states=4, samples=300)


def test_an_invented_domain_draws_from_the_joint_law(written, put, stream):
    """Enumerated and whole-number fluents, random intermediate ones, switch, Discrete; 12 states, 400 steps each."""
    samples_from_the_law(written(), put, stream, states=12, samples=400)


def samples_from_the_law(env, put, stream, states, samples):
    compiled = compiled_instance(env)
    layout, model = compiled.instance.layout, compiled.model
    step = ctypes_type(abi.STEP)(model.step_pointer.address)
    word, reward = np.array([stream.integers(2**63)], np.uint64), np.zeros(1)
    cells = layout.pack(env.sampler.init_values)
    for _ in range(states):
        action = int(stream.integers(model.actions))
        rows = merged(model.law(tuple(cells.tolist()), action))
        assert sum(probability for probability, _ in rows) == pytest.approx(1.0, abs=1e-9)
        theirs, ours = [], []
        for _ in range(samples):
            simulator = put(compiled, env, cells, action)
            _, gain, ended = simulator.step(simulator.prepare_actions_for_sim(compiled.action(env, action)))
            ended = bool(ended) or not simulator.check_state_invariants(silent=True)
            theirs.append((tuple(layout.pack(simulator.subs).tolist()), round(gain, 9), ended))
        for _ in range(samples):
            after = cells.copy()
            status = step(None, after.ctypes.data, action, word.ctypes.data, reward.ctypes.data)
            ours.append((tuple(after.tolist()), round(float(reward[0]), 9), status == abi.TERMINATED))
        frequencies_agree(theirs, rows, stream)
        frequencies_agree(ours, rows, stream)
        cells = layout.pack(env.sampler.init_values) if ours[-1][2] else np.array(ours[-1][0], np.int64)


def test_a_law_that_is_off_would_be_found(stream):
    """A coin of 0.65 sold as one of 0.5 is found in 400 throws."""
    rows = [(0.5, (0,)), (0.5, (1,))]
    biased = [(int(face),) for face in stream.random(400) < 0.65]
    with pytest.raises(AssertionError):
        frequencies_agree(biased, rows, stream)
    frequencies_agree([(int(face),) for face in stream.random(400) < 0.5], rows, stream)


def test_emitters_agree_on_an_invented_domain(written, stream, made_up_states):
    """The numba emitter gives the same next states, rewards and streams as LLVM."""
    from gymnasium_gsp.models.rddl.numba_emitter import compile_numba

    env = written()
    compiled = compiled_instance(env)
    other = compile_numba(compiled.instance, compiled.joint)
    steps = [ctypes_type(abi.STEP)(pointer.address) for pointer in (compiled.model.step_pointer, other.step)]
    masks = [ctypes_type(abi.LEGAL)(pointer.address) for pointer in (compiled.model.legal_pointer, other.legal)]
    for cells in made_up_states(compiled, env, 200, stream):
        action, seed = int(stream.integers(compiled.model.actions)), stream.integers(2**63)
        results = []
        for step, legal in zip(steps, masks, strict=True):
            after, word, reward = cells.copy(), np.array([seed], np.uint64), np.zeros(1)
            mask = np.zeros(compiled.model.actions)
            status = step(None, after.ctypes.data, action, word.ctypes.data, reward.ctypes.data)
            count = legal(None, cells.ctypes.data, mask.ctypes.data)
            results.append((after.tolist(), word[0], reward[0], status, count, mask.tolist()))
        assert results[0] == results[1]


@pytest.mark.slow
def test_a_grounded_model_has_the_same_law(instance, made_up_states, stream):
    """pyRDDLGym's grounder in between: the same joint law on made-up states (draws may come in another order)."""
    from pyRDDLGym.core.grounder import RDDLGrounder
    from pyRDDLGym.core.simulator import RDDLSimulator

    from gymnasium_gsp.models.rddl.actions import joint_actions
    from gymnasium_gsp.models.rddl.llvm import compile_llvm
    from gymnasium_gsp.models.rddl.translate import translate

    env = instance("SysAdmin_MDP_ippc2011", 1)
    compiled = compiled_instance(env)
    model = RDDLGrounder(env.model.ast).ground()
    model.policy = None  # the grounder leaves {} there, on which pyRDDLGym's own simulator fails
    grounded = translate(RDDLSimulator(model))
    joint = joint_actions(grounded, [range(2)] * len(grounded.actions), 1)
    code = compile_llvm(grounded, joint)
    factors = Factors(code.law, tuple(len(law.probabilities) for law in grounded.choices))
    for cells in made_up_states(compiled, env, 20, stream):
        action, state = int(stream.integers(compiled.model.actions)), tuple(cells.tolist())
        ours, theirs = (
            {after: probability for probability, after in merged(law(state, action))}
            for law in (compiled.model.law, lambda state, action: factors.rows(np.zeros(1), state, action))
        )
        assert ours == pytest.approx(theirs, rel=1e-12)
