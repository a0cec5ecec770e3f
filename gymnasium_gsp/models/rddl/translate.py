"""One RDDL instance as a graph: next state, reward, end of the episode, and the random choices between.

The order of a step is pyRDDLGym's: fluents are computed level by level from the present state and the action, then the
reward, and terminations and invariants are looked at in the next state.  A violated invariant ends an episode there
(pyRDDLGym truncates it), so it ends one here.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gymnasium_gsp.models.rddl.expressions import Fluents, NotTranslatedError, Place, Translator
from gymnasium_gsp.models.rddl.graph import BOOL, INT, REAL, Graph, Node
from gymnasium_gsp.models.rddl.laws import Choices, Law
from gymnasium_gsp.models.rddl.layout import Layout, lay_out

_PRIMITIVE = {"bool": BOOL, "int": INT, "real": REAL}


@dataclass(frozen=True)
class ActionFluent:
    """One grounded action fluent.

    Attributes:
        name: of the lifted fluent.
        index: which object it has for each parameter, by number.
        kind: BOOL, or INT for whole numbers and objects.
        default: its value where an action does not name it.
        objects: number of objects among which it chooses; None for other kinds.
    """

    name: str
    index: tuple[int, ...]
    kind: str
    default: int
    objects: int | None


@dataclass(frozen=True)
class Instance:
    """What a step does, as nodes of a graph.

    Attributes:
        name: of the instance.
        graph: the nodes.
        layout: where state fluents are kept.
        actions: the action fluents, by number.
        choices: law of each random choice, in the order of the draws.
        after: next value of each fluent of the layout.
        reward: the reward.
        ended: whether the episode ends after this step.
        over: whether the present state is one in which episodes end.
        allowed: whether the preconditions hold.
    """

    name: str
    graph: Graph
    layout: Layout
    actions: tuple[ActionFluent, ...]
    choices: tuple[Law, ...]
    after: tuple[int, ...]
    reward: int
    ended: int
    over: int
    allowed: int

    @property
    def step_nodes(self) -> tuple[int, ...]:
        """The nodes of what a step writes."""
        return (*self.after, self.reward, self.ended)

    @property
    def law_nodes(self) -> tuple[int, ...]:
        """The nodes of all probabilities, choice by choice."""
        return tuple(probability for law in self.choices for probability in law.probabilities)

    def substituted(self, other: Callable[[Node], int | None]) -> "Instance":
        """The same step with other nodes in the place of leaves (see `Graph.substitute`)."""
        became = self.graph.substitute((*self.step_nodes, *self.law_nodes), other)
        return replace(
            self,
            choices=tuple(Law(tuple(became[p] for p in law.probabilities), law.kind) for law in self.choices),
            after=tuple(became[node] for node in self.after),
            reward=became[self.reward],
            ended=became[self.ended],
        )


def translate(simulator: Any) -> Instance:
    """Translate the instance that a simulator of pyRDDLGym plays.

    Args:
        simulator: a `RDDLSimulator`; its model may be lifted or grounded.

    Raises:
        NotTranslatedError: names the construct that has no compiled form.
    """
    model = simulator.rddl
    if simulator.is_pomdp:
        raise NotTranslatedError(
            f"the observation fluents {', '.join(model.observ_fluents)}: the instance is a POMDP, and the planner "
            "would know what the player does not"
        )
    graph = Graph()
    layout, states = _state_nodes(graph, simulator)
    actions, action_nodes = _action_nodes(graph, simulator)
    computed: dict[Place, int] = {}
    fluents = Fluents(model, simulator.init_values, states, action_nodes, computed)
    choices = Choices()
    _compute(simulator, Translator(graph, fluents, choices), computed)
    reward = graph.as_kind(Translator(graph, fluents, choices).node(model.reward), REAL)
    next_states = {place: computed[model.next_state[place[0]], place[1]] for place in states}
    now = Translator(graph, fluents, None)
    then = Translator(graph, replace(fluents, states=next_states), None)
    broken = [graph.apply("not", then.node(rule)) for rule in model.invariants]
    instance = Instance(
        name=model.instance_name,
        graph=graph,
        layout=layout,
        actions=actions,
        choices=tuple(choices.laws),
        after=tuple(next_states[fluent.name, fluent.index] for fluent in layout.fluents),
        reward=reward,
        ended=_any(graph, [*map(then.node, model.terminations), *broken]),
        over=_any(graph, map(now.node, model.terminations)),
        allowed=_preconditions(now),
    )
    return _without_idle_choices(instance)


def _state_nodes(graph: Graph, simulator: Any) -> tuple[Layout, dict[Place, int]]:
    """Where state fluents are kept, and the node of each."""
    places = [
        (name, index, _PRIMITIVE.get(simulator.rddl.variable_ranges[name], INT))
        for name in simulator.rddl.state_fluents
        for index in _indices(simulator, name)
    ]
    layout, nodes = lay_out(places), {}
    for fluent in layout.fluents:
        where = (fluent.cell,) if fluent.bit is None else (fluent.cell, fluent.bit)
        nodes[fluent.name, fluent.index] = graph.leaf("cell" if fluent.bit is None else "bit", fluent.kind, *where)
    return layout, nodes


def _action_nodes(graph: Graph, simulator: Any) -> tuple[tuple[ActionFluent, ...], dict[Place, int]]:
    """The action fluents, and the node of each."""
    fluents: list[ActionFluent] = []
    nodes: dict[Place, int] = {}
    for name in simulator.rddl.action_fluents:
        declared = simulator.rddl.variable_ranges[name]
        kind = _PRIMITIVE.get(declared, INT)
        if kind == REAL:
            raise NotTranslatedError(f"the real-valued action fluent {name}; actions must be finitely many")
        objects = None if declared in _PRIMITIVE else len(simulator.rddl.type_to_objects[declared])
        for index in _indices(simulator, name):
            default = int(np.asarray(simulator.init_values[name])[index])
            nodes[name, index] = graph.leaf("action", kind, len(fluents))
            fluents.append(ActionFluent(name, index, kind, default, objects))
    return tuple(fluents), nodes


def _indices(simulator: Any, name: str) -> list[tuple[int, ...]]:
    """The index of each grounding of a fluent."""
    return list(np.ndindex(np.shape(simulator.init_values[name])))


def _compute(simulator: Any, translator: Translator, computed: dict[Place, int]) -> None:
    """Take in the fluents that a step computes, in the order of their levels."""
    model = simulator.rddl
    for name, expression, _ in simulator.cpfs:
        parameters = model.cpfs[name][0]
        kind = _PRIMITIVE.get(model.variable_ranges[name], INT)
        counts = [len(model.type_to_objects[kind_of]) for _, kind_of in parameters]
        for index in np.ndindex(*counts):
            scope = dict(zip((variable for variable, _ in parameters), index, strict=True))
            try:
                value = translator.node(expression, scope)
            except NotTranslatedError as error:
                raise NotTranslatedError(f"{error} (in the expression of {name})") from None
            computed[name, index] = translator.graph.as_kind(value, kind)


def _any(graph: Graph, nodes: Iterable[int]) -> int:
    """Whether any of these holds."""
    result = graph.false
    for node in nodes:
        result = graph.apply("or", result, node)
    return result


def _preconditions(translator: Translator) -> int:
    """Whether an action is allowed: action-preconditions, and those state-action-constraints that name an action.

    pyRDDLGym reads the latter, RDDL's older form, and does not enforce them; the competition's planners do.
    """
    graph, domain = translator.graph, getattr(translator.model.ast, "domain", None)
    constraints = [translator.node(rule) for rule in getattr(domain, "constraints", None) or ()]
    rules = [translator.node(rule) for rule in translator.model.preconditions]
    allowed = graph.true
    for rule in (*rules, *(rule for rule in constraints if graph.actions[rule])):
        allowed = graph.apply("and", allowed, rule)
    return allowed


def _without_idle_choices(instance: Instance) -> Instance:
    """The same instance without choices that nothing depends on, the others numbered anew."""
    graph, needed = instance.graph, 0
    for node in instance.step_nodes:
        needed |= graph.choices[node]
    for number in reversed(range(len(instance.choices))):
        if needed >> number & 1:
            for probability in instance.choices[number].probabilities:
                needed |= graph.choices[probability]
    kept = [number for number in range(len(instance.choices)) if needed >> number & 1]
    if len(kept) == len(instance.choices):
        return instance
    place = {number: place for place, number in enumerate(kept)}

    def renumber(node: Node) -> int | None:
        return graph.leaf("choice", node.kind, place[node.args[0]]) if node.op == "choice" else None

    return replace(instance, choices=tuple(instance.choices[number] for number in kept)).substituted(renumber)
