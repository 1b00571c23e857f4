"""A data frame of pandas as a stream of one batch, read as a file of arrow would be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tamis.blocks.arrow_numbers import ArrowNumbers
from tamis.blocks.numbers import NumberColumn
from tamis.blocks.parquet_stream import ArrowLevels
from tamis.blocks.streams import Batch, GrowingLevels, Stream
from tamis.data.refusals import at_row, listed, shown
from tamis.errors import DataError


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
        columns = [self._column(k) for k in range(len(self.names))]
        yield Batch(columns, len(self._frame), at_row(0))

    def parts(self) -> Sequence[Stream]:
        """All of it."""
        return [self]

    def growing_numbers(self) -> NumberColumn:
        """A column that may hold numbers."""
        return ArrowNumbers()

    def growing_levels(self) -> GrowingLevels:
        """A column about which nothing is known yet."""
        return ArrowLevels()

    def _column(self, k: int) -> Any:  # noqa: ANN401 - a column of arrow
        import pyarrow as pa

        try:
            found = pa.array(self._frame.iloc[:, k], from_pandas=True)
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            reason = (str(error).splitlines() or ["unknown"])[0]
            raise DataError(
                f"Column {shown(self.names[k])} holds values that are not of one type "
                f"({shown(reason)}). Turn them all into labels, or into numbers."
            ) from error
        return found if isinstance(found, pa.ChunkedArray) else pa.chunked_array([found])
