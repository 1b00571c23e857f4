"""A table of named columns, levelled or measured: the only form of data the rest of tamis sees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tamis.data.refusals import shown
from tamis.errors import DataError

Label = str | int | bool
"""What a level is called: the value that stood in the user's table."""


@dataclass(frozen=True, eq=False)
class Table:
    """Columns as small integer codes, with the names and labels that turn them back.

    ``codes[k, i]`` is the level of column ``k`` in row ``i``, an index into ``levels[k]``;
    every level occurs in at least one row. A measured column has no levels; its numbers stand in
    ``measured``, by position, and its codes are all 0 and mean nothing. ``gaps`` says where columns
    of levels are missing, by position and for those that are; their codes there are 0 and mean
    nothing, and every level occurs elsewhere.
    """

    names: tuple[str, ...]
    levels: tuple[tuple[Label, ...], ...]
    codes: NDArray[np.unsignedinteger]
    measured: Mapping[int, NDArray[np.float64]] = field(default_factory=dict)
    gaps: Mapping[int, NDArray[np.bool_]] = field(default_factory=dict)
    weights: NDArray[np.float64] | None = None
    """Survey weights, one a row and all above 0; None where every row counts as one."""
    losses: tuple[str, ...] = ()
    """What was left out while the table was read."""
    notes: tuple[str, ...] = ()
    """What else was done to its rows, as asked."""

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
        """The number of levels of each column, which is 0 for a measured one."""
        return np.array([len(levels) for levels in self.levels], dtype=np.int64)

    def is_measured(self, k: int) -> bool:
        """Whether column ``k`` holds measured numbers and no levels."""
        return self._position(k) in self.measured

    def numbers(self, k: int, rows: slice = slice(None)) -> NDArray[np.float64]:
        """Column ``k`` as numbers: measured values as they are, levels by their value.

        Raises ``DataError`` if the levels are strings.
        """
        if self.is_measured(k):
            return self.measured[self._position(k)][rows]
        for label in self.levels[k]:
            if isinstance(label, str):
                raise DataError(
                    f"Column {shown(self.names[k])} holds labels such as {shown(label)}; numbers "
                    "are needed: leave the column out, or give every label a number if its order "
                    "and distances mean something."
                )
        values: NDArray[np.float64] = np.array(self.levels[k], dtype=np.float64)[
            self.codes[k, rows]
        ]
        return values

    def never_varies(self, k: int) -> bool:
        """Whether column ``k`` has the same value in all rows."""
        if not self.is_measured(k):
            return len(self.levels[k]) == 1
        return bool((self.numbers(k) == self.numbers(k)[0]).all())

    def select(self, positions: list[int]) -> Table:
        """The same rows with the columns at these positions, in this order."""
        return Table(
            names=tuple(self.names[k] for k in positions),
            levels=tuple(self.levels[k] for k in positions),
            codes=np.ascontiguousarray(self.codes[positions]),
            measured={
                new: self.measured[self._position(k)]
                for new, k in enumerate(positions)
                if self.is_measured(k)
            },
            gaps={
                new: self.gaps[self._position(k)]
                for new, k in enumerate(positions)
                if self._position(k) in self.gaps
            },
            weights=self.weights,
            losses=self.losses,
            notes=self.notes,
        )

    def arrange(self, rows: NDArray[np.int64]) -> Table:
        """The same columns with the rows at these positions, in this order."""
        return Table(
            names=self.names,
            levels=self.levels,
            codes=self.codes[:, rows],
            measured={k: numbers[rows] for k, numbers in self.measured.items()},
            gaps={k: absent[rows] for k, absent in self.gaps.items()},
            weights=None if self.weights is None else self.weights[rows],
            losses=self.losses,
            notes=self.notes,
        )

    def _position(self, k: int) -> int:
        # From the end too, as everywhere else in Python; a mapping would not find it.
        return range(self.n_variables)[k]
