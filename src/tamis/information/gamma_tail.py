"""Upper tails of gamma laws from below, in a few operations each.

The tail Q(a, x) rises with the shape a and falls with x. So -ln Q at the next smaller shape and the
next larger x of a table is never less than -ln Q(a, x): of millions of tests those that cannot be
the strongest are told apart without their tails, which take a microsecond each.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincc

Floats = NDArray[np.float64]

SHAPE_BITS, PLACE_BITS = 19, 17
"""A table has a line for every 2^-4 of an octave of shapes, and an entry for every 2^-6 of an
octave of x: so many bits of a float of 32 bits are cut off."""
SHAPES, PLACES = (2.0**-4, 2.0**12), (2.0**-8, 2.0**13)
"""The shapes and the x that have entries. Smaller x are taken for the smallest; a smaller shape or
a larger x is bounded by nothing."""
ROUNDING = 1e-6
"""Floats of 32 bits, and scipy's tails, are right to less than this share."""


def ceilings(shape: Floats, at: Floats) -> Floats:
    """What -ln Q(shape, at) is at most; infinite beyond the table."""
    beyond = ~((shape >= SHAPES[0]) & (shape < SHAPES[1]) & (at < PLACES[1]))
    lines = _step(np.where(beyond, SHAPES[0], shape), SHAPE_BITS) - _first(SHAPES, SHAPE_BITS)
    places = _step(np.where(beyond, PLACES[0], np.maximum(at, PLACES[0])), PLACE_BITS)
    used = np.bincount(lines) > 0
    table = np.stack([_line(line) for line in np.flatnonzero(used).tolist()])
    most: Floats = table[(np.cumsum(used) - 1)[lines], places - _first(PLACES, PLACE_BITS)]
    most[beyond] = np.inf
    return most


def _step(values: Floats, bits: int) -> NDArray[np.int32]:
    """The step of the table that positive numbers are on: floats are ordered like their bits."""
    return values.astype(np.float32).view(np.int32) >> bits


def _first(ends: tuple[float, float], bits: int) -> int:
    return int(_step(np.array(ends), bits)[0])


@cache
def _line(line: int) -> Floats:
    """Of one shape, -ln Q at the upper end of each step of x."""
    shape = _number(line + _first(SHAPES, SHAPE_BITS), SHAPE_BITS) * (1 - ROUNDING)
    first, last = (int(one) for one in _step(np.array(PLACES), PLACE_BITS))
    ends = _number(np.arange(first + 1, last + 2), PLACE_BITS) * (1 + ROUNDING)
    with np.errstate(divide="ignore"):
        tails: Floats = 0.0 - np.log(gammaincc(shape, ends))
    return tails * (1 + ROUNDING) + ROUNDING


def _number(step: NDArray[np.int64] | int, bits: int) -> Floats:
    """The least number on a step."""
    return (np.asarray(step, dtype=np.int32) << bits).view(np.float32).astype(np.float64)
