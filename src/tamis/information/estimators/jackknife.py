"""The jackknife: n times the plug-in less n - 1 times its mean over tables with one row out.

The bias left is of order 1 / n**2, and in sparse tables smaller than Miller-Madow's, for a
somewhat larger variance.

Leaving out each row of a cell with count j in turn, the definition collects to
f(j) = n g_n(j) - (n-1) [(1 - j/n) g_{n-1}(j) + (j/n) g_{n-1}(j-1)] with
g_m(j) = -(j/m) ln(j/m): linear in the fingerprint. Written so, terms of size n cancel down to
size 1. Every ln(n-1) and most of the rest drop out exactly, which leaves
f(j) = (j/n) [D(n) - D(j)] with D(m) = m ln m - (m-1) ln(m-1), and nothing left to cancel.

Reference: S. Zahl, "Jackknifing an index of diversity", Ecology 58 (1977).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tamis.information.estimators.estimator import EntropyEstimator


class Jackknife(EntropyEstimator):
    """f(j) = (j/n) [D(n) - D(j)], where D(m) = m ln m - (m-1) ln(m-1)."""

    name = "jackknife"

    def terms(self, counts: NDArray[np.int64], n_rows: int, support: int) -> NDArray[np.float64]:
        """f(count) of a cell; the support plays no part. One row alone has entropy 0."""
        filled = np.maximum(counts, 1).astype(np.float64)
        rise = np.log(n_rows / filled) + _excess(np.float64(n_rows)) - _excess(filled)
        return np.asarray(counts / n_rows * rise, dtype=np.float64)


def _excess(count: NDArray[np.float64] | np.float64) -> NDArray[np.float64]:
    """D(m) - ln m = -(m-1) ln(1 - 1/m): 0 at m = 1, rising to 1."""
    above = np.maximum(count, 2.0)
    return np.where(count > 1, (1 - above) * np.log1p(-1 / above), 0.0)
