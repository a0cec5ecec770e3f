"""The law of each fluent of an instance by itself, from the factors of its joint law."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gymnasium_gsp.abi import signatures as abi
from gymnasium_gsp.abi.pointers import ctypes_type
from gymnasium_gsp.models.factors import Factors
from gymnasium_gsp.models.rddl.graph import BOOL
from gymnasium_gsp.models.rddl.translate import Instance

FluentLaw = dict[Any, float]
"""The probability of each value that a fluent may take next."""


def independent_bits(instance: Instance) -> tuple[int, ...] | None:
    """Of each fluent, the one random choice that decides it, or -1 for none.

    None if the fluents are not all Boolean in one cell, independent of each other and never ending an episode, or if
    the reward is random.
    """
    graph, layout = instance.graph, instance.layout
    if layout.width > 1 or any(fluent.bit is None for fluent in layout.fluents) or instance.ended != graph.false:
        return None
    if any(law.kind != BOOL for law in instance.choices):
        return None
    if any(graph.choices[node] for node in (*instance.law_nodes, instance.reward)):
        return None
    needed = [graph.choices[node] for node in instance.after]
    used = [choices for choices in needed if choices]
    if len(set(used)) < len(used) or any(choices.bit_count() > 1 for choices in used):
        return None
    return tuple(choices.bit_length() - 1 for choices in needed)


class FluentLaws:
    """The exact law of every fluent.

    Args:
        instance: the instance.
        factors: its joint law.
    """

    def __init__(self, instance: Instance, factors: Factors) -> None:
        self.instance, self.factors = instance, factors
        self._law: Callable[..., int] = ctypes_type(abi.LAW)(factors.law.address)
        self._needed = [self._choices_needed(node) for node in (*instance.after, instance.reward)]

    def fluents(self, cells: Sequence[int] | NDArray[np.int64], action: int) -> list[FluentLaw]:
        """The law of the next value of each fluent of the layout, all others summed out."""
        laws: list[FluentLaw] = []
        for fluent, needed in zip(self.instance.layout.fluents, self._needed, strict=False):
            laws.append({})
            for probability, after, _ in self._outcomes(needed, cells, action):
                value = self.instance.layout.read(after, fluent.cell, fluent.bit, fluent.kind)
                laws[-1][value] = laws[-1].get(value, 0.0) + probability
        return laws

    def reward(self, cells: Sequence[int] | NDArray[np.int64], action: int) -> float:
        """The expected reward."""
        return sum(probability * gain for probability, _, gain in self._outcomes(self._needed[-1], cells, action))

    def _choices_needed(self, node: int) -> tuple[int, ...]:
        """The random choices that a node depends on, and those on which their chances depend, in order."""
        graph, choices = self.instance.graph, self.instance.choices
        needed = graph.choices[node]
        for choice in reversed(range(len(choices))):
            if needed >> choice & 1:
                for probability in choices[choice].probabilities:
                    needed |= graph.choices[probability]
        return tuple(choice for choice in range(len(choices)) if needed >> choice & 1)

    def _outcomes(
        self, needed: tuple[int, ...], cells: Sequence[int] | NDArray[np.int64], action: int
    ) -> Iterator[tuple[float, NDArray[np.int64], float]]:
        """Probability, next cells and reward of all outcomes of some choices that have a chance."""
        first, sizes = self.factors.first, self.factors.sizes
        outcomes, chances, reward = np.zeros(len(sizes) + 1, np.int64), np.zeros(first[-1] + 1), np.zeros(1)
        for values in itertools.product(*(range(sizes[choice]) for choice in needed)):
            outcomes[list(needed)] = values
            after = np.array(cells, np.int64)
            places = (array.ctypes.data for array in (outcomes, chances, reward))
            self._law(None, after.ctypes.data, action, *places)
            probability = float(np.prod(chances[first[list(needed)] + values])) if needed else 1.0
            if probability > 0.0:
                yield probability, after, float(reward[0])
