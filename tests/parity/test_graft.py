"""GRAFT's exploring half against its textbook version, number by number, and what its values are."""

import dataclasses

import gymnasium as gym
import numpy as np
import pytest
from naive_graft import Graft, Settings
from naive_parts import Stream, random_table, table_step
from numba import njit

import gymnasium_gsp as gsp
from gymnasium_gsp.abi.compilation import compiled_entry
from gymnasium_gsp.abi.signatures import FAILED
from gymnasium_gsp.ingredients import Cautious, Custom, GreedySimulations, PairedScenarios, Sweep
from gymnasium_gsp.models.tabular import tabular_rules
from gymnasium_gsp.search import codes, frame, pace
from gymnasium_gsp.search.ingredients.backup import cautious_backup
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
        return_discount=recipe.discount if isinstance(recipe.discount, float) else 1.0,
        horizon=steps_left or DEFAULT_HORIZON,
        kappa=getattr(recipe.decision.backup, "kappa", None),
        passes=recipe.decision.passes,
        caution=recipe.decision.caution,
        **(dataclasses.asdict(recipe.greedy_simulations) if recipe.greedy_simulations else {"every": None}),
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
    "hesitant": exploring(decision=Sweep(Cautious(0.2), 8, 1.0)),
    "optimistic": exploring(greedy_simulations=None),
    "impatient": exploring(patience=5.0),
    "mostly optimistic": exploring(greedy_simulations=GreedySimulations(5, 0)),
    "bold": exploring(floor=0.1, backups=1, accuracy=0.1, decision=Sweep(Cautious(0.4), 8, 0.5)),
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


def play_both(table, recipe, timed, masked=False, decisions=4, hurried=False):
    """The same decisions of one episode by both, compared after each; `hurried` where no second is left for sweeps."""
    model, actions, legal = gsp.tabular_model(table), len(table[0]), {}
    if masked:
        model = gsp.CompiledModel(tabular_rules, actions, params=model.params, legal=odd_states_lack_one)
        legal = {state: range(actions - 1) for state in table if state % 2 == 1}
    simulations = 60 if timed else 8  # without a limit trajectories are long
    search = made(model, recipe, LIMIT if timed else None)
    naive = textbook(table, recipe, LIMIT if timed else None, legal)
    world, state, naive.s.hurried = Stream(WORDS[2]), 0, hurried
    budget = gsp.Budget(simulations, seconds=1e6 if hurried else None)
    for elapsed in range(decisions):
        left = LIMIT - elapsed if timed else None
        naive.s.horizon = left or DEFAULT_HORIZON
        result = search.plan(search.model.cells(state), budget, elapsed, left)
        action, value, q, steps = naive.plan(state, simulations, left)
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


@pytest.mark.parametrize("timed", [True, False])
@pytest.mark.parametrize("name", RECIPES)
@pytest.mark.parametrize("seed", range(2))
def test_without_time_to_sweep_the_graph_is_the_textbooks(monkeypatch, name, seed, timed):
    """Plain values are renewed along each trail, and before the decision at the root alone."""
    monkeypatch.setattr(pace, "UPDATING_SHARE", 0.0)
    play_both(random_table(seed, states=9, rewards=REWARDS[seed]), RECIPES[name], timed, hurried=True)
    play_both(grid(seed), RECIPES[name], timed, hurried=True)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("timed", [True, False])
def test_an_episode_knows_nothing_of_the_one_before(timed, seed):
    """A search that has seen an episode of large rewards goes on like a new one, after `begin_episode`."""
    recipe, table = gsp.make_recipe("graft", accuracy=0.2), random_table(seed, states=9, rewards=REWARDS[seed % 4])
    model = gsp.tabular_model({**table, 8: {action: [(1.0, 7, 1e6, False)] for action in range(3)}})
    left = LIMIT if timed else None
    fresh, used = made(model, recipe, left), made(model, recipe, left)
    used.plan(model.cells(8), gsp.Budget(50), 0, left)
    used.begin_episode()
    used.seed(np.array(WORDS[:2], np.uint64))
    for search in (fresh, used):
        search.plan(model.cells(0), gsp.Budget(20), 0, left)
    assert stored(fresh) == stored(used)


@pytest.mark.parametrize("retention", ["episode", "decision"])
@pytest.mark.parametrize("cap", [1, 5, 50])
def test_a_full_store_comes_to_an_end_and_keeps_to_its_cap(cap, retention):
    """60 states that lead to each other, with rewards of either sign: no value is NaN, and actions are tried."""
    rng = np.random.default_rng(0)
    model = gsp.tabular_model_from_arrays(rng.dirichlet(np.ones(60), (60, 4)), rng.normal(size=(60, 4)))
    search = made(model, gsp.make_recipe("graft", retention=retention), 30, max_nodes=cap)
    for elapsed in range(5):
        result = search.plan(model.cells(elapsed), gsp.Budget(100), elapsed, 30 - elapsed)
        assert result.simulations == 100
        assert result.graph_size <= cap
        assert result.at_cap
        assert np.isfinite(result.value)
        assert np.isfinite(result.q_values[result.visit_counts > 0]).all()
        assert result.visit_counts[result.action] > 0


@pytest.mark.parametrize(
    ("budget", "stopped_by"),
    [
        (gsp.Budget(64), "simulations"),
        (gsp.Budget(model_steps=300), "model_steps"),
        (gsp.Budget(nodes=6), "nodes"),
        (gsp.Budget(seconds=0.01), "seconds"),
        (gsp.Budget(64, model_steps=50, nodes=1000, seconds=60.0), "model_steps"),
    ],
)
@pytest.mark.parametrize("by_scenarios", [False, True])
def test_each_budget_ends_the_search(budget, stopped_by, by_scenarios):
    """With and without scenarios; steps are never exceeded."""
    recipe = gsp.make_recipe("graft", root_allocation=PairedScenarios(0.0, 2.0, 0.0) if by_scenarios else None)
    search = made(gsp.tabular_model(random_table(1, states=40, ends=0)), recipe, 30)
    for elapsed in range(3):
        result = search.plan(search.model.cells(elapsed), budget, elapsed, 30 - elapsed)
        assert result.stopped_by == stopped_by
        assert result.model_steps <= (budget.model_steps or np.inf)
        assert result.visit_counts.sum() > 0


def test_a_backup_of_ones_own_reads_variances_in_every_pass():
    results = []
    for backup in (Cautious(0.5), Custom(cautious_backup, (0.5,))):
        search = made(gsp.tabular_model(random_table(3)), exploring(decision=Sweep(backup, 8, 0.5)), 30)
        results.append(search.plan(search.model.cells(0), gsp.Budget(60), 0, 30))
    assert results[0].value == results[1].value
    assert results[0].q_values.tolist() == results[1].q_values.tolist()


COMPILED_RULES = njit(tabular_rules)


def unmasked_only(params, state, action, rng, reward):
    """The rules of a table, which fail where an illegal action is tried."""
    if state[0] % 2 == 1 and action == int(params[1]) - 1:
        return FAILED
    return COMPILED_RULES(params, state, action, rng, reward)


@pytest.mark.parametrize("by_scenarios", [False, True])
def test_no_illegal_action_is_ever_tried(by_scenarios):
    """Neither by exploring nor in a playout, nor is it recommended."""
    table = random_table(2, states=30, ends=0)
    params = gsp.tabular_model(table).params
    model = gsp.CompiledModel(unmasked_only, 3, params=params, legal=odd_states_lack_one)
    search = made(
        model, gsp.make_recipe("graft", root_allocation=PairedScenarios(0.0, 2.0, 0.0) if by_scenarios else None), 20
    )
    seen = search.store.arrays.allocation
    if by_scenarios:
        seen["phase"] = codes.BY_SCENARIOS
    for state in range(10):
        result = search.plan(model.cells(state), gsp.Budget(60), state, 20 - state)
        assert state % 2 == 0 or (result.action != 2 and result.visit_counts[2] == 0)
    assert not by_scenarios or seen["phase"][0] == codes.BY_SCENARIOS


@pytest.mark.parametrize("env_id", ["FrozenLake-v1", "Taxi-v4"])
def test_episodes_in_python_simulators(env_id):
    """Toy text stepped by itself, not by its table: each of two like episodes gets numbers of its own."""
    env = gym.make(env_id, max_episode_steps=8)
    agent = gsp.make_agent(env, "graft", budget=20, seed=0, simulator=type(env.unwrapped))
    episodes = set()
    for _ in range(2):
        observation, info = env.reset(seed=1)
        agent.reset()
        said, done = (), False
        while not done:
            action = agent.act(observation, info)
            said += (*agent.result.q_values, *agent.result.visit_counts)
            assert agent.result.simulations == 20
            observation, _, terminated, truncated, info = env.step(action)
            done = terminated or truncated
        episodes.add(said)
    assert len(episodes) == 2
