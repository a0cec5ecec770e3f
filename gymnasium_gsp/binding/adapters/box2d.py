"""LunarLander: the attributes of its three bodies, and the moon where the sibling has another.

Box2D's world can be neither copied nor pickled.  Positions and velocities can be set; the impulses that contacts and
joints carry over to the next step cannot, so a copy follows the original to about seven digits.
"""

from typing import Any, ClassVar

from gymnasium_gsp.binding.adapters.adapter import Adapter, constants
from gymnasium_gsp.binding.keys import finite

_PLAIN = ("game_over", "prev_shaping", "wind_idx", "torque_idx")
_MARGIN = 20.0  # VIEWPORT_W / SCALE, the width of the moon


class LunarLander(Adapter):
    """Transforms, velocities, contacts and flags; approximate, see above."""

    name: ClassVar[str] = "LunarLander"
    note = "follows the original to about seven digits: Box2D does not give away the impulses of contacts and joints"
    exact = False

    @classmethod
    def fits(cls, env: Any) -> bool:
        return type(env).__module__ == "gymnasium.envs.box2d.lunar_lander"

    def save(self, env: Any) -> Any:
        bodies = [_read(body) for body in (env.lander, *env.legs)]
        contacts = [bool(leg.ground_contact) for leg in env.legs]
        plain = {**constants(env), **{name: getattr(env, name) for name in _PLAIN if hasattr(env, name)}}
        return bodies, contacts, plain, bool(env.lander.awake), [polygon[:2] for polygon in env.sky_polys]

    def load(self, env: Any, snapshot: Any) -> None:
        bodies, contacts, plain, awake, moon = snapshot
        if [polygon[:2] for polygon in env.sky_polys] != moon:
            _build(env, moon)
        for body, values in zip((env.lander, *env.legs), bodies, strict=True):
            body.awake = False  # to wake up again sets the time it has been still to zero
            body.awake = awake
            (x, y), body.angle, (vx, vy), body.angularVelocity = values
            body.position, body.linearVelocity = (x, y), (vx, vy)
        for leg, contact in zip(env.legs, contacts, strict=True):
            leg.ground_contact = contact
        vars(env).update(plain)

    def key(self, env: Any) -> Any:
        numbers = [n for body in (env.lander, *env.legs) for n in _flat(_read(body))]
        return finite((*numbers, *(float(leg.ground_contact) for leg in env.legs)))

    def is_reset(self, env: Any) -> bool:
        return env.lander is not None

    def has_ended(self, env: Any) -> bool:
        return bool(env.game_over or not env.lander.awake)


def _read(body: Any) -> tuple[Any, ...]:
    """Position, angle and velocities of a body, as plain numbers."""
    return tuple(body.position), float(body.angle), tuple(body.linearVelocity), float(body.angularVelocity)


def _flat(values: tuple[Any, ...]) -> tuple[float, ...]:
    (x, y), angle, (vx, vy), turn = values
    return x, y, angle, vx, vy, turn


def _build(env: Any, moon: list[Any]) -> None:
    """Give the sibling the moon of the original."""
    env.world.DestroyBody(env.moon)
    env.moon = env.world.CreateStaticBody()
    env.moon.CreateEdgeFixture(vertices=[(0, 0), (_MARGIN, 0)], density=0)
    for left, right in moon:
        env.moon.CreateEdgeFixture(vertices=[left, right], density=0, friction=0.1)
    top = env.sky_polys[0][2][1]
    env.sky_polys = [[left, right, (right[0], top), (left[0], top)] for left, right in moon]
