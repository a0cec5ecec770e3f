"""The graph behind compiled RDDL instances, its emitters, and the factors of a law; none of it needs pyRDDLGym."""

import itertools

import numpy as np
import pytest

from gymnasium_gsp.errors import RecipeError
from gymnasium_gsp.exact import enumerate_model
from gymnasium_gsp.models.compiled import CompiledModel
from gymnasium_gsp.models.factors import Factors
from gymnasium_gsp.models.rddl import llvm, numba_emitter
from gymnasium_gsp.models.rddl.graph import BOOL, INT, REAL, REFERENCE, Graph
from gymnasium_gsp.models.rddl.layout import lay_out
from gymnasium_gsp.models.rddl.trial import faults, trial_instance

BINARY = [op for op in REFERENCE if op in ("and", "or", "xor", "==", "<", "<=", "+", "-", "*", "min", "max")]


@pytest.fixture(scope="module")
def compiled():
    """The trial instance by both emitters."""
    return {"LLVM": llvm.compile_llvm(*trial_instance()), "numba": numba_emitter.compile_numba(*trial_instance())}


def leaves(graph):
    """Two leaves of each kind, and the values that a test gives them."""
    return {
        BOOL: [graph.leaf("bit", BOOL, 0, 0), graph.leaf("bit", BOOL, 0, 1)],
        INT: [graph.leaf("cell", INT, 1), graph.leaf("cell", INT, 2)],
        REAL: [graph.leaf("cell", REAL, 3), graph.leaf("cell", REAL, 4)],
    }


def test_equal_expressions_are_one_node():
    graph = Graph()
    a, b = leaves(graph)[INT]
    assert graph.apply("+", a, b) == graph.apply("+", b, a)
    assert graph.apply("-", a, b) != graph.apply("-", b, a)
    assert graph.constant(True) != graph.constant(1) != graph.constant(1.0)


@pytest.mark.parametrize("seed", range(20))
def test_simplified_expressions_mean_the_same(seed):
    """Random expressions over few leaves and constants, built through `apply` and computed directly."""
    draw = np.random.default_rng(seed)
    graph = Graph()
    nodes = [node for pair in leaves(graph).values() for node in pair]
    values = [[True, False], [False, True], [2, -3], [0, 1], [0.5, 1.0], [0.0, -2.25]]
    nodes += [graph.constant(value) for value in (True, False, 0, 1, 3, 0.0, 1.0, 0.25)]
    values += [[value] * 2 for value in (True, False, 0, 1, 3, 0.0, 1.0, 0.25)]
    given = dict(zip(nodes[:6], values[:6], strict=True))
    for _ in range(300):
        op = draw.choice([*BINARY, "not", "if"])
        picked = draw.integers(len(nodes), size={"not": 1, "if": 3}.get(op, 2))
        if op in ("and", "or", "xor", "not"):
            taken = [[bool(value) for value in values[place]] for place in picked]
        elif op == "if":
            taken = [[bool(value) for value in values[picked[0]]], *(values[place] for place in picked[1:])]
        else:
            taken = [[value * 1 for value in values[place]] for place in picked]
        result = [REFERENCE[op](*(column[case] for column in taken)) for case in (0, 1)]
        if max(abs(float(value)) for value in result) < 1e6:
            nodes.append(graph.apply(op, *(nodes[place] for place in picked)))
            values.append(result)
    for case in (0, 1):
        found = graph.evaluate(nodes, lambda node: given[graph._numbers[node]][case])  # noqa: B023
        assert all(found[node] == value[case] for node, value in zip(nodes, values, strict=True))


def test_conditions_on_truth_values_fold_to_logic():
    graph = Graph()
    a, b = leaves(graph)[BOOL]
    number = graph.as_kind(a, INT)
    assert graph.apply("==", number, graph.constant(1)) == a
    assert graph.apply("<=", number, graph.constant(0)) == graph.apply("not", a)
    assert graph.apply("<", number, graph.constant(5)) == graph.true
    assert graph.apply("if", a, graph.true, b) == graph.apply("or", a, b)
    assert graph.apply("and", a, graph.apply("not", a)) == graph.false


def test_substitution_folds_again():
    graph = Graph()
    a, b = leaves(graph)[BOOL]
    both = graph.apply("and", a, b)
    became = graph.substitute([both], lambda node: graph.true if node.args == (0, 0) else None)
    assert became[both] == b


def test_states_are_packed_and_unpacked():
    """Seventy flags take two cells, other fluents one each; minus zero is zero."""
    layout = lay_out([("n", (), INT), ("x", (), REAL), *(("flag", (i, j), BOOL) for i in range(10) for j in range(7))])
    assert layout.width == 4
    draw = np.random.default_rng(0)
    for _ in range(20):
        values = {"n": np.int64(-(2**40)), "x": np.float64(-0.0), "flag": draw.random((10, 7)) < 0.5}
        cells = layout.pack(values)
        back = layout.unpack(cells)
        assert (back["flag"] == values["flag"]).all()
        assert back["n"] == -(2**40)
        assert cells[3] == 0


@pytest.mark.parametrize("emitter", ["LLVM", "numba"])
def test_compiled_operations_agree_with_the_reference(compiled, emitter):
    assert faults(compiled[emitter]) == []


@pytest.mark.parametrize(
    ("right", "wrong"),
    [(" fsub ", " fadd "), ("fcmp ole", "fcmp olt"), ("@llvm.roundeven.f64(double %", "@llvm.ceil.f64(double %")],
)
def test_a_wrong_emitter_would_be_found(monkeypatch, right, wrong):
    """The trial is no formality: one wrong instruction does not pass."""
    text = llvm.module_text(*trial_instance())
    mutated = text.replace(right, wrong)
    assert mutated != text
    monkeypatch.setattr(llvm, "module_text", lambda *_: mutated)
    assert faults(llvm.compile_llvm(*trial_instance()))


def test_the_joint_law_is_what_the_step_draws(compiled):
    """Frequencies of 40,000 steps against the rows; a false alarm has a chance below 1e-6 (4.9 standard errors)."""
    instance, joint = trial_instance()
    factors = Factors(compiled["LLVM"].law, tuple(len(law.probabilities) for law in instance.choices))
    cells = tuple([3, 1, 2, *np.array([0.5, 0.5]).view(np.int64).tolist()] + [0] * (instance.layout.width - 5))
    rows = factors.rows(np.zeros(1), cells, 1)
    assert sum(row[0] for row in rows) == pytest.approx(1.0, abs=1e-15)
    assert len(rows) == 6
    model = CompiledModel(compiled["LLVM"].step, len(joint.values), instance.layout.width)
    from gymnasium_gsp.abi import signatures as abi
    from gymnasium_gsp.abi.pointers import ctypes_type

    step = ctypes_type(abi.STEP)(model.step_pointer.address)
    word, reward, counts, n = np.array([7], np.uint64), np.zeros(1), {}, 40_000
    for _ in range(n):
        after = np.array(cells, np.int64)
        step(None, after.ctypes.data, 1, word.ctypes.data, reward.ctypes.data)
        counts[tuple(after.tolist())] = counts.get(tuple(after.tolist()), 0) + 1
    expected = {}
    for probability, after, _, _ in rows:
        expected[after] = expected.get(after, 0.0) + probability
    assert set(counts) <= set(expected)
    for after, p in expected.items():
        assert abs(counts.get(after, 0) - n * p) <= 5.2 * np.sqrt(n * p * (1 - p)), after


def chain_model(chances, sizes, effect):
    """A model of one cell whose law is written in Python, for a factored law with dependent choices."""

    def law(params, state, action, outcomes, out, reward):
        chances(state, outcomes, out)
        reward[0] = 1.0 * outcomes[0]
        state[0] = effect(state, outcomes)
        return 1

    from numba import njit

    from gymnasium_gsp.abi.pointers import resolve

    chances, effect = njit(chances), njit(effect)
    return Factors(resolve(law, "law"), sizes)


def test_choices_that_depend_on_earlier_ones_are_walked_in_full():
    """Two of three values of a second choice have a chance, which two depends on the first."""

    def chances(state, outcomes, out):
        out[0], out[1] = 0.25, 0.75
        first = outcomes[0]
        out[2], out[3], out[4] = 0.5 * first, 0.5, 0.5 - 0.5 * first
        second = outcomes[1]
        out[5], out[6] = 1.0 * (second == 1), 1.0 * (second != 1)

    def effect(state, outcomes):
        return 100 * outcomes[0] + 10 * outcomes[1] + outcomes[2]

    rows = chain_model(chances, (2, 3, 2), effect).rows(np.zeros(1), (0,), 0)
    law = {after[0]: probability for probability, after, _, _ in rows}
    assert law == {10: 0.125, 21: 0.125, 101: 0.375, 110: 0.375}
    assert len(rows) == 4


def test_chances_that_are_no_distribution_are_refused():
    def chances(state, outcomes, out):
        out[0], out[1] = 0.0, np.nan

    def effect(state, outcomes):
        return 0

    factors = chain_model(chances, (2,), effect)
    with pytest.raises(RecipeError, match="no distribution"):
        factors.rows(np.zeros(1), (0,), 0)


def test_enumeration_from_factors_is_that_of_the_rows(compiled):
    """A counter that two coins move: the same states, rewards and probabilities as through the law in Python."""

    def chances(state, outcomes, out):
        out[0], out[1] = 0.25, 0.75
        out[2 + outcomes[0]], out[3 - outcomes[0]] = 0.5, 0.5

    def effect(state, outcomes):
        return min(state[0] + outcomes[0] + outcomes[1], 5)

    factors = chain_model(chances, (2, 2), effect)
    arguments = {"step": compiled["LLVM"].step, "actions": 1, "name": "counter"}
    law = lambda cells, action: factors.rows(np.zeros(1), cells, action)  # noqa: E731
    for horizon in (None, 2):
        fast = enumerate_model(CompiledModel(**arguments, factors=factors), 0, horizon)
        slow = enumerate_model(CompiledModel(**arguments, law=law), 0, horizon)
        assert fast.states.tolist() == slow.states.tolist()
        assert fast.distance.tolist() == slow.distance.tolist()
        assert fast.horizon == slow.horizon
        np.testing.assert_allclose(fast.reward, slow.reward)
        for values in (np.arange(len(fast)) * 1.0, np.ones(len(fast))):
            np.testing.assert_allclose(fast.q_values(values, 0.9), slow.q_values(values, 0.9))
    with pytest.raises(RecipeError, match=r"too many states.*raise limit="):
        enumerate_model(CompiledModel(**arguments, factors=factors), 0, limit=3)


def test_every_operation_is_tried():
    instance, _ = trial_instance()
    tried = {instance.graph.nodes[node].op for node in instance.graph.reach(instance.step_nodes)}
    assert tried >= set(REFERENCE)
    assert len(list(itertools.chain(instance.law_nodes))) == 5
