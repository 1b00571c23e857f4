"""Tables of named columns, each of one kind: the only form of data the rest of tamis sees."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, Literal, TypeGuard

import numpy as np
from numpy.typing import NDArray

from tamis.errors import DataError, SettingError
from tamis.tables.refusals import shown

Label = str | int | bool
"""What a level is called: the value that stood in the user's table."""

ColumnKind = Literal["category", "ordinal", "number"]
"""What the values of a column have: names, an order, or distances too."""


Rows = Literal["memory", "blocks", "moments"]
"""Where the rows of a table are: in memory, in blocks that only passes go over, or read and gone,
with their moments kept."""


class AnyTable(ABC):
    """Named columns with their levels, wherever the rows are; ``rows`` says where."""

    rows: ClassVar[Rows]
    names: tuple[str, ...]
    levels: tuple[tuple[Label, ...], ...]
    kinds: tuple[ColumnKind, ...]
    """The kind of each column."""
    told: frozenset[int]
    """The columns whose kind the user has named."""
    missing: Mapping[int, NDArray[np.bool_]]
    """Where columns are missing, by position and for those that are anywhere."""
    weights: NDArray[np.float64] | None
    """Survey weights, one a row and all above 0; None where every row counts as one."""
    losses: tuple[str, ...]
    """What was left out while the table was read."""
    notes: tuple[str, ...]
    """What else was done to its rows, as asked."""

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """The paper's n."""

    @property
    def n_variables(self) -> int:
        """The paper's d."""
        return len(self.names)

    @cached_property
    def arities(self) -> NDArray[np.int64]:
        """The number of levels of each column, which is 0 for a continuous one."""
        return np.array([len(levels) for levels in self.levels], dtype=np.int64)

    def is_continuous(self, k: int) -> bool:
        """Whether column ``k`` holds continuous numbers and no levels."""
        return not self.levels[k]

    @abstractmethod
    def never_varies(self, k: int) -> bool:
        """Whether column ``k`` has the same value in all rows."""

    @abstractmethod
    def select(self, positions: list[int]) -> AnyTable:
        """A table of these rows with the columns at these positions, in this order."""

    @property
    @abstractmethod
    def whereabouts(self) -> str:
        """Where the rows are, as a sentence without its full stop."""


@dataclass(frozen=True, eq=False)
class Table(AnyTable):
    """Columns as small integer codes, with the names and labels that turn them back.

    ``codes[k, i]`` is the level of column ``k`` in row ``i``, an index into ``levels[k]``;
    every level occurs in at least one row. A continuous column has no levels; its numbers stand in
    ``continuous``, by position, and its codes are all 0 and mean nothing. ``missing`` says where
    columns are missing, by position and for those that are anywhere; their codes there are 0 and
    mean nothing, their numbers are nan, and every level occurs elsewhere.
    """

    rows: ClassVar[Literal["memory"]] = "memory"
    names: tuple[str, ...]
    levels: tuple[tuple[Label, ...], ...]
    codes: NDArray[np.unsignedinteger]
    continuous: Mapping[int, NDArray[np.float64]] = field(default_factory=dict)
    missing: Mapping[int, NDArray[np.bool_]] = field(default_factory=dict)
    kinds: tuple[ColumnKind, ...] = ()
    """The kind of each column. Left empty, numbers are those that have no levels, and the rest are
    categories."""
    told: frozenset[int] = frozenset()
    """The columns whose kind the user has named."""
    weights: NDArray[np.float64] | None = None
    """Survey weights, one a row and all above 0; None where every row counts as one."""
    losses: tuple[str, ...] = ()
    """What was left out while the table was read."""
    notes: tuple[str, ...] = ()
    """What else was done to its rows, as asked."""

    def __post_init__(self) -> None:
        if not self.kinds:
            kinds = tuple[ColumnKind, ...]("category" if own else "number" for own in self.levels)
            object.__setattr__(self, "kinds", kinds)

    @property
    def n_rows(self) -> int:
        """The paper's n."""
        return int(self.codes.shape[1])

    @property
    def whereabouts(self) -> str:
        """Where the rows are, as a sentence without its full stop."""
        return "The rows are in memory"

    def numbers(self, k: int, rows: slice = slice(None)) -> NDArray[np.float64]:
        """Column ``k`` as numbers: continuous values as they are, levels by their value, and nan
        where it is missing.

        Raises ``DataError`` if the levels are strings.
        """
        if self.is_continuous(k):
            return self.continuous[self._position(k)][rows]
        for label in self.levels[k]:
            if isinstance(label, str):
                raise DataError(
                    f"Column {shown(self.names[k])} holds labels such as {shown(label)}; numbers "
                    "are needed: leave the column out, or give every label a number if its order "
                    "and distances mean something."
                )
        of_levels = np.array(self.levels[k], dtype=np.float64)
        if len(np.unique(of_levels)) < len(of_levels):
            raise DataError(
                f"Column {shown(self.names[k])} holds whole numbers such as {self.levels[k][0]} "
                "and others that are the same float: subtract what they have in common."
            )
        values: NDArray[np.float64] = of_levels[self.codes[k, rows]]
        absent = self.missing.get(self._position(k))
        if absent is not None:
            values[absent[rows]] = np.nan
        return values

    def present(self, k: int) -> NDArray[np.bool_]:
        """Where column ``k`` is not missing."""
        absent = self.missing.get(self._position(k))
        return np.ones(self.n_rows, dtype=np.bool_) if absent is None else ~absent

    def never_varies(self, k: int) -> bool:
        """Whether column ``k`` has the same value in all rows."""
        if not self.is_continuous(k):
            return len(self.levels[k]) == 1
        numbers = self.numbers(k)[self.present(k)]
        return bool((numbers == numbers[0]).all())

    def select(self, positions: list[int]) -> Table:
        """A table of these rows with the columns at these positions, in this order."""
        return Table(
            names=tuple(self.names[k] for k in positions),
            levels=tuple(self.levels[k] for k in positions),
            codes=np.ascontiguousarray(self.codes[positions]),
            continuous={
                new: self.continuous[self._position(k)]
                for new, k in enumerate(positions)
                if self.is_continuous(k)
            },
            missing={
                new: self.missing[self._position(k)]
                for new, k in enumerate(positions)
                if self._position(k) in self.missing
            },
            kinds=tuple(self.kinds[k] for k in positions),
            told=frozenset(
                new for new, k in enumerate(positions) if self._position(k) in self.told
            ),
            weights=self.weights,
            losses=self.losses,
            notes=self.notes,
        )

    def arrange(self, rows: NDArray[np.int64]) -> Table:
        """A table of these columns with the rows at these positions, in this order."""
        return Table(
            names=self.names,
            levels=self.levels,
            codes=self.codes[:, rows],
            continuous={k: numbers[rows] for k, numbers in self.continuous.items()},
            missing={k: absent[rows] for k, absent in self.missing.items()},
            kinds=self.kinds,
            told=self.told,
            weights=None if self.weights is None else self.weights[rows],
            losses=self.losses,
            notes=self.notes,
        )

    def _position(self, k: int) -> int:
        # From the end too, as everywhere else in Python; a mapping would not find it.
        return range(self.n_variables)[k]


def in_memory(table: AnyTable) -> TypeGuard[Table]:
    """Whether a table has its rows in memory."""
    return table.rows == "memory"


def with_rows(table: AnyTable) -> Table:
    """The table, for what needs its rows in memory; refuses others."""
    if in_memory(table):
        return table
    raise SettingError(
        f"{table.whereabouts}, and the rows are never held in memory, which this needs: read the "
        "table itself, or a sample of its rows"
    )
