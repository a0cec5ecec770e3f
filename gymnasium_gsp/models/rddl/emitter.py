"""What writing a graph as the text of functions takes in any language; `llvm` and `numba_emitter` are the two.

Both write three functions, whose signatures are in `abi.signatures`: `step` (STEP), `legal` (LEGAL, where some state
lacks actions) and `law` (LAW).
"""

from collections.abc import Iterable
from dataclasses import dataclass

from gymnasium_gsp.abi.pointers import Pointer
from gymnasium_gsp.models.rddl.actions import JointActions
from gymnasium_gsp.models.rddl.graph import BOOL, Node
from gymnasium_gsp.models.rddl.translate import Instance


@dataclass(frozen=True)
class Code:
    """The C functions of an instance.

    Attributes:
        step: its step.
        law: its exact law.
        legal: which actions a state has; None where all states have all.
    """

    step: Pointer
    law: Pointer
    legal: Pointer | None


class ActionTable:
    """How code finds the value of an action fluent in a joint action.

    Attributes:
        only: of a Boolean fluent that holds in one joint action alone, the number of that action.
        column: of every other fluent, its column in the table.
        rows: the table, one row for each joint action.
    """

    def __init__(self, instance: Instance, joint: JointActions) -> None:
        self.only: dict[int, int] = {}
        self.column: dict[int, int] = {}
        for fluent, values in enumerate(zip(*joint.values, strict=True)):
            if instance.actions[fluent].kind == BOOL and sum(values) == 1:
                self.only[fluent] = values.index(1)
            elif len(set(values)) > 1:
                self.column[fluent] = len(self.column)
        self.rows = [[action[fluent] for fluent in self.column] for action in joint.values]


class FunctionText:
    """The lines of one function, and by which name it knows each node.

    Args:
        instance: whose graph is written.
        joint: the actions.
    """

    def __init__(self, instance: Instance, joint: JointActions) -> None:
        self.instance, self.joint, self.graph = instance, joint, instance.graph
        self.table = ActionTable(instance, joint)
        self.lines: list[str] = []
        self.names: dict[int, str] = {}

    def add(self, line: str) -> None:
        """Add an indented line."""
        self.lines.append("    " + line)

    def write(self, roots: Iterable[int]) -> list[str]:
        """Write what these nodes need and is not there yet; their names."""
        roots = list(roots)
        for number in self.graph.reach(roots):
            if number not in self.names:
                self.names[number] = self.expression(number, self.graph.nodes[number])
        return [self.names[root] for root in roots]

    def write_choices(self) -> None:
        """Write the random choices one after the other, as each may depend on those before."""
        for number, law in enumerate(self.instance.choices):
            probabilities = self.write(law.probabilities)
            leaf = self.graph.leaf("choice", law.kind, number)
            self.names[leaf] = self.choice(number, law.kind, probabilities)

    def expression(self, number: int, node: Node) -> str:
        """Write one node; its name."""
        raise NotImplementedError

    def choice(self, number: int, kind: str, probabilities: list[str]) -> str:
        """Write the outcome of a random choice with these probabilities; its name."""
        raise NotImplementedError

    def flags_by_cell(self) -> dict[int, list[tuple[str, int]]]:
        """For each cell of Boolean fluents, the (name, bit) of their next values, which are written before."""
        cells: dict[int, list[tuple[str, int]]] = {}
        for fluent, node in zip(self.instance.layout.fluents, self.instance.after, strict=True):
            if fluent.bit is not None:
                cells.setdefault(fluent.cell, []).append((self.names[node], fluent.bit))
        return cells
