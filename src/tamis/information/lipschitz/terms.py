"""What a cell adds to the entropy of the cells: phi(x) = -x ln x estimated from its counts.

With all rows at once the estimator is Wu and Yang's with n in the place of the number of cells:
a polynomial where the count is at most L = 1.6 ln n, the corrected plug-in above. With halves it
is the article's: the count of one half (the pilot) chooses, the other estimates.
"""

from __future__ import annotations

import math
from decimal import Context, Decimal, localcontext
from functools import lru_cache

import numpy as np
from scipy.special import entr

from tamis.information.estimators.coefficients import LARGEST_DEGREE, best_approximations
from tamis.information.estimators.minimax import DEGREE_RATE, INTERVAL_RATE, WORKING_DIGITS, Minimax
from tamis.information.interface import Floats, Ints


@lru_cache(maxsize=16)
def whole_terms(n_rows: int) -> Floats:
    """The term of a cell by its count, from 0 to n, when all rows are used at once."""
    terms = Minimax().terms(np.arange(n_rows + 1), n_rows, n_rows)
    terms.flags.writeable = False
    return terms


def halved_terms(pilot: Ints, counts: Ints) -> Floats:
    """The terms of cells: ``pilot`` of them from one half of the rows, ``counts`` from the other.

    Where the pilot is small, the polynomial, which a U-statistic estimates without bias.
    A count beyond its interval shows that the pilot was wrong and gets the corrected plug-in.
    Elsewhere the second-order Taylor expansion of phi about the pilot's share.
    """
    n_pilot, n_rows = int(pilot.sum()), int(counts.sum())
    polynomial = polynomial_terms(n_rows)
    large = pilot > _degree(n_rows)
    rare = ~large & (counts < len(polynomial))
    found = np.asarray(entr(counts / n_rows) + 0.5 / n_rows)
    found[rare] = polynomial[counts[rare]]
    found[large] = taylor_terms(pilot[large] / n_pilot, counts[large], n_rows)
    return found


def taylor_terms(share: Floats, counts: Ints, n_rows: int) -> Floats:
    """phi(p) + phi'(p)(q - p) + phi''(p)(q - p)^2 / 2 at a fixed p, unbiased for a true share q.

    q is estimated by the count's share and q^2 by the U-statistic N(N-1) / n(n-1); the terms
    collect to -q ln p + (p - q^2 / p) / 2.
    """
    first = counts / n_rows
    second = counts * (counts - 1.0) / (n_rows * (n_rows - 1.0))
    found: Floats = -first * np.log(share) + (share - second / share) / 2
    return found


@lru_cache(maxsize=16)
def polynomial_terms(n_rows: int) -> Floats:
    """The polynomial's term for the counts from 0 to M = 3.5 ln n, where its interval ends.

    sum_m a_m M^(1-m) N(N-1)...(N-m+1) + N ln(n/M), divided by n; an empty cell adds nothing.
    The falling factorials are built up by differences, in decimals because the terms cancel
    (see ``estimators.minimax``, whose terms these continue beyond the count L).
    """
    degree = _degree(n_rows)
    with localcontext(Context(prec=WORKING_DIGITS)):
        M = INTERVAL_RATE * Decimal(n_rows).ln()
        differences = []
        factor = M
        for m, coefficient in enumerate(best_approximations()[degree]):
            differences.append(coefficient * factor)
            factor = factor * (m + 1) / M
        values = [float(_newton(differences, count)) for count in range(int(M) + 1)]
    counts = np.arange(len(values))
    terms: Floats = (np.array(values) + counts * math.log(n_rows / M)) / n_rows
    terms[0] = 0.0
    terms.flags.writeable = False
    return terms


def _newton(differences: list[Decimal], count: int) -> Decimal:
    """sum_m difference_m binomial(count, m)."""
    return sum((step * math.comb(count, m) for m, step in enumerate(differences)), start=Decimal(0))


def _degree(n_rows: int) -> int:
    """L, the degree and the largest pilot count that meets the polynomial."""
    return min(int(DEGREE_RATE * math.log(n_rows)), LARGEST_DEGREE)
