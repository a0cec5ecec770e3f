"""Joint actions: every combination of action fluents that an instance allows, those that do the same merged."""

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gymnasium_gsp.models.rddl.expressions import NotTranslatedError
from gymnasium_gsp.models.rddl.graph import BOOL, Node
from gymnasium_gsp.models.rddl.translate import Instance

MOST_JOINT_ACTIONS = 20_000
"""Combinations of action fluents that are kept after preconditions."""


@dataclass(frozen=True)
class JointActions:
    """The actions of a model.

    Attributes:
        values: of each joint action, the value of every action fluent.
        masks: of each, the node that says whether the present state allows it.
        combinations: how many there were before preconditions and merging.
    """

    values: tuple[tuple[int, ...], ...]
    masks: tuple[int, ...]
    combinations: int

    def masked(self, instance: Instance) -> bool:
        """Whether any state may lack an action."""
        return any(mask != instance.graph.true for mask in self.masks)


def joint_actions(
    instance: Instance, ranges: Sequence[range], most_changed: int, count_whole_numbers: bool = True
) -> JointActions:
    """Enumerate the joint actions of an instance.

    One is left out if no state allows it, or if in every state it does what another one does.

    Args:
        instance: the instance.
        ranges: the values of each action fluent.
        most_changed: how many action fluents may differ from their defaults at once (max-nondef-actions).
        count_whole_numbers: whether fluents that are not Boolean count as well.

    Raises:
        NotTranslatedError: if there are too many, or none that a state allows.
    """
    counted = [fluent.kind == BOOL or count_whole_numbers for fluent in instance.actions]
    combinations = _count(ranges, counted, most_changed)
    possible = _Combinations(instance, ranges, counted, most_changed).listed()
    if len(possible) > MOST_JOINT_ACTIONS:
        raise NotTranslatedError(
            f"{combinations:,} joint actions; at most {MOST_JOINT_ACTIONS:,} that no precondition rules out are "
            "enumerated, so give the instance a smaller max-nondef-actions"
        )
    effects = _Effects(instance)
    seen, values, masks = set(), [], []
    for changed in possible:
        effect, mask = effects.of(changed)
        if mask != instance.graph.false and effect not in seen:
            seen.add(effect)
            masks.append(mask)
            values.append(tuple(changed.get(number, a.default) for number, a in enumerate(instance.actions)))
    if not values:
        raise NotTranslatedError("preconditions that allow no joint action in any state")
    return JointActions(tuple(values), tuple(masks), combinations)


def _count(ranges: Sequence[range], counted: Sequence[bool], most_changed: int) -> int:
    """How many combinations change at most so many of the fluents that count."""
    ways = [1] + [0] * min(most_changed, sum(counted))
    free = math.prod(len(values) for values, counts in zip(ranges, counted, strict=True) if not counts)
    for values in itertools.compress(ranges, counted):
        for changed in range(len(ways) - 1, 0, -1):
            ways[changed] += ways[changed - 1] * (len(values) - 1)
    return free * sum(ways)


Changed = dict[int, int]
"""A joint action as the values of the fluents that are not at their default."""


class _Combinations:
    """Joint actions fluent by fluent, without those of which a part breaks a precondition whatever the rest is."""

    def __init__(self, instance: Instance, ranges: Sequence[range], counted: Sequence[bool], most_changed: int) -> None:
        self.instance, self.graph, self.counted, self.most_changed = instance, instance.graph, counted, most_changed
        used = 0
        for node in (*instance.step_nodes, *instance.law_nodes, instance.allowed):
            used |= self.graph.actions[node]
        fluents = sorted(range(len(ranges)), key=lambda number: not counted[number])  # those that count come first
        self.choices = [
            (number, value)
            for number in fluents
            if used >> number & 1  # a fluent that nothing depends on stays at its default
            for value in ranges[number]
            if value != instance.actions[number].default
        ]
        self.place = {number: place for place, number in enumerate(fluents)}
        self.rules: dict[int, list[int]] = {number: [] for number in fluents}
        for rule in self._conjuncts(instance.allowed):
            for number in fluents:
                if self.graph.actions[rule] >> number & 1:
                    self.rules[number].append(rule)
        self._broken: dict[tuple[int, tuple[tuple[int, int], ...]], bool] = {}

    def listed(self) -> list[Changed]:
        """Every combination, few changes before many; no more than one beyond MOST_JOINT_ACTIONS."""
        found: list[Changed] = []
        level: list[Changed] = [{}]
        while level and len(found) <= MOST_JOINT_ACTIONS:
            found += level
            level = list(itertools.islice(self._longer(level), MOST_JOINT_ACTIONS + 1 - len(found)))
        return sorted(found, key=self._order)

    def _longer(self, level: Iterable[Changed]) -> Iterator[Changed]:
        """Combinations with one more change, each once."""
        for changed in level:
            last = max((self.place[number] for number in changed), default=-1)
            full = sum(self.counted[number] for number in changed) >= self.most_changed
            for number, value in self.choices:
                if self.place[number] > last and not (full and self.counted[number]):
                    longer = {**changed, number: value}
                    if not any(self._breaks(rule, longer) for rule in self.rules[number]):
                        yield longer

    def _breaks(self, rule: int, changed: Changed) -> bool:
        """Return whether a precondition is false in every state, whatever values the other fluents take."""
        concerned = self.graph.actions[rule]
        pairs = tuple((number, value) for number, value in changed.items() if concerned >> number & 1)
        if (rule, pairs) not in self._broken:

            def put(node: Node) -> int | None:
                if node.op != "action" or node.args[0] not in changed:
                    return None
                value = changed[node.args[0]]
                return self.graph.constant(bool(value) if node.kind == BOOL else value)

            self._broken[rule, pairs] = self.graph.substitute([rule], put)[rule] == self.graph.false
        return self._broken[rule, pairs]

    def _conjuncts(self, node: int) -> list[int]:
        """The parts of a conjunction."""
        if self.graph.nodes[node].op != "and":
            return [node]
        return [part for operand in self.graph.operands(node) for part in self._conjuncts(operand)]

    def _order(self, changed: Changed) -> tuple[Any, ...]:
        limited = sorted(number for number in changed if self.counted[number])
        free = [changed.get(number, -math.inf) for number in self.place if not self.counted[number]]
        return len(limited), limited, [changed[number] for number in limited], free


def restricted(instance: Instance, joint: JointActions) -> Instance:
    """The instance with every action fluent that has one value in all joint actions folded away."""
    graph = instance.graph
    constant = {
        number: column[0]
        for number, column in enumerate(zip(*joint.values, strict=True))
        if all(value == column[0] for value in column)
    }

    def fold(node: Node) -> int | None:
        if node.op != "action" or node.args[0] not in constant:
            return None
        value = constant[node.args[0]]
        return graph.constant(bool(value) if node.kind == BOOL else value)

    return instance.substituted(fold)


class _Effects:
    """What a joint action does, as nodes: everything that depends on actions, with theirs put in.

    Only nodes that depend on a fluent which differs from its default are rebuilt; the rest is that of the idle action.
    """

    def __init__(self, instance: Instance) -> None:
        self.instance, self.graph = instance, instance.graph
        roots = {*instance.step_nodes, *instance.law_nodes, instance.allowed}
        self.roots = sorted(root for root in roots if self.graph.actions[root])
        self.nodes = [node for node in self.graph.reach(self.roots) if self.graph.actions[node]]
        self.idle = self._rebuild(self.nodes, {}, {})

    def of(self, changed: Mapping[int, int]) -> tuple[Any, int]:
        """What tells this joint action from others, and the node that says whether it is allowed."""
        touched = sum(1 << number for number in changed)
        nodes = [node for node in self.nodes if self.graph.actions[node] & touched]
        became = self._rebuild(nodes, changed, self.idle)
        moved = (root for root in self.roots if root in became and became[root] != self.idle[root])
        allowed = self.instance.allowed
        return tuple((root, became[root]) for root in moved), became.get(allowed, self.idle.get(allowed, allowed))

    def _rebuild(self, nodes: Sequence[int], changed: Mapping[int, int], below: Mapping[int, int]) -> dict[int, int]:
        """What some nodes become, given what others became."""
        graph, became = self.graph, {}
        for number in nodes:
            node = graph.nodes[number]
            if node.op == "action":
                value = changed.get(node.args[0], self.instance.actions[node.args[0]].default)
                became[number] = graph.constant(bool(value) if node.kind == BOOL else value)
                continue
            operands = [became.get(operand, below.get(operand, operand)) for operand in node.args]
            became[number] = graph.apply(node.op, *operands)
        return became
