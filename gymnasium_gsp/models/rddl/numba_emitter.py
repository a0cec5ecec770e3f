"""An instance as plain functions that numba compiles, where LLVM's text is not taken; that takes longer.

Truth values are the whole numbers 0 and 1.
"""

import math
from typing import Any

import numpy as np
from numba import int64

from gymnasium_gsp.abi.memory import as_reals
from gymnasium_gsp.abi.pointers import resolve
from gymnasium_gsp.abi.stream import uniform
from gymnasium_gsp.models.rddl.actions import JointActions
from gymnasium_gsp.models.rddl.emitter import ActionTable, Code, FunctionText
from gymnasium_gsp.models.rddl.graph import BOOL, INT, REAL, Node
from gymnasium_gsp.models.rddl.translate import Instance

_OPERATIONS = {
    "not": "1 - {0}",
    "and": "{0} & {1}",
    "or": "{0} | {1}",
    "xor": "{0} ^ {1}",
    "int": "{0}",
    "real": "float({0})",
    "truncate": "int64({0})",
    "==": "int64({0} == {1})",
    "<": "int64({0} < {1})",
    "<=": "int64({0} <= {1})",
    "if": "{1} if {0} else {2}",
    "+": "{0} + {1}",
    "-": "{0} - {1}",
    "*": "{0} * {1}",
    "/": "{0} / {1}",
    "min": "min({0}, {1})",
    "max": "max({0}, {1})",
    "div": "{0} // {1} if {1} != 0 else 0",
    "mod": "{0} % {1} if {1} != 0 else 0",
    "abs": "abs({0})",
    "sgn": "int64({0} > 0.0) - int64({0} < 0.0)",
    "round": "int64(round({0}))",
    "floor": "int64(math.floor({0}))",
    "ceil": "int64(math.ceil({0}))",
    "exp": "math.exp({0})",
    "ln": "math.log({0})",
    "sqrt": "math.sqrt({0})",
    "cos": "math.cos({0})",
    "sin": "math.sin({0})",
    "pow": "{0} ** {1}",
}


def compile_numba(instance: Instance, joint: JointActions) -> Code:
    """Compile the functions of an instance."""
    scope: dict[str, Any] = {"math": math, "int64": int64, "uniform": uniform, "as_reals": as_reals}
    scope["table"] = np.array(ActionTable(instance, joint).rows, np.int64)
    exec(compile(module_text(instance, joint), f"<RDDL instance {instance.name}>", "exec"), scope)
    legal = resolve(scope["legal"], "legal") if joint.masked(instance) else None
    return Code(resolve(scope["step"], "step"), resolve(scope["law"], "law"), legal)


def module_text(instance: Instance, joint: JointActions) -> str:
    """The source of the functions."""
    step, law = _StepText(instance, joint), _LawText(instance, joint)
    step.write_choices()
    law.write_choices()
    for place, name in enumerate(law.write(instance.law_nodes)):
        law.add(f"chances[{place}] = {name}")
    functions = [
        step.finished("step(params, state, action, rng, reward)"),
        law.finished("law(params, state, action, outcomes, chances, reward)"),
    ]
    if joint.masked(instance):
        legal = _Text(instance, joint)
        for action, name in enumerate(legal.write(joint.masks)):
            legal.add(f"mask[{action}] = {name}")
            legal.add(f"{'count = ' if action == 0 else 'count += '}{name}")
        legal.add("return count")
        functions.append(legal.function("legal(params, state, mask)"))
    return "\n\n".join(functions) + "\n"


class _Text(FunctionText):
    """Lines of Python."""

    def function(self, head: str) -> str:
        """The function with its loads of the state in front."""
        loads = [f"    c{cell} = state[{cell}]" for cell in range(self.instance.layout.width)]
        if any(fluent.kind == REAL for fluent in self.instance.layout.fluents):
            loads.append("    reals = as_reals(state)")
        return "\n".join([f"def {head}:", *loads, *self.lines])

    def finished(self, head: str) -> str:
        """The function with the writing of its results behind."""
        *_, reward, ended = self.write(self.instance.step_nodes)
        for fluent, node in zip(self.instance.layout.fluents, self.instance.after, strict=True):
            if fluent.bit is None:
                self.add(f"{'reals' if fluent.kind == REAL else 'state'}[{fluent.cell}] = {self.names[node]}")
        for cell, flags in self.flags_by_cell().items():
            self.add("word = 0")
            for name, bit in flags:
                self.add(f"word |= {name} << {bit}")
            self.add(f"state[{cell}] = word")
        self.add(f"reward[0] = {reward}")
        self.add(f"return 1 + {ended}")
        return self.function(head)

    def expression(self, number: int, node: Node) -> str:
        if node.op == "constant":
            return _constant(node.kind, node.args[0])
        self.add(f"t{number} = {self._value(node)}")
        return f"t{number}"

    def _value(self, node: Node) -> str:
        if node.op == "bit":
            return f"c{node.args[0]} >> {node.args[1]} & 1"
        if node.op == "cell":
            return f"c{node.args[0]}" if node.kind == INT else f"reals[{node.args[0]}]"
        if node.op == "action":
            if node.args[0] in self.table.only:
                return f"int64(action == {self.table.only[node.args[0]]})"
            return f"table[action, {self.table.column[node.args[0]]}]"
        return _OPERATIONS[node.op].format(*(self.names[operand] for operand in node.args))


class _StepText(_Text):
    """Lines in which a choice is drawn."""

    def choice(self, number: int, kind: str, probabilities: list[str]) -> str:
        self.add(f"u{number} = uniform(rng)")
        if kind == BOOL:
            self.add(f"k{number} = int64(u{number} < {probabilities[1]})")
            return f"k{number}"
        self.add(f"k{number} = 0")
        self.add(f"s{number} = 0.0")
        for probability in probabilities[:-1]:
            self.add(f"s{number} += {probability}")
            self.add(f"k{number} += int64(s{number} <= u{number})")
        return f"k{number}"


class _LawText(_Text):
    """Lines in which the outcome of a choice is given."""

    def choice(self, number: int, kind: str, probabilities: list[str]) -> str:
        return f"outcomes[{number}]"


def _constant(kind: str, value: float) -> str:
    if kind != REAL:
        return str(int(value))
    return repr(value) if math.isfinite(value) else {"inf": "math.inf", "-inf": "-math.inf"}.get(str(value), "math.nan")
