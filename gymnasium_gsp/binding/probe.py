"""A key and a hold for an environment whose states may never recur, chosen by random walks in its simulator.

A probe counts steps, never seconds, and draws from streams of its own, so an environment always gets the same choice:
the saved state where states recur by themselves; the actions since the root where repeated steps lead elsewhere; and
otherwise the finest cells by which states recur.  Actions are held for longer where they move a state more slowly.
"""

import math
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from gymnasium_gsp.binding.cells import Cells, numbers_of
from gymnasium_gsp.binding.simulated import SimulatedBinding, StateKey

_RECURS = 0.3  # share of new steps that must lead to a known state where states recur
_NOISY = 0.5  # share of repeated steps that lead elsewhere where steps are noisy
_HOLDS = {4: 0.1, 2: 0.2}  # steps, longest first, and how far they may move a state, in units of the spread
_NOISY_HOLDS = {8: 0.2, 4: 0.2, 2: 0.2}

_DECISIONS = 1024  # of a probe
_ROOTS = 4  # states that its walks begin in
_LONGEST = 200  # steps of a walk
_REPEATED = 16  # one decision among so many is taken twice
_FEWEST = 16  # decisions from which anything is learned
_MOST_NUMBERS = 16  # of an observation; in more dimensions no cells recur
_FINENESS = 24, 16, 12, 8, 6, 4, 3, 2  # cells in a spread, finest first
_INFORMATIVE = 0.2  # difference between two repetitions in units of the spread, above which a number is mere noise


@dataclass(frozen=True)
class Findings:
    """The result of a probe.

    Attributes:
        hold: steps for which it held its actions.
        recurrence: share of the steps behind a new sequence of actions that led to a known state, by exact keys.
        noise: share of the repeated steps that led elsewhere; numbers that are mere noise are not compared.
        move: distance of a step in units of the spread: the median, averaged over the numbers.
        cells: the finest cells by which states recur; None where there are none.
        cell_recurrence: the same share by these cells, or by the coarsest that were tried.
    """

    hold: int
    recurrence: float = 1.0
    noise: float = 0.0
    move: float = math.inf
    cells: Cells | None = None
    cell_recurrence: float = 0.0


class _Step(NamedTuple):
    """A step of a walk: whether its sequence of actions is new, the exact key, and numbers before and after it."""

    new: bool
    key: Hashable
    before: list[float]
    after: list[float]
    again: list[float] | None  # after the same step under other randomness


@dataclass(frozen=True)
class View:
    """The way in which an environment is simulated.

    Attributes:
        state_key: the identity of a state; "exact" where states recur by themselves.
        hold: steps for which actions are held.
        found: what the probe found by which this was chosen; None where states are discrete or the user's choice.
    """

    state_key: StateKey
    hold: int = 1
    found: Findings | None = None

    @property
    def recurs(self) -> bool:
        """True if states recur by themselves, as far as is known."""
        return self.found is None or (self.state_key == "exact" and self.found.recurrence >= _RECURS)

    def __str__(self) -> str:
        """The choice and its reasons, in words."""
        key = "the saved state" if self.state_key == "exact" else "the actions since the root"
        if callable(self.state_key):
            key = repr(self.state_key)
        held = f"{key}; actions held for {self.hold} step{'s' * (self.hold > 1)}"
        if self.found is None:
            return held
        shares = {
            "new steps that led to a known state": self.found.recurrence,
            "by cells": self.found.cell_recurrence,
            "repeated steps that led elsewhere": self.found.noise,
        }
        return f"{held} ({', '.join(f'{name} {share:.0%}' for name, share in shares.items())})"


def choose_view(binding: SimulatedBinding, hold: int | None = None, longest: float = math.inf) -> View:
    """Choose the key of a binding, if it is left open, and the hold.

    Nothing is chosen beside exact keys, or keys of a function, that the user gave, nor where a walk fails: the search
    names what it meets itself.

    Args:
        binding: the environment, before its first decision.
        hold: what the user gave; None to choose it.
        longest: steps for which the chosen hold may last, more than which the budget does not pay for.
    """
    given = binding.state_key
    own = given == "exact" or (callable(given) and not isinstance(given, Cells))
    plain = View("exact" if given == "auto" else given, hold or 1)
    if own or not _may_never_recur(binding):
        return plain
    try:
        return _choose(binding, hold, longest, given)
    except Exception:  # a third party's code may raise anything
        return plain


def _choose(binding: SimulatedBinding, hold: int | None, longest: float, given: StateKey) -> View:
    """Choose by probes: one as the environment is, and then one for each hold, longest first, until a hold fits."""
    found = probe(binding, hold or 1)
    noisy = found.noise >= _NOISY
    if given == "auto" and found.recurrence >= _RECURS:
        return View("exact", hold or 1, found)
    if hold is None and not binding.masked:
        holds = _NOISY_HOLDS if noisy else _HOLDS
        held = (probe(binding, steps) for steps in holds if steps <= longest)
        found = next((each for each in held if each.move <= holds[each.hold]), found)
    if given != "auto":
        return View(given, found.hold, found)
    if noisy:
        return View("actions", found.hold, found)
    return View("exact", hold or 1, found) if found.cells is None else View(found.cells, found.hold, found)


def _may_never_recur(binding: SimulatedBinding) -> bool:
    """Return whether the observation holds real numbers, and the environment does not key its states itself."""
    space = binding.view.env.observation_space
    real = isinstance(space, spaces.Box) and space.dtype is not None and space.dtype.kind == "f"
    return real and not hasattr(binding.view.raw, "state_key")


def probe(binding: SimulatedBinding, hold: int) -> Findings:
    """Walk at random in the simulator, with actions held for so many steps."""
    source: Literal["state", "observation"] = "state" if binding.simulator.wrappers.unseen else "observation"
    steps = list(_walks(binding, hold, source))
    if len(steps) < _FEWEST:
        return Findings(hold)
    after = np.array([step.after for step in steps])
    low, high = np.quantile(after, (0.05, 0.95), axis=0)
    ranges = np.where(high > low, high - low, after.max(axis=0) - after.min(axis=0))
    spread = np.where(ranges > 0.0, ranges, np.maximum(1.0, np.abs(low)))
    repeated = [step for step in steps if step.again is not None]
    apart = np.abs(np.array([step.again for step in repeated]) - [step.after for step in repeated])
    spread[apart.mean(axis=0) > _INFORMATIVE * spread] = math.inf
    known = np.isfinite(spread)
    tells = (known & (ranges > 0.0)).any()  # a number that never changes tells no states apart
    moves = np.abs(after - [step.before for step in steps])[:, known] / spread[known]
    cells, share = None, 0.0
    for fineness in _FINENESS if after.shape[1] <= _MOST_NUMBERS and tells else ():
        cells = Cells(_rounded(spread / fineness), source)
        share = _recurrence((step.new, cells.cell(step.after)) for step in steps)
        if share >= _RECURS:
            break
    return Findings(
        hold,
        _recurrence((step.new, step.key) for step in steps),
        float((apart[:, known] > 0.0).any(axis=1).mean()),
        float(np.median(moves, axis=0).mean()) if known.any() else math.inf,
        cells if share >= _RECURS else None,
        share,
    )


def _walks(binding: SimulatedBinding, hold: int, source: str) -> Iterator[_Step]:
    """Every step of random walks from a few states that does not end the episode."""
    simulator, adapter = binding.simulator, binding.adapter
    env, raw = simulator.env, simulator.raw
    longest = min(_LONGEST, binding.time_limit or _LONGEST)
    draw = np.random.default_rng(0)
    paths: set[int] = set()

    def numbers(observation: object) -> list[float]:
        return numbers_of(adapter.state_key(raw) if source == "state" else observation)

    def go(action: Any) -> tuple[Any, bool, Any]:
        for _ in range(min(hold, longest)):
            observation, _, terminated, truncated, info = env.step(action)
            if terminated or truncated:
                return observation, True, info
        return observation, False, info

    for root in range(_ROOTS):
        first, first_info = env.reset(seed=root)
        adapter.reseed(raw, np.random.SeedSequence(root))
        simulator.snapshot = adapter.save(raw)
        taken = 0
        while taken < _DECISIONS // _ROOTS:
            simulator.restore()
            before, info, path, ended, depth = numbers(first), first_info, root, False, 0
            while not ended and depth + min(hold, longest) <= longest:
                action = binding.legal_action(raw, info, choice := int(draw.integers(1 << 30)))
                again = None
                if taken % _REPEATED == 0:
                    snapshot = adapter.save(raw)
                    again = numbers(go(action)[0])
                    adapter.load(raw, snapshot)
                observation, ended, info = go(action)
                path = hash((path, choice % binding.actions.count))
                taken, depth, after = taken + 1, depth + hold, numbers(observation)
                if not ended:
                    yield _Step(path not in paths, binding.key(observation), before, after, again)
                paths.add(path)
                before = after


def _rounded(numbers: NDArray[np.float64]) -> tuple[float, ...]:
    """Three digits of each number, which are read and written more easily."""
    return tuple(float(f"{number:.3g}") for number in numbers)


def _recurrence(steps: Iterator[tuple[bool, Hashable]]) -> float:
    """The share of new steps that led to a key met before."""
    met: set[Hashable] = set()
    new = again = 0
    for is_new, key in steps:
        new += is_new
        again += is_new and key in met
        met.add(key)
    return again / max(1, new)
