"""Colours that readers of every kind can tell apart, on paper and on a dark screen."""

import itertools
import re

import numpy as np
import pytest

from gymnasium_gsp.bench.report.figures import COLOURS
from gymnasium_gsp.bench.report.page import STYLE

LIGHT, DARK = STYLE.read_text().split("prefers-color-scheme: dark")[:2]
LUMINANCE = np.array([0.2126, 0.7152, 0.0722])
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
VISION = {  # Machado, Oliveira and Fernandes 2009, table 1, severity 1.0, on linear RGB
    "ordinary": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def colour(sheet, name):
    return re.search(rf"{name}: (#\w+);", sheet)[1]


def linear(code):
    values = np.array([int(code[place : place + 2], 16) for place in (1, 3, 5)]) / 255
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def contrast(one, other):
    """The ratio of WCAG 2."""
    low, high = sorted((LUMINANCE @ linear(one), LUMINANCE @ linear(other)))
    return (high + 0.05) / (low + 0.05)


def lab(rgb):
    """CIELAB, white D65."""
    x, y, z = np.cbrt(np.maximum(XYZ @ np.clip(rgb, 0, 1) / [0.9505, 1.0, 1.089], 0.008856))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("sheet", [LIGHT, DARK], ids=["light", "dark"])
def test_lines_stand_out_from_the_paper_and_words_can_be_read(sheet):
    paper = colour(sheet, "--paper")
    for number in range(len(COLOURS)):
        assert contrast(colour(sheet, f"--s{number}"), paper) >= 3.0  # WCAG 2.1, 1.4.11
    for name in ("--ink", "--soft", "--link", "--better", "--worse"):
        assert contrast(colour(sheet, name), paper) >= 4.5  # 1.4.3
    for ground in ("--card", "--alarm", "--warning"):
        assert contrast(colour(sheet, "--ink"), colour(sheet, ground)) >= 4.5
    assert contrast(colour(sheet, "--worse"), colour(sheet, "--alarm")) >= 4.5


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("sheet", [LIGHT, DARK], ids=["light", "dark"])
def test_every_kind_of_eye_tells_the_lines_apart(sheet, vision):
    """A distance of 2.3 in CIELAB is just noticeable; the six algorithms of the paper are eight times as far apart."""
    seen = [lab(np.array(VISION[vision]) @ linear(colour(sheet, f"--s{number}"))) for number in range(len(COLOURS))]
    for one, other in itertools.combinations(range(len(COLOURS)), 2):
        assert np.linalg.norm(seen[one] - seen[other]) >= (20.0 if other < 6 else 15.0), (one, other)
