"""A table of which the moments are known and not the rows, in the place of one held in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.blocks.numbers import Heard, Numbers, Taken, changed_between, look, products_in
from tamis.blocks.packed import DEFAULT_MEMORY, Counted, checked_limit, usual_fields
from tamis.blocks.parquet_stream import BATCH_BYTES
from tamis.blocks.streams import MOST_LEVELS, Stream
from tamis.errors import DataError, SettingError
from tamis.information.gaussian import GaussianInformation, correlation_of
from tamis.information.moments import Moments, refuse_extremes
from tamis.information.shrinkage import checked_or_auto, suggested
from tamis.tables.refusals import ColumnRefused, Problem, listed, refusal, shown
from tamis.tables.table import Table

Again = Callable[[tuple[str, ...], Moments], tuple[int, float]]
"""Another pass over all rows: `products_in` of every part, added up in their order."""
Progress = Callable[[str, int, int], None]

READER_BYTES = 3 * 10**8
"""What Python, its libraries and the compiled loops take while moments are taken."""

_MISSING = (
    "Moments are those of whole rows: fill missing values in, or drop those rows first; a table "
    "in memory takes missing='drop'."
)


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


def read_moments(
    stream: Stream,
    *,
    information: str = "auto",
    memory: int | None = None,
    progress: Progress | None = None,
) -> MomentTable | None:
    """The table of the moments of all rows in one pass; None if it is one of levels to be counted.

    The files are looked at one after the other, and what is found is merged in their order.
    """
    limit = _enough(memory, stream)
    parts = stream.parts()
    known: Numbers | None = None
    for part in parts:
        before = 0 if known is None else known.n_rows
        found = look(part, _heard(progress, "taking moments", before, stream.expected_rows))
        known = found if known is None else known.merge(found)
    if known is None:
        raise RuntimeError("a stream without parts")
    counted = Counted("blocks", len(parts))
    counted.note(8 * known.n_rows * len(stream.names))
    return table_of(
        known,
        stream.names,
        information=information,
        memory=limit,
        again=partial(_products, parts, progress),
        counted=counted,
    )


def table_of(
    numbers: Numbers,
    names: Sequence[str],
    *,
    information: str = "auto",
    memory: int = DEFAULT_MEMORY,
    again: Again | None = None,
    counted: Counted | None = None,
    notes: tuple[str, ...] = (),
) -> MomentTable | None:
    """The table of what is known of all its rows, its columns in the order of ``names``.

    With ``information`` "auto", None where a table in memory would be counted; raises
    ``DataError`` where it would be refused, and where labels stand beside measured columns.
    """
    _require_rows(names, numbers.n_rows)
    taken, refused = _settled(numbers, names)
    if information == "auto" and not _any_measured(numbers, taken):
        return None
    if refused:
        raise DataError(str(refusal(refused)).replace(Problem.MISSING.value, _MISSING))
    _require_numbers(taken, information)
    if numbers.moments is None:
        raise RuntimeError("all cells have numbers, and there are no moments")
    table = MomentTable(
        numbers.names,
        [taken[name].levels for name in numbers.names],
        numbers.moments,
        memory=memory,
        again=again,
        notes=(*notes, *_notes(taken)),
        counted=counted,
    )
    return table.select([numbers.names.index(name) for name in names])


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
            raise changed_between()
        wanted = suggested(n_rows, of_products, correlation_of(moments.covariance))
    return GaussianInformation.from_moments(table.names, moments, shrinkage=wanted)


def _products(
    parts: Sequence[Stream], progress: Progress | None, names: tuple[str, ...], moments: Moments
) -> tuple[int, float]:
    n_rows, total = 0, 0.0
    for part in parts:
        heard = _heard(progress, "looking for the shrinkage", n_rows, moments.count)
        rows, products = products_in(part, names, moments, heard)
        n_rows, total = n_rows + rows, total + products
    return n_rows, total


def _settled(
    numbers: Numbers, names: Sequence[str]
) -> tuple[dict[str, Taken], list[tuple[str, ColumnRefused]]]:
    """What every column is, or why it is nothing; in the order of ``names``."""
    found: dict[str, Taken] = {}
    refused: list[tuple[str, ColumnRefused]] = []
    column = dict(zip(numbers.names, numbers.columns, strict=True))
    for name in names:
        try:
            found[name] = column[name].settle(numbers.n_rows)
        except ColumnRefused as why:
            refused.append((name, why))
    return found, refused


def _any_measured(numbers: Numbers, taken: dict[str, Taken]) -> bool:
    """Whether a column is measured, or would be if nothing else were wrong with it."""
    return any(
        taken[name].is_continuous if name in taken else column.fraction is not None
        for name, column in zip(numbers.names, numbers.columns, strict=True)
    )


def _require_numbers(taken: dict[str, Taken], information: str) -> None:
    """Refuse labels; truth values are numbers where that is asked for."""
    if information == "auto":
        others = {name: one for name, one in taken.items() if not one.is_numeric}
        if others:
            raise _beside_labels(taken, others)
        return
    for name, one in taken.items():
        if one.levels and isinstance(one.levels[0], str):
            raise DataError(
                f"Column {shown(name)} holds labels such as {shown(one.example)}; numbers are "
                "needed: leave the column out, or give every label a number if its order and "
                "distances mean something."
            )


def _beside_labels(taken: dict[str, Taken], others: dict[str, Taken]) -> DataError:
    measured = listed(
        f"{shown(name)} (such as {one.example})" for name, one in taken.items() if one.is_continuous
    )
    labels = listed(f"{shown(name)} (such as {shown(one.example)})" for name, one in others.items())
    truths = all(isinstance(one.example, bool) for one in others.values())
    hint = " Truth values are taken as 0 and 1 by information='gaussian'." if truths else ""
    return DataError(
        f"Measured columns stand beside labels, and in blocks only tables of numbers have moments. "
        f"Measured: {measured}. Labels: {labels}. Read the table itself, or a sample of its rows; "
        "or cut the measured columns into levels first, with tamis.discretize; or leave the "
        f"labels out.{hint}"
    )


def _notes(taken: dict[str, Taken]) -> tuple[str, ...]:
    crowded = [shown(name) for name, one in taken.items() if one.crowded]
    if not crowded:
        return ()
    return (
        f"Taken as measured, having more than {MOST_LEVELS} whole numbers, which are not counted "
        f"in blocks: {listed(crowded)}.",
    )


def _require_rows(names: Sequence[str], n_rows: int) -> None:
    if n_rows < 2:
        raise DataError(
            f"The table with columns {listed(map(shown, names))} needs at least 2 rows, "
            f"but has {n_rows or 'none'}. Add rows: dependence is measured over them."
        )


def _enough(memory: int | None, stream: Stream) -> int:
    """The limit, if the products of so many columns and batches of rows fit."""
    limit, d = checked_limit(memory), len(stream.names)
    batch = max(BATCH_BYTES, 2**15 * d)
    needed = READER_BYTES + stream.column_bytes * d + 4 * batch + 6 * 8 * d * d
    if needed > limit:
        raise SettingError(
            f"memory must be {-(-needed // 10**6)}MB or more for the moments of {d} columns, not "
            f"{limit / 10**6:.0f}MB: leave columns out, or raise it"
        )
    return limit


def _heard(progress: Progress | None, what: str, before: int, of: int) -> Heard | None:
    if progress is None:
        return None
    return lambda done: progress(what, before + done, of)


def _no_rows() -> SettingError:
    return SettingError(
        "The moments of the rows are taken in blocks, and the rows are never held in memory, which "
        "this needs: read the table itself, or a sample of its rows"
    )
