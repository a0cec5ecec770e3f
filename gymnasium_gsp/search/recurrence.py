"""How much recurs of what the graph meets while it is explored; paired scenarios decide where hardly anything does."""

from numba import njit

from gymnasium_gsp.search import codes
from gymnasium_gsp.search.frame import interval_of, stats_of

FADING = 0.999  # of older counts in how often an action that is tried again leads to something unknown
RECENT_STEPS = 100  # over about which the share of well-known steps is taken
ENOUGH_VISITS = 24  # of a state that has more actions
EARLY_TRIES = 4  # of an action; later ones lead to what is known the more, the oftener it was tried


@njit
def is_well_known(frame, child):
    """Return whether a state has been visited once for each of its actions, or often; so is the end of the process."""
    if child < 0:
        return child == codes.TERMINAL
    opened = interval_of(frame, child).opened
    return opened != 0 and stats_of(frame, child).visits >= min(opened, ENOUGH_VISITS)


@njit
def is_early_try(node, action):
    """Return whether the next try of an action is among those that are asked."""
    return 0 < node.counts[action] < EARLY_TRIES


@njit
def note_early_try(seen):
    """Count one more early try; whoever finds that it led to something unknown adds 1 to `seen.unknown`."""
    seen.tried = seen.tried * FADING + 1.0
    seen.unknown *= FADING


@njit
def note_step(frame, child):
    """Count one more step of an exploring simulation, which led to `child`."""
    seen = frame.allocation
    seen.steps += 1
    seen.known += (is_well_known(frame, child) - seen.known) / RECENT_STEPS


@njit
def hardly_recurs(frame):
    """Return whether scenarios should decide, by what exploring has met lately."""
    program, seen = frame.program, frame.allocation
    if seen.steps < program.evidence or seen.known >= program.known:
        return False
    return seen.unknown >= program.novelty * seen.tried
