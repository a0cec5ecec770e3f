"""One environment put through the claims that planning in it rests on; see `check`."""

import random
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gymnasium_gsp.binding.keys import freeze
from gymnasium_gsp.binding.simulated import SimulatedEnv
from gymnasium_gsp.errors import PlanningError

PASSED, FAILED, WARNED, SKIPPED = "passed", "FAILED", "warning", "skipped"

_STEPS = 12  # steps from reset to the snapshot, and compared after it
_MOMENTS = 6  # snapshots of one episode that are restored
_FUTURES = 20  # futures of a snapshot in which observation and state are compared
_TIMED = 50  # repetitions behind a cost
_TIMED_SECONDS = 0.5
_ROUNDING = 1e-2  # how far a copy with native physics may drift in so many steps

Finding = tuple[str, str]
"""Outcome and note."""


class Trial:
    """One run through all claims.

    Args:
        live: the environment, connected to a simulator; it is reset and stepped.
        seed: of resets and actions.
    """

    def __init__(self, live: SimulatedEnv, seed: int) -> None:
        self.live, self.env, self.seed = live, live.env, seed
        self.sibling, self.adapter = live.sibling, live.adapter
        self.actions = np.random.default_rng(seed)
        self.snapshot: Any = None
        self.observation: Any = None
        self.info: Any = {}
        self.ended = True

    def rows(self) -> Iterator[tuple[str, str, str]]:
        """Every claim with its outcome and note; one that raises fails, and the rest is tried all the same."""
        for claim, attempt in (
            ("a snapshot can be taken and restored", self.restores),
            ("the global random streams are not used", self.global_streams),
            ("same future under the same randomness", self.same_future),
            ("another future under other randomness", self.other_future),
            ("the original is undisturbed", self.undisturbed),
            ("also after a render", self.after_render),
            ("keys are stable", self.keys),
            ("the observation tells the saved state", self.observed),
        ):
            try:
                yield (claim, *attempt())
            except Exception as error:  # whatever a third party's code raises is a finding
                yield claim, FAILED, f"{type(error).__name__}: {error}"

    # Playing.

    def legal(self, raw: Any, info: Any) -> Any:
        """The legal actions, where the environment masks any."""
        if self.live._action_mask is not None:
            return np.flatnonzero(self.live._action_mask(raw))
        mask = info.get("action_mask") if isinstance(info, dict) else None
        return range(self.live.forms.count) if mask is None else np.flatnonzero(np.asarray(mask).reshape(-1))

    def play(self, env: Any, choices: list[int], info: Any) -> list[Any]:
        """What the environment shows under these choices among its legal actions, to the end of the episode."""
        seen: list[Any] = []
        for choice in choices:
            legal = self.legal(env.unwrapped, info)
            action = self.live.action(int(legal[choice % len(legal)]))
            observation, reward, terminated, truncated, info = env.step(action)
            if env is self.env:
                self.adapter.acted(action)
                self.observation, self.info, self.ended = observation, info, bool(terminated or truncated)
            seen.append((freeze(self.live._cast(observation)), float(reward), bool(terminated)))
            if terminated or truncated:
                break
        return seen

    def choices(self, steps: int = _STEPS) -> list[int]:
        """Random numbers to choose among legal actions by."""
        return [int(number) for number in self.actions.integers(1 << 30, size=steps)]

    def start(self, steps: int = _STEPS) -> None:
        """Play the real environment into an episode, as far as `steps` or where it goes on, and take a snapshot."""
        for length in range(steps, -1, -1):
            self.observation, self.info = self.env.reset(seed=self.seed)
            self.adapter.begin_episode()
            self.ended = False
            self.play(self.env, self.choices(length), self.info)
            if not self.ended:
                break
        self.snapshot = self.adapter.save(self.env.unwrapped)

    def go(self, choices: list[int], seed: int | None) -> list[Any]:
        """Restore the sibling, give it the stream of a seed (of the original where None), and play."""
        if seed is not None:
            self.adapter.reseed(self.sibling.raw, np.random.SeedSequence(seed))
        self.adapter.load(self.sibling.raw, self.snapshot)
        if seed is None:
            own, other = self.adapter.stream(self.sibling.raw), self.adapter.stream(self.env.unwrapped)
            own.bit_generator.state = other.bit_generator.state
        return self.play(self.sibling.env, choices, self.info)

    # The claims.

    def restores(self) -> Finding:
        for moment in range(_MOMENTS):
            self.start(2 * moment + moment % 2)
            self.adapter.load(self.sibling.raw, self.snapshot)
            if self.adapter.observes and self.sibling.shows_all:
                shown = freeze(self.live._cast(self.sibling.observe()))
                if shown != freeze(self.live._cast(self.observation)):
                    return FAILED, "a restored snapshot shows another observation: save and load all that decides it"
            if self.adapter.complete and self.adapter.whole(self.sibling.raw) != self.adapter.whole(self.env.unwrapped):
                return FAILED, "a restored snapshot is another state than the one saved: loading must undo saving"
        return PASSED, ""

    def global_streams(self) -> Finding:
        before = random.getstate(), repr(np.random.get_state())
        self.go(self.choices(), 1)
        if (random.getstate(), repr(np.random.get_state())) != before:
            return FAILED, "steps draw from the global random or numpy.random; draw from self.np_random instead"
        return PASSED, ""

    def same_future(self) -> Finding:
        for moment in range(_MOMENTS):
            self.start(2 * moment + moment % 2)
            choices = self.choices()
            copies = [self.go(choices, 1) for _ in range(2)]
            if copies[0] != copies[1] and (self.adapter.exact or not _nearly(*copies)):
                return FAILED, "two restored copies with one seed part ways: save all that decides the future"
            if self.adapter.stream(self.env.unwrapped) is None and not self.adapter.deterministic:
                continue
            foretold, real = self.go(choices, None), self.play(self.env, choices, self.info)
            if self.ended and not real[-1][2]:  # a time limit, which the copy does not have
                foretold = foretold[: len(real)]
            if foretold == real:
                continue
            if _nearly(foretold, real):
                return WARNED, "the copy follows the original to rounding only; for planning that is good enough"
            apart = next((i for i, (a, b) in enumerate(zip(foretold, real, strict=False)) if a != b), len(real))
            return FAILED, f"the copy leaves the original at step {apart + 1}: the snapshot lacks what decides it"
        if self.adapter.stream(self.env.unwrapped) is None:
            return PASSED, "of two copies; the original's random stream is out of reach"
        return PASSED, ""

    def other_future(self) -> Finding:
        self.start()
        if self.adapter.deterministic:
            return PASSED, "steps draw nothing"
        choices = self.choices(40)
        futures = {repr(self.go(choices, seed)) for seed in range(1, 9)}
        if len(futures) > 1:
            return PASSED, f"{len(futures)} of 8 seeds differ"
        return PASSED, "no step drew anything in 8 trials of 40 steps"

    def undisturbed(self) -> Finding:
        before = self._state()
        for seed in range(3):
            self.adapter.save(self.env.unwrapped)
            self.go(self.choices(), seed)
        if self._state() != before:
            return FAILED, "simulating changed the original: it shares something mutable with its sibling"
        return PASSED, ""

    def _state(self) -> tuple[Any, str]:
        raw = self.env.unwrapped
        state = self.adapter.whole(raw) if self.adapter.complete else _content(self.adapter.save(raw))
        stream = self.adapter.stream(raw)
        return state, "" if stream is None else repr(stream.bit_generator.state)

    def after_render(self) -> Finding:
        if self.env.render_mode is None:
            return SKIPPED, "made without a render mode"
        self.env.render()
        self.start()
        self.env.render()
        self.snapshot = self.adapter.save(self.env.unwrapped)
        self.go(self.choices(), 1)
        return PASSED, ""

    def keys(self) -> Finding:
        choices, found = self.choices(), []
        for _ in range(2):
            self.go(choices, 1)
            self.adapter.reseed(self.sibling.raw, np.random.SeedSequence(1))
            self.adapter.load(self.sibling.raw, self.snapshot)
            legal = self.legal(self.sibling.raw, self.info)
            observation = self.sibling.env.step(self.live.action(int(legal[0])))[0]
            found.append(self.live._model._key(observation))
        if found[0] != found[1] and (self.adapter.exact or not _near(found[0], found[1])):
            return FAILED, "one state has two keys: give state_key=, or a state_key() that leaves clocks and copies out"
        return PASSED, f"by {self.live.describe()['states keyed by']}"

    def observed(self) -> Finding:
        if not self.adapter.complete:
            return WARNED, "states are keyed by the observation: if it does not tell the state, give state_key="
        seen: dict[Any, set[Any]] = {}
        for seed in range(_FUTURES):
            self.adapter.reseed(self.sibling.raw, np.random.SeedSequence(seed))
            self.adapter.load(self.sibling.raw, self.snapshot)
            self.adapter.redraw(self.sibling.raw)
            info = self.info
            for choice in self.choices():
                legal = self.legal(self.sibling.raw, info)
                action = self.live.action(int(legal[choice % len(legal)]))
                observation, _, terminated, truncated, info = self.sibling.env.step(action)
                if terminated or truncated:
                    break
                whole = self.adapter.whole(self.sibling.raw)
                seen.setdefault(freeze(self.live._cast(observation)), set()).add(whole)
        if any(len(states) > 1 for states in seen.values()):
            hidden = self.adapter.hidden or (
                "a clock, which a state_key() should leave out, or something hidden, which redraw_hidden() should "
                "draw anew and state_key() leave out"
            )
            return WARNED, f"the saved state holds more than the observation tells: {hidden}"
        return PASSED, ""

    def costs(self) -> dict[str, float]:
        """Microseconds of a step of the sibling, and of saving, restoring and keying."""
        raw, adapter, sibling = self.env.unwrapped, self.adapter, self.sibling
        sibling.snapshot = self.snapshot
        action = self.live.action(int(self.legal(raw, self.info)[0]))
        restore = _microseconds(sibling.restore)

        def step() -> None:
            sibling.restore()
            sibling.env.step(action)

        costs = {"step": max(0.0, _microseconds(step) - restore), "save": _microseconds(lambda: adapter.save(raw))}
        costs["restore"] = restore
        if adapter.complete:
            costs["key"] = _microseconds(lambda: adapter.key(sibling.raw))
        return costs


def _content(snapshot: Any) -> Any:
    """What a snapshot holds, where that can be told."""
    try:
        return freeze(snapshot)
    except PlanningError:
        return None


def _nearly(left: list[Any], right: list[Any]) -> bool:
    """Whether two futures agree to a hundredth, which native physics may not better."""
    return len(left) == len(right) and all(map(_near, left, right))


def _near(left: Any, right: Any) -> bool:
    """Whether two numbers, or two keys, agree up to rounding."""
    if isinstance(left, float):
        return abs(left - right) <= _ROUNDING * max(1.0, abs(right))
    if not isinstance(left, tuple) or not isinstance(right, tuple) or len(left) != len(right):
        return bool(left == right)
    if len(left) == 3 and isinstance(left[2], bytes) and str(left[0])[1:2] == "f":  # an array, see keys.freeze
        arrays = [np.frombuffer(key[2], key[0]) for key in (left, right)]
        return left[:2] == right[:2] and bool(np.allclose(arrays[0], arrays[1], rtol=_ROUNDING, atol=_ROUNDING))
    return all(map(_near, left, right))


def _microseconds(call: Callable[[], Any]) -> float:
    """The median cost of a call."""
    times: list[float] = []
    while len(times) < _TIMED and sum(times) < _TIMED_SECONDS:
        begun = time.perf_counter()
        call()
        times.append(time.perf_counter() - begun)
    return float(np.median(times)) * 1e6
