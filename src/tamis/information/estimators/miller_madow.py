"""The Miller-Madow estimator: plug-in plus the first term of its bias.

Adds (observed cells - 1) / 2n. What bias remains is of order 1 / n**2 while every cell that
can occur does; in a sparse table the unseen cells go uncorrected and the estimate stays low.
Its variance is hardly above the plug-in's.

Reference: G. A. Miller, "Note on the bias of information estimates", in Information Theory in
Psychology (1955).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

from tamis.information.estimators.estimator import EntropyEstimator


class MillerMadow(EntropyEstimator):
    """f(j) = -(j/n) ln(j/n) + 1/2n for j > 0, and -1/2n once."""

    name = "miller-madow"

    def terms(self, counts: NDArray[np.int64], n_rows: int, support: int) -> NDArray[np.float64]:
        """f(count) of a cell; the support plays no part."""
        return np.asarray(entr(counts / n_rows) + (counts > 0) / (2 * n_rows), dtype=np.float64)

    def constant(self, n_rows: int) -> float:
        """The one cell that the number of free cells falls short of the observed ones."""
        return -1 / (2 * n_rows)
