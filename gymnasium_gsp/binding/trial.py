"""The claims that planning in an environment rests on, each tried on a simulator of it; see `check`."""

import time
import timeit
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

from gymnasium_gsp.binding.environment import BareEnv, Env
from gymnasium_gsp.binding.foresight import (
    FORESIGHT_REMEDY,
    GLOBAL_STREAM,
    SYSTEM_STREAM,
    UNREPEATABLE,
    Experiment,
    asks_system,
    streams_of,
)
from gymnasium_gsp.binding.keys import freeze
from gymnasium_gsp.binding.probe import choose_view
from gymnasium_gsp.binding.shared import changed_outside, outside_state
from gymnasium_gsp.binding.simulated import SimulatedBinding
from gymnasium_gsp.binding.streams import global_streams, stream_place
from gymnasium_gsp.errors import PlanningError

PASSED, FAILED, WARNED, SKIPPED = "passed", "FAILED", "warning", "skipped"

_STEPS = 12  # steps from reset to the snapshot, and compared after it
_MOMENTS = 6  # snapshots of one episode that are restored
_FUTURES = 20  # futures of a snapshot in which observation and state are compared
_PATIENCE = 1.0  # seconds of a claim, after which fewer snapshots have to do
_PLAYS = 8  # random plays from a snapshot, in which states may be met again
_RARELY = 0.05  # share of the steps
_TIMED = 20  # repetitions behind a cost
_ROUNDING = 1e-2  # how far a copy with native physics may drift in so many steps

Outcome = tuple[str, str]
"""One of PASSED, FAILED, WARNED and SKIPPED, and a note: the observation, or what to do about it."""

Step = tuple[object, float, bool]
"""One step as an environment shows it: key of the observation (or of the state), reward, terminated."""


@dataclass(frozen=True)
class Row:
    """One claim.

    Attributes:
        claim: what was checked.
        outcome: "passed", "FAILED", "warning" or "skipped".
        note: the observation, or what to do about it, in one line.
    """

    claim: str
    outcome: str
    note: str = ""


class Trial:
    """Tries every claim on one environment.

    Args:
        binding: the environment, bound to a simulator; it is reset and stepped.
        seed: seed of resets and actions.
    """

    def __init__(self, binding: SimulatedBinding, seed: int) -> None:
        self.binding, self.env, self.raw, self.seed = binding, binding.view.env, binding.view.raw, seed
        self.simulator, self.adapter = binding.simulator, binding.adapter
        self.draw = np.random.default_rng(seed)
        self.snapshot: object = None
        self.observation: object = None
        self.info: object = {}
        self.ended = True

    def rows(self) -> Iterator[Row]:
        """Every claim with its outcome; one that raises fails, and the rest is tried all the same."""
        for claim, attempt in (
            ("a snapshot can be taken and restored", self.try_restoring),
            ("the global random streams are not used", self.try_global_streams),
            ("same future under the same randomness", self.try_same_randomness),
            ("another future under other randomness", self.try_other_randomness),
            ("no copy knows the future", self.try_foresight),
            ("the original is undisturbed", self.try_disturbing),
            ("also after a render", self.try_rendering),
            ("keys are stable", self.try_keys),
            ("the observation tells the saved state", self.try_observations),
            ("how often states are met again", self.try_recurrence),
            ("a key and a hold that fit", self.try_view),
        ):
            try:
                yield Row(claim, *attempt())
            except Exception as error:  # a third party's code may raise anything
                yield Row(claim, FAILED, f"{type(error).__name__}: {error}")

    def action(self, raw: BareEnv, info: object, choice: int = 0) -> object:
        """A legal action, chosen by a number."""
        return self.binding.legal_action(raw, info, choice)

    def shown(self, observation: object) -> object:
        """An observation by content, as the simulator shows it."""
        return self.binding.shown(observation)

    def play(self, env: Env, choices: list[int], info: object) -> list[Step]:
        """Step an environment by these choices among its legal actions, to the end of the episode."""
        steps: list[Step] = []
        for choice in choices:
            action = self.action(env.unwrapped, info, choice)
            observation, reward, terminated, truncated, info = env.step(action)
            if env is self.env:
                self.adapter.action_taken(action)
                self.observation, self.info, self.ended = observation, info, bool(terminated or truncated)
            # Where the simulator cannot show what the user's wrappers show, states are compared.
            unseen = self.simulator.wrappers.unseen
            content = self.adapter.full_key(env.unwrapped) if unseen else self.shown(observation)
            steps.append((content, float(reward), bool(terminated)))
            if terminated or truncated:
                break
        return steps

    def moments(self, count: int) -> Iterator[int]:
        """Numbers of the snapshots that a claim is tried with: fewer than the count where steps are slow."""
        begun = time.monotonic()
        for number in range(count):
            yield number
            if time.monotonic() - begun > _PATIENCE:
                return

    def choices(self, steps: int = _STEPS) -> list[int]:
        """Random numbers by which legal actions are chosen."""
        return self.draw.integers(1 << 30, size=steps).tolist()

    def start(self, steps: int = _STEPS, episode: int = 0) -> None:
        """Play the real environment from a reset, `steps` far or to a state that goes on, and take a snapshot."""
        for length in range(steps, -1, -1):
            self.observation, self.info = self.env.reset(seed=self.seed + episode)
            self.adapter.begin_episode()
            self.ended = False
            self.play(self.env, self.choices(length), self.info)
            if not self.ended:
                break
        self.snapshot = self.adapter.save(self.raw)

    def restore(self, seed: int) -> None:
        """Bring the simulator to the snapshot, with the stream of a seed."""
        self.adapter.reseed(self.simulator.raw, np.random.SeedSequence(seed))
        self.adapter.load(self.simulator.raw, self.snapshot)

    def simulate(self, choices: list[int], seed: int) -> list[Step]:
        """Play the simulator from the snapshot, with the stream of a seed."""
        self.restore(seed)
        return self.play(self.simulator.env, choices, self.info)

    def foretell(self, choices: list[int]) -> list[Step]:
        """Play the simulator from the present state of the original, with its streams."""
        self.adapter.follow_streams(self.simulator.raw, self.raw)
        return self.play(self.simulator.env, choices, self.info)

    # The claims.

    def try_restoring(self) -> Outcome:
        for moment in self.moments(_MOMENTS):
            self.start(2 * moment + moment % 2)
            self.adapter.load(self.simulator.raw, self.snapshot)
            comparable = self.adapter.observes and self.simulator.wrappers.observations_agree
            if comparable and self.shown(self.simulator.observe()) != self.shown(self.observation):
                return FAILED, "a restored snapshot shows another observation: save and load all that decides it"
            complete = self.adapter.complete
            if complete and self.adapter.full_key(self.simulator.raw) != self.adapter.full_key(self.raw):
                return FAILED, "a restored snapshot is another state than the one saved: loading must undo saving"
        return PASSED, ""

    def try_global_streams(self) -> Outcome:
        if asks_system(self.raw):
            return FAILED, SYSTEM_STREAM
        before = global_streams()
        self.simulate(self.choices(), 1)
        return (PASSED, "") if global_streams() == before else (FAILED, GLOBAL_STREAM)

    def try_same_randomness(self) -> Outcome:
        out_of_reach = self.adapter.generator(self.raw) is None or asks_system(self.raw)
        for moment in self.moments(_MOMENTS):
            self.start(2 * moment + moment % 2)
            choices = self.choices()
            copies = [self.simulate(choices, 1) for _ in range(2)]
            if copies[0] != copies[1] and (self.adapter.exact or not _nearly(*copies)):
                return FAILED, UNREPEATABLE
            if out_of_reach and not self.adapter.deterministic:
                continue
            foretold, real = self.foretell(choices), self.play(self.env, choices, self.info)
            if self.ended and not real[-1][2]:  # a time limit, which the copy does not have
                foretold = foretold[: len(real)]
            if foretold == real:
                continue
            if _nearly(foretold, real):
                return WARNED, "the copy follows the original to rounding only; for planning that is good enough"
            apart = next((i for i, (a, b) in enumerate(zip(foretold, real, strict=False)) if a != b), len(real))
            return FAILED, f"the copy leaves the original at step {apart + 1}: the snapshot lacks what decides it"
        return PASSED, "of two copies; the original's random stream is out of reach" if out_of_reach else ""

    def try_other_randomness(self) -> Outcome:
        self.start()
        if self.adapter.deterministic:
            return PASSED, "steps draw nothing"
        moment = 0
        for moment in self.moments(
            _FUTURES
        ):  # some actions may draw, and some states: each action comes first somewhere
            self.start(moment % _STEPS, episode=moment // 2)
            choices = [moment, *self.choices(_STEPS)]
            if not self.draws(choices):
                continue
            futures = {repr(self.simulate(choices, seed)) for seed in range(1, 9)}
            if len(futures) > 1:
                return PASSED, f"{len(futures)} of 8 seeds differ"
        return PASSED, f"no step drew anything, from {moment + 1} states"

    def draws(self, choices: list[int]) -> bool:
        """Return whether a copy may draw in these steps: a stream moves, or is out of reach."""
        if self.adapter.generator(self.raw) is None:
            return True
        self.restore(1)
        streams = streams_of(self.simulator.raw)
        before = [stream_place(stream) for stream in streams]
        self.play(self.simulator.env, choices, self.info)
        return not streams or [stream_place(stream) for stream in streams] != before

    def try_foresight(self) -> Outcome:
        env = self.simulator.env if self.simulator.wrappers.unseen else self.env
        experiment = Experiment(env, self.adapter, self.simulator, self.action, self.shown)
        known = experiment.run(self.seed, _STEPS)
        self.ended = True
        if known is None:
            return PASSED, ""
        return (FAILED, f"{known.how}: {FORESIGHT_REMEDY}") if known.future else (PASSED, f"note: {known.how}")

    def try_disturbing(self) -> Outcome:
        self.start()
        before, outside = self._original(), outside_state(self.raw)
        for seed in range(3):
            self.adapter.save(self.raw)
            self.simulate(self.choices(), seed)
        if self._original() != before:
            return FAILED, "simulating changed the original: it shares something mutable with its simulator"
        if changed := changed_outside(self.raw, outside):
            return FAILED, f"simulating changed {changed}, which every environment of this kind shares: keep it in self"
        return PASSED, ""

    def _original(self) -> tuple[object, str]:
        """State and random stream of the real environment."""
        state = self.adapter.full_key(self.raw) if self.adapter.complete else _content(self.adapter.save(self.raw))
        generator = self.adapter.generator(self.raw)
        return state, "" if generator is None else repr(generator.bit_generator.state)

    def try_rendering(self) -> Outcome:
        if self.env.render_mode is None:
            return SKIPPED, "made without a render mode"
        self.env.render()
        self.start()
        self.env.render()
        self.snapshot = self.adapter.save(self.raw)
        self.simulate(self.choices(), 1)
        return PASSED, ""

    def try_keys(self) -> Outcome:
        choices, keys = self.choices(), []
        for _ in range(2):
            self.simulate(choices, 1)
            self.restore(1)
            observation = self.simulator.env.step(self.action(self.simulator.raw, self.info))[0]
            keys.append(self.binding.key(observation))
        if keys[0] != keys[1] and (self.adapter.exact or not _near(*keys)):
            return FAILED, "one state has two keys: give state_key=, or a state_key() that leaves clocks and copies out"
        return PASSED, f"by {self.binding.describe()['states keyed by']}"

    def try_observations(self) -> Outcome:
        if not self.adapter.complete:
            return WARNED, "states are keyed by the observation: if it does not tell the state, give state_key="
        states_by_observation: dict[object, set[object]] = {}
        for seed in self.moments(_FUTURES):
            self.restore(seed)
            self.adapter.redraw_hidden(self.simulator.raw)
            info = self.info
            for choice in self.choices():
                action = self.action(self.simulator.raw, info, choice)
                observation, _, terminated, truncated, info = self.simulator.env.step(action)
                if terminated or truncated:
                    break
                state = self.adapter.full_key(self.simulator.raw)
                states_by_observation.setdefault(self.shown(observation), set()).add(state)
        if any(len(states) > 1 for states in states_by_observation.values()):
            hidden = self.adapter.hidden or (
                "a clock, which a state_key() should leave out, or something hidden, which redraw_hidden() should "
                "draw anew and state_key() leave out"
            )
            return WARNED, f"the saved state holds more than the observation tells: {hidden}"
        return PASSED, ""

    def try_recurrence(self) -> Outcome:
        reached: dict[object, list[str]] = {}  # states, with the actions that led to each first
        steps = again = 0
        for seed in self.moments(_PLAYS):
            self.restore(seed)
            info, path = self.info, list[str]()
            for choice in self.choices():
                action = self.action(self.simulator.raw, info, choice)
                observation, _, terminated, truncated, info = self.simulator.env.step(action)
                path = [*path, repr(action)]
                again += reached.setdefault(self.binding.key(observation), path) != path
                steps += 1
                if terminated or truncated:
                    break
        note = f"{again / steps:.0%} of {steps} random steps led to a state that other actions had led to"
        advice = "; by cells they may be, see below, by a coarser state_key=, or key='actions' plans without states"
        return PASSED, note + advice * (again < _RARELY * steps)

    def try_view(self) -> Outcome:
        return PASSED, str(choose_view(self.binding))

    def costs(self) -> dict[str, float]:
        """Microseconds of a step of the simulator, and of saving, restoring and keying."""
        adapter, simulator = self.adapter, self.simulator
        simulator.snapshot = self.snapshot
        action = self.action(self.raw, self.info)

        def step() -> None:
            simulator.restore()
            simulator.env.step(action)

        calls = {"step": step, "save": lambda: adapter.save(self.raw), "restore": simulator.restore}
        if adapter.complete:
            calls["key"] = lambda: adapter.state_key(simulator.raw)
        costs = {name: 1e6 * median(timeit.repeat(call, number=1, repeat=_TIMED)) for name, call in calls.items()}
        return {**costs, "step": max(0.0, costs["step"] - costs["restore"])}


def _content(snapshot: object) -> object:
    """The content of a snapshot, where it can be read."""
    try:
        return freeze(snapshot)
    except PlanningError:
        return None


def _nearly(left: list[Step], right: list[Step]) -> bool:
    """Return whether two futures agree to a hundredth; native physics may not do better."""
    return len(left) == len(right) and all(map(_near, left, right))


def _near(left: Any, right: Any) -> bool:
    """Return whether two numbers, or two keys, agree up to rounding."""
    if isinstance(left, float):
        return abs(left - right) <= _ROUNDING * max(1.0, abs(right))
    if not isinstance(left, tuple) or not isinstance(right, tuple) or len(left) != len(right):
        return bool(left == right)
    if len(left) == 3 and isinstance(left[2], bytes) and str(left[0])[1:2] == "f":  # an array, see keys.freeze
        arrays = [np.frombuffer(key[2], key[0]) for key in (left, right)]
        return left[:2] == right[:2] and bool(np.allclose(arrays[0], arrays[1], rtol=_ROUNDING, atol=_ROUNDING))
    return all(map(_near, left, right))
