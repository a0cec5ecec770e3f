"""A small instance with every operation, on which an emitter is tried before it is first used."""

import itertools
from functools import cache

import numpy as np

from gymnasium_gsp.abi import signatures as abi
from gymnasium_gsp.abi.pointers import ctypes_type
from gymnasium_gsp.models.rddl.actions import JointActions
from gymnasium_gsp.models.rddl.emitter import Code
from gymnasium_gsp.models.rddl.graph import BOOL, INT, REAL, REFERENCE, Graph, Node, Value
from gymnasium_gsp.models.rddl.laws import Law
from gymnasium_gsp.models.rddl.layout import lay_out
from gymnasium_gsp.models.rddl.translate import ActionFluent, Instance

_ARITY = {"if": 3, **dict.fromkeys(("not", "int", "real", "truncate", "abs", "sgn", "round", "floor", "ceil"), 1)}
_ARITY |= dict.fromkeys(("exp", "ln", "sqrt", "cos", "sin"), 1)
_BOTH_KINDS = ("==", "<", "<=", "if", "+", "-", "*", "min", "max", "abs")
_STATES = ((1, 0, 7, 3, 2.25, 0.5), (0, 1, -7, 3, 0.5, 3.5), (1, 1, 5, 0, 2.5, 2.5), (0, 0, -4, -3, 1e-3, 40.0))


@cache
def trial_instance() -> tuple[Instance, JointActions]:
    """An instance whose every next fluent is one operation on fluents, an action fluent or a random choice."""
    graph = Graph()
    nodes = {
        BOOL: [graph.leaf("bit", BOOL, 0, bit) for bit in (0, 1)],
        INT: [graph.leaf("cell", INT, cell) for cell in (1, 2)],
        REAL: [graph.leaf("cell", REAL, cell) for cell in (3, 4)],
    }
    results = [graph.leaf("action", BOOL, 0), graph.leaf("action", INT, 1), graph.leaf("action", BOOL, 2)]
    for op in REFERENCE:
        kinds = (INT, REAL) if op in _BOTH_KINDS else (_operand_kind(op),)
        for kind in kinds:
            operands = nodes[kind][: _ARITY.get(op, 2)] if op != "if" else (nodes[BOOL][0], *nodes[kind])
            results.append(graph.apply(op, *operands))
    probability = graph.apply("if", nodes[BOOL][0], graph.constant(0.25), graph.constant(0.5))
    rest = graph.apply("-", graph.constant(1.0), probability)
    laws = (Law((rest, probability), BOOL), Law((graph.constant(0.125), rest, graph.constant(0.125)), INT))
    results += [graph.leaf("choice", law.kind, number) for number, law in enumerate(laws)]
    # The state is the results behind the operands: each next fluent is a result, each operand is kept.
    operands = [node for kind in (BOOL, INT, REAL) for node in nodes[kind]]
    flags = [node for node in results if graph.kind(node) == BOOL]
    others = [node for node in results if graph.kind(node) != BOOL]
    after = [*operands[:2], *flags, *operands[2:], *others]
    layout = lay_out([("x", (number,), graph.kind(node)) for number, node in enumerate(after)])
    actions = (
        ActionFluent("a", (), BOOL, 0, None),
        ActionFluent("b", (), INT, 0, 3),
        ActionFluent("c", (), BOOL, 0, None),
    )
    joint = JointActions(((0, 0, 0), (1, 2, 0), (1, 1, 1)), (graph.true, nodes[BOOL][0], nodes[BOOL][1]), 6)
    instance = Instance("trial", graph, layout, actions, laws, tuple(after), nodes[REAL][0], nodes[BOOL][1], 0, 0)
    return instance, joint


def _operand_kind(op: str) -> str:
    if op in ("not", "and", "or", "xor", "int"):
        return BOOL
    return INT if op in ("real", "div", "mod") else REAL


def faults(code: Code) -> list[str]:
    """Where the compiled functions of the trial instance differ from the reference, in words; empty if nowhere."""
    instance, joint = trial_instance()
    law, legal = ctypes_type(abi.LAW)(code.law.address), ctypes_type(abi.LEGAL)(code.legal.address)  # type: ignore
    found = []
    for state, action, drawn in itertools.product(_STATES, range(3), ((0, 0), (1, 2))):
        cells = _cells(instance, state)
        expected = _expected(instance, cells, joint.values[action], drawn)
        after, mask, chances, reward = cells.copy(), np.zeros(3), np.zeros(6), np.zeros(1)
        outcomes = np.array(drawn, np.int64)
        status = law(None, after.ctypes.data, action, outcomes.ctypes.data, chances.ctypes.data, reward.ctypes.data)
        shown = [instance.layout.read(after, f.cell, f.bit, f.kind) for f in instance.layout.fluents]
        shown += [*chances[:5].tolist(), reward[0], status == abi.TERMINATED]
        found += [f"{e!r} came out as {s!r}" for e, s in zip(expected, shown, strict=True) if not _same(e, s)]
        count = legal(None, cells.ctypes.data, mask.ctypes.data)
        if mask.tolist() != [1.0, *map(float, state[:2])] or count != sum(mask):
            found.append(f"the mask of {state} came out as {mask.tolist()}")
    return [*found, *_stream_faults(code)]


def _cells(instance: Instance, state: tuple[float, ...]) -> np.ndarray:
    """The cells of a state in which only operands are not 0."""
    cells = np.zeros(instance.layout.width, np.int64)
    cells[0] = int(state[0]) | int(state[1]) << 1
    cells[1:3] = [int(value) for value in state[2:4]]
    cells[3:5] = np.array(state[4:6], np.float64).view(np.int64)
    return cells


def _expected(instance: Instance, cells: np.ndarray, action: tuple[int, ...], drawn: tuple[int, ...]) -> list[Value]:
    def read(node: Node) -> Value:
        if node.op in ("action", "choice"):
            value = (action if node.op == "action" else drawn)[node.args[0]]
            return bool(value) if node.kind == BOOL else value
        return instance.layout.read(cells, node.args[0], node.args[1] if node.op == "bit" else None, node.kind)

    roots = [*instance.after, *instance.law_nodes, instance.reward, instance.ended]
    values = instance.graph.evaluate(roots, read)
    return [values[root] for root in roots]


def _same(expected: Value, shown: Value) -> bool:
    return bool(np.isclose(float(expected), float(shown), rtol=1e-12, atol=0.0, equal_nan=True))


def _stream_faults(code: Code, seed: int = 12345) -> list[str]:
    """Whether a step draws what the stream gives, one value for each choice."""
    instance, _ = trial_instance()
    step = ctypes_type(abi.STEP)(code.step.address)
    word, reward = np.array([seed], np.uint64), np.zeros(1)
    cells = _cells(instance, _STATES[0])
    step(None, cells.ctypes.data, 0, word.ctypes.data, reward.ctypes.data)
    draws = [_uniform(seed, number) for number in (1, 2)]
    drawn = (draws[0] < 0.25, int(draws[1] >= 0.125) + int(draws[1] >= 0.875))
    expected = _expected(instance, _cells(instance, _STATES[0]), (0, 0, 0), drawn)[: len(instance.after)]
    shown = [instance.layout.read(cells, f.cell, f.bit, f.kind) for f in instance.layout.fluents]
    moved = (seed + 2 * 0x9E3779B97F4A7C15) % 2**64
    same = all(map(_same, expected, shown)) and int(word[0]) == moved
    return [] if same else ["a step drew other values than the stream gives"]


def _uniform(seed: int, number: int) -> float:
    """Draw `number`, counted from 1, of a splitmix64 stream."""
    z = (seed + number * 0x9E3779B97F4A7C15) % 2**64
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
    return ((z ^ z >> 31) >> 11) * 2.0**-53
