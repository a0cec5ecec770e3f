"""Observations as evaluation loops pass them: alone, or with a leading axis of length one."""

from typing import Any

import numpy as np
from gymnasium import spaces

from gymnasium_gsp.errors import RecipeError


def unbatch(space: spaces.Space, observation: Any) -> tuple[Any, bool]:
    """The single observation, and whether it came with a leading axis.

    Raises:
        RecipeError: if that axis holds more than one observation; an agent is bound to one environment.
    """
    if isinstance(space, spaces.Dict):
        parts = {name: unbatch(part, observation[name]) for name, part in space.spaces.items()}
        return {name: part for name, (part, _) in parts.items()}, any(batched for _, batched in parts.values())
    if isinstance(space, spaces.Tuple) or space.shape is None:
        return observation, False
    batch = np.asarray(observation)
    if batch.ndim <= len(space.shape):
        return observation, False
    if len(batch) != 1:
        raise RecipeError(
            f"this agent is bound to one environment, but was given {len(batch)} observations; "
            "gymnasium_gsp.make_vector_agent plans in a vector of environments"
        )
    return batch[0], True
