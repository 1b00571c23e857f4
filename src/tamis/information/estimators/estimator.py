"""Estimators of the entropy of a discrete table, of which most are linear in the fingerprint.

An estimate is ``constant + sum over cells of f(count) + unseen cells * f(0)``, so an estimator
is a table of f over counts, every one of them costs the same, and the counting kernel needs
to know none of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import cache
from inspect import signature
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr, psi

from tamis.plugins import (
    LARGEST,
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

MOST_CELLS = 2**53
"""Larger numbers of cells are not whole as floats."""


class EntropyEstimator(ABC):
    """An estimator of Shannon entropy, in nats, from the counts of the cells of a table.

    An estimator of your own has ``name`` and ``terms``; the other methods have defaults.

    Examples
    --------
    >>> import numpy as np, tamis
    >>> class Plain(tamis.EntropyEstimator):
    ...     name = "plain"
    ...     def terms(self, counts, n_rows, support):
    ...         share = counts / n_rows
    ...         return -share * np.log(np.where(share > 0, share, 1.0))
    >>> round(Plain().entropy([5, 5]), 3)
    0.693
    """

    name: str
    uses_support: bool = False
    """Whether f, or the number of unseen cells, depends on the size of the support."""
    observed_support: bool = False
    """Whether the support is the cells that occur rather than the product of the arities."""
    clips: bool = False
    """Whether a negative estimate is reported as 0."""

    def __init_subclass__(cls) -> None:
        """The answers of estimators from outside are checked, whoever asks."""
        super().__init_subclass__()
        check_answers(
            cls,
            {
                "terms": _terms,
                "constant": _constant,
                "support_size": _support_size,
                "parameters": _parameters,
            },
        )

    @abstractmethod
    def terms(self, counts: NDArray[np.int64], n_rows: int, support: int) -> NDArray[np.float64]:
        """f(count) of a cell, for each of these counts, in a table of ``n_rows`` rows."""

    def parameters(self) -> Mapping[str, Plain]:
        """What, besides the name, would make the same estimator again."""
        return {}

    def constant(self, n_rows: int) -> float:
        """What is added once to each estimate."""
        return 0.0

    def support_size(self, cells: float, observed: int) -> int:
        """Give the support that f assumes for a table of ``cells``, ``observed`` of them seen."""
        return observed

    def entropy(self, counts: NDArray[np.int64], cells: float | None = None) -> float:
        """The entropy of one table, straight from the definition; the kernel's oracle.

        ``cells`` is the number of cells the table could have, by default those given.
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


def _terms(what: str, _: object, counts: NDArray[np.int64], found: object) -> NDArray[np.float64]:
    """A finite number for each count."""
    return numbers_of(what, found, np.shape(counts))


def _constant(what: str, _: object, n_rows: object, found: object) -> float:
    return number_of(f"{what} of {n_rows!r} rows", found, "it must be one number")


def _support_size(what: str, _: object, cells: object, found: object) -> int:
    wanted = f"it must be a number of cells, up to {MOST_CELLS}"
    return whole_of(f"{what} of {cells!r} cells", found, wanted, 0, MOST_CELLS)


def _parameters(what: str, _: object, __: object, found: object) -> Mapping[str, Plain]:
    if not isinstance(found, Mapping):
        raise refusal(what, found, "it must be a mapping, from names to values")
    return found


class Plugin(EntropyEstimator):
    """The entropy of the observed frequencies, which is the maximum-likelihood estimate:
    f(j) = -(j/n) ln(j/n).

    Its bias is downward, about (cells - 1) / 2n while the cells are well filled, and it never
    exceeds ln n, so a large table can look far more ordered than it is. Mutual information by
    plug-in entropies is never negative; times 2n it is the likelihood ratio of the test of
    independence.

    Reference: G. P. Basharin, "On a statistical estimate for the entropy of a sequence of
    independent random variables", Theory of Probability and Its Applications 4 (1959).
    """

    name = "plugin"

    def terms(self, counts: NDArray[np.int64], n_rows: int, support: int) -> NDArray[np.float64]:
        """f(count) of a cell; the support plays no part."""
        return np.asarray(entr(counts / n_rows), dtype=np.float64)


class MillerMadow(EntropyEstimator):
    """The plug-in and the first term of its bias, (observed cells - 1) / 2n: f(j) = -(j/n) ln(j/n)
    + 1/2n for j > 0, and -1/2n once.

    What bias remains is of order 1 / n**2 while every cell that can occur does; in a sparse table
    the unseen cells go uncorrected and the estimate stays low. Its variance is hardly above the
    plug-in's.

    Reference: G. A. Miller, "Note on the bias of information estimates", in Information Theory in
    Psychology (1955).
    """

    name = "miller-madow"

    def terms(self, counts: NDArray[np.int64], n_rows: int, support: int) -> NDArray[np.float64]:
        """f(count) of a cell; the support plays no part."""
        return np.asarray(entr(counts / n_rows) + (counts > 0) / (2 * n_rows), dtype=np.float64)

    def constant(self, n_rows: int) -> float:
        """The one cell that the number of free cells falls short of the observed ones."""
        return -1 / (2 * n_rows)


class Jackknife(EntropyEstimator):
    """n times the plug-in less n - 1 times its mean over tables with one row out:
    f(j) = (j/n) [D(n) - D(j)], where D(m) = m ln m - (m-1) ln(m-1).

    The bias left is of order 1 / n**2, and in sparse tables smaller than Miller-Madow's, for a
    somewhat larger variance. Leaving out each row of a cell with count j in turn, the definition
    collects to f(j) = n g_n(j) - (n-1) [(1 - j/n) g_{n-1}(j) + (j/n) g_{n-1}(j-1)] with
    g_m(j) = -(j/m) ln(j/m), in which terms of size n cancel down to size 1; in the form above
    nothing is left to cancel.

    Reference: S. Zahl, "Jackknifing an index of diversity", Ecology 58 (1977).
    """

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


class Grassberger(EntropyEstimator):
    """ln n less the mean over rows of G(count of the row's cell): f(j) = (j/n) [ln n - G(j)].

    G(j) = psi(j) + (-1)**j / 2 [psi((j+1)/2) - psi(j/2)] replaces ln j so that, for a Poisson
    count j of mean z, the mean of j G(j) is z ln z + z E_1(2z): what is wrong with it falls
    exponentially in z, and is below 0.05 already at z = 1. The entropy is biased downward where
    most cells expect less than one row; in well filled tables a fixed n leaves about +1/2n.

    Reference: P. Grassberger, "Entropy estimates from insufficient samplings",
    arXiv:physics/0307138 (2003).
    """

    name = "grassberger"

    def terms(self, counts: NDArray[np.int64], n_rows: int, support: int) -> NDArray[np.float64]:
        """f(count) of a cell; the support plays no part."""
        filled = np.maximum(counts, 1)
        return np.asarray(counts / n_rows * (np.log(n_rows) - _g(filled)), dtype=np.float64)


KEPT = 2**14
"""G of counts below this is worked out once."""


def _g(count: NDArray[np.int64]) -> NDArray[np.float64]:
    if count.size and count.max() < KEPT:
        return _first()[count]
    return _worked_out(count)


@cache
def _first() -> NDArray[np.float64]:
    return np.concatenate([[np.nan], _worked_out(np.arange(1, KEPT))])


def _worked_out(count: NDArray[np.int64]) -> NDArray[np.float64]:
    sign = np.where(count % 2 == 0, 0.5, -0.5)
    return np.asarray(psi(count) + sign * (psi((count + 1) / 2) - psi(count / 2)))


@final
class EntropyFunction:
    """``function(counts)`` gives the entropy in nats of a table with these counts: anything from
    outside, such as Chao and Shen's estimator, NSB or James and Stein's.

    The estimators here are sums over cells, which is why the compiled loops can apply them while
    they count. A function need not be one, and takes the slow path: every table is counted whole.

    ``counts`` holds the rows of each cell that occurs, in falling order: a one-dimensional array of
    whole numbers above 0. A function with a parameter ``cells`` is also told how many cells the
    table could have, empty ones included, as a float.
    """

    def __init__(self, function: Callable[..., float]) -> None:
        self.function = function
        self.takes_cells = _takes_cells(function)

    @property
    def name(self) -> str:
        """The qualified name of the function."""
        return qualified_name(self.function)

    def parameters(self) -> dict[str, Plain]:
        """What the function was given beforehand, if it tells."""
        return parameters_of(self.function)

    def entropy(self, counts: NDArray[np.int64], cells: float, where: str = "a table") -> float:
        """The entropy of one table, checked; ``where`` says which table it is."""
        told = {"cells": cells} if self.takes_cells else {}
        falling = np.sort(counts)[::-1].copy()
        what = f"entropy={self.name} of {where}"
        found = answer_of(what, lambda: self.function(falling, **told))
        if not is_number(found, 0.0):
            shown = np.array2string(falling[:8], separator=", ")
            wanted = f"an entropy is one finite number of nats, from 0 to {LARGEST:g}"
            raise refusal(f"{what}, whose counts begin with {shown},", found, wanted)
        return float(found)


def _takes_cells(function: Callable[..., float]) -> bool:
    try:
        return "cells" in signature(function).parameters
    except (TypeError, ValueError):  # some functions written in C do not say
        return False
