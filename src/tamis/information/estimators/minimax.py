"""The minimax estimator of Wu and Yang, the paper's choice for discrete data.

Small counts go through the best polynomial approximation of -x ln x, which can be estimated
without bias from a Poisson count; large ones through Miller-Madow's formula. Its worst-case
error over all distributions on k cells is of the best possible order: it is consistent from
n ~ k / ln k rows on, where every estimator of the plug-in kind needs n ~ k. The price is a k
to be named: cells that cannot occur (structural zeros) are counted as unseen and bias the
estimate upward, which ``support="observed"`` avoids by giving up on unseen cells.

References: Y. Wu and P. Yang, "Minimax rates of entropy estimation on large alphabets via best
polynomial approximation", IEEE Transactions on Information Theory 62 (2016); used by
M. Gao and B. Aragam, "Efficient Bayesian network structure learning via local Markov boundary
search", NeurIPS 2021.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from decimal import Context, Decimal, InvalidOperation, localcontext
from functools import cache, lru_cache
from importlib import resources
from itertools import accumulate
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

from tamis.errors import FileFormatError, SettingError
from tamis.information.estimators.estimator import EntropyEstimator
from tamis.plugins import is_number

Support = Literal["product", "observed"]

DEGREE_RATE = 1.6
"""L = floor(1.6 ln k) is the degree, and the largest count that meets the polynomial."""
INTERVAL_RATE = Decimal("3.5")
"""M / n is the probability up to which the polynomial stands for -x ln x; M = 3.5 ln k."""
MOST_CELLS = 10**9
"""The largest support that the degrees at hand serve."""
WORKING_DIGITS = 60
"""Digits of the sums over the polynomial; at most 11 of them cancel."""


class Minimax(EntropyEstimator):
    """The estimator of Wu and Yang (2016) for a table of k cells.

    Parameters
    ----------
    support
        What k is: "product", the product of the arities, or "observed", the cells that occur.
    largest_support
        The cap on a "product"; the default is that of the authors' program.
    """

    name = "minimax"
    uses_support = True
    clips = True

    def __init__(self, support: Support = "product", largest_support: int = 100_000) -> None:
        if support not in get_args(Support):
            choices = " or ".join(map(repr, get_args(Support)))
            raise SettingError(f"support is {support!r}; choose {choices}.")
        if not is_number(largest_support, 2, MOST_CELLS) or largest_support % 1:
            raise SettingError(
                f"largest_support is {largest_support!r}; choose an integer from 2 to {MOST_CELLS}."
            )
        self.support = support
        self.largest_support = int(largest_support)
        self.observed_support = support == "observed"

    def __repr__(self) -> str:
        return f"Minimax(support={self.support!r}, largest_support={self.largest_support})"

    def parameters(self) -> dict[str, str | int]:
        """What, besides the name, would make the same estimator again."""
        return {"support": self.support, "largest_support": self.largest_support}

    def support_size(self, cells: float, observed: int) -> int:
        """k for a table with this number of cells, ``observed`` of them seen.

        More cells may be seen than the cap admits. The number of unseen cells is then negative
        and is used as it is: the authors' program does the same.
        """
        return observed if self.observed_support else int(min(cells, self.largest_support))

    def terms(self, counts: NDArray[np.int64], n_rows: int, support: int) -> NDArray[np.float64]:
        """f(count) of a cell of a table of ``support`` cells; one cell alone has entropy 0."""
        # A cell with all rows gets no 1/2n. A table has such a cell only when k = 1, where the
        # authors' program says 0; and from HEAD on f may not know k, so it is so for every k.
        correction = np.where(counts < n_rows, 1 / (2 * n_rows), 0.0)
        values = np.asarray(entr(counts / n_rows) + correction, dtype=np.float64)
        polynomial = _polynomial_terms(support)
        small = counts < polynomial.size
        rare = counts[small]
        values[small] = (polynomial[rare] + rare * math.log(n_rows)) / n_rows
        return values


_NOTHING = np.zeros(1)
_NOTHING.flags.writeable = False


@lru_cache(maxsize=8192)
def _polynomial_terms(support: int) -> NDArray[np.float64]:
    """n g(j) - j ln n for the counts j = 0..L, which depends on the support k alone.

    n g(j) = sum_{m <= j} a_m M**(1-m) j (j-1) ... (j-m+1) + j ln(n/M). The falling factorial
    is m! times a binomial coefficient, so m! a_m M**(1-m) are the differences of the sum at
    j = 0, and L rounds of running sums give all its values. Its terms alternate and cancel:
    in float64 n g(j) would be wrong by 3e-10 at degree 18 and by 3e-3 at degree 33, and the
    rounding of the coefficients alone does most of that. Hence decimals to the end.
    """
    if support <= 1:
        return _NOTHING
    degree = min(int(DEGREE_RATE * math.log(support)), LARGEST_DEGREE)
    with localcontext(Context(prec=WORKING_DIGITS)):
        M = INTERVAL_RATE * Decimal(support).ln()
        factors = accumulate(range(1, degree + 1), lambda factor, m: factor * m / M, initial=M)
        differences = [a * b for a, b in zip(best_approximations()[degree], factors, strict=True)]
        sums: list[Decimal] = []
        for difference in reversed(differences):
            sums = list(accumulate(sums, initial=difference))
    values = np.array(sums, dtype=np.float64) - np.arange(degree + 1) * math.log(M)
    values.flags.writeable = False
    return values


# The polynomials come from a file that ``scripts/minimax_coefficients.py`` makes. It carries a
# checksum, because one wrong digit would bend every entropy without a sign of it.
FILE_NAME = "minimax_coefficients.json"
LARGEST_DEGREE = 33
"""The degree of a support of 1e9 cells."""

Polynomial = tuple[Decimal, ...]
"""Coefficients of 1, x, x**2 and so on."""


def checksum(coefficients: Mapping[int, Sequence[str]]) -> str:
    """The SHA-256 of all coefficients as they are written, in order of degree."""
    lines = (f"{degree} {' '.join(coefficients[degree])}\n" for degree in sorted(coefficients))
    return hashlib.sha256("".join(lines).encode("ascii")).hexdigest()


def parse_coefficients(text: str) -> dict[int, Polynomial]:
    """The polynomials in the text of a coefficient file, by degree, if it is undamaged."""
    try:
        content = json.loads(text)
        written = {int(degree): list(row) for degree, row in content["coefficients"].items()}
        stated = content["sha256"]
        found = checksum(written)
        polynomials = {degree: tuple(map(Decimal, row)) for degree, row in written.items()}
    except (ValueError, KeyError, TypeError, AttributeError, InvalidOperation) as error:
        raise FileFormatError(_damaged(f"it cannot be read ({error!r})")) from error
    if found != stated:
        raise FileFormatError(_damaged(f"its checksum is {found}, not {stated}"))
    if [len(polynomials.get(degree, ())) - 1 for degree in _DEGREES] != list(_DEGREES):
        raise FileFormatError(_damaged(f"it lacks a degree from 1 to {LARGEST_DEGREE}"))
    return polynomials


@cache
def best_approximations() -> Mapping[int, Polynomial]:
    """Best uniform approximations of -x ln x on [0, 1], by degree from 1 to 33."""
    return parse_coefficients(
        resources.files(__package__).joinpath(FILE_NAME).read_text(encoding="ascii")
    )


_DEGREES = range(1, LARGEST_DEGREE + 1)


def _damaged(reason: str) -> str:
    return (
        f"{FILE_NAME} is damaged: {reason}. Reinstall tamis, or make the file anew with "
        "scripts/minimax_coefficients.py."
    )
