"""Likelihood ratios of dependence within the cells of levels, where one side at least is measured.

Each cell of the given levels has its own regressions. Two measurements are compared by their
partial correlation in each cell; a column of levels and a measurement by whether the regression
of the latter differs between the levels, in coefficients or in variance. Rows in cells that are too
few for that are left out of the comparison on both sides, so that they say nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from tamis.information.cell_algebra import compared_gains, partial_gains
from tamis.information.gaussian_cells import Columns, Members
from tamis.information.interface import Floats, Ints

Pair = tuple[Members, Members, int, int]
"""Given levels, given measurements, and two columns, of which the first may be of levels."""


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
    return _in_cells(columns, levels, None, [(measured, (target, *others))])


def of_level_target(
    columns: Columns, levels: Members, target: int, measured: Members, others: Sequence[int]
) -> Ratios:
    """A target of levels with each of ``others``, all measured, given ``levels`` and
    ``measured``."""
    return _in_cells(columns, levels, target, [(measured, others)])


def of_measured_target(
    columns: Columns, levels: Members, target: int, measured: Members, others: Sequence[int]
) -> Ratios:
    """A measured target with each of ``others``, all of levels, given ``levels`` and
    ``measured``."""
    found, q = np.zeros((3, len(others))), len(measured)
    stretch = columns.places((*measured, target)), np.array([0, q + 1]), np.array([q])
    for i, k in enumerate(others):
        _compare(columns, levels, k, stretch, found[:, i : i + 1])
    return Ratios(*found)


def of_pairs(columns: Columns, pairs: Sequence[Pair], *, by_rank: bool = False) -> Ratios:
    """Single tests, those in the same cells in one call; levels are taken ``by_rank``, as if they
    were measured, or as they are."""
    together: dict[tuple[Members, int | None], list[int]] = defaultdict(list)
    for i, (levels, _, first, _) in enumerate(pairs):
        together[levels, first if columns.is_level[first] and not by_rank else None].append(i)
    found = np.zeros((3, len(pairs)))
    for (levels, k), places in together.items():
        asked = [
            (measured, (other,) if k is not None else (first, other))
            for _, measured, first, other in (pairs[i] for i in places)
        ]
        found[:, places] = _in_cells(columns, levels, k, asked)
    return Ratios(*found)


def _in_cells(
    columns: Columns,
    levels: Members,
    k: int | None,
    asked: Sequence[tuple[Members, Sequence[int]]],
) -> Ratios:
    """Tests in the same cells, those of ``levels``: of a column of levels, or, where that is None,
    of the first of the others, with each of the others, given what is measured."""
    stretches = [(*measured, *others) for measured, others in asked]
    starts = np.concatenate([[0], np.cumsum([len(one) for one in stretches])])
    sizes = np.array([len(measured) for measured, _ in asked])
    n_gains = [len(others) - (k is None) for _, others in asked]
    gains, (expected, df) = np.zeros(sum(n_gains)), np.zeros((2, len(asked)))
    places = columns.places([one for stretch in stretches for one in stretch])
    if k is None:
        cells = columns.cells(levels)
        _, scatter, _ = cells.moments(columns.by_row)
        partial_gains(
            cells.rows, scatter, places, starts, sizes,
            columns.thin, columns.n_rows, columns.halves, gains, expected, df,
        )  # fmt: skip
    else:
        _compare(columns, levels, k, (places, starts, sizes), (gains, expected, df))
    return Ratios(gains, np.repeat(expected, n_gains), np.repeat(df, n_gains))


def _compare(
    columns: Columns,
    levels: Members,
    k: int,
    stretches: tuple[Ints, Ints, Ints],
    found: Iterable[Floats],
) -> None:
    """Stretches of measurements, where each starts and how many of it are given, between the levels
    of a column in the cells of others."""
    cells = columns.cells(tuple(sorted((*levels, k))))
    means, scatter, _ = cells.moments(columns.by_row)
    compared_gains(
        cells.rows, means, scatter, *cells.strata(k, columns.cells(levels)), *stretches,
        columns.thin, columns.n_rows, columns.halves, *found,
    )  # fmt: skip
