"""GRAFT is consistent, sees no future, and knows no units.

Run with `-s` to see the measured shares and errors.
"""

from itertools import pairwise

import gymnasium as gym
import numpy as np
import pytest
from naive_parts import Stream, random_table, table_step
from scipy import stats
from statistical.claims import FALSE_ALARM, margin

import gymnasium_gsp as gsp
from benchmarks.searches import FreshSearch
from benchmarks.study.random_processes import random_process, return_range
from gymnasium_gsp.agents.seeding import agent_stream
from gymnasium_gsp.exact import enumerate_model, truncated_value, value_iteration
from gymnasium_gsp.exact.regret import Regret
from gymnasium_gsp.ingredients import PairedScenarios
from gymnasium_gsp.search import codes
from gymnasium_gsp.search.search import Search

CORRIDORS = (3, 6, 10, 20)
ENDS = {"coin": (0.5, 2.0), "lottery": (0.05, 20.0)}  # probability and size of the prize
LEAVE, ON = 0, 1
FORCED = PairedScenarios(novelty=0.0, known=2.0, evidence=0.0)


def corridor(length, chance, prize):
    """Leaving pays 0.6; the last state pays 0.5 for sure, or the prize with its chance, which is 1 on average."""
    end = length
    table = [[[(1.0, end, 0.6, True)], [(1.0, state + 1, 0.0, False)]] for state in range(length - 1)]
    table.append([[(1.0, end, 0.5, True)], [(chance, end, prize, True), (1.0 - chance, end, 0.0, True)]])
    return gsp.tabular_model([*table, [[(1.0, end, 0.0, True)]] * 2])


def wrong_ones(end, length, budget, sample):
    """In how many of some searches with a time limit of 50 steps the root's action is to leave."""
    planner = FreshSearch(corridor(length, *ENDS[end]), gsp.make_recipe("graft"), steps_left=50)
    wrong = sum(planner.plan(budget, seed, length).action == LEAVE for seed in range(sample))
    print(f"\n{end} behind {length} states, {budget} simulations: wrong {wrong} of {sample}")
    return wrong


def assert_below(wrong, sample, share, comparisons):
    """The count is no proof that each search is wrong with a probability above the share; an exact binomial test."""
    assert stats.binom.sf(wrong - 1, sample, share) >= FALSE_ALARM / comparisons


@pytest.mark.parametrize("sample", [pytest.param(20, id="few"), pytest.param(400, marks=pytest.mark.slow, id="many")])
@pytest.mark.parametrize("end", ENDS)
def test_luck_misleads_no_longer_than_it_must(end, sample):
    """Claim: at 65,536 simulations less than 1 % of the root's actions are wrong, whatever the first draws were.

    To go on is worth 1, to leave 0.6; while it explores, the planner discounts by 0.98 a step.
    Sample: four corridors, 20 or 400 searches each; exact binomial, false alarms 1e-6 in all.
    """
    for length in CORRIDORS:
        assert_below(wrong_ones(end, length, 65_536, sample), sample, 0.01, len(CORRIDORS))


@pytest.mark.parametrize("end", ENDS)
def test_the_share_of_wrong_actions_falls_with_the_budget(end):
    """Claim: with more simulations, no more root actions are wrong than before.

    Sample: four corridors, 100 searches at each of 256 and 4,096 simulations, 50 at
    16,384; Fisher's exact test of the counts over all corridors, false alarms 1e-6 in all.
    """
    counts = []
    for budget, sample in ((256, 100), (4096, 100), (16_384, 50)):
        wrong = sum(wrong_ones(end, length, budget, sample) for length in CORRIDORS)
        counts.append((wrong, len(CORRIDORS) * sample - wrong))
    for fewer, more in pairwise(counts):
        assert stats.fisher_exact([more, fewer], alternative="greater").pvalue >= FALSE_ALARM / 2


@pytest.mark.parametrize("discount", [0.9, 0.99])
def test_the_roots_value_tends_to_backward_induction_without_a_time_limit(discount):
    """Claim: after 2,048 simulations the root's value is within 1 % of the range of values of value iteration's.

    Sample: 6 random processes of 6 states and 3 actions, 8 replicates, each the mean over the processes; Student's t
    with 7 degrees of freedom, one-sided, false alarms 1e-6.
    """
    errors = np.zeros(8)
    for seed in range(6):
        model = random_process(seed)
        truth, scale = value_iteration(enumerate_model(model, 0), discount).value(0), return_range(model, 1)
        planner = FreshSearch(model, gsp.make_recipe("graft", discount=discount))
        for replicate in range(len(errors)):
            value = planner.plan(2048, 8 * seed + replicate).value
            errors[replicate] += abs(value - truth) * (1.0 - discount) / scale / 6
    print(f"\ndiscount {discount}: error in % of the range {100 * errors.mean():.3f}")
    assert errors.mean() - margin(errors) < 0.01


def test_the_roots_value_tends_to_backward_induction_with_a_time_limit():
    """Claim: after 2,048 simulations the root's value is within 1 % of the range of returns of backward induction's.

    Without discount.  Sample: 6 random processes of 6 states, 3 actions and 15 steps, 8 replicates, each the mean over
    the processes; Student's t with 7 degrees of freedom, one-sided, false alarms 1e-6.
    """
    errors = np.zeros(8)
    for seed in range(6):
        model = random_process(seed)
        truth, scale = truncated_value(model, 0, 15), return_range(model, 15)
        planner = FreshSearch(model, gsp.make_recipe("graft"), steps_left=15)
        for replicate in range(len(errors)):
            errors[replicate] += abs(planner.plan(2048, 8 * seed + replicate).value - truth) / scale / 6
    print(f"\nerror in % of the range {100 * errors.mean():.3f}")
    assert errors.mean() - margin(errors) < 0.01


@pytest.mark.parametrize("left", [2, 3, 5, 8])
def test_few_steps_left_are_not_discounted(left):
    """To leave at once pays 0.9, to go on to the last step 1."""
    table = [[[(1.0, left, 0.9, True)], [(1.0, state + 1, 0.0, False)]] for state in range(left - 1)]
    table += [[[(1.0, left, 0.9, True)], [(1.0, left, 1.0, True)]], [[(1.0, left, 0.0, True)]] * 2]
    for seed in range(20):
        result = FreshSearch(gsp.tabular_model(table), gsp.make_recipe("graft"), steps_left=left).plan(256, seed)
        assert result.action == ON
        assert 0.9 < result.value <= 1.0  # cautious


def test_where_rewards_fall_with_the_clock_there_is_a_hurry():
    """Claim: in FourRooms, whose reward falls with the clock that states do not hold, regret is below 2 % of optimum.

    With 1,024 simulations a decision, which suffice for backward induction.  Sample: 16 layouts, fixed seeds.
    """
    regrets = []
    for episode in range(16):
        core = gym.make("GSP/FourRooms-v0").unwrapped
        core.reset(seed=600 + episode)
        model = core.compiled_model()
        regret, search = (
            Regret(model, core.clone_state().cells, 50),
            Search(model, gsp.make_recipe("graft"), timed=True),
        )
        for elapsed in range(50):
            cells = core.clone_state().cells
            search.seed(np.array([episode, elapsed], np.uint64))
            result = search.plan(model.cells(cells), gsp.Budget(1024), elapsed, 50 - elapsed)
            regret.add(cells, result.action)
            if core.step(result.action)[2]:
                break
        assert search.store.arrays.allocation["follows_clock"][0] == 1
        regrets.append(regret.total / regret.optimum)
    print(f"\nregret in % of the optimum {100 * np.mean(regrets):.2f}")
    assert np.mean(regrets) < 0.02


@pytest.mark.parametrize(("steps", "baseline"), [(1, 0.0), (3, -0.5)])
def test_what_the_end_pays_is_no_part_of_the_baseline(steps, baseline):
    """A chain whose steps pay -0.5 and whose end pays 1: the first simulation tells what a step pays, if it has one."""
    chain = [[[(1.0, state + 1, -0.5, False)]] * 2 for state in range(steps - 1)]
    planner = FreshSearch(
        gsp.tabular_model([*chain, *[[[(1.0, steps, 1.0, True)]] * 2] * 2]), gsp.make_recipe("graft"), 50
    )
    planner.plan(1, 0)
    assert planner.search.program.baseline == baseline


def test_rewards_that_are_only_noisy_do_not_follow_a_clock():
    """Without a clock in the state, backward induction stays undiscounted, however an outcome pays."""
    noisy = [[[(0.5, 1, 0.0, False), (0.5, 1, 2.0, False)]] * 2, [[(1.0, 0, 1.0, False)]] * 2]
    search = Search(gsp.tabular_model(noisy), gsp.make_recipe("graft"), timed=True)
    search.seed(agent_stream(1, 0))
    search.plan(search.model.cells(0), gsp.Budget(256), 0, 8)
    assert search.store.arrays.allocation["follows_clock"][0] == 0


@pytest.mark.parametrize(
    ("name", "phase"),
    [("SysAdminRing", codes.BY_SCENARIOS), ("FrozenLake", codes.BY_GRAPH), ("Sailing", codes.BY_GRAPH)],
)
def test_what_decides_does_not_change_with_the_budget(name, phase):
    """A longer search knows more of the first steps even where nothing recurs."""
    core = gym.make(f"GSP/{name}-v0").unwrapped
    core.reset(seed=1)
    model, cells = core.compiled_model(), core.clone_state().cells
    for budget in (1024, 8192):
        search = Search(model, gsp.make_recipe("graft"), timed=True)
        search.seed(agent_stream(budget, 0))
        search.plan(model.cells(cells), gsp.Budget(budget), 0, core.horizon)
        assert search.store.arrays.allocation["phase"][0] == phase


def test_what_finds_no_room_in_a_full_graph_is_unknown():
    core = gym.make("GSP/SysAdminRing-v0").unwrapped
    core.reset(seed=1)
    model, cells = core.compiled_model(), core.clone_state().cells
    search = Search(model, gsp.make_recipe("graft"), timed=True, max_nodes=300)
    search.seed(agent_stream(2, 0))
    for elapsed in range(10):
        search.plan(model.cells(cells), gsp.Budget(64), elapsed, core.horizon - elapsed)
    assert search.tally.nodes == 300
    assert search.store.arrays.allocation["phase"][0] == codes.BY_SCENARIOS


def coin_game():
    """Action 0 leads to where one may guess a coin that is drawn after the guess; action 1 pays 0.6.

    States: 0 the choice, 1 the guess, 2 and 3 right and wrong, 4 the end.
    """
    guess = [[(0.5, 2, 0.0, False), (0.5, 3, 0.0, False)]] * 2
    first = [[(1.0, 1, 0.0, False)], [(1.0, 4, 0.6, True)]]
    return gsp.tabular_model([first, guess, [[(1.0, 4, 1.0, True)]] * 2, [[(1.0, 4, 0.0, True)]] * 2, first])


def let_scenarios_decide(search):
    """Begin an episode as if scenarios had made the last decision, so that all but one simulation are scenarios."""
    search.begin_episode()
    search.store.arrays.allocation["phase"] = codes.BY_SCENARIOS


def decisions_by_scenarios(model, steps_left, budget, sample):
    """Results of some decisions in state 0."""
    search, results = Search(model, gsp.make_recipe("graft", root_allocation=FORCED), steps_left is not None), []
    for seed in range(sample):
        let_scenarios_decide(search)
        search.seed(agent_stream(seed, 0))
        results.append(search.plan(model.cells(0), gsp.Budget(budget), 0, steps_left))
        assert search.store.arrays.allocation["phase"][0] == codes.BY_SCENARIOS
    return results


@pytest.mark.parametrize("budget", [16, 256, 4096])
def test_scenarios_do_not_guess_a_coin_that_is_drawn_later(budget):
    """Claim: guessing is believed to be worth 1/2, and the sure 0.6 is taken as often as fair draws allow.

    With n complete scenarios and a binomial number of right guesses, guessing is chosen where more than 0.6 n are
    right.  Sample: 200 searches (20 at 4,096); Student's t and an exact binomial, false alarms 1e-6 in all.
    """
    sample = 20 if budget == 4096 else 200
    results = decisions_by_scenarios(coin_game(), 5, budget, sample)
    means, wrong = np.array([result.q_values[0] for result in results]), sum(result.action == 0 for result in results)
    print(f"\n{budget} simulations: guessing is worth {means.mean():.4f}, chosen {wrong} times of {sample}")
    assert all(result.q_values[1] == pytest.approx(0.6, rel=1e-12) for result in results)
    assert abs(means.mean() - 0.5) <= margin(means, comparisons=4)
    n = (budget - 2) // 2  # complete ones at the least: one simulation explores, one may be left over
    fair = max(stats.binom.sf(np.floor(0.6 * k), k, 0.5) + stats.binom.pmf(0.6 * k, k, 0.5) for k in (n, n + 1))
    assert_below(wrong, sample, fair, comparisons=2)


@pytest.mark.parametrize("budget", [256, 4096])
def test_the_default_takes_the_sure_reward(budget):
    """Claim: with scenarios where they are due, at most the same share of searches guesses the coin.

    Sample: 200 searches; exact binomial against the 5 % that fair draws of a quarter of the budget allow at 256
    simulations, and 0.1 % at 4,096; false alarms 1e-6.
    """
    planner = FreshSearch(coin_game(), gsp.make_recipe("graft"), steps_left=5)
    wrong = sum(planner.plan(budget, seed).action == 0 for seed in range(200))
    print(f"\n{budget} simulations: the coin was chosen {wrong} times of 200")
    assert_below(wrong, 200, {256: 0.05, 4096: 0.001}[budget], comparisons=1)


def uniform_values(table, discount, left):
    """Q of the uniform policy in state 0, by exact evaluation over the steps left."""
    values = [0.0] * len(table)
    for _ in range(left):
        q = {
            state: [
                sum(p * (reward + (0.0 if ended else discount * values[after])) for p, after, reward, ended in outcomes)
                for outcomes in actions.values()
            ]
            for state, actions in table.items()
        }
        values = [sum(q[state]) / len(q[state]) for state in table]
    return q[0]


@pytest.mark.parametrize("timed", [True, False])
def test_paired_estimates_are_unbiased(timed):
    """Claim: the mean over a decision's scenarios has the Q of the uniform playout policy as its expectation.

    With two actions, so that neither is left behind before the end: to be left behind depends on what was sampled.
    Sample: 3 random processes with rewards of either sign, 6 steps left (none: discount 0.99, and an end that is soon
    reached), 200 decisions of 40 simulations; Student's t, two-sided, two actions, false alarms 1e-6 in all.
    """
    for seed in range(3):
        table = random_table(seed, states=8, actions=2, ends=3)
        truth = uniform_values(table, 1.0, 6) if timed else uniform_values(table, 0.99, 200)
        model = gsp.tabular_model(table)
        q = np.array([each.q_values for each in decisions_by_scenarios(model, 6 if timed else None, 40, 200)])
        print(f"\nprocess {seed}: {q.mean(axis=0)} for {truth}, standard errors {q.std(axis=0) / np.sqrt(200)}")
        for action in range(2):
            assert abs(q[:, action].mean() - truth[action]) <= margin(q[:, action], comparisons=12)


def test_a_playout_that_meets_the_first_one_ends_as_it_did():
    """Both actions of each of 2,000 states lead to the same one, drawn anew at each step; the root's pay differently.

    So the second playout of each scenario takes one step, and returns differ by what the first step pays.
    """
    rng, states, left = np.random.default_rng(0), 2000, 20
    law = [(1.0 / 512, int(state), 0.0, False) for state in rng.choice(states, 512, replace=False)]
    table = [[law, [(p, after, reward + 2.0, ended) for p, after, reward, ended in law]]]
    for _ in range(states - 1):
        law = [(1.0 / 512, int(state), float(rng.integers(8)), False) for state in rng.choice(states, 512)]
        table.append([law, law])
    for result in decisions_by_scenarios(gsp.tabular_model(table), left, 64, 20):
        assert result.q_values[1] - result.q_values[0] == pytest.approx(2.0, rel=1e-12)
        assert result.action == 1
        assert result.model_steps < 64 * (left + 3) / 2


def paid(table, factor, constant):
    """The process with other rewards: times a factor, plus a constant."""
    return {
        state: {
            action: [(p, after, factor * reward + constant, ended) for p, after, reward, ended in outcomes]
            for action, outcomes in actions.items()
        }
        for state, actions in table.items()
    }


@pytest.mark.parametrize("by_scenarios", [False, True])
@pytest.mark.parametrize("constant", [-100.0, -1.0, 3.0])
def test_a_constant_paid_at_every_step_changes_no_decision(constant, by_scenarios):
    """In a process without end, with rewards that sums hold exactly: values move by what the constant comes to."""
    for seed in range(4):
        table, world, state = random_table(seed, states=12, ends=0, rewards=(0.0, 1.0), steps=5), Stream(seed), 0
        recipe = gsp.make_recipe("graft", root_allocation=FORCED if by_scenarios else None)
        searches = [Search(gsp.tabular_model(each), recipe, True) for each in (table, paid(table, 1.0, constant))]
        for search in searches if by_scenarios else ():
            let_scenarios_decide(search)
        for elapsed in range(4):
            found = []
            for search in searches:
                search.seed(agent_stream(seed, elapsed))
                found.append(search.plan(search.model.cells(state), gsp.Budget(100), elapsed, 12 - elapsed))
            assert found[0].action == found[1].action
            assert found[0].visit_counts.tolist() == found[1].visit_counts.tolist()
            more = (12 - elapsed) * constant
            assert found[1].q_values == pytest.approx(found[0].q_values + more, rel=1e-9, abs=1e-9)
            assert found[1].value == pytest.approx(found[0].value + more, rel=1e-9, abs=1e-9)
            state, _, _ = table_step(table, state, found[0].action, world.uniform())


@pytest.mark.parametrize("by_scenarios", [False, True])
@pytest.mark.parametrize("timed", [True, False])
@pytest.mark.parametrize("power", [-10, 10])
def test_rewards_have_no_unit(power, timed, by_scenarios):
    """Rewards times a power of 2: the same decisions of an episode bit for bit, values times that power."""
    for seed in range(4):
        table, factor = random_table(seed, states=12, ends=1), 2.0**power
        scaled = paid(table, factor, 0.0)
        recipe = gsp.make_recipe("graft", root_allocation=FORCED if by_scenarios else None)
        world, state = Stream(seed), 0
        plain, other = (Search(gsp.tabular_model(each), recipe, timed) for each in (table, scaled))
        for search in (plain, other) if by_scenarios else ():
            let_scenarios_decide(search)
        for elapsed in range(4):
            found = []
            for search in (plain, other):
                search.seed(agent_stream(seed, elapsed))
                left = 12 - elapsed if timed else None
                found.append(search.plan(search.model.cells(state), gsp.Budget(100), elapsed, left))
            assert found[0].action == found[1].action
            assert found[0].visit_counts.tolist() == found[1].visit_counts.tolist()
            assert (factor * found[0].q_values).tolist() == found[1].q_values.tolist()
            assert factor * found[0].value == found[1].value
            state, _, ended = table_step(table, state, found[0].action, world.uniform())
            if ended:
                break
