"""How well rows fit a known network of tables."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tamis.network.indexing import flat_index
from tamis.network.rows import Rows

if TYPE_CHECKING:
    from tamis.network.model import BayesianNetwork

Codes = NDArray[np.int64]
"""A line a variable; one past the last level where the label is none."""


def log_likelihood(network: BayesianNetwork, rows: Rows, unseen: float | None = None) -> float:
    """The sum over rows of ln P(row); the same to the last bit for any order of the rows.

    A label that is none of k levels has the probability ``unseen`` / (k + 1), and tells nothing
    about its children: these have all levels alike.
    """
    codes = np.array(rows.values, dtype=np.int64)
    arities = [len(labels) for labels in network.levels]
    total = []
    for k, table in enumerate(network.tables):
        known, others = _apart(codes, (*network.parents[k], k), arities, unseen)
        counts = np.bincount(known, minlength=table.size)
        seen = np.flatnonzero(counts)
        probabilities = table.ravel()[seen]
        if not probabilities.all():
            return -math.inf
        total += [*(counts[seen] * np.log(probabilities)).tolist(), others]
    return math.fsum(total)


def _apart(
    codes: Codes, family: tuple[int, ...], arities: list[int], unseen: float | None
) -> tuple[NDArray[np.intp], float]:
    """The cells of the rows whose levels the network has, and ln P of the other rows."""
    if unseen is None:
        return flat_index(codes, family, arities), 0.0
    has = np.array([codes[k] < arities[k] for k in family])
    known = flat_index(codes[:, has.all(axis=0)], family, arities)
    n_new = int((~has[-1]).sum())
    n_alike = int((has[-1] & ~has[:-1].all(axis=0)).sum())
    arity = arities[family[-1]]
    new = n_new * math.log(unseen / (arity + 1)) if n_new else 0.0
    return known, new - n_alike * math.log(arity)
