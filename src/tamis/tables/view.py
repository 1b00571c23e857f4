"""What a source of your own sees of a table: names, rows, and the columns in the form it needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from tamis.errors import DataError, SettingError
from tamis.tables.refusals import shown
from tamis.tables.table import Label, Table

if TYPE_CHECKING:
    from pandas import DataFrame


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
