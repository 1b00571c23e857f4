"""The blocks of one part of a table, in the memory of the worker that packed them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from io import BytesIO

import numpy as np
from numpy.typing import NDArray

from tamis.blocks.layout import BLOCK_ROWS, DIGEST_BYTES, Layout
from tamis.blocks.packing import BlockWriter
from tamis.blocks.store import Codes, Words


class HeldPlanes:
    """Planes and codes as a plane file has them, without its header; there may be no rows."""

    def __init__(self, layout: Layout, content: NDArray[np.uint8]) -> None:
        self.layout = layout
        # An array, and not bytes, so that it travels and spills without being copied; what has
        # travelled may not be written to, and the loops are compiled once for all.
        content.flags.writeable = False
        self._content = content

    @classmethod
    def of(
        cls, n_rows: int, arities: Sequence[int], batches: Iterable[Sequence[Codes]]
    ) -> HeldPlanes:
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
        """The blocks in order, so many at a time: their first, and the one after them."""
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

    def rows_in(self, start: int, stop: int) -> int:
        """The rows of these blocks."""
        return min(stop * self.layout.block_rows, self.layout.rows) - start * self.layout.block_rows
