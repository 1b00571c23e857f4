"""Columns as bit planes: one plane a level, rows packed into 64-bit words.

A cell of a contingency table is then a popcount of the AND of planes. The last level of a
column has no plane: its counts follow by subtraction.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MAX_PLANE_LEVELS = 64
"""Columns with more levels than this are counted from their codes only."""
CHUNK = 2**25
"""Cells compared at once while packing, to bound the memory it takes."""


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
    widest = int(arities[planed].max(initial=1))
    for level in range(widest - 1):
        columns = np.flatnonzero(planed & (arities > level + 1))
        _pack_level(codes, columns, level, first, words)
    return Planes(words, first, planed)


def _pack_level(
    codes: NDArray[np.unsignedinteger],
    columns: NDArray[np.int64],
    level: int,
    first: NDArray[np.int64],
    words: NDArray[np.uint64],
) -> None:
    """Set bit i of the plane of this level wherever ``codes[k, i] == level``."""
    octets = words.view(np.uint8)
    share = max(1, CHUNK // codes.shape[1])
    for start in range(0, len(columns), share):
        some = columns[start : start + share]
        packed = np.packbits(codes[some] == level, axis=1, bitorder="little")
        octets[first[some] + level, : packed.shape[1]] = packed
