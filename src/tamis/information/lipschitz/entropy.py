"""The differential entropy of a set of columns of a cube."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tamis.information.interface import Floats, Ints
from tamis.information.lipschitz.cells import count_grids
from tamis.information.lipschitz.cube import Cube
from tamis.information.lipschitz.smoothing import Smoothing
from tamis.information.lipschitz.streams import column_shifts, halves
from tamis.information.lipschitz.terms import halved_terms, whole_terms


class DifferentialEntropy:
    """h(X_S) in nats for sets S of columns: the entropy of cells plus the mean log volume."""

    def __init__(self, cube: Cube, smoothing: Smoothing) -> None:
        self.cube = cube
        self.smoothing = smoothing
        self._shifts = [
            column_shifts(name, smoothing.shifts, smoothing.seed) for name in cube.names
        ]
        self._first_half = None
        if smoothing.split:
            # In order of names: the halves are those of the rows, however columns are arranged.
            by_name = sorted(range(len(cube.names)), key=cube.names.__getitem__)
            columns = [cube.scaled[k] for k in by_name]
            self._first_half = halves(columns, cube.n_rows, smoothing.seed)

    def estimate(self, members: Sequence[int], width: float) -> float:
        """The entropy of these columns, smoothed over boxes of side ``width``."""
        if not members:
            return 0.0
        # In order of names, so that sums are rounded alike however columns are arranged.
        members = sorted(members, key=self.cube.names.__getitem__)
        shifts: Floats = np.array([self._shifts[k] for k in members])
        grids = count_grids(
            self.cube, members, width, shifts, self.smoothing.boundary, self._first_half
        )
        found = [_entropy_of_cells(counts) + log_volume for counts, log_volume in grids]
        return float(np.mean(found) + sum(self.cube.log_side[k] for k in members))


def _entropy_of_cells(counts: Ints) -> float:
    if len(counts) == 1:
        return float(whole_terms(int(counts.sum()))[counts[0]].sum())
    one, other = counts
    return float((halved_terms(one, other).sum() + halved_terms(other, one).sum()) / 2)
