"""What a table of probabilities costs: the regret of the normalised maximum likelihood.

The likelihood of n rows under the best of all distributions on r levels is too good to be true by
ln C(r, n), where C(r, n) adds the largest likelihoods of all tables of n rows (Shtarkov, 1987;
Rissanen, 1996). A node with r levels and parents with q states pays ln C(q r, n) - ln C(q, n):
the quotient NML score (Silander, Leppae-aho, Jaeaesaari and Roos, 2018). Like BIC it has no
parameter to choose and is the same for equivalent graphs; unlike BIC it never asks for more than
n ln r, so that many parents are not refused for the size of their table alone.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

Floats = NDArray[np.float64]

EXACT = 1000
"""C(2, n) is added up term by term to here; then its expansion is exact to 1e-6."""
MOST_LEVELS = 2**16
"""Beyond this number of levels the recurrence gives way to its limit."""


def price(n_levels: int, n_states: float, n_rows: int) -> float:
    """ln C(q r, n) - ln C(q, n): what r levels cost given q states."""
    return log_regret(n_levels * n_states, n_rows) - log_regret(n_states, n_rows)


def log_regret(n_levels: float, n_rows: int) -> float:
    """ln C(r, n)."""
    if n_levels > MOST_LEVELS:
        return _limit(n_levels, n_rows)
    r = int(n_levels)
    return float(_regrets(n_rows, _room(r))[r])


def _room(n_levels: int) -> int:
    """Powers of two from 256 on, so that few tables are made."""
    return max(256, 1 << (n_levels - 1).bit_length())


@lru_cache(maxsize=64)
def _regrets(n_rows: int, most: int) -> Floats:
    """ln C(r, n) for r up to ``most``, by C(r + 2, n) = C(r + 1, n) + (n / r) C(r, n) (Kontkanen
    and Myllymaeki, 2007), kept as ratios of neighbours so that nothing overflows."""
    ratio = math.exp(_two_levels(n_rows))
    steps = [0.0, 0.0, math.log(ratio)]
    for r in range(1, most - 1):
        ratio = 1.0 + n_rows / (r * ratio)
        steps.append(math.log(ratio))
    return np.cumsum(steps)


def _two_levels(n: int) -> float:
    """ln C(2, n): exact for few rows, else by Szpankowski's expansion (1998)."""
    if n == 0:
        return 0.0
    if n > EXACT:
        first, second = math.sqrt(8 / (9 * n * math.pi)), (3 * math.pi - 16) / (36 * n * math.pi)
        return 0.5 * math.log(n * math.pi / 2) + first + second
    h = np.arange(n + 1)
    ways = gammaln(n + 1) - gammaln(h + 1) - gammaln(n - h + 1)
    return math.log(np.exp(ways + _log_power(h, n) + _log_power(n - h, n)).sum())


def _log_power(h: NDArray[np.int64], n: int) -> Floats:
    """h ln(h / n), which is 0 at 0."""
    return np.asarray(h * np.log(np.maximum(h, 1) / n), dtype=np.float64)


def _limit(n_levels: float, n: int) -> float:
    """ln C(r, n) where r is of the order of n or larger (Szpankowski and Weinberger, 2012)."""
    a = n_levels / n
    # c = (1 + sqrt(1 + 4 / a)) / 2, and c - 1 without the digits that cancel for large a.
    over = 2 / (a * (1 + math.sqrt(1 + 4 / a)))
    c = 1 + over
    return n * (math.log(a) + (a + 2) * math.log1p(over) - 1 / c) - 0.5 * math.log(c + 2 / a)
