"""The two random choices of the estimator: the shifts of the grids and the halves of the rows.

As in ``tamis.network.sampling``, a column's stream is keyed by its name and only raw words are
used, so that nothing depends on the order of columns or on the version of numpy. The halves go by
the rank of a row among the rows, so that nothing depends on the order of rows either.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tamis.information.interface import Floats

_HALVES = b"halves of the rows"


def column_shifts(name: str, shifts: int, seed: int) -> Floats:
    """One shift in each of ``shifts`` equal parts of [0, 1), in the column's own order.

    Over several columns that is a Latin hypercube: each column alone is covered evenly.
    """
    order = np.argsort(_words(seed, b"shifts of " + name.encode(), shifts), kind="stable")
    placed: Floats = (order + 0.5) / shifts
    return placed


def halves(columns: Sequence[Floats], n_rows: int, seed: int) -> NDArray[np.bool_]:
    """Which rows are in the first half.

    A random half of the sorted rows is a random half of the rows, whatever order they came in.
    Equal rows are interchangeable, so their order is of no account.
    """
    sorted_rows = np.lexsort(tuple(columns)) if columns else np.arange(n_rows)
    drawn = np.argsort(_words(seed, _HALVES, n_rows), kind="stable")
    first = np.zeros(n_rows, dtype=np.bool_)
    first[sorted_rows[drawn[: n_rows // 2]]] = True
    return first


def _words(seed: int, key: bytes, size: int) -> NDArray[np.uint64]:
    digest = hashlib.sha256(key).digest()
    own = tuple(int.from_bytes(digest[i : i + 4], "little") for i in range(0, 16, 4))
    stream = np.random.PCG64(np.random.SeedSequence(seed, spawn_key=own))
    return np.asarray(stream.random_raw(size), dtype=np.uint64)
