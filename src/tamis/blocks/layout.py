"""Where everything stands in a plane file.

A plane file is a prelude of fixed size, a header in JSON, and three sections: the bit planes, block
after block of rows; the codes of columns with too many levels for planes, column after column; and
a digest for every block. Everything is little-endian, and every section begins at a page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tamis.counts.planes import MAX_PLANE_LEVELS
from tamis.tables.columns import smallest_unsigned

BLOCK_ROWS = 2**16
"""Rows of a block: a plane of them is 8 KiB, so that the planes of some dozens of columns stay in
the processor's cache while all contexts of a batch are counted."""
DIGEST_BYTES = 16
PAGE = 4096


@dataclass(frozen=True)
class Layout:
    """The sections of a file: so many rows in blocks of so many, columns of these arities."""

    rows: int
    block_rows: int
    arities: tuple[int, ...]
    header_end: int
    """The bytes of prelude and header."""

    @property
    def n_blocks(self) -> int:
        """The number of blocks; the last one is filled up with zeros."""
        return -(-self.rows // self.block_rows)

    @property
    def words(self) -> int:
        """The 64-bit words of a plane in a block."""
        return self.block_rows // 64

    @cached_property
    def planed(self) -> NDArray[np.bool_]:
        """Which columns have planes; the others have codes."""
        return np.array(self.arities) <= MAX_PLANE_LEVELS

    @cached_property
    def first(self) -> NDArray[np.int64]:
        """The first plane of each column, and the number of all planes."""
        first = np.zeros(len(self.arities) + 1, dtype=np.int64)
        np.cumsum(np.where(self.planed, np.array(self.arities) - 1, 0), out=first[1:])
        return first

    @property
    def n_planes(self) -> int:
        """The planes of a block."""
        return int(self.first[-1])

    @property
    def plane_block_bytes(self) -> int:
        """The bytes of one block of planes."""
        return self.n_planes * self.words * 8

    @property
    def block_bytes(self) -> int:
        """The bytes of one block, planes and codes."""
        return self.plane_block_bytes + sum(map(self.code_block_bytes, self.coded))

    @cached_property
    def coded(self) -> list[int]:
        """The columns without planes."""
        found: list[int] = np.flatnonzero(~self.planed).tolist()
        return found

    @property
    def planes_start(self) -> int:
        """Where the planes begin."""
        return _page_after(self.header_end)

    @cached_property
    def code_starts(self) -> dict[int, int]:
        """Where the codes of each column without planes begin."""
        place = _page_after(self.planes_start + self.n_blocks * self.plane_block_bytes)
        starts: dict[int, int] = {}
        for k in self.coded:
            starts[k] = place
            place = _page_after(place + self.n_blocks * self.code_block_bytes(k))
        return starts

    def code_type(self, k: int) -> np.dtype[np.unsignedinteger]:
        """The type of a code of column k."""
        return smallest_unsigned(self.arities[k]).newbyteorder("<")

    def code_block_bytes(self, k: int) -> int:
        """The bytes of one block of codes of column k."""
        return self.block_rows * self.code_type(k).itemsize

    @property
    def digests_start(self) -> int:
        """Where the digests of the blocks begin."""
        ends = [self.planes_start + self.n_blocks * self.plane_block_bytes]
        ends += [s + self.n_blocks * self.code_block_bytes(k) for k, s in self.code_starts.items()]
        return _page_after(max(ends))

    @property
    def size(self) -> int:
        """The bytes of the whole file; after the digests comes the digest of the digests."""
        return self.digests_start + (self.n_blocks + 1) * DIGEST_BYTES

    def parts(self, block: int) -> list[tuple[int, int]]:
        """Where the bytes of a block begin and end: its planes, then the codes of each column."""
        parts = [(self.planes_start + block * self.plane_block_bytes, self.plane_block_bytes)]
        for k, start in self.code_starts.items():
            size = self.code_block_bytes(k)
            parts.append((start + block * size, size))
        return [(start, start + size) for start, size in parts]


def layout_of(
    rows: int, block_rows: int, levels: Sequence[Sequence[object]], header_end: int
) -> Layout:
    """The layout of a file with these levels."""
    return Layout(rows, block_rows, tuple(map(len, levels)), header_end)


def _page_after(place: int) -> int:
    return -(-place // PAGE) * PAGE
