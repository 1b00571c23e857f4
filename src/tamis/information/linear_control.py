"""How much of what a set of columns tells of another depends on whose rows were asked.

What some columns explain of another is a mean over rows, and over different rows it differs, by
chance or because of who is missing. The linear part of that difference can be known: by moments of
the same rows on the one hand, of all rows by maximum likelihood on the other. Taken off, it leaves
means that compare (a control variate). Levels take part by their indicators.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from tamis.information.incomplete_moments import Flags, fit_moments
from tamis.information.interface import Floats, Ints
from tamis.tables.table import Table

MOST_NUMBERS = 300
"""Columns of numbers and indicators beyond which the covariance of all is not worth its time."""
ROUNDING = 1e-6
"""Of a variance: what varies less than this counts as determined, in some rows as in all."""


class LinearControl:
    """The linear information between columns, in some rows and in all; 0 without a covariance."""

    def __init__(self, table: Table) -> None:
        pieces = [_indicators(table, k) for k in range(table.n_variables)]
        starts = np.cumsum([0, *map(len, pieces)])
        self._places = [np.arange(a, b) for a, b in pairwise(starts.tolist())]
        self._values = np.concatenate(pieces)
        present = [np.repeat(table.present(k)[None], len(one), 0) for k, one in enumerate(pieces)]
        flags = np.concatenate(present)
        self._covariance = self._of_all(flags)
        self._known: dict[tuple[int, ...], float] = {}

    def apart(self, target: int, given: tuple[int, ...], rows: Ints) -> float:
        """How much more the given columns tell linearly of the target in all rows than in these."""
        covariance = self._covariance
        if covariance is None:
            return 0.0
        sets = (target,), given, tuple(sorted((target, *given)))
        whole = [self._in_all(covariance, one) for one in sets]
        places = np.concatenate([self._places[k] for k in sets[2]])
        inside = np.cov(self._values[np.ix_(places, rows)], bias=True).reshape(2 * (len(places),))
        where = {int(place): i for i, place in enumerate(places)}
        some = []
        for one in sets:
            at = [where[int(place)] for k in one for place in self._places[k]]
            some.append(_log_determinant(inside[np.ix_(at, at)]))
        return (whole[0] + whole[1] - whole[2]) - (some[0] + some[1] - some[2])

    def _of_all(self, present: Flags) -> Floats | None:
        n_numbers = len(present)
        often = bool((present.sum(axis=1) >= 2 * (n_numbers + 1)).all())
        if not often or not 0 < n_numbers <= MOST_NUMBERS:
            return None
        return fit_moments(self._values, present, roughly=True).covariance

    def _in_all(self, covariance: Floats, columns: tuple[int, ...]) -> float:
        if columns not in self._known:
            at = np.concatenate([self._places[k] for k in columns])
            self._known[columns] = _log_determinant(covariance[np.ix_(at, at)])
        return self._known[columns]


def _indicators(table: Table, k: int) -> Floats:
    """A number with mean 0 and variance 1; of levels the indicators of all but the first. Nothing
    of a column that never varies, and 0 where it is missing."""
    present = table.present(k)
    if table.never_varies(k):
        return np.zeros((0, table.n_rows))
    if table.kinds[k] == "number":
        found = table.numbers(k)[None]
    else:
        found = (table.codes[k] == np.arange(1, len(table.levels[k]))[:, None]).astype(np.float64)
    known = found[:, present]
    scaled = (found - known.mean(axis=1)[:, None]) / known.std(axis=1)[:, None]
    return np.where(present, scaled, 0.0)


def _log_determinant(covariance: Floats) -> float:
    """Half of ln det, which is the entropy but for a constant that cancels."""
    ridge = ROUNDING * np.eye(len(covariance))
    return 0.5 * float(np.linalg.slogdet(covariance + ridge)[1])
