"""Laws of random values: their probabilities as nodes, and what conditionals and logic make of them.

A conditional on laws is a law again, and so is logic on them, so that a fluent takes one random choice however many
branches its expression has.  Random values in one expression are independent of each other, so chances multiply.
"""

from dataclasses import dataclass, field

from gymnasium_gsp.models.rddl.graph import BOOL, INT, REAL, Graph


@dataclass(frozen=True)
class Law:
    """The distribution of a random value.

    Attributes:
        probabilities: a node for each value 0, 1, ...; of a truth value, for false and for true.
        kind: BOOL, or INT for objects by number.
    """

    probabilities: tuple[int, ...]
    kind: str


@dataclass
class Choices:
    """The random choices that a step makes, in the order in which they are drawn.

    Attributes:
        laws: the law of each; probabilities may depend on earlier choices.
    """

    laws: list[Law] = field(default_factory=list)

    def outcome(self, graph: Graph, law: Law) -> int:
        """The node of a value drawn from a law; a new choice, unless one value is certain."""
        for value, probability in enumerate(law.probabilities):
            if graph.value(probability) == 1.0:
                return graph.constant(bool(value) if law.kind == BOOL else value)
        self.laws.append(law)
        return graph.leaf("choice", law.kind, len(self.laws) - 1)


def bernoulli(graph: Graph, chance: int) -> Law:
    """The law that is true with this chance."""
    return Law((graph.apply("-", graph.constant(1.0), chance), chance), BOOL)


def discrete(graph: Graph, weights: list[int], normalize: bool) -> Law:
    """The law that gives each object its weight, or its share of all weight."""
    if normalize:
        total = weights[0]
        for weight in weights[1:]:
            total = graph.apply("+", total, weight)
        weights = [graph.apply("/", weight, total) for weight in weights]
    return Law(tuple(weights), INT)


def as_law(graph: Graph, value: int | Law, kind: str, size: int) -> Law:
    """A value as the law that gives it for certain."""
    if isinstance(value, Law):
        return value
    if kind == BOOL:
        return bernoulli(graph, graph.as_kind(graph.as_bool(value), REAL))
    hits = (graph.apply("==", value, graph.constant(each)) for each in range(size))
    return Law(tuple(graph.as_kind(hit, REAL) for hit in hits), INT)


def negation(graph: Graph, value: int | Law) -> int | Law:
    """The opposite of a truth value."""
    return Law(value.probabilities[::-1], BOOL) if isinstance(value, Law) else graph.apply("not", value)


def conjunction(graph: Graph, a: int | Law, b: int | Law) -> int | Law:
    """Whether both truth values hold."""
    if not isinstance(a, Law) and not isinstance(b, Law):
        return graph.apply("and", a, b)
    p, q = (as_law(graph, each, BOOL, 2).probabilities[1] for each in (a, b))
    return bernoulli(graph, graph.apply("*", p, q))


def disjunction(graph: Graph, a: int | Law, b: int | Law) -> int | Law:
    """Whether either truth value holds."""
    return negation(graph, conjunction(graph, negation(graph, a), negation(graph, b)))


def chosen(graph: Graph, condition: int, a: int | Law, b: int | Law) -> int | Law:
    """The first value where the condition holds, else the second."""
    if not isinstance(a, Law) and not isinstance(b, Law):
        return graph.apply("if", condition, a, b)
    kind, size = next((law.kind, len(law.probabilities)) for law in (a, b) if isinstance(law, Law))
    pairs = zip(as_law(graph, a, kind, size).probabilities, as_law(graph, b, kind, size).probabilities, strict=True)
    return Law(tuple(graph.apply("if", condition, p, q) for p, q in pairs), kind)
