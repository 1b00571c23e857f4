"""A table of which the moments are known and not the rows, in the place of one held in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.blocks.first_pass import Progress, Seen, crowded_note, products_in, told_of
from tamis.blocks.packed import DEFAULT_MEMORY, Counted, checked_limit, usual_fields
from tamis.errors import DataError, SettingError
from tamis.information.gaussian import GaussianInformation, correlation_of
from tamis.information.moments import Moments, refuse_extremes
from tamis.information.shrinkage import checked_or_auto, suggested
from tamis.tables.columns import Column
from tamis.tables.growing import changed
from tamis.tables.refusals import shown
from tamis.tables.streams import BATCH_BYTES, Stream
from tamis.tables.table import Table

Again = Callable[[tuple[str, ...], Moments], tuple[int, float]]
"""Another pass over all rows: `products_in` of every part, added up in their order."""

READER_BYTES = 3 * 10**8
"""What Python, its libraries and the compiled loops take while moments are taken."""


class MomentTable(Table):
    """Names, levels where a column of whole numbers has them, and moments; no rows.

    ``again`` takes another pass over the rows, for the shrinkage that they suggest; None where
    they cannot be read twice.
    """

    moments: Moments
    memory: int
    again: Again | None
    counted: Counted

    def __init__(
        self,
        names: Sequence[str],
        levels: Sequence[tuple[Any, ...]],
        moments: Moments,
        *,
        memory: int = DEFAULT_MEMORY,
        again: Again | None = None,
        notes: tuple[str, ...] = (),
        counted: Counted | None = None,
    ) -> None:
        settings = usual_fields() | {
            "names": tuple(names),
            "levels": tuple(levels),
            "kinds": ("number",) * len(names),
            "continuous": _Unseen(k for k, found in enumerate(levels) if not found),
            "notes": notes,
            "moments": moments,
            "memory": memory,
            "again": again,
            "counted": counted or Counted("blocks", 1),
        }
        for name, value in settings.items():
            object.__setattr__(self, name, value)

    @property
    def codes(self) -> NDArray[np.unsignedinteger]:
        """Not in memory: raises ``SettingError``."""
        raise _no_rows()

    @property
    def n_rows(self) -> int:
        """The paper's n."""
        return self.moments.count

    def numbers(self, k: int, rows: slice = slice(None)) -> NDArray[np.float64]:
        """Not in memory: raises ``SettingError``."""
        raise _no_rows()

    def never_varies(self, k: int) -> bool:
        """Whether column ``k`` has the same value in all rows."""
        return bool(self.moments.low[k] == self.moments.high[k])

    def select(self, positions: list[int]) -> MomentTable:
        """The same rows with the columns at these positions, in this order."""
        return MomentTable(
            [self.names[k] for k in positions],
            [self.levels[k] for k in positions],
            self.moments.select(positions),
            memory=self.memory,
            again=self.again,
            notes=self.notes,
            counted=self.counted,
        )

    def arrange(self, rows: NDArray[np.int64]) -> Table:
        """Not in memory: raises ``SettingError``."""
        raise _no_rows()


class _Unseen(Mapping[int, NDArray[np.float64]]):
    """Which columns are measured; their numbers are not in memory."""

    def __init__(self, positions: Iterable[int]) -> None:
        self._positions = tuple(positions)

    def __getitem__(self, k: int) -> NDArray[np.float64]:
        raise _no_rows()

    def __contains__(self, k: object) -> bool:
        return k in self._positions

    def __iter__(self) -> Iterator[int]:
        return iter(self._positions)

    def __len__(self) -> int:
        return len(self._positions)


def table_of_moments(
    seen: Seen,
    columns: Mapping[str, Column],
    *,
    memory: int = DEFAULT_MEMORY,
    again: Again | None = None,
    counted: Counted | None = None,
    notes: tuple[str, ...] = (),
) -> MomentTable:
    """The table of what is known of all its rows, with these columns in their order; refuses
    labels, which have no moments."""
    for name, column in columns.items():
        if column.levels and isinstance(column.levels[0], str):
            raise DataError(
                f"Column {shown(name)} holds labels such as {shown(column.levels[0])}; numbers are "
                "needed: leave the column out, or give every label a number if its order and "
                "distances mean something."
            )
    if seen.moments is None:
        raise RuntimeError("all cells have numbers, and there are no moments")
    table = MomentTable(
        seen.names,
        [columns[name].levels for name in seen.names],
        seen.moments,
        memory=memory,
        again=again,
        notes=(*notes, *crowded_note(seen, columns)),
        counted=counted,
    )
    return table.select([seen.names.index(name) for name in columns])


def open_moments(
    table: MomentTable, information: str, settings: dict[str, Any] | None
) -> GaussianInformation:
    """What the moments tell; other information would need the rows."""
    if information != "gaussian":
        raise SettingError(
            f"information={information!r} needs the rows in memory, and of numbers in blocks only "
            "the moments are taken: use information='gaussian', or read the table itself, or a "
            "sample of its rows"
        )
    moments = table.moments
    for name, size in zip(table.names, moments.size.tolist(), strict=True):
        refuse_extremes(name, size)
    wanted = checked_or_auto((settings or {}).get("shrinkage", 0.0))
    if isinstance(wanted, str):
        if table.again is None:
            raise SettingError(
                "shrinkage='auto' needs another pass over the rows, which are not at hand any "
                "more: give a number from 0 to 1"
            )
        n_rows, of_products = table.again(table.names, moments)
        if n_rows != moments.count:
            raise changed()
        wanted = suggested(n_rows, of_products, correlation_of(moments.covariance))
    return GaussianInformation.from_moments(table.names, moments, shrinkage=wanted)


def products_of(
    parts: Sequence[Stream], progress: Progress | None, names: tuple[str, ...], moments: Moments
) -> tuple[int, float]:
    """`products_in` of all parts."""
    n_rows, total = 0, 0.0
    for part in parts:
        heard = told_of(progress, "looking for the shrinkage", n_rows, moments.count)
        rows, products = products_in(part, names, moments, heard)
        n_rows, total = n_rows + rows, total + products
    return n_rows, total


def enough_memory(memory: int | None, stream: Stream) -> int:
    """The limit, if the products of so many columns and batches of rows fit."""
    limit, d = checked_limit(memory), len(stream.chosen)
    batch = max(BATCH_BYTES, 2**15 * d)
    needed = READER_BYTES + stream.column_bytes * d + 4 * batch + 6 * 8 * d * d
    if needed > limit:
        raise SettingError(
            f"memory must be {-(-needed // 10**6)}MB or more for the moments of {d} columns, not "
            f"{limit / 10**6:.0f}MB: leave columns out, or raise it"
        )
    return limit


def _no_rows() -> SettingError:
    return SettingError(
        "The moments of the rows are taken in blocks, and the rows are never held in memory, which "
        "this needs: read the table itself, or a sample of its rows"
    )
