"""The one compiled loop: enter the root, look at the limits, run a simulation, count it; over and over.

Every algorithm and every model runs through `run_simulations`; what differs stands in the program's fields and behind
its addresses.  Nothing here raises: a call ends with one of the statuses of `frame`, and the front turns those into
errors.
"""

from numba import njit, types

from gymnasium_gsp.search import codes
from gymnasium_gsp.search.frame import OUTCOME_CELLS, interval_of, make_frame
from gymnasium_gsp.search.graph import enter_root
from gymnasium_gsp.search.intervals import set_up
from gymnasium_gsp.search.optimistic import simulate_optimistically
from gymnasium_gsp.search.scenarios import next_arm, simulate_scenario
from gymnasium_gsp.search.trail import finish_waiting
from gymnasium_gsp.search.trial import simulate

_INVERSE_OF_INCREMENT = types.uint64(0xF1DE83E19937733D)  # of 0x9E3779B97F4A7C15, modulo 2**64


@njit
def limit_reached(frame):
    """Return which limit forbids another simulation; DONE if none does."""
    if frame.tally.model_steps >= frame.program.step_limit:
        return codes.OUT_OF_STEPS
    if frame.tally.new_nodes >= frame.program.node_limit:
        return codes.OUT_OF_NODES
    return codes.DONE


@njit
def is_full(frame):
    """Return whether the front should see to the room before another simulation starts."""
    program, tally = frame.program, frame.tally
    if program.bound != 0 and OUTCOME_CELLS * (tally.widest + program.longest + 1) > program.scratch_capacity:
        return True
    if program.growth == codes.ADD_WHILE_ROOM:
        return False
    needed = program.longest if program.growth == codes.GROWING else 1
    if tally.nodes + needed > program.row_capacity:
        return True
    # With intervals a step can add an edge to the next node and one back.
    edges = 2 * needed if program.bound != 0 and program.growth == codes.GROWING else needed
    return program.edges_kept != 0 and tally.edges + edges > program.edge_capacity


@njit
def draws_are_fixed(tally, words, steps):
    """Return whether the model drew as many values a step as ever; the first simulation says how many that is."""
    draws = types.int64(words * _INVERSE_OF_INCREMENT)
    if steps == 0:
        return draws == 0
    if tally.draws < 0:
        tally.draws = draws // steps
    return draws == tally.draws * steps


@njit
def count_simulation(frame, status, words, steps):
    """Count a simulation that came through, or return what went wrong.

    Args:
        frame: the search.
        status: what the simulation ended with.
        words: where the model's stream stood before it.
        steps: model steps before it.
    """
    if frame.context.in_flight != 0:
        return codes.RAISED
    if status != codes.DONE:
        return status
    # Steps that a value function made by itself drew from a stream of its own.
    steps = frame.tally.model_steps - steps - frame.context.extra_steps
    if not draws_are_fixed(frame.tally, frame.model_rng[0] - words, steps):
        return codes.WRONG_DRAWS
    frame.tally.simulations += 1
    return codes.DONE


def run_simulations(arrays, enter):
    """Run simulations until a limit of the program is reached, or something goes wrong; returns the status.

    Args:
        arrays: the search's `Arrays`.
        enter: whether this is the first call of a decision, so that the root must be looked up.
    """
    frame = make_frame(arrays)
    optimistic = frame.program.bound != 0
    if enter:
        if enter_root(frame) != codes.DONE:
            return codes.NO_ROOM_FOR_ROOT
        if optimistic and interval_of(frame, frame.tally.root).order == 0:
            set_up(frame, frame.tally.root)
    while frame.tally.simulations < frame.program.simulation_limit:
        limit = limit_reached(frame)
        if limit != codes.DONE:
            return limit
        if is_full(frame):
            # The front may now drop the past, and number the nodes anew.
            status = finish_waiting(frame) if frame.program.growth == codes.LAST_ROOM else codes.DONE
            return codes.FULL if status == codes.DONE else status
        frame.context.extra_steps = 0
        frame.context.simulation = frame.tally.simulations
        words, steps = frame.model_rng[0], frame.tally.model_steps
        place = next_arm(frame)
        if place >= 0:
            status = simulate_scenario(frame, place)
        else:
            status = simulate_optimistically(frame) if optimistic else simulate(frame)
        status = count_simulation(frame, status, words, steps)
        if status != codes.DONE:
            return status
    return codes.DONE
