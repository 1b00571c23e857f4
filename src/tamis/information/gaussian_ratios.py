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
from scipy.special import psi

from tamis.information.gaussian_cells import RIDGE, Cells, Columns, Moments, sorted_by
from tamis.information.interface import Floats, Ints


class Ratios(NamedTuple):
    """For each test the gain in ln likelihood a row, its mean under independence, and the
    degrees of freedom."""

    gain: Floats
    expected: Floats
    df: Floats


def of_measurements(
    columns: Columns, cells: Cells, target: int, measured: Sequence[int], others: Sequence[int]
) -> Ratios:
    """A measured target with each of ``others``, given the cells and ``measured``."""
    q = len(measured)
    found = columns.moments(cells, [*measured, target], others)
    kept = found.counts >= columns.needed(q + 2)
    counts = found.counts[kept]
    products = found.products[kept] / counts[:, None, None]
    squares = found.squares[kept, q + 1 :] / counts[:, None] + RIDGE
    factor = np.linalg.cholesky(products[:, :, : q + 1] + RIDGE * np.eye(q + 1))
    told = np.linalg.solve(factor, products[:, :, q + 1 :])
    before = squares - (told[:, :q] ** 2).sum(axis=1)
    after = np.maximum(before - told[:, q] ** 2, RIDGE)
    share = counts / columns.n_rows
    free = (counts - 1 - q) / 2
    gain = 0.5 * share @ np.log(np.maximum(before, RIDGE) / after)
    expected = 0.5 * float(share @ (psi(free) - psi(free - 0.5)))
    size = np.full(len(others), float(len(counts)))
    return Ratios(gain, np.full(len(others), expected), size)


def of_level_target(
    columns: Columns, cells: Cells, target: int, measured: Sequence[int], others: Sequence[int]
) -> Ratios:
    """A target of levels with each of ``others``, all measured, given cells and ``measured``."""
    fine = cells.cell * columns.arities[target] + columns.codes[target][cells.order]
    numbers, place = np.unique(fine, return_inverse=True)
    in_table = np.empty_like(place)
    in_table[cells.order] = place
    found = columns.moments(sorted_by(in_table), measured, others)
    compared = _compare(columns, found, numbers // columns.arities[target])
    return Ratios(*(one[len(measured) :] for one in compared))


def of_measured_target(
    columns: Columns, cells: Cells, target: int, measured: Sequence[int], others: Sequence[int]
) -> Ratios:
    """A measured target with each of ``others``, all of levels, given the cells and
    ``measured``."""
    inside = columns.values[[*measured, target]][:, cells.order]
    inside = inside - (np.add.reduceat(inside, cells.starts, axis=1) / cells.counts)[:, cells.cell]
    rows, cols = np.triu_indices(len(inside))
    features = np.concatenate([inside, inside[rows] * inside[cols]])
    found = np.zeros((3, len(others)))
    for i, k in enumerate(others):
        fine = cells.cell * columns.arities[k] + columns.codes[k][cells.order]
        moments, numbers = _sums(fine, features, len(inside))
        compared = _compare(columns, moments, numbers // columns.arities[k])
        found[:, i] = [one[-1] for one in compared]
    return Ratios(*found)


def _sums(fine: Ints, features: Floats, width: int) -> tuple[Moments, Ints]:
    """Moments from the sums of columns and their products, and the cells that occur."""
    counts = np.bincount(fine)
    numbers = np.flatnonzero(counts)
    counts = counts[numbers]
    sums = np.array([np.bincount(fine, weights=one)[numbers] for one in features])
    rows, cols = np.triu_indices(width)
    scatter = np.empty((len(counts), width, width))
    pairs = sums[width:] - sums[rows] * sums[cols] / counts
    scatter[:, rows, cols] = scatter[:, cols, rows] = pairs.T
    squares = np.diagonal(scatter, axis1=1, axis2=2)
    return Moments(counts, (sums[:width] / counts).T, squares, scatter[:, :-1]), numbers


def _compare(columns: Columns, fine: Moments, stratum: Ints) -> Ratios:
    """One regression for all cells of a stratum against one for each, for every column."""
    q = fine.products.shape[1]
    kept = fine.counts >= columns.needed(q + 1)
    # A stratum with one cell left has nothing to compare.
    kept &= (np.bincount(stratum, weights=kept) > 1)[stratum]
    fine = Moments(fine.counts[kept], fine.means[kept], fine.squares[kept], fine.products[kept])
    _, stratum = np.unique(stratum[kept], return_inverse=True)
    coarse = _merged(fine, stratum)
    n, parts = columns.n_rows, (fine, coarse)
    logs = [(one.counts / n) @ _unexplained(one) for one in parts]
    biases = [float((one.counts / n) @ _bias(one.counts, q)) for one in parts]
    df = float((len(fine.counts) - len(coarse.counts)) * (q + 2))
    width = fine.means.shape[1]
    return Ratios(
        0.5 * (logs[1] - logs[0]),
        np.full(width, 0.5 * (biases[1] - biases[0])),
        np.full(width, df),
    )


def _merged(fine: Moments, stratum: Ints) -> Moments:
    """The moments of strata from those of their cells."""
    n_strata, q = int(stratum.max(initial=-1)) + 1, fine.products.shape[1]
    weight = fine.counts[:, None]
    between = (fine.counts[:, None, None] * fine.means[:, :q, None]) * fine.means[:, None, :]

    def added(of_cells: Floats) -> Floats:
        total = np.zeros((n_strata, *of_cells.shape[1:]))
        np.add.at(total, stratum, of_cells)
        return total

    counts = added(fine.counts.astype(np.float64))
    means = added(weight * fine.means) / counts[:, None]
    squares = added(fine.squares + weight * fine.means**2) - counts[:, None] * means**2
    outer = means[:, :q, None] * means[:, None, :]
    products = added(fine.products + between) - counts[:, None, None] * outer
    return Moments(counts.astype(np.int64), means, squares, products)


def _unexplained(moments: Moments) -> Floats:
    """ln of the variance that the first columns leave of each column, a line a cell."""
    q = moments.products.shape[1]
    counts = moments.counts[:, None]
    left = moments.squares / counts + RIDGE
    if q:
        products = moments.products / counts[:, :, None]
        factor = np.linalg.cholesky(products[:, :, :q] + RIDGE * np.eye(q))
        left = left - (np.linalg.solve(factor, products) ** 2).sum(axis=1)
    return np.asarray(np.log(np.maximum(left, RIDGE)))


def _bias(counts: Ints, q: int) -> Floats:
    """By how much ln of a fitted variance is off in the mean."""
    return np.asarray(psi((counts - 1 - q) / 2) - np.log(counts / 2))
