"""Columns as bit planes: one plane a level, rows packed into 64-bit words.

A cell of a contingency table is then a popcount of the AND of planes. The last level of a
column has no plane: its counts follow by subtraction.

Long tables are in blocks of rows, as a packed file and the memory of whoever packed them have them.
There are three sections: the bit planes, block after block of rows; the codes of columns with too
many levels for planes, column after column; and a digest for every block. Everything is
little-endian, and every section begins at a page.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from tamis.tables.columns import Codes, smallest_unsigned

Words = NDArray[np.uint64]
MAX_PLANE_LEVELS = 64
"""Columns with more levels than this are counted from their codes only."""
CHUNK = 2**25
"""Cells compared at once while packing, to bound the memory it takes."""
BLOCK_ROWS = 2**16
"""Rows of a block: a plane of them is 8 KiB, so that the planes of some dozens of columns stay in
the processor's cache while all contexts of a batch are counted."""
DIGEST_BYTES = 16
PAGE = 4096


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


def plane_ones(words: Words) -> NDArray[np.int64]:
    """The rows of each plane, over all blocks if there are several."""
    ones: NDArray[np.int64] = np.bitwise_count(words).sum(axis=-1, dtype=np.int64)
    return ones if ones.ndim == 1 else ones.sum(axis=0)


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


@dataclass(frozen=True)
class Layout:
    """The sections of a file: rows in blocks, columns of these arities."""

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

    @cached_property
    def sections(self) -> list[tuple[int, int]]:
        """Where the planes begin, then the codes of each column without planes, and the bytes of
        a block of each."""
        found, place = [], _page_after(self.header_end)
        for size in (self.plane_block_bytes, *map(self.code_block_bytes, self.coded)):
            found.append((place, size))
            place = _page_after(place + self.n_blocks * size)
        return found

    @property
    def planes_start(self) -> int:
        """Where the planes begin."""
        return self.sections[0][0]

    @cached_property
    def code_starts(self) -> dict[int, int]:
        """Where the codes of each column without planes begin."""
        return dict(zip(self.coded, (start for start, _ in self.sections[1:]), strict=True))

    def code_type(self, k: int) -> np.dtype[np.unsignedinteger]:
        """The type of a code of column k."""
        return smallest_unsigned(self.arities[k]).newbyteorder("<")

    def code_block_bytes(self, k: int) -> int:
        """The bytes of one block of codes of column k."""
        return self.block_rows * self.code_type(k).itemsize

    @property
    def digests_start(self) -> int:
        """Where the digests of the blocks begin."""
        start, size = self.sections[-1]
        return _page_after(start + self.n_blocks * size)

    @property
    def size(self) -> int:
        """The bytes of the whole file; after the digests comes the digest of the digests."""
        return self.digests_start + (self.n_blocks + 1) * DIGEST_BYTES

    def parts(self, block: int) -> list[tuple[int, int]]:
        """Where the bytes of a block begin and end: its planes, then the codes of each column."""
        return [(start + block * size, start + (block + 1) * size) for start, size in self.sections]


def _page_after(place: int) -> int:
    return -(-place // PAGE) * PAGE


def digest(parts: list[bytes | memoryview]) -> bytes:
    """The digest of a block, or of all digests."""
    made = hashlib.blake2b(digest_size=DIGEST_BYTES)
    for part in parts:
        made.update(part)
    return made.digest()


class BlockWriter:
    """Codes go in, blocks of planes come out."""

    def __init__(self, file: BinaryIO, layout: Layout) -> None:
        self._file = file
        self._layout = layout
        self._arities = np.array(layout.arities, dtype=np.int64)
        kind = smallest_unsigned(max(layout.arities))
        self._codes: Codes = np.zeros((len(layout.arities), layout.block_rows), dtype=kind)
        self._filled = 0
        self._digests: list[bytes] = []

    def add(self, codes: Sequence[Codes]) -> None:
        """Take these rows, a column a line."""
        taken, n_rows = 0, len(codes[0])
        while taken < n_rows:
            share = min(n_rows - taken, self._layout.block_rows - self._filled)
            for k, column in enumerate(codes):
                self._codes[k, self._filled : self._filled + share] = column[taken : taken + share]
            taken += share
            self._filled += share
            if self._filled == self._layout.block_rows:
                self._flush()

    def finish(self) -> None:
        """Write the last block, filled up with zeros, and the digests."""
        if self._filled:
            self._flush()
        self._file.seek(self._layout.digests_start)
        self._file.write(b"".join(self._digests))
        self._file.write(digest([b"".join(self._digests)]))

    def _flush(self) -> None:
        block = len(self._digests)
        parts = [self._planes(), *map(self._codes_of, self._layout.code_starts)]
        for (start, _), part in zip(self._layout.parts(block), parts, strict=True):
            self._file.seek(start)
            self._file.write(part)
        self._digests.append(digest([*parts]))
        self._filled = 0

    def _planes(self) -> bytes:
        packed = build_planes(self._codes[:, : self._filled], self._arities).words
        words = np.zeros((self._layout.n_planes, self._layout.words), dtype="<u8")
        words[:, : packed.shape[1]] = packed
        return words.tobytes()

    def _codes_of(self, k: int) -> bytes:
        codes = np.zeros(self._layout.block_rows, dtype=self._layout.code_type(k))
        codes[: self._filled] = self._codes[k, : self._filled]
        return codes.tobytes()


class Blocks:
    """Blocks of rows, as bit planes and, for columns without planes, as codes; there may be no
    rows."""

    def __init__(self, layout: Layout, content: NDArray[np.uint8]) -> None:
        self.layout = layout
        # An array, and not bytes, so that it travels and spills without being copied; what has
        # travelled may not be written to, and the loops are compiled once for all.
        content.flags.writeable = False
        self._content = content

    @classmethod
    def of(cls, n_rows: int, arities: Sequence[int], batches: Iterable[Sequence[Codes]]) -> Blocks:
        """Pack the codes of these batches of rows."""
        block_rows = min(BLOCK_ROWS, max(64, -(-n_rows // 64) * 64))
        layout = Layout(n_rows, block_rows, tuple(arities), 0)
        file = BytesIO()
        writer = BlockWriter(file, layout)
        for codes in batches:
            writer.add(codes)
        writer.finish()
        return cls(layout, np.frombuffer(file.getbuffer(), dtype=np.uint8))

    @property
    def fingerprint(self) -> bytes:
        """The same for the same rows, and for no others."""
        rows = self.layout.rows.to_bytes(8, "little")  # a row of last levels is all zeros
        return rows + self._content[-DIGEST_BYTES:].tobytes()

    def __sizeof__(self) -> int:
        return self._content.nbytes

    def groups(self, at_once: int) -> Iterator[tuple[int, int]]:
        """The blocks in order, a number of them at a time: their first, and the one after them."""
        for start in range(0, self.layout.n_blocks, at_once):
            yield start, min(start + at_once, self.layout.n_blocks)

    def words(self, start: int, stop: int) -> Words:
        """The planes of these blocks: block, plane, word."""
        layout = self.layout
        shape = layout.n_blocks, layout.n_planes, layout.words
        size = shape[0] * shape[1] * shape[2]
        found = np.frombuffer(self._content, "<u8", size, layout.planes_start)
        return found.reshape(shape)[start:stop]

    def codes(self, k: int, start: int, stop: int) -> Codes:
        """The codes of a column without planes in these blocks; those of the last block go on
        beyond the last row."""
        layout = self.layout
        begin = layout.code_starts[k] + start * layout.code_block_bytes(k)
        count = (stop - start) * layout.block_rows
        return np.frombuffer(self._content, layout.code_type(k), count, begin)

    def rows_in(self, start: int, stop: int | None = None) -> int:
        """The rows of these blocks, or of one."""
        end = start + 1 if stop is None else stop
        return min(end * self.layout.block_rows, self.layout.rows) - start * self.layout.block_rows
