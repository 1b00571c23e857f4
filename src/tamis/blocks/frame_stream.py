"""A data frame of pandas as a stream of one batch, read as it is in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tamis.blocks.arrow_numbers import ArrowNumbers
from tamis.blocks.numbers import NumberColumn
from tamis.blocks.parquet_stream import ArrowLevels
from tamis.blocks.streams import Batch, GrowingLevels, Stream
from tamis.errors import DataError
from tamis.information.interface import Floats
from tamis.tables.cells import plain_labels
from tamis.tables.refusals import Problem, at_row, listed, shown
from tamis.tables.table import Label


class FrameStream(Stream):
    """The rows of a frame whose columns have these names, in this order."""

    def __init__(self, frame: Any, names: tuple[str, ...]) -> None:  # noqa: ANN401 - of pandas
        found = tuple(map(str, frame.columns))
        if found != names:
            odd = sorted(set(found) ^ set(names)) or list(found)
            raise DataError(
                f"The parts of the table differ in their columns: {listed(map(shown, odd))}. Give "
                "all parts the same columns in the same order."
            )
        self.names = names
        self._frame = frame
        self.expected_rows = len(frame)

    def batches(self) -> Iterator[Batch]:
        """All rows at once."""
        columns = [self._frame.iloc[:, k] for k in range(len(self.names))]
        yield Batch(columns, len(self._frame), at_row(0))

    def parts(self) -> Sequence[Stream]:
        """All of it."""
        return [self]

    def growing_numbers(self) -> NumberColumn:
        """A column that may hold numbers."""
        return SeriesNumbers()

    def growing_levels(self) -> GrowingLevels:
        """A column about which nothing is known yet."""
        return SeriesLevels()


class SeriesLevels(ArrowLevels):
    """The levels of a column of pandas, as a frame in memory has them."""

    def _orders_of(self, cells: Any) -> list[list[Label] | None]:  # noqa: ANN401 - of pandas
        if not getattr(cells.dtype, "ordered", False):
            return [None]
        return [list(dict.fromkeys(plain_labels(cells.cat.categories.tolist())))]


class SeriesNumbers(ArrowNumbers):
    """The numbers of a column of pandas."""

    def _look(self, cells: Any, batch: Batch) -> Floats | None:  # noqa: ANN401 - of pandas
        import pyarrow as pa

        try:
            found = pa.array(cells, from_pandas=True)
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            reason = (str(error).splitlines() or ["unknown"])[0]
            self._refused = Problem.MIXED, f"holds values that are no numbers ({shown(reason)})"
            return None
        whole = found if isinstance(found, pa.ChunkedArray) else pa.chunked_array([found])
        return super()._look(whole, batch)
