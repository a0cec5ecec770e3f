"""The textbook search with simulations that wait for their leaf's value, so that a function is asked about several."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from naive import END, UNSTORED, Textbook
from naive_prior import PriorTextbook


@dataclass
class WaitingTextbook(PriorTextbook):
    """A textbook search whose leaves are valued `batch` at a time.

    A simulation that waits counts as a visit of its trail, without a result: an action that it is the first to try
    shows the value of its node.  Whoever comes to a leaf that waits has all of them valued before it goes on, as has a
    Gumbel root that is about to compare its actions.

    Args:
        value: function of a list of states that returns their values.
        batch: most simulations that wait.
        guided: whether the selection reads the prior; False for that of `Textbook`.
    """

    value: Callable[[list[Any]], list[float]] = lambda states: [0.0 for _ in states]
    batch: int = 1
    guided: bool = True
    waiting: list = field(default_factory=list)

    def select(self, node, depth):
        return super().select(node, depth) if self.guided else Textbook.select(self, node, depth)

    def simulate(self, key, state, depth, fresh):
        """One simulation until its leaf waits."""
        self.was_cut = True  # its return comes later
        if self.considered is not None and self.drawn is not None and self.begun / self.budget >= self.goal:
            self.value_all()
        trail, known = [], None
        while depth < self.horizon:
            if any(leaf == key for _, leaf, _, _ in self.waiting) and self.nodes[key].visits == 0:
                self.value_all()
            node = self.nodes[key]
            if self.steps >= self.step_limit:
                key, known = "cut", node.value
                break
            self.here = key, state
            a = self.select(node, depth)
            state, reward, ended = self.step(state, a)
            depth += 1
            child = END if ended else self.child_key(key, a, state, depth)
            trail.append((node, a, reward, child))
            if ended:
                key, known = END, 0.0
                break
            new = child not in self.nodes
            if new and self.added >= self.node_limit:
                child = UNSTORED
                trail[-1] = node, a, reward, child
            elif new:
                self.nodes[child] = self.new_node()
                self.added += 1
            key = child
            if new:
                break
        if known is None and depth >= self.end:
            known = 0.0
        for node, a, _, _ in trail:
            if node.n[a] == 0:
                node.q[a] = node.value
            node.n[a] += 1
            node.visits += 1
        self.waiting.append((trail, key, state, known))
        if len(self.waiting) == self.batch:
            self.value_all()
        return None, None

    def value_all(self):
        """Value every leaf that waits; then each simulation is as if it had never waited."""
        waiting, self.waiting = self.waiting, []
        for trail, _, _, _ in waiting:
            for node, a, _, _ in trail:
                node.n[a] -= 1
                node.visits -= 1
                if node.n[a] == 0:
                    node.q[a] = 0.0
        asked = [state for _, _, state, known in waiting if known is None]
        answers = iter(self.value(asked) if asked else [])
        for trail, key, _, known in waiting:
            value = sampled = next(answers) if known is None else known
            if key in self.nodes:
                leaf = self.nodes[key]
                leaf.visits += 1
                leaf.value += (value - leaf.value) / leaf.visits
                value = leaf.value
            for depth in reversed(range(len(trail))):
                value, sampled = self.learn(*trail[depth], depth, value, sampled)
            if key != "cut":
                self.returns.append(sampled)

    def judge(self):
        self.value_all()
        return super().judge()
