"""What the textbook search is made of: random numbers, random processes, the formulas as printed, and settings."""

import math
import random
from dataclasses import dataclass, field
from typing import Any

MASK = (1 << 64) - 1


class Stream:
    """Splitmix64 (Steele, Lea and Flood 2014)."""

    def __init__(self, word):
        self.word = int(word)

    def bits(self):
        self.word = (self.word + 0x9E3779B97F4A7C15) & MASK
        z = self.word
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)

    def uniform(self):
        return (self.bits() >> 11) / 2.0**53

    def below(self, n):
        return ((self.bits() >> 32) * n) >> 32


def random_table(seed, states=6, actions=3, outcomes=3, ends=1, rewards=(-1.0, 1.0), steps=None):
    """A random process, `table[state][action]` = [(probability, next state, reward, ended), ...].

    The last `ends` states end it.  With `steps`, rewards are that many evenly spaced numbers, so that values tie.
    """
    rng = random.Random(seed)
    low, high = rewards

    def reward():
        return rng.uniform(low, high) if steps is None else low + (high - low) * rng.randrange(steps) / (steps - 1)

    table = {}
    for state in range(states):
        table[state] = {}
        for action in range(actions):
            if state >= states - ends:
                table[state][action] = [(1.0, state, 0.0, True)]
                continue
            successors = sorted(rng.sample(range(states), rng.randint(1, min(outcomes, states))))
            weights = [rng.random() + 0.1 for _ in successors]
            table[state][action] = [
                (weight / sum(weights), after, reward(), after >= states - ends)
                for weight, after in zip(weights, successors, strict=True)
            ]
    return table


def table_step(table, state, action, draw):
    """(next state, reward, ended): the first outcome whose cumulative probability exceeds the draw, or the last."""
    passed = 0.0
    for probability, after, reward, ended in table[state][action][:-1]:
        passed += probability
        if draw < passed:
            return after, reward, ended
    return table[state][action][-1][1:]


def total(numbers):
    """Sum from left to right, without the compensation that newer Pythons build into `sum`."""
    result = 0.0
    for number in numbers:
        result += number
    return result


def power_mean(q, n, visits, p, printed=False, low=0.0):
    """L + (sum_a w_a (Q_a - L)^p)^(1/p) over tried actions, w_a = n_a / sum n, or n_a / visits as printed."""
    tried = [(count, value) for count, value in zip(n, q, strict=True) if count > 0]
    weight = visits if printed else sum(n)
    top = max(value for _, value in tried)
    if p == math.inf:
        return top
    if p == 1.0:
        return total(count * value for count, value in tried) / weight
    if top - low <= 0.0:
        return low
    powers = total(count * (max(value - low, 0.0) / (top - low)) ** p for count, value in tried)
    return low + (top - low) * (powers / weight) ** (1.0 / p)


def cautious(q, n, variances, prior, kappa):
    """max(mean over visits of Q, max_a Q_a - kappa sigma_a / sqrt(n_a)), algorithms.md section 3."""
    best = total(count * value for count, value in zip(n, q, strict=True)) / sum(n)
    for count, value, variance in zip(n, q, variances, strict=True):
        if count > 0:
            sigma = math.sqrt((prior + count * variance) / (count + 1))
            best = max(best, value - kappa * sigma / math.sqrt(count))
    return best


@dataclass(frozen=True)
class Bonus:
    """UCB1, C sqrt(log N / n), or the polynomial bonus, C N^(b/beta) / n^(alpha/beta), with exponents per depth.

    Multiplied out in the package's order, so that scores tie here where they tie there.
    """

    kind: str = "polynomial"
    c: float = 0.5
    scaled: bool = False
    exponents: tuple[tuple[float, float], ...] = ()

    def __call__(self, visits, count, depth, spread):
        c = self.c * spread if self.scaled else self.c
        if self.kind == "ucb1":
            return c * math.sqrt(math.log(visits)) / math.sqrt(count)
        if not self.exponents:
            return c * math.sqrt(math.sqrt(visits)) / math.sqrt(count)
        own, edge = self.exponents[min(depth, len(self.exponents) - 1)]
        return c * visits**own / count**edge


@dataclass(frozen=True)
class Settings:
    """What is searched for, and how; the words are those of design.md section 4."""

    key: str = "state_elapsed"  # or path, state
    bonus: Bonus = field(default_factory=Bonus)
    root_bonus: Bonus | None = None
    target: str = "value"  # or return
    p: float = math.inf
    printed: bool = False
    estimator: str = "running"  # or current
    expansion: str = "leaf"  # or path
    constant: float | None = None  # None for a uniform rollout
    rollout_steps: float = math.inf
    horizon: Any = "steps left"  # or a number, or adaptive
    discount: float = 1.0
    retention: str = "decision"  # or episode
    sweep: bool = False
    kappa: float | None = None  # caution of the sweep; None for the search's own backup
    recommendation: str = "best_value"  # or most_visits
    smallest_reward: float = 0.0  # lower bound on a reward, at most 0


def pick(stream, scores):
    """An index with the largest of the (index, score) pairs, ties uniform, as reservoir sampling draws it."""
    best, ties = None, 0
    for index, score in scores:
        if best is None or score > best[1]:
            best, ties = (index, score), 1
        elif score == best[1]:
            ties += 1
            if stream.below(ties) == 0:
                best = (index, score)
    return best[0]
