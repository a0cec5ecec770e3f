"""An expression graph: one node for each distinct subexpression, constants folded while it is built.

A node is known by its number, and its operands have smaller numbers, so counting up visits operands first.  Leaves are
constants and what a step reads: bits and cells of the state, action fluents, and the outcomes of random choices.
`REFERENCE` says what each operation means; folding and `Graph.evaluate` use it, and emitted code must agree with it.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import numpy as np

BOOL, INT, REAL = "bool", "int", "real"

Value = bool | int | float

LEAVES = ("constant", "bit", "cell", "action", "choice")
_SMALLEST, _LARGEST = -(2**63), 2**63 - 1


class Node(NamedTuple):
    """One operation.

    Attributes:
        op: an operation of `REFERENCE`, or a leaf.
        kind: BOOL, INT or REAL.
        args: numbers of the operands; of a leaf, the constant, (cell, bit), (cell,), or the number of the action fluent
            or choice.
    """

    op: str
    kind: str
    args: tuple


def _whole(x: float) -> int:
    """A float64 as an int64, without a fraction: too large numbers become the largest, NaN becomes 0."""
    return 0 if math.isnan(x) else int(min(max(x, _SMALLEST), _LARGEST))


def _real(function: Callable[..., np.float64]) -> Callable[..., float]:
    """A function of NumPy on plain floats; what it has no answer for is NaN or infinite, as there."""

    def apply(*args: Value) -> float:
        with np.errstate(all="ignore"):
            return float(function(*map(np.float64, args)))

    return apply


REFERENCE: Mapping[str, Callable[..., Value]] = {
    "not": lambda a: not a,
    "and": lambda a, b: a and b,
    "or": lambda a, b: a or b,
    "xor": lambda a, b: a != b,
    "int": int,
    "real": float,
    "truncate": _whole,
    "==": lambda a, b: a == b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    "if": lambda condition, a, b: a if condition else b,
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": _real(np.divide),
    "min": min,
    "max": max,
    "div": lambda a, b: a // b if b else 0,
    "mod": lambda a, b: a % b if b else 0,
    "abs": abs,
    "sgn": lambda a: (a > 0) - (a < 0),
    "round": lambda a: _whole(float(np.round(a))),
    "floor": lambda a: _whole(float(np.floor(a))),
    "ceil": lambda a: _whole(float(np.ceil(a))),
    "exp": _real(np.exp),
    "ln": _real(np.log),
    "sqrt": _real(np.sqrt),
    "cos": _real(np.cos),
    "sin": _real(np.sin),
    "pow": _real(np.power),
}
"""What each operation does to its operands; division by the whole number 0 gives 0, as in NumPy."""

FUNCTIONS = (
    "min",
    "max",
    "div",
    "mod",
    "abs",
    "sgn",
    "round",
    "floor",
    "ceil",
    "exp",
    "ln",
    "sqrt",
    "cos",
    "sin",
    "pow",
)
"""The operations that RDDL writes as functions, under RDDL's names."""

_LOGIC = ("not", "and", "or", "xor")
_COMPARISONS = ("==", "<", "<=")
_SAME_KIND = ("+", "-", "*", "min", "max", "div", "mod", *_COMPARISONS)
_COMMUTES = ("and", "or", "xor", "+", "*", "==", "min", "max")


class Graph:
    """Nodes, and the one way to make them: `apply`, which folds and simplifies.

    Attributes:
        nodes: every node, by number.
        actions: per node, the action fluents it depends on, as bits of an integer.
        choices: per node, the random choices it depends on, as bits of an integer.
    """

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.actions: list[int] = []
        self.choices: list[int] = []
        self._numbers: dict[Node, int] = {}
        self.false, self.true = self.constant(False), self.constant(True)

    def constant(self, value: Value) -> int:
        """The node of a constant."""
        if isinstance(value, bool | np.bool_):
            return self._intern(Node("constant", BOOL, (bool(value),)))
        if isinstance(value, int | np.integer):
            return self._intern(Node("constant", INT, (int(value),)))
        return self._intern(Node("constant", REAL, (float(value),)))

    def leaf(self, op: str, kind: str, *args: int) -> int:
        """The node of something that a step reads."""
        return self._intern(Node(op, kind, args))

    def value(self, number: int) -> Value | None:
        """The constant that a node is, or None."""
        node = self.nodes[number]
        return node.args[0] if node.op == "constant" else None

    def kind(self, number: int) -> str:
        """BOOL, INT or REAL."""
        return self.nodes[number].kind

    def operands(self, number: int) -> tuple[int, ...]:
        """The operands of a node; none of a leaf."""
        node = self.nodes[number]
        return () if node.op in LEAVES else node.args

    def reach(self, roots: Iterable[int]) -> list[int]:
        """Every node that the roots need, operands first."""
        seen: set[int] = set()
        stack = list(roots)
        while stack:
            number = stack.pop()
            if number not in seen:
                seen.add(number)
                stack += self.operands(number)
        return sorted(seen)

    def as_bool(self, number: int) -> int:
        """A node as a truth value: whether it differs from 0."""
        if self.kind(number) == BOOL:
            return number
        return self.apply("not", self.apply("==", number, self.constant(0)))

    def as_kind(self, number: int, kind: str) -> int:
        """A node as BOOL, INT or REAL; a REAL as INT loses its fraction."""
        own = self.kind(number)
        if own == kind:
            return number
        if kind == BOOL:
            return self.as_bool(number)
        return self.apply("truncate" if own == REAL else kind, number)

    def apply(self, op: str, *operands: int) -> int:
        """The node of an operation on nodes, converted to what it takes, folded and simplified."""
        if op == "==" and all(self.kind(operand) == BOOL for operand in operands):
            return self.apply("not", self.apply("xor", *operands))
        operands = self._converted(op, operands)
        values = [self.value(operand) for operand in operands]
        kind = self._result(op, operands)
        if None not in values:
            value = REFERENCE[op](*values)
            return self.constant(float(value) if kind == REAL else bool(value) if kind == BOOL else int(value))
        simpler = self._simplified(op, operands, values)
        if simpler is not None:
            return simpler
        if op in _COMMUTES:
            operands = tuple(sorted(operands))
        return self._intern(Node(op, kind, operands))

    def substitute(self, roots: Iterable[int], replace: Callable[[Node], int | None]) -> dict[int, int]:
        """Put other nodes in the place of leaves, and fold again.

        Args:
            roots: nodes to rebuild.
            replace: the node to put in the place of a leaf, or None to leave it.

        Returns:
            For each node that the roots need, the node it became.
        """
        became: dict[int, int] = {}
        for number in self.reach(roots):
            became[number] = self.rebuilt(number, replace, became)
        return became

    def rebuilt(self, number: int, replace: Callable[[Node], int | None], became: Mapping[int, int]) -> int:
        """What a node becomes once its operands have become others."""
        node = self.nodes[number]
        if node.op in LEAVES:
            other = replace(node)
            return number if other is None else other
        operands = [became[operand] for operand in node.args]
        return number if tuple(operands) == node.args else self.apply(node.op, *operands)

    def evaluate(self, roots: Iterable[int], read: Callable[[Node], Value]) -> dict[int, Value]:
        """The value of each node that the roots need, given those of the leaves."""
        values: dict[int, Value] = {}
        for number in self.reach(roots):
            node = self.nodes[number]
            if node.op == "constant":
                values[number] = node.args[0]
            elif node.op in LEAVES:
                values[number] = read(node)
            else:
                values[number] = REFERENCE[node.op](*(values[operand] for operand in node.args))
        return values

    def _intern(self, node: Node) -> int:
        number = self._numbers.get(node)
        if number is None:
            number = self._numbers[node] = len(self.nodes)
            self.nodes.append(node)
            operands = () if node.op in LEAVES else node.args
            actions = 1 << node.args[0] if node.op == "action" else 0
            choices = 1 << node.args[0] if node.op == "choice" else 0
            for operand in operands:
                actions |= self.actions[operand]
                choices |= self.choices[operand]
            self.actions.append(actions)
            self.choices.append(choices)
        return number

    def _converted(self, op: str, operands: tuple[int, ...]) -> tuple[int, ...]:
        """The operands as what the operation takes."""
        kinds = [self.kind(operand) for operand in operands]
        common = REAL if REAL in kinds else INT
        if op in _LOGIC:
            return tuple(map(self.as_bool, operands))
        if op == "if":
            condition, a, b = operands
            wanted = BOOL if kinds[1] == kinds[2] == BOOL else REAL if REAL in kinds[1:] else INT
            return self.as_bool(condition), self.as_kind(a, wanted), self.as_kind(b, wanted)
        if op in _SAME_KIND:
            return tuple(self.as_kind(operand, common) for operand in operands)
        if op == "abs":
            return (self.as_kind(operands[0], common),)
        if op in ("int", "real", "truncate"):
            return operands
        return tuple(self.as_kind(operand, REAL) for operand in operands)

    def _result(self, op: str, operands: tuple[int, ...]) -> str:
        """The kind of a result."""
        if op in _LOGIC or op in _COMPARISONS:
            return BOOL
        if op in ("int", "truncate", "sgn", "round", "floor", "ceil"):
            return INT
        if op in _SAME_KIND or op in ("if", "abs"):
            return self.kind(operands[-1])
        return REAL

    def _simplified(self, op: str, operands: tuple[int, ...], values: list[Value | None]) -> int | None:
        """An existing node that says the same, or None."""
        if op in _LOGIC:
            return self._simplified_logic(op, operands)
        if op in _COMPARISONS:
            return self._simplified_comparison(op, operands, values)
        if op == "if":
            return self._simplified_if(*operands)
        if op in ("+", "-", "*", "/"):
            (a, b), (x, y) = operands, values
            if op == "*" and (x == 0 or y == 0):
                return self.as_kind(self.constant(0), self.kind(a))
            if (op == "+" and x == 0) or (op == "*" and x == 1):
                return b
            if (op in "+-" and y == 0) or (op in "*/" and y == 1):
                return a
        return operands[0] if op in ("min", "max") and operands[0] == operands[1] else None

    def _simplified_logic(self, op: str, operands: tuple[int, ...]) -> int | None:
        if op == "not":
            node = self.nodes[operands[0]]
            return node.args[0] if node.op == "not" else None
        a, b = operands
        opposite = a == self.apply("not", b)
        if op == "xor":
            if a == b or opposite:
                return self.true if opposite else self.false
            known, other = (a, b) if self.value(a) is not None else (b, a)
            if self.value(known) is None:
                return None
            return self.apply("not", other) if self.value(known) else other
        absorbing, neutral = (self.false, self.true) if op == "and" else (self.true, self.false)
        if absorbing in operands or opposite:
            return absorbing
        if a in (b, neutral):
            return b
        return a if b == neutral else None

    def _simplified_comparison(self, op: str, operands: tuple[int, ...], values: list[Value | None]) -> int | None:
        a, b = operands
        if a == b:
            return self.constant(op != "<")
        # A truth value as a number against a constant: it takes two values, so two comparisons tell all.
        for place, other in ((0, values[1]), (1, values[0])):
            node = self.nodes[operands[place]]
            if other is None or node.op not in ("int", "real") or self.kind(node.args[0]) != BOOL:
                continue
            low, high = (REFERENCE[op](*((x, other) if place == 0 else (other, x))) for x in (0, 1))
            if low == high:
                return self.constant(bool(low))
            return node.args[0] if high else self.apply("not", node.args[0])
        return None

    def _simplified_if(self, condition: int, a: int, b: int) -> int | None:
        known = self.value(condition)
        if known is not None or a == b:
            return a if known or a == b else b
        if self.kind(a) == BOOL:
            if a in (self.true, condition):
                return self.apply("or", condition, b)
            if b in (self.false, condition):
                return self.apply("and", condition, a)
            if a == self.false:
                return self.apply("and", self.apply("not", condition), b)
            if b == self.true:
                return self.apply("or", self.apply("not", condition), a)
        node = self.nodes[condition]
        return self.apply("if", node.args[0], b, a) if node.op == "not" else None
