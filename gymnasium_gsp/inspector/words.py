"""A decision in sentences: which action, how sure, why not another one, and what the graph shared."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from gymnasium_gsp.inspector.graph import TERMINAL, SearchGraph

StateName = Callable[[tuple[int, ...]], str]
"""Names a state, given the cells of its node's key."""

Exact = NDArray[np.float64] | None
"""(actions,) the exact value of each action at the root, -inf for an illegal one; None where no oracle knows them."""

CLOSE = 1e-9  # exact values that differ by less are equal


def which(graph: SearchGraph) -> str:
    """Name the action, its value and its visits, and say where visits that are no simulations come from."""
    result = graph.result
    visits, of_all = int(result.visit_counts[result.action]), int(result.visit_counts.sum())
    words = (
        f"{result.name(result.action)}: value {result.q_values[result.action]:.4g}, {visits:,} of {of_all:,} visits, "
        f"{result.simulations:,} simulations"
    )
    more = []
    if result.inherited:
        more.append(f"{result.inherited:,} visits are of earlier decisions, whose graph was kept")
    if of_all > result.simulations + result.inherited:
        more.append("a simulation that comes back to this state visits it again")
    return f"{words} ({'; '.join(more)})" if more else words


def how_sure(graph: SearchGraph, exact: Exact, discount: float = 1.0) -> str:
    """Compare the two best actions by their intervals, and the recommended one with the exact values.

    Args:
        graph: of the decision.
        exact: the exact values of its actions.
        discount: of the exact values.
    """
    result = graph.result
    first, *rest = result.ranking()
    words = result.decided_by() if _tied(graph) or not rest else _apart(graph, first, rest[0])
    if exact is None:
        return words
    best = int(np.nanargmax(exact))
    how = "Exactly" if discount == 1.0 else f"Exactly, discounted by {discount:.4g} a step"
    if exact[first] >= exact[best] - CLOSE:
        return f"{words} {how}: {result.name(first)} is optimal, worth {exact[first]:.4g}."
    lost = exact[best] - exact[first]
    return f"{words} {how}: {result.name(best)} is better by {lost:.3g}, worth {exact[best]:.4g}."


def why_not(graph: SearchGraph, action: int, exact: Exact, name: StateName) -> str:
    """Say why an action was not recommended, or why it was."""
    result, best = graph.result, graph.result.action
    tries = int(result.visit_counts[action])
    words = []
    if action == best:
        words.append(result.decided_by())
    elif not tries:
        words.append(f"{result.name(action)} was never tried.")
    else:
        words.append(_compared(graph, best, action))
        words.append(f"It was tried {tries:,} times, {result.name(best)} {int(result.visit_counts[best]):,} times.")
    outcomes = np.flatnonzero((graph.source == 0) & (graph.action == action))
    if len(outcomes):
        common = outcomes[graph.count[outcomes].argmax()]
        target, share = int(graph.target[common]), graph.probability[common]
        there = "to the end of the episode" if target == TERMINAL else "to a state that was not stored"
        if target >= 0:
            there = f"to {name(tuple(graph.states[target].tolist()))}, worth {graph.value[target]:.4g}"
        words.append(f"Most often ({share:.0%}) it led {there}.")
    if exact is not None and np.isfinite(exact[action]):
        words.append(f"Its exact value is {exact[action]:.4g}.")
    return " ".join(words)


def sharing(graph: SearchGraph) -> str:
    """Count the states that were reached from several others."""
    shared, links = int((graph.parents() > 1).sum()), int((graph.target >= 0).sum())
    if not shared:
        return f"Nothing was shared: each of the {len(graph):,} nodes has one parent, as in a tree."
    return (
        f"{shared:,} of {len(graph):,} nodes are shared by several parents; {links:,} outcomes lead to them, each of "
        "which a tree would have searched apart."
    )


def _tied(graph: SearchGraph) -> bool:
    values = graph.result.q_values
    return int((values == values[graph.result.action]).sum()) > 1


def _apart(graph: SearchGraph, first: int, second: int) -> str:
    """Say whether the intervals of the best two actions overlap, and what they leave out."""
    names = graph.result.name(first), graph.result.name(second)
    if not np.isfinite(graph.result.q_values[second]):
        return f"{names[0]} is the only action that was tried."
    low, high = graph.lower[0, first], graph.upper[0, second]
    if np.isnan(low) or np.isnan(high):
        return f"{names[0]} and {names[1]}, the second best: too few tries for intervals."
    words = f"of {names[0]} and {names[1]}, the second best, {'do not overlap' if low > high else 'overlap'}"
    if graph.bounded:
        return f"The bounds {words}."
    left_out = "they leave out how uncertain the values behind the outcomes are"
    return f"The intervals of 2 standard errors {words}; {left_out}."


def _compared(graph: SearchGraph, first: int, second: int) -> str:
    """Compare the values of two actions that were tried."""
    result, q = graph.result, graph.result.q_values
    gap = q[second] - q[first]
    how = f"{-gap:.3g} less than {result.name(first)}" if gap < 0.0 else f"as much as {result.name(first)}"
    if gap > 0.0:
        decides = {"most_visits": "visits decide", "halving": "the halving decides"}
        why = decides.get(result.recommendation, "that rests on weaker evidence")
        how = f"{gap:.3g} more than {result.name(first)}, but {why}"
    return f"{result.name(second)} is worth {q[second]:.4g}, {how}."
