"""What a failed search says: who did what, where, and what to do about it."""

import math
from typing import Any

from gymnasium_gsp.search import layout as at


def failure_message(status: int, model: str, state: tuple[int, ...], draws: int, recipe: Any) -> str:
    """The message for a status with which the loop ended.

    Args:
        status: one of the failures of `layout`; anything else means that an ingredient raised.
        model: the model's name.
        state: cells of the state where it happened.
        draws: values that the model drew a step before it drew another number.
        recipe: what was being run.
    """
    messages = {
        at.STEP_FAILED: f"{model}: the step failed in state {state}: it returned FAILED, raised, or gave a reward that "
        "is not a finite number; it must return RUNNING or TERMINATED and a finite reward for every legal action",
        at.NO_ACTION: f"{model}: state {state} has no legal action and is not terminal; a state where nothing can be "
        "done must be reached with TERMINATED",
        at.BAD_ACTION: f"the selection or rollout policy answered in state {state} with an action that does not exist "
        "or is not legal; it must return one of the legal actions",
        at.BAD_BACKUP: _backup_message(recipe),
        at.BAD_VALUE: f"the evaluation of state {state} is not a finite number; return one, or raise",
        at.WRONG_DRAWS: f"{model}: the step must draw the same number of random values for every state and action; it "
        f"drew {draws} a step at first and another number later. Draw what is not needed all the same",
    }
    raised = "an ingredient raised an exception; mend it, as it cannot cross the border of compiled code"
    return messages.get(status, raised)


def _backup_message(recipe: Any) -> str:
    power = getattr(recipe, "power", math.inf)
    if 1.0 < power < math.inf:
        return (
            f"a power mean with p = {power:g} met a value below its lower bound, which is 0 unless the model declares "
            "negative rewards: declare reward_bounds=(smallest, largest) on the model or in make_agent, or use p = 1 "
            "or p = inf, which need none"
        )
    return "the backup returned a value that is not a finite number; the rewards may overflow, or the backup is wrong"
