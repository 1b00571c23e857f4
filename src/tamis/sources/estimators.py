"""Estimators of the entropy of a table of levels.

An estimate is ``constant + sum over cells of f(count) + unseen cells * f(0)``: an estimator is a
table of f over counts, and the loops that count need to know none of them. A function of all counts
of a table takes part too, more slowly.
"""

from __future__ import annotations

import hashlib
import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from decimal import Context, Decimal, localcontext
from functools import cache
from importlib import resources
from inspect import signature
from itertools import accumulate
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr, psi

from tamis.errors import FileFormatError, SettingError
from tamis.plugins import (
    Check,
    Plain,
    answer_of,
    check_answers,
    is_number,
    number_of,
    numbers_of,
    parameters_of,
    qualified_name,
    refusal,
    whole_of,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_CELLS = 2**53
"""Larger numbers of cells are not whole as floats."""
SUPPORT = f"it must be a number of cells, up to {MOST_CELLS}"


_CHECKS: dict[str, Check] = {
    "terms": lambda what, _, counts, found: numbers_of(what, found, np.shape(counts)),
    "constant": lambda what, _, __, found: number_of(what, found, "it must be one number"),
    "support_size": lambda what, _, __, found: whole_of(what, found, SUPPORT, 0, MOST_CELLS),
}


class EntropyEstimator(ABC):
    """An estimator of Shannon entropy, in nats, from the counts of the cells of a table.

    An estimator of your own has ``name`` and ``terms``; the other methods have defaults.

    Examples
    --------
    >>> from tamis.sources.estimators import EntropyEstimator
    >>> class Gini(EntropyEstimator):
    ...     name = "gini"
    ...     def terms(self, counts, n_rows, support):
    ...         return counts / n_rows * (1 - counts / n_rows)
    >>> Gini().entropy([5, 5])
    0.5
    """

    name: str
    uses_support: bool = False
    """Whether f, for counts below 64, or the number of unseen cells depends on the support, which
    is how many cells the table is taken to have."""
    observed_support: bool = False
    """Whether the support is the cells that occur, and not the product of the numbers of levels."""
    clips: bool = False
    """Whether a negative estimate is reported as 0."""

    def __init_subclass__(cls) -> None:
        """Answers of estimators from outside are checked."""
        super().__init_subclass__()
        check_answers(cls, _CHECKS)

    @abstractmethod
    def terms(self, counts: Ints, n_rows: float, support: int) -> Floats:
        """f of each count, in a table of ``n_rows`` rows."""

    def parameters(self) -> Mapping[str, Plain]:
        """What, besides the name, would make the same estimator again."""
        return {}

    def constant(self, n_rows: float) -> float:
        """What is added once to each estimate."""
        return 0.0

    def support_size(self, cells: float, observed: int) -> int:
        """The support of a table that could have ``cells``, ``observed`` of which occur."""
        return observed

    def entropy(self, counts: Ints, cells: float | None = None) -> float:
        """The entropy of one table, straight from the definition.

        ``cells`` is the number of cells that the table could have, by default those given.
        """
        counts = np.asarray(counts, dtype=np.int64).ravel()
        seen = counts[counts > 0]
        n_rows = int(seen.sum())
        support = self.support_size(float(counts.size if cells is None else cells), seen.size)
        total = self.constant(n_rows) + float(self.terms(seen, n_rows, support).sum())
        if self.uses_support:
            nothing = self.terms(np.zeros(1, dtype=np.int64), n_rows, support)[0]
            total += (support - seen.size) * float(nothing)
        return max(total, 0.0) if self.clips else total


class Plugin(EntropyEstimator):
    """The entropy of the observed frequencies (Basharin, 1959): f(j) = -(j/n) ln(j/n).

    Its bias is about -(cells - 1) / 2n while cells are well filled. Mutual information by it is
    never negative, and times 2n it is the likelihood ratio of the test of independence.
    """

    name = "plugin"

    def terms(self, counts: Ints, n_rows: float, support: int) -> Floats:
        """f of each count; the support plays no part."""
        return np.asarray(entr(counts / n_rows), dtype=np.float64)


class MillerMadow(EntropyEstimator):
    """The plug-in and the first term of its bias, (observed cells - 1) / 2n (Miller, 1955).

    The bias left is of order 1 / n**2 while all cells occur that can; unseen ones go uncorrected.
    """

    name = "miller-madow"

    def terms(self, counts: Ints, n_rows: float, support: int) -> Floats:
        """f of each count; the support plays no part."""
        return np.asarray(entr(counts / n_rows) + (counts > 0) / (2 * n_rows), dtype=np.float64)

    def constant(self, n_rows: float) -> float:
        """The one cell by which free cells fall short of the observed ones."""
        return -1 / (2 * n_rows)


class Jackknife(EntropyEstimator):
    """n times the plug-in less n - 1 times its mean over tables with one row out (Zahl, 1977).

    The definition collects to f(j) = (j/n) [D(n) - D(j)] with D(m) = m ln m - (m-1) ln(m-1), in
    which nothing of size n is left to cancel.
    """

    name = "jackknife"

    def terms(self, counts: Ints, n_rows: float, support: int) -> Floats:
        """f of each count; the support plays no part."""
        filled = np.maximum(counts, 1).astype(np.float64)
        rise = np.log(n_rows / filled) + _excess(np.float64(n_rows)) - _excess(filled)
        return np.asarray(counts / n_rows * rise, dtype=np.float64)


def _excess(count: Floats | np.float64) -> Floats:
    """D(m) - ln m = -(m-1) ln(1 - 1/m): 0 at m = 1, rising to 1."""
    above = np.maximum(count, 2.0)
    return np.where(count > 1, (1 - above) * np.log1p(-1 / above), 0.0)


class Grassberger(EntropyEstimator):
    """ln n less the mean over rows of G(count of the row's cell) (Grassberger,
    arXiv:physics/0307138): f(j) = (j/n) [ln n - G(j)].

    G(j) = psi(j) + (-1)**j / 2 [psi((j+1)/2) - psi(j/2)] replaces ln j, so that what is wrong with
    a cell falls exponentially in the rows that it expects.
    """

    name = "grassberger"

    def terms(self, counts: Ints, n_rows: float, support: int) -> Floats:
        """f of each count; the support plays no part."""
        filled = np.maximum(counts, 1)
        sign = np.where(filled % 2 == 0, 0.5, -0.5)
        g = psi(filled) + sign * (psi((filled + 1) / 2) - psi(filled / 2))
        return np.asarray(counts / n_rows * (np.log(n_rows) - g), dtype=np.float64)


Support = Literal["product", "observed"]


class Minimax(EntropyEstimator):
    """The estimator of Wu and Yang (2016), the paper's choice for levels.

    Small counts go through the best polynomial approximation of -x ln x, which a Poisson count
    estimates without bias, large ones through Miller and Madow's formula. Its worst error over all
    laws on k cells is of the best possible order. k must be named: cells that cannot occur count as
    unseen and raise the estimate, which ``support="observed"`` avoids by giving up on unseen cells.

    ``support`` says what k is: "product", of the numbers of levels, at most ``largest_support``
    (the default is that of the authors' program), or "observed", the cells that occur.
    """

    name = "minimax"
    uses_support = True
    clips = True

    def __init__(self, support: Support = "product", largest_support: int = 100_000) -> None:
        if support not in get_args(Support):
            raise SettingError(f"support is {support!r}; choose 'product' or 'observed'.")
        if not is_number(largest_support, 2, 10**9) or largest_support % 1:
            raise SettingError(
                f"largest_support is {largest_support!r}; choose an integer from 2 to 10**9."
            )
        self.support = support
        self.largest_support = int(largest_support)
        self.observed_support = support == "observed"

    def __repr__(self) -> str:
        return f"Minimax(support={self.support!r}, largest_support={self.largest_support})"

    def parameters(self) -> dict[str, Plain]:
        """What, besides the name, would make the same estimator again."""
        return {"support": self.support, "largest_support": self.largest_support}

    def support_size(self, cells: float, observed: int) -> int:
        """k. More cells may occur than the cap admits; the number of unseen ones is then negative
        and is used as it is, as in the authors' program."""
        return observed if self.observed_support else int(min(cells, self.largest_support))

    def terms(self, counts: Ints, n_rows: float, support: int) -> Floats:
        """f of each count in a table of ``support`` cells; one cell alone has entropy 0."""
        # A cell that has all rows gets no 1/2n: there is no other.
        correction = np.where(counts < n_rows, 1 / (2 * n_rows), 0.0)
        values = np.asarray(entr(counts / n_rows) + correction, dtype=np.float64)
        polynomial = _polynomial_terms(support)
        small = counts < polynomial.size
        values[small] = (polynomial[counts[small]] + counts[small] * math.log(n_rows)) / n_rows
        return values


@cache
def _polynomial_terms(support: int) -> Floats:
    """n g(j) - j ln n for the counts j = 0..L, which depends on the support k alone.

    n g(j) = sum_{m <= j} a_m M**(1-m) j (j-1) ... (j-m+1) + j ln(n/M), with degree
    L = floor(1.6 ln k) and M = 3.5 ln k. The terms alternate and cancel, so they are added in
    decimals: m! a_m M**(1-m) are the differences of the sum at j = 0, and L rounds of running sums
    give all its values.
    """
    if support <= 1:
        return np.zeros(1)
    degree = min(int(1.6 * math.log(support)), 33)
    with localcontext(Context(prec=60)):
        M = Decimal("3.5") * Decimal(support).ln()
        factors = accumulate(range(1, degree + 1), lambda factor, m: factor * m / M, initial=M)
        differences = [a * b for a, b in zip(_best_polynomials()[degree], factors, strict=True)]
        sums: list[Decimal] = []
        for difference in reversed(differences):
            sums = list(accumulate(sums, initial=difference))
    return np.array(sums, dtype=np.float64) - np.arange(degree + 1) * math.log(M)


@cache
def _best_polynomials() -> dict[int, list[Decimal]]:
    """The best uniform approximations of -x ln x on [0, 1], by degree from 1 to 33."""
    folder = resources.files("tamis.information.estimators")
    content = json.loads((folder / "minimax_coefficients.json").read_text(encoding="ascii"))
    rows = sorted((int(degree), row) for degree, row in content["coefficients"].items())
    lines = "".join(f"{degree} {' '.join(row)}\n" for degree, row in rows)
    if hashlib.sha256(lines.encode("ascii")).hexdigest() != content["sha256"]:
        # One wrong digit would bend every entropy without a sign of it.
        raise FileFormatError("minimax_coefficients.json is damaged: reinstall tamis.")
    return {degree: list(map(Decimal, row)) for degree, row in rows}


class EntropyFunction:
    """``function(counts)`` gives the entropy in nats of a table with these counts, in falling
    order and without zeros, such as Chao and Shen's or NSB. One with a parameter ``cells`` is told
    how many cells the table could have too, as a float."""

    def __init__(self, function: Callable[..., float]) -> None:
        self.function = function
        try:
            self.takes_cells = "cells" in signature(function).parameters
        except (TypeError, ValueError):  # some functions written in C do not say
            self.takes_cells = False

    @property
    def name(self) -> str:
        """The qualified name of the function."""
        return qualified_name(self.function)

    def parameters(self) -> dict[str, Plain]:
        """What the function was given beforehand, if it tells."""
        return parameters_of(self.function)

    def entropy(self, counts: Ints, cells: float, where: str = "a table") -> float:
        """The entropy of one table, checked; ``where`` says which table it is."""
        extra = {"cells": cells} if self.takes_cells else {}
        falling = np.sort(counts)[::-1].copy()
        what = f"entropy={self.name} of {where}"
        found = answer_of(what, lambda: self.function(falling, **extra))
        if not is_number(found, 0.0):
            raise refusal(what, found, "an entropy is one finite number of nats, 0 or more")
        return float(found)


AnyEstimator = EntropyEstimator | EntropyFunction
EstimatorName = Literal["plugin", "miller-madow", "jackknife", "grassberger", "minimax"]
ESTIMATORS: dict[str, type[EntropyEstimator]] = {
    one.name: one for one in (Plugin, MillerMadow, Jackknife, Grassberger, Minimax)
}


def as_estimator(spec: str | AnyEstimator | Callable[..., float]) -> AnyEstimator:
    """The estimator of this name, or itself; a function f(counts) -> nats becomes one."""
    if isinstance(spec, EntropyEstimator | EntropyFunction):
        return spec
    if callable(spec) and not isinstance(spec, type):
        return EntropyFunction(spec)
    if not isinstance(spec, str) or spec not in ESTIMATORS:
        choices = ", ".join(map(repr, ESTIMATORS))
        raise SettingError(
            f"there is no entropy estimator {spec!r}; choose one of {choices}, or pass an "
            "EntropyEstimator object or a function of the counts of a table."
        )
    return ESTIMATORS[spec]()
