"""Columns as bit planes: one plane a level, rows packed into 64-bit words.

A cell of a contingency table is then a popcount of the AND of planes. The last level of a
column has no plane: its counts follow by subtraction.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tamis.counts.bits import pack_planes

MAX_PLANE_LEVELS = 64
"""Columns with more levels than this are counted from their codes only."""


@dataclass(frozen=True, eq=False)
class Planes:
    """The packed table: ``words[first[k] : first[k + 1]]`` are the planes of column k."""

    words: NDArray[np.uint64]
    first: NDArray[np.int64]
    planed: NDArray[np.bool_]
    """Which columns have planes; a constant column has all none of its planes."""


def build_planes(codes: NDArray[np.unsignedinteger], arities: NDArray[np.int64]) -> Planes:
    """Pack every column of few levels."""
    planed = arities <= MAX_PLANE_LEVELS
    first = np.zeros(len(arities) + 1, dtype=np.int64)
    np.cumsum(np.where(planed, arities - 1, 0), out=first[1:])
    words = np.zeros((int(first[-1]), (codes.shape[1] + 63) // 64), dtype=np.uint64)
    pack_planes(codes, first, words)
    return Planes(words, first, planed)
