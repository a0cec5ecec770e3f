"""Between the package and the textbook: a recipe in the textbook's words, and the compiled graph in its shape."""

import math
from dataclasses import MISSING, dataclass, fields

import numpy as np
from naive import END, UNSTORED, Textbook
from naive_parts import Bonus, Settings, Stream, table_step

from gymnasium_gsp.ingredients import (
    UCB1,
    AdaptiveHorizon,
    Budget,
    Cautious,
    Constant,
    FixedHorizon,
    PolynomialBonus,
    PowerMean,
    Rollout,
    StepsLeft,
    Sweep,
)
from gymnasium_gsp.models.tabular import tabular_model
from gymnasium_gsp.search import codes, frame
from gymnasium_gsp.search.search import Search

SLOTS = set(
    [
        "key",
        "propagation",
        "selection",
        "root_selection",
        "target",
        "backup",
        "estimator",
        "expansion",
        "evaluation",
        "horizon",
        "discount",
        "retention",
        "decision",
        "recommendation",
        "keep_variance",
    ]
)
STATE_IN = {"path": lambda key: key[-1], "state_elapsed": lambda key: key[0], "state": lambda key: key}


class NotInTheTextbook(Exception):
    """An ingredient that the textbook search does not have."""


def bonus_of(selection):
    if isinstance(selection, UCB1):
        return Bonus("ucb1", selection.c, selection.scale == "range")
    if not isinstance(selection, PolynomialBonus):
        raise NotInTheTextbook(repr(selection))
    exponents = ()
    if (t := selection.constants) is not None:
        # B at depth h has the constants of depth h + 1, eq. action_selection.
        exponents = tuple((b / beta, alpha / beta) for alpha, beta, b in zip(t.alpha, t.beta, t.b, strict=True))
        exponents = exponents[1:] or exponents
    return Bonus("polynomial", selection.c, selection.scale == "range", exponents)


def settings_of(recipe, timed, smallest_reward):
    """The textbook's settings for a recipe."""
    if recipe.optimism is not None or recipe.key == "actions":
        raise NotInTheTextbook(repr(recipe))
    for slot in fields(recipe):
        value = getattr(recipe, slot.name)
        if slot.name not in SLOTS and (slot.default is MISSING or value != slot.default):
            raise NotInTheTextbook(f"{slot.name}={value!r}")
    if not isinstance(recipe.backup, PowerMean):
        raise NotInTheTextbook(repr(recipe.backup))
    evaluation = recipe.evaluation
    if not isinstance(evaluation, Constant) and not (isinstance(evaluation, Rollout) and evaluation.policy is None):
        raise NotInTheTextbook(repr(evaluation))
    steps = getattr(evaluation, "steps", None)
    horizon = {StepsLeft: "steps left", AdaptiveHorizon: "adaptive"}.get(type(recipe.horizon))
    if horizon is None and not isinstance(recipe.horizon, FixedHorizon):
        raise NotInTheTextbook(repr(recipe.horizon))
    sweep = isinstance(recipe.decision, Sweep)
    swept_by = recipe.decision.backup if sweep else None
    if swept_by is not None and not isinstance(swept_by, Cautious):
        raise NotInTheTextbook(repr(recipe.decision))
    return Settings(
        key=recipe.key or ("state_elapsed" if timed else "state"),
        bonus=bonus_of(recipe.selection),
        root_bonus=None if recipe.root_selection is None else bonus_of(recipe.root_selection),
        target=recipe.target,
        p=recipe.backup.p,
        printed=recipe.backup.weights == "printed",
        estimator=recipe.estimator,
        expansion=recipe.expansion,
        constant=evaluation.value if isinstance(evaluation, Constant) else None,
        rollout_steps=math.inf if steps is None else steps,
        horizon=horizon or recipe.horizon.depth,
        discount=recipe.discount if recipe.discount is not None else 1.0 if timed else 0.99,
        retention=recipe.retention,
        sweep=sweep,
        kappa=None if swept_by is None else swept_by.kappa,
        recommendation=recipe.recommendation,
        smallest_reward=min(0.0, smallest_reward),
    )


@dataclass
class View:
    """One node of the compiled graph, with the textbook's names; `outcomes` is None where none are kept."""

    n: list[int]
    q: list[float]
    outcomes: list[dict] | None
    visits: int
    value: float


def compiled_graph(search):
    """The graph of a `Search`: textbook key -> View."""
    program, nodes, arrays = search.program, int(search.tally.nodes), search.store.arrays
    actions, stride = int(program.actions), int(program.stride)
    cells = arrays.rows[: nodes * stride].reshape(nodes, stride)
    reals, edges = cells.view(np.float64), arrays.edges
    counts_at, q_at, heads_at = int(program.counts_at), int(program.q_at), int(program.heads_at)
    stats = [cells[node, : frame.FIRST_KEY].view(frame.STATS)[0] for node in range(nodes)]
    keys = []
    for row, head in zip(cells.tolist(), stats, strict=True):
        state, tag = row[frame.FIRST_KEY], int(head["tag"])
        if program.key == codes.BY_STATE:
            keys.append(state)
        elif program.key == codes.BY_STATE_ELAPSED:
            keys.append((state, tag))
        elif program.key == codes.BY_ACTIONS:
            keys.append(() if tag < 0 else (*keys[tag // actions], tag % actions))
        else:  # parents come before their children
            keys.append((state,) if tag < 0 else (*keys[tag // actions], tag % actions, state))

    def outcomes(number):
        found = {}
        while number != codes.NO_EDGE:
            edge = edges[number]
            child = int(edge["child"])
            name = {codes.TERMINAL: END, codes.UNSTORED: UNSTORED}.get(child) or keys[child]
            assert name not in found, "two edges to one child"
            found[name] = [int(edge["count"]), float(edge["reward"])]
            number = int(edge["next"])
        return found

    assert len(set(keys)) == nodes, "two nodes with one key"
    return {
        key: View(
            n=row[counts_at : counts_at + actions],
            q=real[q_at : q_at + actions],
            outcomes=[outcomes(row[heads_at + a]) for a in range(actions)] if program.edges_kept else None,
            visits=int(head["visits"]),
            value=float(head["value"]),
        )
        for key, row, real, head in zip(keys, cells.tolist(), reals.tolist(), stats, strict=True)
    }


def close(found, wanted, tolerance):
    """Equal, or within a relative tolerance (absolute below 1)."""
    return found == wanted or abs(found - wanted) <= tolerance * max(1.0, abs(found), abs(wanted))


def assert_same_graph(found, wanted, tolerance):
    """Two graphs agree: keys, counts and outcomes exactly, values within the tolerance."""
    assert set(found) == set(wanted)
    for key, node in wanted.items():
        view = found[key]
        assert (view.visits, list(view.n)) == (node.visits, list(node.n)), key
        assert close(view.value, node.value, tolerance), (key, view.value, node.value)
        assert all(close(*pair, tolerance) for pair in zip(view.q, node.q, strict=True)), (key, view.q, node.q)
        if view.outcomes is None or node.outcomes is None:
            continue
        for mine, theirs in zip(view.outcomes, node.outcomes, strict=True):
            # Children in the order in which they were met, which is the order of summation.
            assert [(child, times) for child, (times, _) in mine.items()] == [
                (child, times) for child, (times, _) in theirs.items()
            ], key
            assert all(close(mine[child][1], theirs[child][1], tolerance) for child in theirs), key


def assert_same_decision(result, wanted, tolerance):
    """What a search says of its root is what the textbook says."""
    assert (result.simulations, result.model_steps, result.nodes) == (wanted.simulations, wanted.steps, wanted.added)
    assert result.visit_counts.tolist() == wanted.counts
    assert close(result.value, wanted.value, tolerance), (result.value, wanted.value)
    assert all(close(*pair, tolerance) for pair in zip(result.q_values.tolist(), wanted.q, strict=True))
    assert result.action == wanted.action


def tolerances(recipe):
    """What the graph and the decision may differ by: nothing where no power but 1 and infinity is taken."""
    graph = 0.0 if recipe.backup.p in (1.0, math.inf) else 1e-12
    careful = isinstance(recipe.decision, Sweep) and recipe.decision.backup is not None
    return graph, 1e-12 if careful else graph


def play(table, recipe, budget, words, left=None, decisions=3, first_state=0, max_nodes=None, **limits):
    """Some decisions of one episode, by both; asserts that they agree, and returns the compiled search.

    Args:
        table: the process.
        recipe: how to search.
        budget: simulations per decision.
        words: seeds of the two streams, and of the environment.
        left: steps to the time limit at the first decision; None if there is none.
        decisions: how many at most.
        first_state: where the episode begins.
        max_nodes: cap on nodes.
        **limits: of a `Budget`: model_steps, nodes.
    """
    model, timed = tabular_model(table), left is not None
    search = Search(model, recipe, timed, max_nodes)
    search.seed(np.array(words[:2], np.uint64))
    settings = settings_of(recipe, timed, model.reward_bounds[0])
    textbook = Textbook(table, settings, words[:2], math.inf if max_nodes is None else max_nodes)
    graph, decision = tolerances(recipe)
    world, state = Stream(words[2]), first_state
    for elapsed in range(decisions if left is None else min(decisions, left)):
        steps_left = None if left is None else left - elapsed
        result = search.plan(model.cells(state), Budget(budget, **limits), elapsed, steps_left)
        wanted = textbook.decide(
            state,
            budget,
            elapsed,
            steps_left,
            steps=limits.get("model_steps", math.inf),
            nodes=limits.get("nodes", math.inf),
        )
        assert_same_graph(compiled_graph(search), textbook.nodes, graph)
        assert result.graph_size == len(textbook.nodes)
        assert_same_decision(result, wanted, decision)
        assert search.rng.tolist() == [textbook.search_stream.word, textbook.model_stream.word]
        state, _, ended = table_step(table, state, result.action, world.uniform())
        if ended:
            break
    return search
