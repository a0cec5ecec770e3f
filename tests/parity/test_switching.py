"""BRUE against a textbook version, number by number, and towards the optimum."""

import numpy as np
import pytest
from naive_bridge import compiled_graph
from naive_parts import Stream, random_table, table_step

from gymnasium_gsp import RecipeError, ingredients, make_recipe, plan
from gymnasium_gsp.ingredients import Budget, Constant, FixedHorizon, Rollout, StepsLeft
from gymnasium_gsp.models.tabular import tabular_model
from gymnasium_gsp.search.ingredients.switching import switching_depth
from gymnasium_gsp.search.search import Search


def brue(table, words, simulations, horizon, left, discount, leaf):
    """Estimates {(state, depth): [[times, mean return] by action]}; `leaf` is a constant, or None for a playout."""
    choices, process = map(Stream, words)
    actions, estimates, order = range(len(table[0])), {(0, 0): None}, list(range(horizon))[::-1]
    estimates[0, 0] = [[0, 0.0] for _ in actions]

    def greedy(known):
        best, ties = None, 0
        for a in actions:
            if known[a][0] and (best is None or known[a][1] > known[best][1]):
                best, ties = a, 1
            elif known[a][0] and known[a][1] == known[best][1]:
                ties += 1
                best = a if choices.below(ties) == 0 else best
        return choices.below(len(actions)) if best is None else best

    for n in range(simulations):
        switch = 0 if n == 0 else order[(n - 1) % horizon]
        state, ended, rewards, tried = 0, False, [], None
        for depth in range(left):
            if ended or (depth >= horizon and leaf is not None):
                break
            known = estimates.get((state, depth))
            uniform = depth <= switch or depth >= horizon or known is None
            action = choices.below(len(actions)) if uniform else greedy(known)
            if depth == switch:
                tried = estimates.setdefault((state, depth), [[0, 0.0] for _ in actions])[action]
            state, reward, ended = table_step(table, state, action, process.uniform())
            rewards.append(reward)
        if leaf is not None and not ended and horizon < left:
            rewards.append(leaf)
        if tried is not None:
            tried[0] += 1
            tried[1] += (sum(discount**k * r for k, r in enumerate(rewards[switch:])) - tried[1]) / tried[0]
    return estimates


@pytest.mark.parametrize("depth", [1, 2, 3, 6])
@pytest.mark.parametrize("leaf", [None, 0.25])
@pytest.mark.parametrize("discount", [1.0, 0.8])
def test_the_compiled_estimates_are_the_textbooks(depth, leaf, discount):
    for seed in range(3):
        table = random_table(40 + seed, states=6, actions=3, steps=3 if seed == 2 else None)
        evaluation = Rollout() if leaf is None else Constant(leaf)
        recipe = make_recipe("brue", horizon=FixedHorizon(depth), evaluation=evaluation, discount=discount)
        model = tabular_model(table)
        search = Search(model, recipe, True)
        search.seed(np.array([seed, 9], np.uint64))
        result = search.plan(model.cells(0), Budget(200), 0, 6)
        wanted = brue(table, (seed, 9), 200, depth, 6, discount, leaf)
        found = compiled_graph(search)
        assert {key for key, node in found.items() if any(node.n)} == {key for key, known in wanted.items() if known}
        for key, known in wanted.items():
            assert found[key].n == [times for times, _ in known]
            assert found[key].q == pytest.approx([mean for _, mean in known], abs=1e-12)
        assert result.visit_counts.tolist() == [times for times, _ in wanted[0, 0]]
        assert result.value == max(found[0, 0].q[a] for a in range(3) if found[0, 0].n[a])


def test_switching_points_take_turns_from_the_deepest_up():
    """As printed, H - (n - 1) mod H, after a first one at the root."""
    assert [switching_depth(n, 4) for n in range(9)] == [0, 3, 2, 1, 0, 3, 2, 1, 0]
    assert [switching_depth(n, 1) for n in range(3)] == [0, 0, 0]


def optimum(table, state, left):
    """Largest expected return of `left` steps, by recursion."""
    if left == 0:
        return 0.0
    return max(
        sum(p * (r + (0.0 if ended else optimum(table, after, left - 1))) for p, after, r, ended in outcomes)
        for outcomes in table[state].values()
    )


def test_estimates_approach_the_optimum_and_faster_with_more_simulations():
    """Claim: at H = 3, off by less than 4 % of the range at 2**16 simulations, and less than at 2**8."""
    errors = {2**8: [], 2**16: []}
    for seed in range(10):
        table = random_table(60 + seed, states=6, actions=3, ends=0, rewards=(0.0, 1.0))
        exact = optimum(table, 0, 3)
        for simulations, found in errors.items():
            result = plan(tabular_model(table), 0, make_recipe("brue"), simulations, seed=seed, steps_left=3)
            found.append(abs(result.value - exact) / 3.0)
    assert max(errors[2**16]) < 0.04
    assert np.mean(errors[2**16]) < np.mean(errors[2**8]) / 2


def test_recipes():
    assert eval(repr(make_recipe("brue")), vars(ingredients)) == make_recipe("brue")
    printed = make_recipe("brue", horizon=StepsLeft(), discount=1.0)
    assert make_recipe("brue", preset="paper", env_id="GSP/FourRooms-v0") == printed
    with pytest.raises(RecipeError, match="horizon was given 5"):
        make_recipe("brue", horizon=5)
    with pytest.raises(RecipeError, match=r"evaluation was given 0\.0"):
        make_recipe("brue", evaluation=0.0)
    for slots in ({"target": "value"}, {"estimator": "current"}):
        with pytest.raises(RecipeError, match="averages sampled returns"):
            make_recipe("brue", **slots)
    with pytest.raises(RecipeError, match="Did you mean 'horizon'"):
        make_recipe("brue", horizont=3)


def test_estimates_are_kept_only_where_returns_look_to_one_end():
    kept = make_recipe("brue", retention="episode")
    assert kept.settled(True).discount == 1.0
    for recipe, timed in ((kept, False), (kept.changed(evaluation=Constant(0.0)), True)):
        with pytest.raises(RecipeError, match="the end"):
            recipe.settled(timed)
