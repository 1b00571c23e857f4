"""What every discrete entropy estimator here has in common: it is linear in the fingerprint.

An estimate is ``constant + sum over cells of f(count) + unseen cells * f(0)``, so an estimator
is a table of f over counts, every one of them costs the same, and the counting kernel needs
to know none of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from tamis.counting.fold import HEAD
from tamis.plugins import Plain, check_answers, number_of, numbers_of, refusal, whole_of

__all__ = ["HEAD", "EntropyEstimator"]

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
