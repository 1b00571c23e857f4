"""Cells of levels, and the moments of measurements in them.

A set A with levels D and measurements C has the law P(D) N(C ; mean_D, cov_D). A cell of D with too
few rows has no covariance of its own: all such cells share one, each about its own mean, and if
they have too few rows together, the next larger cells join them.

The moments of all measurements in the cells of D are worked out once for each D: whatever is asked
about D follows from these small matrices, and no more from the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.special import psi

from tamis.information.cell_algebra import by_stratum, group_terms, refined, scatters
from tamis.information.estimators import Grassberger
from tamis.information.interface import Floats, Ints
from tamis.information.kept import Kept

MOST_BYTES = 2**28
"""How many bytes the cells that are kept may take."""

MOST_ROOM = 64
"""Up to so many possible cells a row are laid out to be counted; of more the rows are sorted."""

Members = tuple[int, ...]


class Cells:
    """The occupied cells of some levels, with the moments of measurements in those that are full:
    that have rows enough to have any of their own. Of the others their scatter is added up, each
    about its own mean."""

    def __init__(self, cell: Ints, counts: Ints, thin: int) -> None:
        self.cell, self.counts = cell, counts
        self.full = np.flatnonzero(counts >= thin)
        self.rows = counts[self.full]
        """How many rows full cells have."""
        self._known: tuple[Floats, Floats, Floats] | None = None
        self._strata: dict[int, tuple[Ints, Ints]] = {}
        self._shared: dict[int, tuple[bool, Ints] | None] = {}

    @cached_property
    def plugin(self) -> float:
        """The entropy of the cells."""
        shares = self.counts / len(self.cell)
        return -float((shares * np.log(shares)).sum())

    @property
    def nbytes(self) -> int:
        """What it takes without moments, in bytes."""
        return self.cell.nbytes + self.counts.nbytes

    def moments(self, values: Floats) -> tuple[Floats, Floats, Floats]:
        """The means and the scatter of full cells, and the scatter of all others together; values
        have a row for each row of the table."""
        if self._known is None:
            m = values.shape[1]
            means, scatter = np.zeros((len(self.full), m)), np.zeros((len(self.full), m, m))
            rest = np.zeros((m, m))
            place = np.full(len(self.counts), -1)
            place[self.full] = np.arange(len(self.full))
            scatters(values, self.cell, self.counts, place, means, scatter, rest)
            self._known = means, scatter, rest
        return self._known

    def strata(self, k: int, coarse: Cells) -> tuple[Ints, Ints]:
        """The full cells by those of ``coarse``, which are without the levels of k: those in the
        same one side by side, and where those of each of them start."""
        if k not in self._strata:
            self._strata[k] = by_stratum(self.cell, self.full, coarse.cell, len(self.counts))
        return self._strata[k]

    def shared(self, needed: int, q: int) -> tuple[bool, Ints] | None:
        """Whether there is a covariance that cells share, and the places among full cells of those
        that share it; None where rows are too few for any."""
        if q not in self._shared:
            group = tied(self.counts, needed, q)
            found = None
            if group is not None:
                some = bool(self.counts.min() < needed)
                found = some, np.flatnonzero(group[self.full] == 0) if some else np.zeros(0, int)
            self._shared[q] = found
        return self._shared[q]


class Fit(NamedTuple):
    """The largest likelihood of a set: minus its mean logarithm, the same without its bias under
    the model, and how many numbers the laws of the measurements take."""

    entropy: float
    unbiased: float
    size: float


class Columns:
    """The columns of a table: ``codes`` of levels, and ``values`` of mean 0 and variance 1; each
    has a row for every column, that of the other kind being of no use. Those of levels that are
    ``ranked`` have values too, and moments."""

    def __init__(
        self,
        codes: Ints,
        arities: Sequence[int],
        values: Floats,
        levels: Sequence[bool],
        thin: int,
        ranked: Sequence[int] = (),
    ) -> None:
        self.codes = np.ascontiguousarray(codes)
        self.values, self.arities = values, list(arities)
        self.is_level = list(levels)
        self.n_rows = codes.shape[1]
        self.thin = thin
        counts = np.arange(self.n_rows + 1)
        self._grassberger = Grassberger().terms(counts, self.n_rows, 0)
        self.halves: Floats = psi(np.maximum(counts, 1) / 2)
        """psi(i / 2), which the biases of fitted variances are made of."""
        measured = [k for k, level in enumerate(self.is_level) if not level] + list(ranked)
        self._place = np.zeros(len(self.is_level), dtype=np.int64)
        self._place[measured] = np.arange(len(measured))
        self.by_row = np.ascontiguousarray(values[measured].T)
        self._cells = Kept[Members, Cells](MOST_BYTES)

    def split(self, members: Sequence[int]) -> tuple[Members, Members]:
        """The levels and the measurements among some columns."""
        levels = tuple([k for k in members if self.is_level[k]])
        return levels, tuple([k for k in members if not self.is_level[k]])

    def split_at(self, given: Sequence[int], target: int) -> tuple[Members, int, Members]:
        """A target between the levels and the numbers among some columns."""
        levels, measured = self.split(given)
        return levels, target, measured

    def needed(self, q: int) -> int:
        """How many rows a cell needs for the covariance of q measurements."""
        return max(self.thin, q + 4)

    def places(self, measured: Sequence[int]) -> Ints:
        """Where continuous columns stand in the moments of cells."""
        found: Ints = self._place[list(measured)]
        return found

    def cells(self, levels: Members) -> Cells:
        """The cells that these columns, in their order, make of the rows."""
        found = self._cells.get(levels)
        if found is None:
            found = self._made(levels)
            # With the moments that will be asked of it.
            moments = 8 * len(found.full) * self.by_row.shape[1] ** 2
            self._cells.keep(levels, found, found.nbytes + moments)
        return found

    def _made(self, levels: Members) -> Cells:
        """From the cells of all levels but the last, so that numbers do not depend on what is
        kept."""
        if not levels:
            return Cells(np.zeros(self.n_rows, dtype=np.int64), np.array([self.n_rows]), self.thin)
        before, k = self.cells(levels[:-1]), levels[-1]
        n_cells, arity = len(before.counts), self.arities[k]
        if n_cells * arity > MOST_ROOM * (self.n_rows + 64):
            fine = before.cell * arity + self.codes[k]
            _, cell, counts = np.unique(fine, return_inverse=True, return_counts=True)
        else:
            cell, counts = refined(before.cell, self.codes[k], arity, n_cells)
        return Cells(cell, counts, self.thin)

    def entropy(self, k: int, levels: Members) -> float:
        """H(k | levels) of columns of levels, as they are counted: no column tells more of k."""
        fine = self.cells(tuple(sorted((*levels, k))))
        return fine.plugin - self.cells(levels).plugin

    def fit(self, members: Sequence[int]) -> Fit | None:
        """The law of a set; None where the means of its cells use up the rows."""
        levels, measured = self.split(members)
        cells = self.cells(levels)
        plugin = cells.plugin
        unbiased = float(self._grassberger[cells.counts].sum()) if levels else 0.0
        q = len(measured)
        if q == 0:
            return Fit(plugin, unbiased, 0.0)
        shared = cells.shared(self.needed(q), q)
        if shared is None:
            return None
        _, scatter, rest = cells.moments(self.by_row)
        logs, bias, n_groups = group_terms(
            cells.counts, cells.full, scatter, rest, *shared, self.places(measured), self.halves
        )
        return Fit(
            plugin + 0.5 * logs,
            unbiased + 0.5 * (logs - bias),
            len(cells.counts) * q + n_groups * q * (q + 1) / 2,
        )


def tied(counts: Ints, needed: int, q: int) -> Ints | None:
    """The group of each cell: its own, or the first for all that share a covariance; None where
    rows are too few for any."""
    if counts.min() >= needed:
        return np.arange(len(counts))
    if (counts - 1).sum() < q + 2:
        return None
    # By size, so that what levels are called plays no part.
    sizes, cells = np.unique(counts, return_counts=True)
    free = np.cumsum((sizes - 1) * cells)
    largest = sizes[min(int(np.argmax(free >= needed - 1)), len(sizes) - 1)]
    if free[-1] < needed - 1:
        largest = sizes[-1]
    shared = (counts < needed) | (counts <= largest)
    group = np.zeros(len(counts), dtype=np.int64)
    group[~shared] = np.arange(1, int((~shared).sum()) + 1)
    return group
