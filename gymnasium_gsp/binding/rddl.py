"""pyRDDLGym environments: planned in by their compiled model, or by their simulator where they have none."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gymnasium_gsp.binding.binding import Binding, Root
from gymnasium_gsp.binding.environment import BareEnv, EnvironmentView, smallest_limit
from gymnasium_gsp.binding.simulated import SimulatedBinding
from gymnasium_gsp.binding.wrappers import SortedWrappers
from gymnasium_gsp.models.rddl.expressions import NotTranslatedError
from gymnasium_gsp.models.rddl.model import CompiledInstance, compile_instance


class RDDLBinding(Binding):
    """A pyRDDLGym environment whose instance is translated and compiled.

    Args:
        view: the environment.

    Raises:
        NotTranslatedError: names the construct that has no compiled form.
    """

    def __init__(self, view: EnvironmentView) -> None:
        self._compiled: CompiledInstance | None = compile_instance(view.raw)
        joint = range(len(self._compiled.joint.values))
        super().__init__(view, [self._compiled.action(view.raw, number) for number in joint])

    @property
    def time_limit(self) -> int | None:
        return smallest_limit(self.view.time_limit, int(self.view.raw.horizon))

    @staticmethod
    def fits(env: BareEnv) -> bool:
        """Return whether a bare environment is one of pyRDDLGym."""
        return type(env).__module__.startswith("pyRDDLGym.") and hasattr(env, "sampler")

    @property
    def compiled(self) -> CompiledInstance:
        """The compiled instance; compiled again after unpickling."""
        if self._compiled is None:
            self._compiled = compile_instance(self.view.raw)
        return self._compiled

    def root(self, observation: object, info: object) -> Root:
        raw = self.view.raw
        if raw.state is None:
            raise self.view.reset_needed()
        elapsed = self.view.elapsed_steps()
        elapsed = int(raw.timestep) if elapsed is None else elapsed
        cells = self.compiled.instance.layout.pack(raw.sampler.subs)
        ended = bool(raw.done) or self.view.resets_next()
        return Root(self.compiled.model, cells, elapsed, self._steps_left(elapsed), ended)

    def observe(self, root: Root) -> object:
        states = self.view.raw.sampler.states
        if self.view.raw.vectorized:
            states = {name: np.atleast_1d(value) for name, value in states.items()}
        return objects_by_number(self.view.raw.model, states)

    def check_observation(self, observation: object, root: Root) -> None:
        super().check_observation(objects_by_number(self.view.raw.model, observation), root)

    def observation(self, cells: Sequence[int]) -> Any:
        raise NotImplementedError  # a simulator takes the place of this binding, see `bind_rddl`

    def describe(self) -> dict[str, Any]:
        model = self._describe(f"the RDDL instance, compiled by {self.compiled.compiler}")
        name = self.view.id or self.view.raw.model.instance_name
        joint = f"{self.actions.count:,}, of {self.compiled.joint.combinations:,} joint ones"
        return {**model, "environment": name, "actions": joint}

    def __getstate__(self) -> dict[str, Any]:
        """Everything but compiled code, which is compiled again after unpickling."""
        return {**vars(self), "_compiled": None}


class SimulatedRDDLBinding(SimulatedBinding):
    """A pyRDDLGym environment that is planned in through its simulator.

    Args:
        view: the environment.
        wrappers: its wrappers.
        reason: the construct that has no compiled form.
    """

    def __init__(self, view: EnvironmentView, wrappers: SortedWrappers, reason: str) -> None:
        super().__init__(view, wrappers, observing=True)
        self.reason = reason

    def observe(self, root: Root) -> object:
        return objects_by_number(self.view.raw.model, super().observe(root))

    def check_observation(self, observation: object, root: Root) -> None:
        super().check_observation(objects_by_number(self.view.raw.model, observation), root)

    def describe(self) -> dict[str, Any]:
        return {**super().describe(), "not compiled": self.reason}


def bind_rddl(view: EnvironmentView, wrappers: SortedWrappers, observing: bool = False) -> Binding:
    """Bind to a pyRDDLGym environment by its compiled model, or by its simulator where a construct is refused.

    It is also simulated where functions of observations are asked, as those are pyRDDLGym's own dictionaries.
    """
    if observing:
        return SimulatedRDDLBinding(view, wrappers, "observations for functions come from the simulator")
    try:
        return RDDLBinding(view)
    except NotTranslatedError as refusal:
        return SimulatedRDDLBinding(view, wrappers, str(refusal))


def objects_by_number(model: Any, observation: object) -> object:
    """An observation with objects by number, as its space has them; pyRDDLGym shows them by name."""
    if not isinstance(observation, Mapping):
        return observation
    number = np.vectorize(lambda name: model.object_to_index.get(str(name), -1), otypes=[np.int64])
    return {
        name: number(value)[()] if np.asarray(value).dtype.kind == "U" else value for name, value in observation.items()
    }
