"""The differential entropy of one continuous column, from the distances to its k-th neighbours."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import digamma

from tamis.information.interface import Floats


def neighbours_for(n_rows: int) -> int:
    """The k for one column: sqrt(n) / 3, 10 for a thousand rows.

    The best of those tried over five laws (docs/continuous.md): fewer neighbours are noisier,
    more of them smear the density, and spacings of any width are biased more.
    """
    return max(min(round(math.sqrt(n_rows) / 3), n_rows - 1), 1)


def column_entropy(values: Floats, k: int | None = None) -> float:
    """H(X) in nats, by Kozachenko and Leonenko (1987): psi(n) - psi(k) + mean of ln(2 r), r the
    distance to the k-th neighbour; the values are all different."""
    n = len(values)
    k = neighbours_for(n) if k is None else k
    ordered = np.sort(values)
    # The k-th neighbour ends the narrowest of the runs of k + 1 values that hold the value.
    radius = np.full(n, np.inf)
    padded = np.concatenate([np.full(k, -np.inf), ordered, np.full(k, np.inf)])
    for before in range(k + 1):
        lowest = padded[k - before : k - before + n]
        highest = padded[2 * k - before : 2 * k - before + n]
        np.minimum(radius, np.maximum(ordered - lowest, highest - ordered), out=radius)
    return float(digamma(n) - digamma(k) + np.log(2 * radius).mean())
