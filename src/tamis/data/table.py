"""A table of named, levelled columns: the only form of data the rest of tamis sees."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Label = str | int | bool
"""What a level is called: the value that stood in the user's table."""


@dataclass(frozen=True, eq=False)
class Table:
    """Columns as small integer codes, with the names and labels that turn them back.

    ``codes[k, i]`` is the level of column ``k`` in row ``i``, an index into ``levels[k]``;
    every level occurs in at least one row.
    """

    names: tuple[str, ...]
    levels: tuple[tuple[Label, ...], ...]
    codes: NDArray[np.unsignedinteger]

    @property
    def n_rows(self) -> int:
        """The paper's n."""
        return int(self.codes.shape[1])

    @property
    def n_variables(self) -> int:
        """The paper's d."""
        return len(self.names)

    @cached_property
    def arities(self) -> NDArray[np.int64]:
        """The number of levels of each column."""
        return np.array([len(levels) for levels in self.levels], dtype=np.int64)

    def select(self, positions: list[int]) -> Table:
        """The same rows with the columns at these positions, in this order."""
        return Table(
            names=tuple(self.names[k] for k in positions),
            levels=tuple(self.levels[k] for k in positions),
            codes=np.ascontiguousarray(self.codes[positions]),
        )
