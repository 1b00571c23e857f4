"""A plane file, mapped into memory: blocks are read when they are counted, and checked at first."""

from __future__ import annotations

import hashlib
import mmap
import os
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tamis.blocks.header import damaged, read_header
from tamis.blocks.layout import DIGEST_BYTES, Layout
from tamis.errors import FileFormatError
from tamis.tables.refusals import shown_path

Words = NDArray[np.uint64]
Codes = NDArray[np.unsignedinteger]


def digest(parts: list[bytes | memoryview]) -> bytes:
    """The digest of a block, or of all digests."""
    made = hashlib.blake2b(digest_size=DIGEST_BYTES)
    for part in parts:
        made.update(part)
    return made.digest()


class PlaneFile:
    """Read access to a plane file.

    Magic, version, size, header and the list of digests are checked when the file is opened; each
    block is compared with its digest before it is used for the first time.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fsdecode(path)
        try:
            self._open()
        except OSError as error:
            raise FileFormatError(
                f"The file {shown_path(self.path)} cannot be read: {error.strerror or error}. "
                "Check that it is a file and that you may read it."
            ) from error

    def _open(self) -> None:
        with open(self.path, "rb") as file:
            self.header, header_end = read_header(self.path, file)
            self.layout: Layout = self.header.layout(header_end)
            size = os.fstat(file.fileno()).st_size
            if size != self.layout.size:
                raise damaged(self.path, f"it has {size} bytes where {self.layout.size} belong")
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        listed = self._map[self.layout.digests_start :]
        if digest([listed[:-DIGEST_BYTES]]) != listed[-DIGEST_BYTES:]:
            raise damaged(self.path, "its list of digests does not match their digest")
        self._digests = listed
        self._checked = np.zeros(self.layout.n_blocks, dtype=np.bool_)
        shape = self.layout.n_blocks, self.layout.n_planes, self.layout.words
        self._planes: Words = np.frombuffer(
            self._map, "<u8", shape[0] * shape[1] * shape[2], self.layout.planes_start
        ).reshape(shape)

    @property
    def n_rows(self) -> int:
        """The rows of the table."""
        return self.layout.rows

    def groups(self, at_once: int) -> Iterator[tuple[int, int]]:
        """The blocks in order, so many at a time: their first, and the one after them.

        A group leaves memory when the next one comes, unless one group is all.
        """
        for start in range(0, self.layout.n_blocks, at_once):
            stop = min(start + at_once, self.layout.n_blocks)
            self._check(start, stop)
            yield start, stop
            if at_once < self.layout.n_blocks:
                self._leave(start, stop)

    def words(self, start: int, stop: int) -> Words:
        """The planes of these blocks: block, plane, word."""
        return self._planes[start:stop]

    def codes(self, k: int, start: int, stop: int) -> Codes:
        """The codes of a column without planes in these blocks; those of the last block go on
        beyond the last row."""
        size, begin = self.layout.code_block_bytes(k), self.layout.code_starts[k]
        return np.frombuffer(
            self._map,
            self.layout.code_type(k),
            (stop - start) * self.layout.block_rows,
            begin + start * size,
        )

    def rows_in(self, start: int, stop: int) -> int:
        """The rows of these blocks."""
        return min(stop * self.layout.block_rows, self.n_rows) - start * self.layout.block_rows

    def _check(self, start: int, stop: int) -> None:
        """Compare blocks with their digests, once."""
        for block in (start + np.flatnonzero(~self._checked[start:stop])).tolist():
            with memoryview(self._map) as view:
                parts = [view[begin:end] for begin, end in self.layout.parts(block)]
                found = digest([*parts])
                for part in parts:
                    part.release()
            at = block * DIGEST_BYTES
            if found != self._digests[at : at + DIGEST_BYTES]:
                first = block * self.layout.block_rows
                raise damaged(
                    self.path,
                    f"block {block} of {self.layout.n_blocks}, which begins with row {first}, does "
                    "not match its digest",
                )
            self._require_codes(block)
            self._checked[block] = True

    def _require_codes(self, block: int) -> None:
        """Codes lead into tables, so that a wrong one would count beside them."""
        for k in self.layout.code_starts:
            if int(self.codes(k, block, block + 1).max(initial=0)) >= self.layout.arities[k]:
                raise damaged(self.path, f"block {block} holds a code that no level has")

    def _leave(self, start: int, stop: int) -> None:
        """Let go of the pages of these blocks, where the system can be told so."""
        if not hasattr(self._map, "madvise"):
            return
        begin = self.layout.parts(start)
        end = self.layout.parts(stop - 1)
        for (first, _), (_, last) in zip(begin, end, strict=True):
            first -= first % mmap.PAGESIZE
            if last > first:
                self._map.madvise(mmap.MADV_DONTNEED, first, last - first)
