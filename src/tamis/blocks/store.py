"""Where blocks of a table are: in a plane file, or in the memory of whoever packed them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tamis.blocks.layout import Layout

Words = NDArray[np.uint64]
Codes = NDArray[np.unsignedinteger]


class Store(Protocol):
    """Blocks of rows, as bit planes and, for columns without planes, as codes."""

    layout: Layout

    def groups(self, at_once: int) -> Iterator[tuple[int, int]]:
        """The blocks in order, so many at a time: their first, and the one after them."""
        ...

    def words(self, start: int, stop: int) -> Words:
        """The planes of these blocks: block, plane, word."""
        ...

    def codes(self, k: int, start: int, stop: int) -> Codes:
        """The codes of a column without planes in these blocks; those of the last block go on
        beyond the last row."""
        ...

    def rows_in(self, start: int, stop: int) -> int:
        """The rows of these blocks."""
        ...
