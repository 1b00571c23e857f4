"""The plug-in estimator: the entropy of the observed frequencies.

Also the maximum-likelihood estimate. Its bias is downward, about (cells - 1) / 2n while the
cells are well filled, and it never exceeds ln n, so a large table can look far more ordered
than it is. Mutual information by plug-in entropies is never negative; times 2n it is the
likelihood ratio of the test of independence.

Reference: G. P. Basharin, "On a statistical estimate for the entropy of a sequence of
independent random variables", Theory of Probability and Its Applications 4 (1959).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

from tamis.information.estimators.estimator import EntropyEstimator


class Plugin(EntropyEstimator):
    """f(j) = -(j/n) ln(j/n)."""

    name = "plugin"

    def terms(self, counts: NDArray[np.int64], n_rows: int, support: int) -> NDArray[np.float64]:
        """f(count) of a cell; the support plays no part."""
        return np.asarray(entr(counts / n_rows), dtype=np.float64)
