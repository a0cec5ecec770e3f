"""Baselines of the literature as recipes, registered for the laboratory: import this module, or name it in a grid file.

The first three plan on the samples that `graft` keeps, with its discount, its largest value learned from returns, and
its decision by plain values after a cautious sweep; only how they explore is theirs.
"""

import math
from dataclasses import dataclass
from typing import Any

from gymnasium_gsp.abi import scratch
from gymnasium_gsp.algorithms.graft import graft
from gymnasium_gsp.algorithms.registry import algorithm
from gymnasium_gsp.algorithms.sparse_sampling import sparse_sampling
from gymnasium_gsp.algorithms.uct import uct
from gymnasium_gsp.search.ingredients.ingredient import Ingredient, check_number, make_plain
from gymnasium_gsp.search.ingredients.optimism import Optimism, Propagation
from gymnasium_gsp.search.ingredients.selection import UCB1, pick_best, pick_untried
from gymnasium_gsp.search.recipe import PairedScenarios, Recipe


def count_bonus_bound(params, context, visits, outcomes, count, side):
    """Return the mean of r + discount * V(s') and a bonus, factor * range * sqrt(L / n), L = 1 or log(2 + T).

    Outcomes that found no room in memory have the largest value.  params: factor, whether L is the logarithm.
    """
    total, unstored = 0.0, float(visits)
    for i in range(count):
        times, reward, behind = outcomes[3 * i], outcomes[3 * i + 1], outcomes[3 * i + 2]
        total += reward + context.discount * times * behind
        unstored -= times
    growth = math.log(2.0 + context.root_returns) if params[1] != 0.0 else 1.0
    bonus = params[0] * (context.top - context.smallest_return) * math.sqrt(growth / visits)
    return (total + unstored * context.top) / visits + bonus


@dataclass(frozen=True)
class CountBonus(Optimism):
    """An upper bound that exceeds the mean by a bonus of order 1 / sqrt(n).

    Attributes:
        factor: of the bonus, in units of the range of values seen.
        logarithm: whether the square of the bonus grows with the logarithm of the episode's simulations T.
    """

    factor: float = 0.1
    logarithm: bool = False

    function = staticmethod(count_bonus_bound)
    lower_is_mean = True
    margin = 1.0

    def __post_init__(self) -> None:
        make_plain(self)
        check_number("factor", self.factor, smallest=0.0)

    @property
    def needs_trajectories(self) -> bool:
        return False

    def bound_params(self, actions: int, trajectories: int | None) -> tuple[float, ...]:
        return (self.factor, float(self.logarithm))

    @property
    def doubts(self) -> tuple[str, ...]:
        return ("the largest value is learned, so its bonus is no bound that holds with a stated probability",)


@algorithm("mbie-eb", "Strehl and Littman 2008", {})
def mbie_eb(*, factor: float = 0.1, **slots: Any) -> Recipe:
    """Value iteration with an exploration bonus on the samples of the episode.

    A. Strehl and M. Littman, An analysis of model-based interval estimation for Markov decision processes, JCSS 2008:
    Q(s,a) = r + discount * sum of P V + beta / sqrt(n(s,a)), solved by value iteration.

    Departures from the paper:
        1. The samples come from simulations that begin at the root, not from one life.
        2. beta = factor times the range of values, which is learned from the returns of the episode.
        3. No value exceeds the largest, by which untried actions are valued.
        4. Value iteration is partial: what moved by more than a thousandth of the range travels to predecessors.

    Args:
        factor: of the bonus.
        **slots: other choices for slots of the recipe.
    """
    return _planning_on_samples(CountBonus(factor), Propagation(0.001)).changed(**slots)


@algorithm("ucbvi", "Azar, Osband and Munos 2017", {})
def ucbvi(*, factor: float = 0.1, **slots: Any) -> Recipe:
    """Optimistic value iteration with a bonus of Chernoff and Hoeffding.

    M. Azar, I. Osband and R. Munos, Minimax regret bounds for reinforcement learning, ICML 2017, Algorithm 3:
    the bonus is 7 H L / sqrt(n(s,a)), L the logarithm of the number of samples.

    Departures from the paper: those of `mbie-eb`, and
        5. The bonus is factor times the range of values times sqrt(L / n), L = log(2 + T) for T simulations of the
           episode; with the paper's 7 H nothing is told apart in so few samples.
        6. Values are stationary, with a discount, not one table for each step.

    Args:
        factor: of the bonus.
        **slots: other choices for slots of the recipe.
    """
    return _planning_on_samples(CountBonus(factor, logarithm=True), Propagation(0.001)).changed(**slots)


@algorithm("rtdp", "Barto, Bradtke and Singh 1995", {})
def rtdp(**slots: Any) -> Recipe:
    """Real-time dynamic programming on the frequencies observed.

    A. Barto, S. Bradtke and S. Singh, Learning to act using real-time dynamic programming, Artificial Intelligence
    1995: greedy trials from an optimistic start, whose states alone are backed up.

    Departures from the paper:
        1. The law is the frequencies observed, as a simulator gives none; an action never tried is worth the largest
           value.
        2. That value is learned; where it changes, or the simulations have grown by a quarter, all states are renewed.
        3. States are backed up after a trial, the last first, and at most one predecessor for each of its steps.
        4. The decision is made by plain values, as `graft` makes it.

    Args:
        **slots: other choices for slots of the recipe.
    """
    return _planning_on_samples(CountBonus(0.0), Propagation(0.001, backups=1)).changed(**slots)


def _planning_on_samples(optimism: Optimism, propagation: Propagation) -> Recipe:
    return graft(optimism=optimism, propagation=propagation, root_allocation=None)


@algorithm("paired-rollouts", "Bertsekas and Castanon 1999", {})
def paired_rollouts(**slots: Any) -> Recipe:
    """One step of improvement over uniform play, with common random numbers.

    D. Bertsekas and D. Castanon, Rollout algorithms for stochastic scheduling problems, Journal of Heuristics 1999,
    with the streams of `PairedScenarios` and its sequential halving.

    Departures from the paper:
        1. The base policy is uniform, as no heuristic is at hand.
        2. Until an action that was tried twice has led to two states, the graph decides: where nothing is random, this
           is `graft`.

    Args:
        **slots: other choices for slots of the recipe.
    """
    always = PairedScenarios(novelty=0.0, known=2.0, evidence=0.0)
    return graft(root_allocation=always).changed(**slots)


@algorithm("hindsight", "Yoon, Fern, Givan and Kambhampati 2008", {})
def hindsight(*, depth: int = 4, **slots: Any) -> Recipe:
    """Hindsight optimisation: the mean, over drawn futures, of the best return that was possible in each.

    S. Yoon, A. Fern, R. Givan and S. Kambhampati, Probabilistic planning via determinization in hindsight, AAAI 2008.
    A future fixes what each action of each state leads to, so the best plan in it knows what will be drawn, and values
    are too high.  A tree of sparse sampling with one sample of each action is such a future, solved in full.

    Departures from the paper:
        1. A simulation is a future of one of the root's actions, which are tried in turn.
        2. A future is solved for the next `depth` steps, by looking at every sequence of actions; nothing is paid
           behind them.  The paper gives it to a classical planner.
        3. A state that two sequences of actions lead to has two futures.

    Args:
        depth: how many steps are looked ahead; a simulation takes about actions ** (depth - 1) model steps.
        **slots: other choices for slots of the recipe.
    """
    return sparse_sampling(width=1, depth=depth, discount=None).changed(**slots)


@algorithm("uct-star", "Keller and Helmert 2013", {})
def uct_star(*, c: float = 1.0, **slots: Any) -> Recipe:
    """UCT*: UCB1 with Bellman backups of what was sampled, in a tree.

    T. Keller and M. Helmert, Trial-based heuristic tree search for finite horizon MDPs, ICAPS 2013.

    Departures from the paper and from PROST:
        1. A backup weighs outcomes by their frequencies, not by given probabilities (so it is their MaxUCT with present
           values of children).
        2. The heuristic start is one uniform playout, not iterative deepening on a determinisation.
        3. Nothing is labelled as solved.
        4. The exploration constant is c times the range of returns, not the value of the node.

    Args:
        c: exploration constant, in units of the range of returns.
        **slots: other choices for slots of the recipe.
    """
    return Recipe(key="path", selection=UCB1(c, scale="range"), estimator="current").changed(**slots)


def deviation_select(params, context, visits, q, counts, rng):
    """Return the action of the largest Q(s,a) + C sigma sqrt(log N(s) / N(s,a)), sigma of the returns; params: C."""
    action = pick_untried(context, counts, rng)
    if action >= 0:
        return action
    scores = scratch(context)
    factor = params[0] * math.sqrt(context.root_variance * math.log(float(visits)))
    for a in range(context.actions):
        scores[a] = q[a] + factor / math.sqrt(float(max(counts[a], 1)))
    return pick_best(context, scores, rng)


@dataclass(frozen=True)
class DeviationUCB(Ingredient):
    """UCB1 whose constant is scaled by the standard deviation of the returns of the episode's simulations.

    Attributes:
        c: the exploration constant in these units, at least 0.
    """

    c: float = 2.0

    kind = "select"
    function = staticmethod(deviation_select)

    def __post_init__(self) -> None:
        make_plain(self)
        check_number("c", self.c, smallest=0.0)

    def params(self) -> tuple[float, ...]:
        return (self.c,)


@algorithm("uct-deviation", "Schmoecker, Schnell and Dockhorn 2025", {})
def uct_deviation(*, c: float = 2.0, **slots: Any) -> Recipe:
    """UCT whose exploration constant is a multiple of a standard deviation, the same for all environments.

    R. Schmoecker, C. Schnell and A. Dockhorn, Investigating scale independent UCT exploration factor strategies, 2025.

    Departures from the paper:
        1. The deviation is that of the returns of the episode's simulations, not of all Q values in the tree: a
           selection sees the values of its own node alone.

    Args:
        c: exploration constant in units of the deviation.
        **slots: other choices for slots of the recipe.
    """
    return uct(selection=DeviationUCB(c)).changed(**slots)
