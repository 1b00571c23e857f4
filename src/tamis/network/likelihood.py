"""How well rows fit a known network of tables."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tamis.network.indexing import flat_index
from tamis.network.rows import require_known_levels, rows_of

if TYPE_CHECKING:
    from tamis.network.model import BayesianNetwork

Codes = NDArray[np.integer]
"""A row a variable; one past the last level where the label is none."""


def log_likelihood(network: BayesianNetwork, codes: Codes, unseen: float | None = None) -> float:
    """The sum over rows of ln P(row); the same to the last bit for any order of the rows.

    A level that the network does not have is as probable as ``unseen`` says, and tells nothing
    about its children: these have all levels alike.
    """
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
    return known, n_new * math.log(unseen) - n_alike * math.log(arities[family[-1]])


def codes_of(network: BayesianNetwork, data: object, unseen: float | None = None) -> Codes:
    """The rows in the levels of the network, whatever order or type the labels came in."""
    rows = rows_of(network.names, network.levels, data)
    if unseen is None:
        require_known_levels(rows, network.names, network.levels)
    return np.array(rows.values, dtype=np.int64)
