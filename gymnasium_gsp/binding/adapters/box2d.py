"""LunarLander: the attributes of its three bodies, and the moon where the simulator has another.

Box2D's world can be neither copied nor pickled.  Positions and velocities can be set; the impulses that contacts and
joints carry over to the next step cannot, so a copy follows the original to about seven digits.
"""

from collections.abc import Hashable
from typing import Any, ClassVar

from gymnasium_gsp.binding.adapters.adapter import Adapter, constants
from gymnasium_gsp.binding.environment import BareEnv
from gymnasium_gsp.binding.keys import float_key

_NUMBERS = ("prev_shaping", "wind_idx", "torque_idx")  # NumPy's, not Python's
_MARGIN = 20.0  # VIEWPORT_W / SCALE, the width of the moon


class LunarLander(Adapter):
    """Transforms, velocities, contacts and flags; approximate, see above."""

    name: ClassVar[str] = "LunarLander"
    note = "follows the original to about seven digits: Box2D does not give away the impulses of contacts and joints"
    exact = False

    @classmethod
    def fits(cls, env: BareEnv) -> bool:
        return type(env).__module__ == "gymnasium.envs.box2d.lunar_lander"

    def save(self, env: BareEnv) -> Any:
        bodies = [_read(body) for body in (env.lander, *env.legs)]
        contacts = [bool(leg.ground_contact) for leg in env.legs]
        plain = constants(env) | {name: vars(env)[name] for name in _NUMBERS if name in vars(env)}
        return bodies, contacts, plain, bool(env.lander.awake), [polygon[:2] for polygon in env.sky_polys]

    def load(self, env: BareEnv, snapshot: Any) -> None:
        bodies, contacts, plain, awake, moon = snapshot
        if [polygon[:2] for polygon in env.sky_polys] != moon:
            _build(env, moon)
        for body, values in zip((env.lander, *env.legs), bodies, strict=True):
            body.awake = False  # waking up again sets the time it has been still to zero
            body.awake = awake
            x, y, body.angle, vx, vy, body.angularVelocity = values
            body.position, body.linearVelocity = (x, y), (vx, vy)
        for leg, contact in zip(env.legs, contacts, strict=True):
            leg.ground_contact = contact
        env.__dict__.update(plain)

    def state_key(self, env: BareEnv) -> Hashable:
        numbers = [number for body in (env.lander, *env.legs) for number in _read(body)]
        return float_key((*numbers, *(float(leg.ground_contact) for leg in env.legs)))

    def is_reset(self, env: BareEnv) -> bool:
        return env.lander is not None

    def has_ended(self, env: BareEnv) -> bool:
        return bool(env.game_over or not env.lander.awake)


def _read(body: Any) -> tuple[float, ...]:
    """Position, angle and velocities of a body, as plain numbers."""
    return *body.position, float(body.angle), *body.linearVelocity, float(body.angularVelocity)


def _build(env: BareEnv, moon: list[list[tuple[float, float]]]) -> None:
    """Give the simulator the moon of the original."""
    env.world.DestroyBody(env.moon)
    env.moon = env.world.CreateStaticBody()
    env.moon.CreateEdgeFixture(vertices=[(0, 0), (_MARGIN, 0)], density=0)
    for left, right in moon:
        env.moon.CreateEdgeFixture(vertices=[left, right], density=0, friction=0.1)
    top = env.sky_polys[0][2][1]
    env.sky_polys = [[left, right, (right[0], top), (left[0], top)] for left, right in moon]
