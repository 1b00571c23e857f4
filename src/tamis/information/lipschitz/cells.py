"""Counting rows in the cells of shifted grids: the smoothed density by a box kernel.

For a box of side h the smoothed density at x is the probability of the box around x divided by
h^d, and every point x is the centre of one cell of one shifted grid. So the integral over x is an
average over shifts of sums over cells.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.errors import SettingError
from tamis.information.interface import Floats, Ints
from tamis.information.lipschitz.cube import Cube
from tamis.information.lipschitz.smoothing import Boundary

MOST_CODES = 2**62
"""Cells are numbered by 64-bit integers."""


class Counted(NamedTuple):
    """The occupied cells of one grid, in order of their place.

    ``counts`` has a row for each part of the rows (one, or two halves); ``log_volume`` is the
    mean over the rows of ln(volume of the row's cell).
    """

    counts: Ints
    log_volume: float


def count_grids(
    cube: Cube,
    members: Sequence[int],
    width: float,
    shifts: Floats,
    boundary: Boundary,
    first_half: NDArray[np.bool_] | None = None,
) -> Iterator[Counted]:
    """The counts of each shifted grid; ``shifts`` has a row for each member."""
    side = math.ceil(1.0 / width) + 1
    if side ** len(members) > MOST_CODES:
        raise SettingError(
            f"a bandwidth of {width:.3g} in {len(members)} dimensions makes more cells than can "
            "be numbered: raise constant"
        )
    for shift in shifts.T:
        codes = np.zeros(cube.n_rows, dtype=np.int64)
        log_volume = 0.0
        for k, offset in zip(members, shift, strict=True):
            places = np.floor(cube.scaled[k] / width + offset).astype(np.int64)
            log_volume += _mean_log_width(places, width, float(offset), boundary)
            codes = codes * side + places
        yield Counted(_counts(codes, side ** len(members), first_half), log_volume)


def _mean_log_width(places: Ints, width: float, offset: float, boundary: Boundary) -> float:
    """The mean over rows of ln(width of the row's cell); cells at a wall may end there."""
    if boundary == "open":
        return math.log(width)
    rows = np.bincount(places)
    edges = np.clip((np.arange(len(rows) + 1) - offset) * width, 0.0, 1.0)
    occupied = rows > 0
    return float(rows[occupied] @ np.log(np.diff(edges)[occupied])) / len(places)


def _counts(codes: Ints, n_cells: int, first_half: NDArray[np.bool_] | None) -> Ints:
    """Rows of each occupied cell, by halves if there are any."""
    if n_cells > 4 * len(codes) + 1024:
        # Sorting wins when cells are scattered; the order of the cells stays the same.
        _, codes = np.unique(codes, return_inverse=True)
    total = np.bincount(codes)
    occupied = total > 0
    if first_half is None:
        return total[occupied][None, :]
    first = np.bincount(codes[first_half], minlength=len(total))
    return np.stack([first[occupied], (total - first)[occupied]])
