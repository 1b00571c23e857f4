"""Likelihood ratios of dependence within the cells of levels, where one side at least is measured.

Each cell of the given levels has its own regressions. Two measurements are compared by their
partial correlation in each cell; a column of levels and a measurement by whether the regression
of the latter differs between the levels, in coefficients or in variance. Rows in cells that are too
few for that are left out of the comparison on both sides, so that they say nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tamis.information.cell_algebra import compared_gains, partial_gains
from tamis.information.gaussian_cells import Columns, Members
from tamis.information.interface import Floats


class Ratios(NamedTuple):
    """For each test the gain in ln likelihood a row, its mean under independence, and the
    degrees of freedom."""

    gain: Floats
    expected: Floats
    df: Floats


def of_measurements(
    columns: Columns, levels: Members, target: int, measured: Members, others: Sequence[int]
) -> Ratios:
    """A measured target with each of ``others``, given ``levels`` and ``measured``."""
    q = len(measured)
    cells = columns.cells(levels)
    _, scatter, _ = cells.moments(columns.by_row)
    gains = np.zeros(len(others))
    expected, df = partial_gains(
        cells.counts[cells.full], scatter, columns.places((*measured, target, *others)), q,
        columns.needed(q + 2), columns.n_rows, columns.halves, gains,
    )  # fmt: skip
    return Ratios(gains, np.full(len(others), expected), np.full(len(others), float(df)))


def of_level_target(
    columns: Columns, levels: Members, target: int, measured: Members, others: Sequence[int]
) -> Ratios:
    """A target of levels with each of ``others``, all measured, given ``levels`` and
    ``measured``."""
    q = len(measured)
    fine = columns.cells(tuple(sorted((*levels, target))))
    means, scatter, _ = fine.moments(columns.by_row)
    strata = fine.strata(target, columns.cells(levels))
    gains = np.zeros(len(others))
    expected, df = compared_gains(
        fine.counts[fine.full], means, scatter, *strata, columns.places((*measured, *others)), q,
        columns.needed(q + 1), columns.n_rows, columns.halves, gains,
    )  # fmt: skip
    return Ratios(gains, np.full(len(others), expected), np.full(len(others), float(df)))


def of_measured_target(
    columns: Columns, levels: Members, target: int, measured: Members, others: Sequence[int]
) -> Ratios:
    """A measured target with each of ``others``, all of levels, given ``levels`` and
    ``measured``."""
    found = np.zeros((3, len(others)))
    for i, k in enumerate(others):
        found[:, [i]] = of_level_target(columns, levels, k, measured, (target,))
    return Ratios(*found)
