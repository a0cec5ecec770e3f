"""From a live pyRDDLGym environment to a compiled model of its instance."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from gymnasium_gsp.models.compiled import CompiledModel
from gymnasium_gsp.models.factors import Factors
from gymnasium_gsp.models.rddl.actions import JointActions, joint_actions, restricted
from gymnasium_gsp.models.rddl.emitter import Code
from gymnasium_gsp.models.rddl.expressions import NotTranslatedError
from gymnasium_gsp.models.rddl.graph import BOOL, Node, Value
from gymnasium_gsp.models.rddl.law import independent_bits
from gymnasium_gsp.models.rddl.translate import ActionFluent, Instance, translate
from gymnasium_gsp.models.rddl.trial import faults, trial_instance


@dataclass(frozen=True, eq=False)
class CompiledInstance:
    """An instance, its actions, and the model that was compiled from them.

    Attributes:
        instance: what a step does.
        joint: the actions of the model.
        model: for a search.
        compiler: what compiled it, in words.
    """

    instance: Instance
    joint: JointActions
    model: CompiledModel
    compiler: str

    def action(self, env: Any, number: int) -> dict[str, Any]:
        """A joint action as the environment's `step` takes it: what differs from the defaults, or arrays of all."""
        pairs = list(zip(self.instance.actions, self.joint.values[number], strict=True))
        if env.vectorized:
            arrays = {name: np.zeros(np.shape(env.sampler.init_values[name]), np.int32) for name in env.action_space}
            for fluent, value in pairs:
                arrays[fluent.name][fluent.index] = value
            return arrays
        return {ground_name(env.model, fluent): value for fluent, value in pairs if value != fluent.default}


def compile_instance(env: Any) -> CompiledInstance:
    """Translate and compile the instance of an environment.

    Args:
        env: a `RDDLEnv` of pyRDDLGym, without wrappers.

    Raises:
        NotTranslatedError: names the construct that has no compiled form.
    """
    instance = translate(env.sampler)
    ranges = [_range(env, fluent) for fluent in instance.actions]
    joint = joint_actions(instance, ranges, env.max_allowed_actions, env.enforce_count_non_bool)
    instance = restricted(instance, joint)
    code, compiler = _compile(instance, joint)
    sizes = tuple(len(law.probabilities) for law in instance.choices)
    factors = Factors(code.law, sizes, independent_bits(instance))
    model = CompiledModel(
        step=code.step,
        actions=len(joint.values),
        width=instance.layout.width,
        legal=code.legal,
        terminal=_terminal(instance),
        law=lambda cells, action: factors.rows(np.zeros(1), cells, action),
        factors=factors,
        name=instance.name,
    )
    return CompiledInstance(instance, joint, model, compiler)


def ground_name(model: Any, fluent: ActionFluent) -> str:
    """The name of a grounded fluent, as pyRDDLGym writes it."""
    types = model.variable_params[fluent.name]
    objects = [model.type_to_objects[kind][number] for kind, number in zip(types, fluent.index, strict=True)]
    return model.ground_var(fluent.name, objects)


def _range(env: Any, fluent: ActionFluent) -> range:
    """The values of an action fluent; of a whole number, those that the environment's action space has."""
    if fluent.kind == BOOL:
        return range(2)
    if fluent.objects is not None:
        return range(fluent.objects)
    if env.vectorized:
        space = env.action_space[fluent.name]
        return range(int(space.low[fluent.index]), int(space.high[fluent.index]) + 1)
    space = env.action_space[ground_name(env.model, fluent)]
    assert isinstance(space, spaces.Discrete)
    return range(int(space.start), int(space.start) + int(space.n))


def _terminal(instance: Instance) -> Callable[[NDArray[np.int64]], bool]:
    """Whether the process has ended in a state."""

    def terminal(cells: NDArray[np.int64]) -> bool:
        def read(node: Node) -> Value:
            return instance.layout.read(cells, node.args[0], node.args[1] if node.op == "bit" else None, node.kind)

        return bool(instance.graph.evaluate([instance.over], read)[instance.over])

    return terminal


def _compile(instance: Instance, joint: JointActions) -> tuple[Code, str]:
    """The functions of an instance, and what compiled them: LLVM, or numba where LLVM's text is not taken."""
    fault = _llvm_fault()
    if fault is None:
        from gymnasium_gsp.models.rddl.llvm import compile_llvm

        return compile_llvm(instance, joint), "LLVM"
    from gymnasium_gsp.models.rddl.numba_emitter import compile_numba

    try:
        return compile_numba(instance, joint), f"numba ({fault})"
    except Exception as error:  # numba's errors have no common base
        raise NotTranslatedError(f"neither LLVM nor numba compiles it: {fault}; {type(error).__name__}") from error


@cache
def _llvm_fault() -> str | None:
    """Why LLVM's text cannot be used here; None if it can.  Tried once in a process."""
    try:
        from gymnasium_gsp.models.rddl.llvm import compile_llvm

        wrong = faults(compile_llvm(*trial_instance()))
    except Exception as error:  # a change of llvmlite may show in any way
        return f"LLVM's text is not taken: {type(error).__name__}: {error}".splitlines()[0]
    return f"LLVM computes otherwise: {wrong[0]}" if wrong else None
