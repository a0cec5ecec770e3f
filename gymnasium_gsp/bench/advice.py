"""Advice after a slow or weak start of a run: what is worth a try, as commands to paste."""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import fields, replace
from datetime import timedelta

import numpy as np

from gymnasium_gsp.algorithms.registry import DEFAULT_ALGORITHM
from gymnasium_gsp.bench.cell import Cell
from gymnasium_gsp.bench.episode import Episode
from gymnasium_gsp.bench.summary import known_optimum, standard_error
from gymnasium_gsp.bench.texts import options_of
from gymnasium_gsp.search.budget import Budget
from gymnasium_gsp.search.ingredients.horizon import FixedHorizon
from gymnasium_gsp.search.result import SearchResult

START = 3
"""Episodes after which a mean return is judged."""

_SLOW_DECISION, _SLOW_START = 0.5, 10.0  # seconds
_SHORT = Budget(seconds=0.1)
_MUCH = 2.0  # seconds of a decision that more search may take
_MORE = 8  # times the budget
_FLAT = 0.9  # share of the decisions
_SHORTFALL = 0.25  # of the best expected return
_OTHER_ALGORITHM = "gs-power-uct-f"  # where the default is weak; what docs/play.md plays with


def time_decision(cell: Cell) -> float:
    """Seconds of the first decision of an episode, without what is compiled or loaded first."""
    with closing(cell.make_env()) as env:
        agent = cell.make_agent(env)
        agent.act(*env.reset(seed=0))  # loads compiled code
        agent.reset(seed=0)
        return agent.plan(*env.reset(seed=0)).seconds


def recommended_command(cells: Sequence[Cell], seconds: Sequence[float], modules: Iterable[str] = ()) -> str:
    """The last of some cells whose decision is not slow, as a command; or a shorter budget where all are slow."""
    quick = [cell for cell, each in zip(cells, seconds, strict=True) if each <= _SLOW_DECISION]
    chosen = quick[-1] if quick else cells[0].changed(budget=_SHORT)
    return shlex.join(["gsp", "run", *chosen.flags(modules)])


class Start:
    """The decisions of a run so far.

    Attributes:
        decisions, seconds: how many were made, and what they took.

    Args:
        cell: what is played.
        episodes: how many will be.
        modules: that register what the cell names.
    """

    def __init__(self, cell: Cell, episodes: int, modules: Iterable[str] = ()) -> None:
        self._cell, self._episodes, self._modules = cell, episodes, tuple(modules)
        self.decisions, self.seconds = 0, 0.0
        self._flat = 0  # decisions in which all tried actions had one value
        self._told = False

    def decided(self, result: SearchResult) -> None:
        """Count a decision of this process."""
        tried = result.q_values[result.visit_counts > 0]
        self._flat += len(tried) > 1 and float(np.ptp(tried)) == 0.0
        self.decisions += 1
        self.seconds += result.seconds

    def played(self, episode: Episode) -> None:
        """Count the decisions of an episode that another process played."""
        self.decisions += episode.decisions
        self.seconds += episode.seconds

    def advice(self, returns: Sequence[float], last: bool = False) -> str:
        """A few lines, once: what is wrong and what to try; "" where nothing is.

        Args:
            returns: of the episodes that were played so far.
            last: whether no more will be played.
        """
        lines: list[str] = []
        timed = self._cell.limits().seconds is not None  # as slow as was asked for
        if not self._told and not timed and self.seconds > _SLOW_START and self._each > _SLOW_DECISION:
            lines += self._slow(len(returns))
        judged = len(returns) == START or (last and len(returns) > START)
        if not self._told and judged and (reason := self._weak(returns)):
            lines += [reason, *self._tries()]
        self._told = self._told or bool(lines)
        return "\n".join(lines)

    @property
    def _each(self) -> float:
        """Seconds of a decision."""
        return self.seconds / max(1, self.decisions)

    def _slow(self, played: int) -> Iterator[str]:
        total = timedelta(seconds=round(self.seconds / played * self._episodes)) if played else None
        yield f"slow: {self._each:.2g} s a decision" + (f", {total} for all episodes" if total else "") + "; try"
        yield self._command("less search", self._cell.changed(budget=_SHORT))

    def _weak(self, returns: Sequence[float]) -> str:
        """The reason to call the start weak; "" where it is not."""
        mean, error = float(np.mean(returns)), standard_error(np.array(returns)) or 0.0
        flat = self._flat > _FLAT * self.decisions > 0
        least, known = self._expected()
        if mean + 2.0 * error >= least or not (known or flat):
            return ""
        seen = "; in most decisions all actions looked alike" if flat else ""
        return f"weak: mean return {mean:.4g} after {len(returns)} episodes{known}{seen}; worth a try"

    def _expected(self) -> tuple[float, str]:
        """The mean return below which a start is weak, and the reason."""
        with closing(self._cell.make_env()) as env:
            best, spec = known_optimum(env), env.spec
        if best is not None:
            return best - _SHORTFALL * abs(best), f", where {best:.4g} is the best expected"
        if spec is not None and spec.reward_threshold is not None and not spec.additional_wrappers:
            return spec.reward_threshold, f", where {spec.reward_threshold:.4g} counts as solved"
        return np.inf, ""

    def _tries(self) -> Iterator[str]:
        cell = self._cell
        if _MORE * self._each < _MUCH:
            limits = cell.limits()
            given = {item.name: getattr(limits, item.name) for item in fields(limits)}
            more = replace(limits, **{name: _MORE * limit for name, limit in given.items() if limit is not None})
            options = options_of(cell.options)
            if isinstance(horizon := options.get("horizon"), FixedHorizon):
                options["horizon"] = FixedHorizon(2 * horizon.depth)
            yield self._command("more search", cell.changed(budget=more, options=options))
        other = _OTHER_ALGORITHM if cell.algorithm == DEFAULT_ALGORITHM else DEFAULT_ALGORITHM
        yield self._command("another algorithm", cell.changed(algorithm=other, preset="", options=""), fitting=True)

    def _command(self, label: str, cell: Cell, fitting: bool = False) -> str:
        return f"  {label + ':':<19}{shlex.join(['gsp', 'run', *cell.flags(self._modules, fitting)])}"
