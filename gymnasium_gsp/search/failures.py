"""Messages of failed searches: the culprit, the place, and the remedy."""

import math

from gymnasium_gsp.models.model import Model
from gymnasium_gsp.search import codes
from gymnasium_gsp.search.recipe import Recipe


def failure_message(status: int, model: Model, recipe: Recipe, state: tuple[int, ...], action: int, draws: int) -> str:
    """Return the message for a status with which the loop ended.

    Args:
        status: one of the failures of `frame`; anything else means that an ingredient raised.
        model: what was planned in.
        recipe: what was run.
        state: cells of the state where it happened.
        action: the action tried last.
        draws: values that the model drew a step before it drew another number.
    """
    low, high = model.reward_bounds or (-math.inf, math.inf)
    messages = {
        codes.STEP_FAILED: f"{model.name}: the step failed in state {state}: it returned FAILED, raised, or gave a "
        "reward that is not a finite number; it must return RUNNING or TERMINATED and a finite reward for every legal "
        "action",
        codes.NO_ACTION: f"{model.name}: state {state} has no legal action and is not terminal; a state where nothing "
        "can be done must be reached with TERMINATED",
        codes.BAD_ACTION: f"the selection or rollout policy answered in state {state} with an action that does not "
        "exist or is not legal; it must return one of the legal actions",
        codes.BAD_PRIOR: f"the prior of state {state} must be a finite number of at least 0 for each of the "
        f"{model.actions} actions, above 0 for a legal one; a compiled prior returns 1",
        codes.BAD_BACKUP: _backup_message(recipe.power),
        codes.BAD_VALUE: f"the evaluation of state {state} is not a finite number; return one, or raise",
        codes.WRONG_DRAWS: f"{model.name}: the step must draw the same number of random values for every state and "
        f"action; it drew {draws} a step at first and another number later. Draw what is not needed all the same",
        codes.BAD_REWARD: f"{model.name}: action {action} gave a reward outside the declared bounds {low:g} .. "
        f"{high:g} on the way to state {state}; the search's bounds are built on them, so declare reward_bounds that "
        "hold for every step",
    }
    raised = "an ingredient raised an exception; mend it, as it cannot cross the border of compiled code"
    return messages.get(status, raised)


def _backup_message(power: float) -> str:
    if 1.0 < power < math.inf:
        return (
            f"a power mean with p = {power:g} met a value below its lower bound, which is 0 unless the model declares "
            "negative rewards: declare reward_bounds=(smallest, largest) on the model or in make_agent, or use p = 1 "
            "or p = inf, which need none"
        )
    return "the backup returned a value that is not a finite number; the rewards may overflow, or the backup is wrong"
