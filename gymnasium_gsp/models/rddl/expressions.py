"""RDDL expressions, as pyRDDLGym parses them, to nodes of the graph.

Objects, quantified variables and non-fluents are constants, folded away while the lifted tree is walked; nothing is
grounded first.  A random variable becomes a law (`laws`).
"""

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gymnasium_gsp.errors import RecipeError
from gymnasium_gsp.models.rddl.graph import BOOL, FUNCTIONS, INT, REAL, Graph
from gymnasium_gsp.models.rddl.laws import Choices, Law, bernoulli, chosen, conjunction, discrete, disjunction, negation

Place = tuple[str, tuple[int, ...]]
"""A grounded fluent: the name of the lifted one, and its objects by number."""

_DETERMINISTIC = ("KronDelta", "DiracDelta")


class NotTranslatedError(RecipeError):
    """A construct of RDDL that has no compiled form; says which, and why."""


@dataclass
class Fluents:
    """What names mean to an expression.

    Attributes:
        model: pyRDDLGym's model.
        constants: initial values by name, which non-fluents keep.
        states: node of each state fluent.
        actions: node of each action fluent.
        computed: node of each fluent that a step has computed before.
    """

    model: Any
    constants: Mapping[str, Any]
    states: Mapping[Place, int]
    actions: Mapping[Place, int]
    computed: Mapping[Place, int]

    def node(self, graph: Graph, name: str, index: tuple[int, ...]) -> int:
        """The node of a grounded fluent."""
        kind = self.model.variable_types.get(name)
        if kind == "non-fluent":
            return graph.constant(np.asarray(self.constants[name])[index].item())
        known = {"state-fluent": self.states, "action-fluent": self.actions}.get(kind, self.computed)
        if (name, index) not in known:
            raise NotTranslatedError(f"the fluent {name} ({kind}) is used before it is computed")
        return known[name, index]


class Translator:
    """Walks expressions.

    Args:
        graph: where the nodes go.
        fluents: what names mean.
        choices: where random choices go; None where RDDL allows none.
    """

    def __init__(self, graph: Graph, fluents: Fluents, choices: Choices | None) -> None:
        self.graph, self.fluents, self.choices = graph, fluents, choices
        self.model = fluents.model
        self._traits: dict[int, tuple[tuple[str, ...], bool]] = {}
        self._known: dict[tuple, int | Law] = {}

    def node(self, expression: Any, scope: Mapping[str, int] | None = None) -> int:
        """The node of an expression; a random one is drawn."""
        return self.drawn(self.translate(expression, scope or {}))

    def drawn(self, value: int | Law) -> int:
        """The node of a value, drawn if it is a law."""
        if not isinstance(value, Law):
            return value
        if self.choices is None:
            raise NotTranslatedError("a random variable in a precondition, an invariant or a termination")
        return self.choices.outcome(self.graph, value)

    def translate(self, expression: Any, scope: Mapping[str, int]) -> int | Law:
        """The node of an expression, or the law of a random one, for objects in the place of its variables."""
        variables, random = self._traits_of(expression)
        if random:  # each occurrence is a choice of its own
            return self._translated(expression, scope)
        key = (id(expression), *(scope.get(name) for name in variables))
        if key not in self._known:
            self._known[key] = self._translated(expression, scope)
        return self._known[key]

    def _traits_of(self, expression: Any) -> tuple[tuple[str, ...], bool]:
        """The variables (?x) that an expression names, and whether chance is in it."""
        if id(expression) not in self._traits:
            variables, random, stack = set(), False, [expression]
            while stack:
                part = stack.pop()
                if isinstance(part, str):
                    variables |= {part} if part.startswith("?") else set()
                elif isinstance(part, tuple | list):
                    stack += part
                elif hasattr(part, "etype"):
                    random |= part.etype[0] == "randomvar" and part.etype[1] not in _DETERMINISTIC
                    stack.append(part.args)
            self._traits[id(expression)] = (tuple(sorted(variables)), random)
        return self._traits[id(expression)]

    def _translated(self, expression: Any, scope: Mapping[str, int]) -> int | Law:
        (kind, op), args = expression.etype, expression.args
        if kind == "constant":
            return self.graph.constant(args)
        if kind == "pvar":
            return self._variable(args[0], args[1] or (), scope)
        if kind == "boolean":
            return self._logic(op, args, scope)
        if kind == "arithmetic":
            return self._arithmetic(op, args, scope)
        if kind == "relational":
            return self._comparison(op, *(self.node(arg, scope) for arg in args))
        if kind == "aggregation":
            return self._aggregation(op, args, scope)
        if kind == "control":
            return self._conditional(args, scope) if op == "if" else self._switch(args, scope)
        if kind == "func":
            return self._function(op, [self.node(arg, scope) for arg in args])
        if kind == "randomvar":
            return self._random(op, args, scope)
        raise NotTranslatedError({"randomvector": f"the distribution {op}"}.get(kind, f"the operation {op} ({kind})"))

    def _variable(self, name: str, args: Any, scope: Mapping[str, int]) -> int:
        """A fluent, a variable ?x or an object @x."""
        if name.startswith("?"):
            return self.graph.constant(scope[name])
        if not args and name not in self.model.variable_types:
            return self.graph.constant(self._object(name))
        index = [self._argument(arg, scope) for arg in args]
        parameters = self.model.variable_params[name]
        return self._selected(name, parameters, (), index)

    def _argument(self, arg: Any, scope: Mapping[str, int]) -> int:
        """The node of an argument of a fluent: a variable, an object, or an expression whose value is an object."""
        if not isinstance(arg, str):
            return self.node(arg, scope)
        return self.graph.constant(scope[arg] if arg.startswith("?") else self._object(arg))

    def _object(self, name: str) -> int:
        """An object's number within its type."""
        plain = name.removeprefix("@")
        if plain not in self.model.object_to_index:
            raise NotTranslatedError(f"the name {name}, neither a fluent nor an object")
        return self.model.object_to_index[plain]

    def _selected(self, name: str, types: Any, known: tuple[int, ...], rest: list[int]) -> int:
        """A fluent whose arguments may be fluents themselves: the values for all objects, chosen among."""
        if not rest:
            return self.fluents.node(self.graph, name, known)
        value = self.graph.value(rest[0])
        if value is not None:
            return self._selected(name, types, (*known, int(value)), rest[1:])
        objects = range(len(self.model.type_to_objects[types[len(known)]]))
        node, *others = (self._selected(name, types, (*known, each), rest[1:]) for each in reversed(objects))
        for each, other in zip(reversed(objects[:-1]), others, strict=True):
            node = self.graph.apply("if", self.graph.apply("==", rest[0], self.graph.constant(each)), other, node)
        return node

    def _logic(self, op: str, args: Any, scope: Mapping[str, int]) -> int | Law:
        value = self._truth(args[0], scope)
        if op == "~" and len(args) == 1:
            return negation(self.graph, value)
        for arg in args[1:]:
            settled = {"^": self.graph.false, "&": self.graph.false, "|": self.graph.true, "=>": self.graph.false}
            if value == settled.get(op):
                return self.graph.true if op == "=>" else value
            value = self._joined(op, value, self._truth(arg, scope))
        return value

    def _truth(self, expression: Any, scope: Mapping[str, int]) -> int | Law:
        value = self.translate(expression, scope)
        return value if isinstance(value, Law) else self.graph.as_bool(value)

    def _joined(self, op: str, a: int | Law, b: int | Law) -> int | Law:
        """Logic on two truth values."""
        if op == "=>":
            return disjunction(self.graph, negation(self.graph, a), b)
        if op == "|":
            return disjunction(self.graph, a, b)
        if op in ("^", "&"):
            return conjunction(self.graph, a, b)
        differ = self.graph.apply("xor", self.drawn(a), self.drawn(b))
        return self.graph.apply("not", differ) if op == "<=>" else differ

    def _arithmetic(self, op: str, args: Any, scope: Mapping[str, int]) -> int:
        node = self.node(args[0], scope)
        if len(args) == 1:
            return node if op == "+" else self.graph.apply("-", self.graph.constant(0), node)
        for arg in args[1:]:
            if op == "*" and self.graph.value(node) == 0:
                return node
            node = self.graph.apply(op, node, self.node(arg, scope))
        return node

    def _comparison(self, op: str, a: int, b: int) -> int:
        if op in (">", ">="):
            return self._comparison({">": "<", ">=": "<="}[op], b, a)
        if op == "~=":
            return self.graph.apply("not", self.graph.apply("==", a, b))
        return self.graph.apply(op, a, b)

    def _aggregation(self, op: str, args: Any, scope: Mapping[str, int]) -> int | Law:
        *binders, body = args
        bound = list(self._bindings(binders, scope))
        if op in ("exists", "forall"):
            joint, stop = ("|", self.graph.true) if op == "exists" else ("^", self.graph.false)
            truth: int | Law = negation(self.graph, stop)
            for inner in bound:
                truth = self._joined(joint, truth, self._truth(body, inner))
                if truth == stop:
                    break
            return truth
        if op in ("argmin", "argmax"):
            return self._extreme(op, [self.node(body, inner) for inner in bound])
        steps = {"sum": "+", "avg": "+", "prod": "*", "minimum": "min", "maximum": "max"}
        if op not in steps:
            raise NotTranslatedError(f"the aggregation {op}")
        if not bound:
            return self.graph.constant(1 if op == "prod" else 0)
        total, *others = (self.node(body, inner) for inner in bound)
        for other in others:
            total = self.graph.apply(steps[op], total, other)
        return self.graph.apply("/", total, self.graph.constant(len(bound))) if op == "avg" else self._number(total)

    def _extreme(self, op: str, nodes: list[int]) -> int:
        """The number of the object with the smallest or largest value, the first of equals."""
        best, number = nodes[0], self.graph.constant(0)
        for each, node in enumerate(nodes[1:], 1):
            better = self._comparison("<" if op == "argmin" else ">", node, best)
            number = self.graph.apply("if", better, self.graph.constant(each), number)
            best = self.graph.apply("if", better, node, best)
        return number

    def _bindings(self, binders: Any, scope: Mapping[str, int]) -> Iterator[Mapping[str, int]]:
        """The scope with every combination of objects for the variables that an aggregation binds."""
        names = [name for _, (name, _) in binders]
        ranges = [range(len(self.model.type_to_objects[kind])) for _, (_, kind) in binders]
        for objects in itertools.product(*ranges):
            yield {**scope, **dict(zip(names, objects, strict=True))}

    def _number(self, node: int) -> int:
        return self.graph.as_kind(node, INT) if self.graph.kind(node) == BOOL else node

    def _conditional(self, args: Any, scope: Mapping[str, int]) -> int | Law:
        condition = self.graph.as_bool(self.node(args[0], scope))
        known = self.graph.value(condition)
        if known is not None:
            return self.translate(args[1] if known else args[2], scope)
        return chosen(self.graph, condition, self.translate(args[1], scope), self.translate(args[2], scope))

    def _switch(self, args: Any, scope: Mapping[str, int]) -> int | Law:
        selector, *cases = args
        node = self.node(selector, scope)
        bodies = {}
        value: int | Law | None = None
        for tag, body in cases:
            if tag == "default":
                value = self.translate(body, scope)
            else:
                bodies[self._object(body[0])] = self.translate(body[1], scope)
        for label, body in bodies.items():
            match = self.graph.apply("==", node, self.graph.constant(label))
            value = body if value is None else chosen(self.graph, match, body, value)
        if value is None:
            raise NotTranslatedError("a switch without cases")
        return value

    def _function(self, name: str, operands: list[int]) -> int:
        if name == "log":
            return self.graph.apply("/", *(self.graph.apply("ln", operand) for operand in operands))
        if name not in FUNCTIONS:
            if None not in map(self.graph.value, operands) and hasattr(math, name):
                return self.graph.constant(float(getattr(math, name)(*map(self.graph.value, operands))))
            raise NotTranslatedError(f"the function {name} of a fluent; translated are {', '.join(FUNCTIONS)}, log")
        whole = all(self.graph.kind(operand) != REAL for operand in operands)
        if name in ("div", "mod") and not whole:
            raise NotTranslatedError(f"the function {name} of real numbers")
        node = self.graph.apply(name, *operands)
        return self.graph.as_kind(node, INT) if name == "pow" and whole else node

    def _random(self, name: str, args: Any, scope: Mapping[str, int]) -> int | Law:
        if name in _DETERMINISTIC:
            return self.translate(args[0], scope)
        if name == "Bernoulli":
            return bernoulli(self.graph, self.graph.as_kind(self.node(args[0], scope), REAL))
        if name.removesuffix("(p)") in ("Discrete", "UnnormDiscrete"):
            parametric = name.endswith("(p)")
            weights = self._parametric_weights(args, scope) if parametric else self._listed_weights(args, scope)
            return discrete(self.graph, weights, normalize=name.startswith("Unnorm"))
        raise NotTranslatedError(
            f"the distribution {name}; translated are Bernoulli, Discrete, UnnormDiscrete and KronDelta"
        )

    def _listed_weights(self, args: Any, scope: Mapping[str, int]) -> list[int]:
        """The weights of the objects of a type, from cases (object, weight)."""
        (_, kind), *cases = args
        weights = [self.graph.constant(0.0)] * len(self.model.type_to_objects[kind])
        for _, (label, body) in cases:
            weights[self._object(label)] = self.graph.as_kind(self.node(body, scope), REAL)
        return weights

    def _parametric_weights(self, args: Any, scope: Mapping[str, int]) -> list[int]:
        """The weights of the objects of a type, from one expression in a variable of that type."""
        *binders, (body,) = args
        return [self.graph.as_kind(self.node(body, inner), REAL) for inner in self._bindings(binders, scope)]
