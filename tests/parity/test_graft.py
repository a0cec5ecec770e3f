"""GRAFT's exploring half against its textbook version, number by number, and what its values are."""

import dataclasses

import numpy as np
import pytest
from naive_graft import Graft, Settings
from naive_parts import Stream, random_table, table_step

import gymnasium_gsp as gsp
from gymnasium_gsp.abi.compilation import compiled_entry
from gymnasium_gsp.models.tabular import tabular_rules
from gymnasium_gsp.search import frame
from gymnasium_gsp.search.ingredients.horizon import DEFAULT_DISCOUNT, DEFAULT_HORIZON
from gymnasium_gsp.search.search import Search, read_interval

WORDS = [(1 << 63) + 12345, 977, 31]
LIMIT = 12  # steps of an episode, where there is a limit


def exploring(**options):
    """GRAFT without scenarios."""
    return gsp.make_recipe("graft", root_allocation=None, **options)


def made(model, recipe, steps_left=None, words=WORDS, **options):
    search = Search(model, recipe, steps_left is not None, **options)
    search.seed(np.array(words[:2], np.uint64))
    return search


def textbook(table, recipe, steps_left=None, legal=None, words=WORDS):
    discount = DEFAULT_DISCOUNT if steps_left is None else 1.0 - 1.0 / steps_left
    settings = Settings(
        discount=recipe.discount if isinstance(recipe.discount, float) else discount,
        horizon=steps_left or DEFAULT_HORIZON,
        kappa=recipe.decision.backup.kappa,
        passes=recipe.decision.passes,
        legal=legal or {},
        **dataclasses.asdict(recipe.propagation),
        **dataclasses.asdict(recipe.optimism),
    )
    return Graft(table, settings, words)


def stored(search):
    """State -> (optimistic value, plain value, optimistic values by action, counts), in the order of birth."""
    program, ends, values = search.program, np.zeros(2), {}
    for row in search.store.arrays.rows[: search.tally.nodes * program.stride].reshape(-1, program.stride):
        state = row[frame.FIRST_KEY]
        assert compiled_entry(read_interval, True)(search.store.arrays, np.array([state]), ends)
        q = row.view(np.float64)[program.q_at :][: program.actions].tolist()
        values[int(state)] = (ends[1], ends[0], q, row[program.counts_at :][: program.actions].tolist())
    return values


def assert_same(search, naive):
    found = stored(search)
    assert list(found) == list(naive.nodes)
    for state, node in naive.nodes.items():
        upper, plain, q, counts = found[state]
        assert counts == [node.tried(action) for action in range(naive.actions)]
        assert (upper, plain) == (node.upper, node.plain)
        for action in naive.legal(state) if node.opened else ():
            assert q[action] == node.q[action]


RECIPES = {
    "default": exploring(),
    "unlimited": exploring(backups=None, accuracy=1e-9),
    "constant": exploring(floor=0.0, weight=2.0, margin=0.0, backups=5, discount=0.7),
    "bold": exploring(floor=0.1, kappa=0.0, backups=1, accuracy=0.1),
}
REWARDS = [(0.0, 1.0), (-1.0, 1.0), (-2.0, -0.5), (0.5, 3.0)]


def grid(seed, side=4):
    """A grid with slippery moves, a cost of each step, and a prize in the last corner; a table like toy_text's."""
    goal, cost = side * side - 1, (0.0, -0.25)[seed % 2]
    moves = [(0, -1), (1, 0), (0, 1), (-1, 0)]

    def landing(state, move):
        row, column = divmod(state, side)
        row, column = row + moves[move % 4][0], column + moves[move % 4][1]
        after = row * side + column if 0 <= row < side and 0 <= column < side else state
        return after, 1.0 if after == goal else cost, after == goal

    def outcomes(state, action):
        if state == goal:
            return [(1.0, goal, 0.0, True)]
        merged = {}
        for slip, chance in ((-1, 0.125), (0, 0.75), (1, 0.125)):
            landed = landing(state, action + slip)
            merged[landed] = merged.get(landed, 0.0) + chance
        return [(chance, *landed) for landed, chance in sorted(merged.items())]

    return {state: {action: outcomes(state, action) for action in range(4)} for state in range(side * side)}


def odd_states_lack_one(params, state, mask):
    """All actions but the last, in states of odd number; all of them in the others."""
    actions = int(params[1])
    for action in range(actions):
        mask[action] = 1.0
    if state[0] % 2 == 1:
        mask[actions - 1] = 0.0
        return actions - 1
    return actions


def play_both(table, recipe, timed, masked=False, decisions=4):
    """The same decisions of one episode by both, compared after each."""
    model, actions, legal = gsp.tabular_model(table), len(table[0]), {}
    if masked:
        model = gsp.CompiledModel(tabular_rules, actions, params=model.params, legal=odd_states_lack_one)
        legal = {state: range(actions - 1) for state in table if state % 2 == 1}
    simulations = 60 if timed else 8  # without a limit trajectories are long
    search = made(model, recipe, LIMIT if timed else None)
    naive = textbook(table, recipe, LIMIT if timed else None, legal)
    world, state = Stream(WORDS[2]), 0
    for elapsed in range(decisions):
        left = LIMIT - elapsed if timed else None
        naive.s.horizon = left or DEFAULT_HORIZON
        result = search.plan(search.model.cells(state), gsp.Budget(simulations), elapsed, left)
        action, value, q, steps = naive.plan(state, simulations)
        assert_same(search, naive)
        assert (result.action, result.value, result.model_steps) == (action, value, steps)
        assert result.q_values.tolist() == q
        assert search.rng.tolist() == [naive.search.word, naive.model.word]
        state, _, ended = table_step(table, state, result.action, world.uniform())
        if ended:
            return


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("timed", [True, False])
@pytest.mark.parametrize("name", RECIPES)
@pytest.mark.parametrize("seed", range(4))
def test_the_graph_is_the_textbooks(name, seed, timed, masked):
    """Up to four decisions of one episode: nodes in the same order, equal counts, values and words, bit for bit."""
    play_both(random_table(seed, states=9, rewards=REWARDS[seed]), RECIPES[name], timed, masked)


@pytest.mark.parametrize("timed", [True, False])
@pytest.mark.parametrize("name", RECIPES)
@pytest.mark.parametrize("seed", range(2))
def test_the_graph_of_a_grid_is_the_textbooks(name, seed, timed):
    """The same where states recur and hardly any reward is seen at first, or each step costs something."""
    play_both(grid(seed), RECIPES[name], timed)
