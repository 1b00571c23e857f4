"""What a table of probabilities costs: the regret of the normalised maximum likelihood.

The likelihood of N rows under the best of all distributions on r levels is too good to be true
by ln C(r, N), where C(r, N) adds the largest likelihood over all tables of N rows (Shtarkov,
1987; Rissanen, 1996). Charging each stratum of a conditional table for its own rows gives the
factorised NML score (Silander, Roos, Kontkanen and Myllymaeki, 2008): the likelihood less a price
that knows how few rows a stratum has, where BIC charges ln(n) / 2 for every parameter alike.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

EXACT = 1000
"""C(2, N) is added up term by term to here; then its expansion is exact to 1e-6."""


def regrets(n_levels: int, counts: Ints) -> Floats:
    """ln C(r, N) for each N of ``counts``; a stratum without rows costs nothing."""
    if n_levels < 2:
        return np.zeros(len(counts))
    table = _table(n_levels)
    if counts.max(initial=0) < len(table):
        return table[counts]
    distinct, places = np.unique(counts, return_inverse=True)
    return _extended(n_levels, distinct, _two_levels(distinct))[places]


@lru_cache(maxsize=256)
def _table(n_levels: int) -> Floats:
    counts = np.arange(EXACT + 1)
    return _extended(n_levels, counts, _two_levels(counts))


def _extended(n_levels: int, counts: Ints, two: Floats) -> Floats:
    """From two levels to r: C(r + 2, N) = C(r + 1, N) + (N / r) C(r, N), in logarithms
    (Kontkanen and Myllymaeki, 2007)."""
    with np.errstate(divide="ignore"):
        log_counts = np.log(counts.astype(np.float64))
    one, more = np.zeros(len(counts)), two
    for r in range(1, n_levels - 1):
        one, more = more, np.logaddexp(more, log_counts - math.log(r) + one)
    return more


def _two_levels(counts: Ints) -> Floats:
    """ln C(2, N): exact for few rows, else by Szpankowski's expansion (1998)."""
    exact = _exact_two_levels()
    found = np.empty(len(counts))
    few = counts <= EXACT
    found[few] = exact[counts[few]]
    n = counts[~few].astype(np.float64)
    found[~few] = (
        0.5 * np.log(n * math.pi / 2)
        + np.sqrt(8 / (9 * n * math.pi))
        + (3 * math.pi - 16) / (36 * n * math.pi)
    )
    return found


@lru_cache(maxsize=1)
def _exact_two_levels() -> Floats:
    found = np.zeros(EXACT + 1)
    for n in range(1, EXACT + 1):
        h = np.arange(n + 1)
        ways = gammaln(n + 1) - gammaln(h + 1) - gammaln(n - h + 1)
        found[n] = math.log(np.exp(ways + _log_power(h, n) + _log_power(n - h, n)).sum())
    return found


def _log_power(h: Ints, n: int) -> Floats:
    """h ln(h / n), which is 0 at 0."""
    powers: Floats = np.asarray(h * np.log(np.maximum(h, 1) / n), dtype=np.float64)
    return powers
