"""An instance as LLVM's text, compiled by llvmlite (which numba brings) to C functions.

All text of LLVM is in this file.  Its dialect moves with llvmlite, so `compile_llvm` is tried on a small instance with
every operation before it is first used (`trial`).  Draw k of a step is the mix of `rng + (k + 1) * GAMMA`, which is
what drawing one after the other gives, without the chain.

The graph is folded already, so none of LLVM's passes over its text runs: they made steps at most a tenth faster, some
slower, and took up to ten times as long as writing the machine code.
"""

import struct

import llvmlite.binding as llvm

from gymnasium_gsp.abi.pointers import Pointer
from gymnasium_gsp.models.rddl.actions import JointActions
from gymnasium_gsp.models.rddl.emitter import ActionTable, Code, FunctionText
from gymnasium_gsp.models.rddl.graph import BOOL, INT, REAL, Node
from gymnasium_gsp.models.rddl.translate import Instance

GAMMA = 0x9E3779B97F4A7C15
_TYPE = {BOOL: "i1", INT: "i64", REAL: "double"}
_INTRINSICS = {
    "exp": "llvm.exp.f64",
    "ln": "llvm.log.f64",
    "sqrt": "llvm.sqrt.f64",
    "cos": "llvm.cos.f64",
    "sin": "llvm.sin.f64",
    "floor": "llvm.floor.f64",
    "ceil": "llvm.ceil.f64",
    "round": "llvm.roundeven.f64",
    "abs": "llvm.fabs.f64",
}
_DECLARATIONS = [
    *(f"declare double @{name}(double)" for name in _INTRINSICS.values()),
    "declare double @llvm.pow.f64(double, double)",
    "declare i64 @llvm.fptosi.sat.i64.f64(double)",
    "declare i64 @llvm.abs.i64(i64, i1)",
]
_UNIFORM = """{me}a1 = lshr i64 {me}w, 30
{me}a2 = xor i64 {me}w, {me}a1
{me}a3 = mul i64 {me}a2, -4658895280553007687
{me}b1 = lshr i64 {me}a3, 27
{me}b2 = xor i64 {me}a3, {me}b1
{me}b3 = mul i64 {me}b2, -7723592293110705685
{me}e1 = lshr i64 {me}b3, 31
{me}e2 = xor i64 {me}b3, {me}e1
{me}e3 = lshr i64 {me}e2, 11
{me}r = sitofp i64 {me}e3 to double
{me}u = fmul double {me}r, 0x3CA0000000000000"""
_FLOORED = """
define internal i64 @{name}(i64 %a, i64 %b) {{
    %zero = icmp eq i64 %b, 0
    %by = select i1 %zero, i64 1, i64 %b
    %quotient = sdiv i64 %a, %by
    %rest = srem i64 %a, %by
    %uneven = icmp ne i64 %rest, 0
    %signs = xor i64 %rest, %by
    %opposite = icmp slt i64 %signs, 0
    %adjust = and i1 %uneven, %opposite
    %less = sub i64 %quotient, 1
    %more = add i64 %rest, %by
    %floored = select i1 %adjust, i64 {adjusted}, i64 {plain}
    %result = select i1 %zero, i64 0, i64 %floored
    ret i64 %result
}}"""
_STEP = "define i64 @step(ptr noalias %params, ptr noalias %state, i64 %action, ptr noalias %rng, ptr noalias %reward)"
_LEGAL = "define i64 @legal(ptr noalias %params, ptr noalias %state, ptr noalias %mask)"
_LAW = (
    "define i64 @law(ptr noalias %params, ptr noalias %state, i64 %action, ptr noalias %outcomes, "
    "ptr noalias %chances, ptr noalias %reward)"
)


def compile_llvm(instance: Instance, joint: JointActions) -> Code:
    """Compile the functions of an instance.

    Raises:
        RuntimeError: if LLVM does not take the text.
    """
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    cpu, features = llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
    machine = llvm.Target.from_default_triple().create_target_machine(cpu=cpu, features=features, opt=2)
    module = llvm.parse_assembly(module_text(instance, joint))
    module.verify()
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    names = [function.name for function in module.functions]

    def pointer(name: str) -> Pointer:
        return Pointer(engine.get_function_address(name), engine)

    return Code(pointer("step"), pointer("law"), pointer("legal") if "legal" in names else None)


def module_text(instance: Instance, joint: JointActions) -> str:
    """The whole module."""
    floored = [
        _FLOORED.format(name="div", adjusted="%less", plain="%quotient"),
        _FLOORED.format(name="mod", adjusted="%more", plain="%rest"),
    ]
    values = [f"i64 {value}" for row in ActionTable(instance, joint).rows for value in row]
    table = f"@table = private constant [{len(values)} x i64] [{', '.join(values)}]" if values else ""
    functions = [_step(instance, joint), _law(instance, joint)]
    if joint.masked(instance):
        functions.append(_legal(instance, joint))
    return "\n".join([*_DECLARATIONS, table, *floored, *functions])


def _step(instance: Instance, joint: JointActions) -> str:
    text = _StepText(instance, joint)
    text.add("%base = load i64, ptr %rng")
    text.add(f"%moved = add i64 %base, {_signed(len(instance.choices) * GAMMA)}")
    text.add("store i64 %moved, ptr %rng")
    text.write_choices()
    return text.finished(_STEP)


def _law(instance: Instance, joint: JointActions) -> str:
    text = _LawText(instance, joint)
    text.write_choices()
    for place, name in enumerate(text.write(instance.law_nodes)):
        text.store("double", name, "chances", place)
    return text.finished(_LAW)


def _legal(instance: Instance, joint: JointActions) -> str:
    text = _Text(instance, joint)
    total = "0"
    for action, name in enumerate(text.write(joint.masks)):
        text.add(f"%f{action} = uitofp i1 {name} to double")
        text.store("double", f"%f{action}", "mask", action)
        text.add(f"%i{action} = zext i1 {name} to i64")
        text.add(f"%n{action} = add i64 {total}, %i{action}")
        total = f"%n{action}"
    text.add(f"ret i64 {total}")
    return text.function(_LEGAL)


def _signed(word: int) -> int:
    """A 64-bit word as LLVM writes it."""
    word %= 2**64
    return word - 2**64 if word >= 2**63 else word


class _Text(FunctionText):
    """Lines of LLVM."""

    def function(self, head: str) -> str:
        """The function with its loads of the state in front."""
        loads = []
        for cell in range(self.instance.layout.width):
            loads.append(f"    %p{cell} = getelementptr i64, ptr %state, i64 {cell}")
            loads.append(f"    %c{cell} = load i64, ptr %p{cell}")
        return "\n".join([head + " {", *loads, *self.lines, "}"])

    def store(self, kind: str, name: str, array: str, place: int) -> None:
        """Write a value to an element of an array."""
        self.add(f"%{array}{place} = getelementptr {kind}, ptr %{array}, i64 {place}")
        self.add(f"store {kind} {name}, ptr %{array}{place}")

    def finished(self, head: str) -> str:
        """The function with the writing of its results behind."""
        *_, reward, ended = self.write(self.instance.step_nodes)
        for fluent, node in zip(self.instance.layout.fluents, self.instance.after, strict=True):
            if fluent.bit is None:
                self.add(f"store i64 {self._word(self.names[node], fluent.kind, fluent.cell)}, ptr %p{fluent.cell}")
        for cell, flags in self.flags_by_cell().items():
            self.add(f"store i64 {self._packed(cell, flags)}, ptr %p{cell}")
        self.add(f"store double {reward}, ptr %reward")
        self.add(f"%ended = zext i1 {ended} to i64")
        self.add("%status = add i64 %ended, 1")
        self.add("ret i64 %status")
        return self.function(head)

    def _word(self, name: str, kind: str, cell: int) -> str:
        if kind != REAL:
            return name
        self.add(f"%w{cell} = bitcast double {name} to i64")
        return f"%w{cell}"

    def _packed(self, cell: int, flags: list[tuple[str, int]]) -> str:
        """Flags in one word, put together as a tree, so that no long chain of operations forms."""
        words = []
        for name, bit in flags:
            self.add(f"%z{cell}_{bit} = zext i1 {name} to i64")
            self.add(f"%s{cell}_{bit} = shl i64 %z{cell}_{bit}, {bit}")
            words.append(f"%s{cell}_{bit}")
        number = 0
        while len(words) > 1:
            a, b, *words = words
            self.add(f"%o{cell}_{number} = or i64 {a}, {b}")
            words.append(f"%o{cell}_{number}")
            number += 1
        return words[0]

    def expression(self, number: int, node: Node) -> str:
        me, kind, op, args = f"%t{number}", _TYPE[node.kind], node.op, node.args
        if op == "constant":
            return _constant(node.kind, args[0])
        if op == "bit":
            self.add(f"{me}s = lshr i64 %c{args[0]}, {args[1]}")
            self.add(f"{me} = trunc i64 {me}s to i1")
        elif op == "cell" and node.kind == INT:
            return f"%c{args[0]}"
        elif op == "cell":
            self.add(f"{me} = bitcast i64 %c{args[0]} to double")
        elif op == "action":
            return self._action(me, node.kind, args[0])
        else:
            names = [self.names[operand] for operand in args]
            self._operation(me, op, kind, names, _TYPE[self.graph.kind(args[-1])])
        return me

    def _action(self, me: str, kind: str, fluent: int) -> str:
        """The value of an action fluent: a comparison where one joint action has it, else a look into the table."""
        if fluent in self.table.only:
            self.add(f"{me} = icmp eq i64 %action, {self.table.only[fluent]}")
            return me
        width = len(self.table.column)
        self.add(f"{me}r = mul i64 %action, {width}")
        self.add(f"{me}a = add i64 {me}r, {self.table.column[fluent]}")
        self.add(f"{me}p = getelementptr [{width * len(self.table.rows)} x i64], ptr @table, i64 0, i64 {me}a")
        self.add(f"{me}v = load i64, ptr {me}p")
        if kind == INT:
            return f"{me}v"
        self.add(f"{me} = trunc i64 {me}v to i1")
        return me

    def _operation(self, me: str, op: str, kind: str, a: list[str], taken: str) -> None:
        """One operation; `kind` is the type of its result, `taken` that of its last operand."""
        real = taken == "double"
        if op == "not":
            self.add(f"{me} = xor i1 {a[0]}, true")
        elif op in ("and", "or", "xor"):
            self.add(f"{me} = {op} i1 {a[0]}, {a[1]}")
        elif op in ("int", "real"):
            how = "sitofp" if taken == "i64" else "zext" if op == "int" else "uitofp"
            self.add(f"{me} = {how} {taken} {a[0]} to {kind}")
        elif op == "truncate":
            self.add(f"{me} = call i64 @llvm.fptosi.sat.i64.f64(double {a[0]})")
        elif op in ("==", "<", "<="):
            name = {"==": "eq", "<": "lt", "<=": "le"}[op]
            test = f"fcmp o{name}" if real else f"icmp {'' if op == '==' else 's'}{name}"
            self.add(f"{me} = {test} {taken} {a[0]}, {a[1]}")
        elif op == "if":
            self.add(f"{me} = select i1 {a[0]}, {kind} {a[1]}, {kind} {a[2]}")
        elif op in ("+", "-", "*", "/"):
            name = {"+": "add", "-": "sub", "*": "mul", "/": "div"}[op]
            self.add(f"{me} = {'f' if real else ''}{name} {kind} {a[0]}, {a[1]}")
        elif op in ("min", "max"):
            test = f"{'fcmp o' if real else 'icmp s'}{'lt' if op == 'min' else 'gt'}"
            self.add(f"{me}c = {test} {kind} {a[1]}, {a[0]}")
            self.add(f"{me} = select i1 {me}c, {kind} {a[1]}, {kind} {a[0]}")
        elif op in ("div", "mod"):
            self.add(f"{me} = call i64 @{op}(i64 {a[0]}, i64 {a[1]})")
        elif op == "pow":
            self.add(f"{me} = call double @llvm.pow.f64(double {a[0]}, double {a[1]})")
        elif op == "sgn":
            self.add(f"{me}u = fcmp ogt double {a[0]}, 0.0")
            self.add(f"{me}d = fcmp olt double {a[0]}, 0.0")
            self.add(f"{me}x = zext i1 {me}u to i64")
            self.add(f"{me}y = zext i1 {me}d to i64")
            self.add(f"{me} = sub i64 {me}x, {me}y")
        elif op == "abs" and not real:
            self.add(f"{me} = call i64 @llvm.abs.i64(i64 {a[0]}, i1 false)")
        else:
            whole = op in ("round", "floor", "ceil")
            self.add(f"{me}{'f' if whole else ''} = call double @{_INTRINSICS[op]}(double {a[0]})")
            if whole:
                self.add(f"{me} = call i64 @llvm.fptosi.sat.i64.f64(double {me}f)")


class _StepText(_Text):
    """Lines in which a choice is drawn."""

    def choice(self, number: int, kind: str, probabilities: list[str]) -> str:
        me = f"%k{number}"
        self.add(f"{me}w = add i64 %base, {_signed((number + 1) * GAMMA)}")
        for line in _UNIFORM.format(me=me).splitlines():
            self.add(line)
        if kind == BOOL:
            self.add(f"{me} = fcmp olt double {me}u, {probabilities[1]}")
            return me
        passed, total = "0", "0.0"
        for value, probability in enumerate(probabilities[:-1]):
            self.add(f"{me}s{value} = fadd double {total}, {probability}")
            self.add(f"{me}c{value} = fcmp ole double {me}s{value}, {me}u")
            self.add(f"{me}i{value} = zext i1 {me}c{value} to i64")
            self.add(f"{me}n{value} = add i64 {passed}, {me}i{value}")
            passed, total = f"{me}n{value}", f"{me}s{value}"
        return passed


class _LawText(_Text):
    """Lines in which the outcome of a choice is given."""

    def choice(self, number: int, kind: str, probabilities: list[str]) -> str:
        me = f"%k{number}"
        self.add(f"{me}p = getelementptr i64, ptr %outcomes, i64 {number}")
        self.add(f"{me}v = load i64, ptr {me}p")
        if kind == INT:
            return f"{me}v"
        self.add(f"{me} = trunc i64 {me}v to i1")
        return me


def _constant(kind: str, value: float) -> str:
    if kind == BOOL:
        return "true" if value else "false"
    return str(value) if kind == INT else "0x" + struct.pack(">d", value).hex().upper()
