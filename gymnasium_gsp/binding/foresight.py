"""An experiment that finds foreknowledge: a future that is drawn beforehand and travels with every snapshot.

No list of types can find a pre-drawn list, an iterator, a deck, or a generator written out as an integer.  So episodes
are played from several seeds by the same actions.  Where two of them show the same up to a step and then part, although
copies of either under new randomness never do, a copy knows what the player cannot.  That alone may be hidden *state*,
a layout that stays as it was drawn.  It is the *future* if the two also part when nothing but what runs by itself (a
clock, a counter, a position in a list) is moved on from a moment at which they agreed, or if a hidden sequence is used
up.  A generator that is written out as numbers counts as running by itself, also where actions decide how often it is
drawn from: its numbers are large and jump about, which no place, count or speed does.
"""

import copy
import math
import random
import time
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from gymnasium_gsp.binding.adapters.adapter import Adapter
from gymnasium_gsp.binding.environment import BareEnv, Env
from gymnasium_gsp.binding.keys import CODE
from gymnasium_gsp.binding.parts import Path, attributes_of, content_of, parts_of
from gymnasium_gsp.binding.private_simulator import PrivateSimulator
from gymnasium_gsp.binding.streams import global_streams, stream_place, stream_type

_EPISODES = 8
_COPIES = 16  # copies that must all tell what the original did: an honest one does with probability 2**-32 at most
_LONGEST = 64  # entries of a container that is searched for streams
_PAIRS = 4  # pairs of episodes that are looked into
_LARGEST_COUNT = 1 << 24  # whole numbers above it are neither places nor counts
_JUMP = 1 / 8  # change of a generator's numbers in a step, at least, as a share of the largest of them
FORESIGHT_REMEDY = (
    "planning would see the future; give the environment redraw_hidden(), which draws from self.np_random what is "
    "still to come, and a state_key() without it"
)
"""What to do about it."""
GLOBAL_STREAM = "steps draw from a global stream (random, numpy.random or torch); draw from self.np_random instead"
SYSTEM_STREAM = "random.SystemRandom draws what no seed repeats; draw from self.np_random instead"
UNREPEATABLE = "two restored copies with one seed part ways: save all that decides the future"

Outcome = tuple[Hashable, float, bool]
"""What a step showed: key of the observation, reward, terminated."""
Answer = tuple[Any, float, bool]
"""The same with the observation itself."""


@dataclass
class Moment:
    """A step of an episode, and all that stood before it."""

    history: tuple[Any, ...]
    action: Any
    snapshot: Any
    parts: dict[Path, Any]
    outcome: Outcome
    drew: bool


@dataclass
class Played:
    """An episode: the number of its sequence of actions, its seed, its moments."""

    sequence: int
    seed: int
    moments: list[Moment] = field(default_factory=list)


@dataclass(frozen=True)
class Foreknowledge:
    """What a copy knows that the player cannot.

    Attributes:
        future: whether that is what will happen, not how things are.
        how: in words.
    """

    future: bool
    how: str


class Experiment:
    """Looks for foreknowledge in an environment.

    Args:
        env: what to play, wrapped; the user's own, or another simulator.
        adapter: how it is saved.
        simulator: where copies run.
        choose: function of (bare environment, info, number) that returns a legal action.
        show: function of an observation that returns its key.
    """

    def __init__(self, env: Env, adapter: Adapter, simulator: PrivateSimulator, choose: Any, show: Any) -> None:
        self.env, self.raw, self.adapter, self.simulator = env, env.unwrapped, adapter, simulator
        self._choose, self._show = choose, show
        self._deadline = math.inf

    def run(self, seed: int, steps: int, seconds: float = math.inf) -> Foreknowledge | None:
        """Play some episodes of so many steps; returns None if no copy knew more than the player.

        It also does where they took longer than so many seconds.
        """
        self._deadline = time.monotonic() + seconds
        if len({self._show(self.env.reset(seed=seed + episode)[0]) for episode in range(_EPISODES)}) == _EPISODES:
            return None  # no two episodes begin alike
        draw = np.random.default_rng(seed)
        first, second = draw.integers(1 << 30, size=2).tolist()
        second += (second - first) % 2 == 0  # another action where there are two
        sequences = [[first] * steps, [first, second] * (steps // 2), [second] * steps]
        played: list[Played] = []
        for number, choices in enumerate(sequences):
            played += [self._play(number, seed + episode, choices) for episode in range(_EPISODES)]
        if time.monotonic() > self._deadline:
            return None
        known: Foreknowledge | None = None
        for left, right, step in _partings(played)[:_PAIRS]:
            if not all(self._copies_tell(episode.moments[step]) for episode in (left, right)):
                continue
            known = known or Foreknowledge(False, f"from step {step + 1} on, copies know a state that is not shown")
            how = self._future(left, right, step, played)
            if how:
                return Foreknowledge(True, how)
        return known

    def _play(self, sequence: int, seed: int, choices: Sequence[int]) -> Played:
        observation, info = self.env.reset(seed=seed)
        self.adapter.begin_episode()
        history: tuple[Any, ...] = (self._show(observation),)
        played, streams = Played(sequence, seed), streams_of(self.raw)
        for choice in choices:
            action = self._choose(self.raw, info, choice)
            before = [stream_place(stream) for stream in streams]
            snapshot, parts = self.adapter.save(self.raw), dict(parts_of(self.adapter.parts(self.raw), self.raw))
            parts = {path: copy.deepcopy(value) for path, value in parts.items()}
            observation, reward, terminated, truncated, info = self.env.step(action)
            self.adapter.action_taken(action)
            outcome = self._show(observation), float(reward), bool(terminated)
            drew = [stream_place(stream) for stream in streams] != before
            played.moments.append(Moment(history, action, snapshot, parts, outcome, drew))
            history = (*history, repr(action), outcome)
            if terminated or truncated or time.monotonic() > self._deadline:
                break
        return played

    def find_unrepeatable(self, seed: int, steps: int, seconds: float = math.inf) -> str:
        """What keeps copies with one seed from doing the same, and what to do about it; "" if they do.

        Two copies of each moment of one episode are stepped once, as long as so many seconds allow.
        """
        self._deadline = time.monotonic() + seconds
        self.env.reset(seed=seed)
        if asks_system(self.raw):
            return SYSTEM_STREAM
        for moment in self._play(0, seed, range(steps)).moments:
            if time.monotonic() > self._deadline:
                break
            before = global_streams()
            copies = [self._copy(moment, seed) for _ in range(2)]
            if global_streams() != before:
                return GLOBAL_STREAM
            first, second = (copy and self._outcome(copy) for copy in copies)
            if first != second and self.adapter.exact:
                return UNREPEATABLE
        return ""

    def _copy(self, moment: Moment, seed: int, moved: dict[Path, Any] | None = None) -> Answer | None:
        """The step of a copy in the moment's place under new randomness; None where it could not be moved on."""
        raw = self.simulator.raw
        self.adapter.reseed(raw, np.random.SeedSequence(seed))
        self.simulator.snapshot = moment.snapshot
        self.simulator.restore()
        if moved and not self.adapter.set_parts(raw, copy.deepcopy(moved)):
            return None
        observation, reward, terminated, _, _ = self.simulator.env.step(moment.action)
        return observation, float(reward), bool(terminated)

    def _outcome(self, answer: Answer) -> Outcome:
        return self._show(answer[0]), *answer[1:]

    def _copies_tell(self, moment: Moment) -> bool:
        copies = (self._copy(moment, seed) for seed in range(_COPIES))
        return all(answer is not None and self._outcome(answer) == moment.outcome for answer in copies)

    def _future(self, left: Played, right: Played, step: int, played: list[Played]) -> str:
        """How it is known that the two hold the future and not a layout; "" where it is not."""
        here = (left.moments[step], right.moments[step])
        if any(moment.drew for moment in here):
            alike = all(self._one_future(moment, left.moments[step + 1 :]) for moment in here)
            return "steps draw, and copies under new randomness never differ" if alike else ""
        if all(len(one.moments) == 1 for one in played):
            return "an episode is one step, whose outcome is drawn before"
        for path, value in here[0].parts.items():
            after = left.moments[step + 1].parts.get(path) if step + 1 < len(left.moments) else None
            hidden = content_of(value) != content_of(here[1].parts.get(path))
            if hidden and after is not None and _used_up(value, after):
                return f"{'.'.join(path)} holds what will be drawn"
        moving = _by_itself(played) | _generators(left)
        names = ", ".join(".".join(path) for path in sorted(moving))
        for other in range(min(len(left.moments), len(right.moments)) if moving else 0):
            before = here if other > step else (left.moments[other], right.moments[other])
            after = (left.moments[other], right.moments[other]) if other > step else here
            moved = [{path: moment.parts[path] for path in sorted(moving & moment.parts.keys())} for moment in after]
            if other != step and self._part_when_moved(before, moved, agreed=other < step):
                return f"what runs by itself ({names}) decides it"
        return ""

    def _part_when_moved(self, moments: tuple[Moment, Moment], moved: list[dict[Path, Any]], agreed: bool) -> bool:
        """Return whether two copies part once their clocks are moved on.

        Where they did not agree before, a number must change in both, by neither the same difference nor the same
        factor: what a clock does to a layout is common to all of them.
        """
        then = [self._copy(moment, 0, parts) for moment, parts in zip(moments, moved, strict=True)]
        if then[0] is None or then[1] is None:
            return False
        if agreed:
            return self._outcome(then[0]) != self._outcome(then[1])
        now = [answer for moment in moments if (answer := self._copy(moment, 0)) is not None]
        (a, b), (c, d) = map(_vector, now), (_vector(then[0]), _vector(then[1]))
        if not len(a) == len(b) == len(c) == len(d):
            return False
        common = np.isclose(c - a, d - b) | np.isclose(c * b, d * a)
        return bool(((a != c) & (b != d) & ~common).any())

    def _one_future(self, moment: Moment, rest: list[Moment]) -> bool:
        """Return whether copies under new randomness all have the same future."""
        futures = set()
        for seed in range(_COPIES // 2):
            answer = self._copy(moment, seed)
            shown = [answer and self._outcome(answer)]
            for later in rest:
                if shown[-1] is None or shown[-1][2]:
                    break
                observation, reward, terminated, truncated, _ = self.simulator.env.step(later.action)
                shown.append(self._outcome((observation, float(reward), bool(terminated or truncated))))
            futures.add(tuple(shown))
        return len(futures) == 1


def _partings(played: list[Played]) -> list[tuple[Played, Played, int]]:
    """Pairs of episodes with the same actions that show the same before a step and not after it; late ones first."""
    found = []
    for left, right in combinations(played, 2):
        if left.sequence != right.sequence:
            continue
        for step, (a, b) in enumerate(zip(left.moments, right.moments, strict=False)):
            if a.history != b.history or repr(a.action) != repr(b.action):
                break
            if a.outcome != b.outcome:
                found.append((left, right, step))
    return sorted(found, key=lambda pair: -pair[2])


def _by_itself(played: list[Played]) -> set[Path]:
    """What changes in the course of an episode, and in the same way whatever is done."""
    values: dict[tuple[int, int], dict[Path, set[Any]]] = defaultdict(lambda: defaultdict(set))
    changing: set[Path] = set()
    for episode in played:
        for step, moment in enumerate(episode.moments):
            for path, value in moment.parts.items():
                values[episode.seed, step][path].add(content_of(value))
        for before, after in pairwise(episode.moments):
            changing |= {p for p, value in after.parts.items() if content_of(value) != content_of(before.parts.get(p))}
    driven = {path for table in values.values() for path, contents in table.items() if len(contents) > 1}
    return changing - driven


def _generators(episode: Played) -> set[Path]:
    """Whole numbers that are large and jump about, as those of a generator do."""
    found = set()
    for path in set.intersection(*(set(moment.parts) for moment in episode.moments)):
        try:
            numbers = np.array([_whole_numbers(moment.parts[path]) for moment in episode.moments])
        except (TypeError, ValueError, OverflowError):  # of another kind, or not always as many
            continue
        largest = np.abs(numbers).max(initial=0.0)
        if largest > _LARGEST_COUNT and np.abs(np.diff(numbers, axis=0)).mean() >= _JUMP * largest:
            found.add(path)
    return found


def _whole_numbers(value: Any) -> np.ndarray:
    """A whole number of any size, or an array of some, as floats.

    Raises:
        TypeError: for anything else.
    """
    if not isinstance(value, int | np.integer) and not (isinstance(value, np.ndarray) and value.dtype.kind in "iu"):
        raise TypeError(f"a {type(value).__name__} is not made of whole numbers")
    return np.asarray(value, float)


def _used_up(before: Any, after: Any) -> bool:
    """Return whether a sequence lost some of its entries, or an iterator went on."""
    if hasattr(before, "__next__"):
        return content_of(before) != content_of(after)
    return hasattr(before, "__len__") and hasattr(after, "__len__") and len(after) < len(before)


def streams_of(env: BareEnv) -> list[Any]:
    """The streams that an environment holds."""
    found, todo, seen = [], [vars(env)], {id(env)}
    while todo:
        item = todo.pop()
        if stream_type(item) is not None:
            found.append(item)
            continue
        inside: Any = item.values() if isinstance(item, dict) else item if isinstance(item, list | tuple) else ()
        for part in (*(inside if len(inside) <= _LONGEST else ()), *attributes_of(item).values()):
            if id(part) not in seen and not isinstance(part, (str, int, float, np.ndarray, *CODE)):
                seen.add(id(part))
                todo.append(part)
    return found


def asks_system(env: BareEnv) -> bool:
    """Return whether an environment holds a stream of the operating system."""
    return any(isinstance(stream, random.SystemRandom) for stream in streams_of(env))


def _vector(answer: Answer) -> np.ndarray:
    """The numbers of a step: its reward, and the observation where that is made of numbers."""
    try:
        return np.append(np.asarray(answer[0], float), answer[1])
    except (TypeError, ValueError):
        return np.array([answer[1]])
