"""Pictures of environments: shapes and text in units of a hundredth of the width, drawn by pygame without a display.

Imported when a picture is asked for; `import gymnasium_gsp` stays without pygame.
"""

import math
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.error import DependencyNotInstalled, Error
from numpy.typing import NDArray

os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
try:
    import pygame
except ModuleNotFoundError as error:
    raise DependencyNotInstalled("pictures need pygame-ce: pip install 'gymnasium-gsp[rendering]'") from error

Point = tuple[float, float]

PAPER, INK, FAINT = "#f7f5f0", "#1f2933", "#8895a3"
AGENT, WRONG, GOOD, GOLD = "#e4572e", "#b3261e", "#2e9e5b", "#f0b429"
CAPTION = 11.0  # height of the line of text below a picture
LARGE = 400  # pixels; smaller pictures are drawn at four times their size and shrunk, larger ones at twice


class Picture:
    """A picture 100 units wide; y grows downwards, and a caption fills the last `CAPTION` units.

    Args:
        height: of what is drawn, in units, without the caption.
        pixels: width of the finished picture.
    """

    def __init__(self, height: float, pixels: int) -> None:
        self.height = height
        self._zoom = 4 if pixels < LARGE else 2
        self._scale = pixels * self._zoom / 100.0
        self._size = pixels, 2 * round(pixels * (height + CAPTION) / 200.0)  # even, as films need it
        self._surface = pygame.Surface((self._size[0] * self._zoom, self._size[1] * self._zoom))
        self._surface.fill(PAPER)
        self._fonts: dict[int, pygame.font.Font] = {}

    def rectangle(self, x: float, y: float, wide: float, high: float, colour: str, radius: float = 0.0) -> None:
        """Fill a rectangle with rounded corners; (x, y) is its upper left corner."""
        left, top, right, bottom = (round(self._scale * end) for end in (x, y, x + wide, y + high))
        rectangle = pygame.Rect(left, top, right - left, bottom - top)
        pygame.draw.rect(self._surface, colour, rectangle, border_radius=round(self._scale * radius))

    def circle(self, x: float, y: float, radius: float, colour: str, line: float = 0.0) -> None:
        """Fill a circle, or draw its line with a width."""
        width = max(1, round(self._scale * line)) if line else 0
        pygame.draw.circle(self._surface, colour, self._at((x, y)), self._scale * radius, width)

    def polygon(self, points: Sequence[Point], colour: str) -> None:
        """Fill a polygon."""
        pygame.draw.polygon(self._surface, colour, [self._at(point) for point in points])

    def line(self, start: Point, end: Point, colour: str, width: float) -> None:
        """Draw a line with round ends."""
        (x, y), length = (end[0] - start[0], end[1] - start[1]), math.dist(start, end)
        if length:
            across = -y / length * width / 2.0, x / length * width / 2.0
            corners = [(p[0] + side * across[0], p[1] + side * across[1]) for p, side in _corners(start, end)]
            self.polygon(corners, colour)
        for point in (start, end):
            self.circle(*point, width / 2.0, colour)

    def arrow(self, start: Point, end: Point, colour: str, width: float) -> None:
        """Draw a line whose end has a head."""
        angle = math.atan2(end[1] - start[1], end[0] - start[0])
        head = 3.0 * width
        neck = end[0] - head * math.cos(angle), end[1] - head * math.sin(angle)
        self.line(start, neck, colour, width)
        sides = [angle + turn for turn in (math.pi / 2.0, -math.pi / 2.0)]
        wings = [(neck[0] + 0.6 * head * math.cos(side), neck[1] + 0.6 * head * math.sin(side)) for side in sides]
        self.polygon([end, *wings], colour)

    def text(self, x: float, y: float, text: str, size: float, colour: str = INK, anchor: str = "center") -> None:
        """Write a line; `anchor` is the point of it that (x, y) places: center, midleft, midright, ..."""
        image = self._font(max(1, round(self._scale * size))).render(text, True, colour)
        self._surface.blit(image, image.get_rect(**{anchor: self._at((x, y))}))

    def flag(self, x: float, y: float, size: float) -> None:
        """Draw the goal's flag on its pole, in a square of this size around (x, y)."""
        foot, top = y + 0.4 * size, y - 0.4 * size
        left = x - 0.18 * size
        self.line((left, foot), (left, top), INK, 0.07 * size)
        self.polygon([(left, top), (left + 0.55 * size, top + 0.2 * size), (left, top + 0.4 * size)], GOOD)

    def agent(self, x: float, y: float, size: float) -> None:
        """Draw the one who acts."""
        self.circle(x, y, 0.36 * size, "#ffffff")
        self.circle(x, y, 0.31 * size, AGENT)
        for side in (-0.11, 0.11):
            self.circle(x + side * size, y - 0.05 * size, 0.05 * size, "#ffffff")

    def caption(self, left: str, right: str = "", colour: str = INK) -> None:
        """Write below the picture, at both ends."""
        middle = self.height + CAPTION / 2.0 - 0.8
        self.text(3.0, middle, left, 5.2, INK, "midleft")
        self.text(97.0, middle, right, 5.2, colour, "midright")

    def finished(self) -> pygame.Surface:
        """The picture at its own size."""
        return pygame.transform.smoothscale(self._surface, self._size)

    def _font(self, pixels: int) -> pygame.font.Font:
        if pixels not in self._fonts:
            pygame.font.init()  # again and again, as other environments end pygame when they are closed
            self._fonts[pixels] = pygame.font.Font(None, pixels)
        return self._fonts[pixels]

    def _at(self, point: Point) -> Point:
        return self._scale * point[0], self._scale * point[1]


def _corners(start: Point, end: Point) -> list[tuple[Point, float]]:
    return [(start, 1.0), (end, 1.0), (end, -1.0), (start, -1.0)]


def text_picture(text: str, pixels: int) -> Picture:
    """A picture of text, for an environment that draws none of its own."""
    lines = text.splitlines() or [""]
    step = min(8.0, 180.0 / max(map(len, lines), default=1))
    picture = Picture(max(20.0, step * (len(lines) + 1)), pixels)
    for row, line in enumerate(lines):
        for column, letter in enumerate(line):
            picture.text(4.0 + 0.52 * step * column, step * (row + 1), letter, step)
    return picture


def as_array(surface: pygame.Surface) -> NDArray[np.uint8]:
    """(height, width, 3) uint8, the pixels of a picture."""
    return np.ascontiguousarray(pygame.surfarray.array3d(surface).swapaxes(0, 1))


class Window:
    """A window on the screen.

    Raises:
        Error: if there is no display.
    """

    def __init__(self, title: str) -> None:
        self._title, self._clock = title, pygame.time.Clock()
        self._screen: Any = None
        try:
            pygame.display.init()
        except pygame.error as error:
            raise Error(
                f"render_mode='human' needs a display ({error}); use render_mode='rgb_array', or set "
                "SDL_VIDEODRIVER=dummy to play without seeing"
            ) from None

    def show(self, surface: pygame.Surface, frames_per_second: float) -> None:
        """Show a picture, and wait as long as a frame lasts."""
        if self._screen is None or self._screen.get_size() != surface.get_size():
            self._screen = pygame.display.set_mode(surface.get_size())
            pygame.display.set_caption(self._title)
        self._screen.blit(surface, (0, 0))
        pygame.event.pump()
        pygame.display.flip()
        self._clock.tick(frames_per_second)

    def close(self) -> None:
        """Close the window."""
        pygame.display.quit()
