"""Tables of named columns, each of one kind: the only form of data the rest of tamis sees.

Beside it one order for its rows, whatever order they came in, and what a source of your own sees
of it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeGuard, final

import numpy as np
from numpy.typing import NDArray

from tamis.errors import DataError, SettingError
from tamis.tables.refusals import shown

if TYPE_CHECKING:
    from pandas import DataFrame

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


Ints = NDArray[np.int64]


def in_canonical_order(table: Table) -> Table:
    """The table with its rows sorted: by the continuous columns in the order of their names, which
    have few ties as a rule, then by the others, by what is missing and by their weights. Rows that
    agree in all of them are the same.

    Sums of floats depend on the order of their terms, and so do random numbers that are dealt out
    to rows. Sorted first, the same rows give the same answer to the last digit.
    """
    place = np.zeros(table.n_rows, dtype=np.int64)
    tied = np.arange(table.n_rows)
    for values in _keys(table):
        tied = _untie(place, tied, values[tied])
        if not len(tied):
            break
    return table.arrange(np.argsort(place, kind="stable"))


def _keys(table: Table) -> Iterator[NDArray[np.generic]]:
    """What rows are sorted by, the first first."""
    columns = sorted(
        range(table.n_variables), key=lambda k: (not table.is_continuous(k), table.names[k])
    )
    for k in columns:
        # No two nan are the same, and so none would ever tie.
        yield np.nan_to_num(table.numbers(k)) if table.is_continuous(k) else table.codes[k]
    yield from (table.missing[k] for k in columns if k in table.missing)
    if table.weights is not None:
        yield table.weights


def _untie(place: Ints, tied: Ints, values: NDArray[np.generic]) -> Ints:
    """Give rows that share their place one by their values; return those that share it still.

    The place of a row is the number of rows that come before all that are tied with it.
    """
    order = np.lexsort((values, place[tied]))
    rows, sorted_values = tied[order], values[order]
    shared = place[rows]
    new_place = shared[1:] != shared[:-1]
    new_value = new_place | (sorted_values[1:] != sorted_values[:-1])
    place[rows] += _first_of_run(new_value) - _first_of_run(new_place)
    still = np.zeros(len(rows), dtype=np.bool_)
    still[1:] |= ~new_value
    still[:-1] |= ~new_value
    return rows[still]


def _first_of_run(begins: NDArray[np.bool_]) -> Ints:
    """For each entry where its run of equal entries begins; the first entry begins one."""
    starts = np.zeros(len(begins) + 1, dtype=np.int64)
    starts[1:] = np.where(begins, np.arange(1, len(begins) + 1), 0)
    return np.maximum.accumulate(starts)


@final
class TableView:
    """A table as tamis has read it, for ``TAM(information=function_of_a_table)``.

    Parameters
    ----------
    table : tamis.tables.Table
        The table that is fitted.

    Attributes
    ----------
    names : tuple of str
        The columns, sorted. A source that is made from the table has the same names in this order.
    n_rows : int
        The number of rows that were kept.
    weights : array or None
        The survey weights of the rows; None where every row counts as one.
    levels : dict
        The labels of each column by name; none for a continuous column.

    Examples
    --------
    >>> import tamis
    >>> from tamis.tables import read_table
    >>> view = tamis.TableView(read_table({"a": ["x", "y", "x"], "b": [0, 0, 1]}))
    >>> view.codes("a")
    array([0, 1, 0])
    """

    def __init__(self, table: Table) -> None:
        self._table = table
        self.names: tuple[str, ...] = table.names
        self.n_rows: int = table.n_rows
        self.weights: NDArray[np.float64] | None = table.weights
        self.levels: dict[str, tuple[Label, ...]] = dict(
            zip(table.names, table.levels, strict=True)
        )

    def __repr__(self) -> str:
        return f"<TableView: {self.n_rows} rows, {len(self.names)} columns>"

    def codes(self, name: str) -> NDArray[np.int64]:
        """The levels of a column by number, an index into ``levels[name]``; -1 where missing."""
        k = self._position(name)
        if self._table.is_continuous(k):
            raise DataError(f"Column {shown(name)} is continuous and has no levels: use numbers.")
        found: NDArray[np.int64] = self._table.codes[k].astype(np.int64)
        if k in self._table.missing:
            found[self._table.missing[k]] = -1
        return found

    def numbers(self, name: str) -> NDArray[np.float64]:
        """A column of numbers; nan where missing. Labels are refused."""
        return self._table.numbers(self._position(name)).copy()

    def matrix(self) -> NDArray[np.float64]:
        """All columns as numbers, a row of the table a row: labels by their codes, nan where
        missing."""
        return np.column_stack([self._as_numbers(name) for name in self.names])

    def to_pandas(self) -> DataFrame:
        """All columns as they stood in the table; needs pandas."""
        import pandas as pd

        return pd.DataFrame({name: self._values(name) for name in self.names})

    def _as_numbers(self, name: str) -> NDArray[np.float64]:
        if any(isinstance(label, str) for label in self.levels[name]):
            codes = self.codes(name).astype(np.float64)
            return np.where(codes < 0, np.nan, codes)
        return self.numbers(name)

    def _values(self, name: str) -> list[Any]:
        if not self.levels[name]:
            return list(self.numbers(name).tolist())
        labels = (*self.levels[name], None)
        return [labels[code] for code in self.codes(name).tolist()]

    def _position(self, name: str) -> int:
        if name not in self.levels:
            raise SettingError(f"there is no column {name!r} in the table: it has {self.names}")
        return self.names.index(name)
