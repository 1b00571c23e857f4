"""What one pass over the rows tells: what each column is, and the moments of numbers.

All of it adds over rows. A part of a table is looked at wherever its rows are, the summary is small
and can be sent, and summaries are merged in the order of the parts. Columns go by their names in
order, so that the order of the user's columns plays no part in any rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tamis.errors import DataError
from tamis.tables.assemble import check_names, require_rows
from tamis.tables.columns import Column
from tamis.tables.growing import MOST_LEVELS, GrowingColumn, changed
from tamis.tables.kinds import IGNORE, Told, require_known
from tamis.tables.moments import Floats, Moments, spread_of_products
from tamis.tables.paths import find_parts
from tamis.tables.refusals import ColumnRefused, Problem, listed, shown
from tamis.tables.sources import columns_or_refusal
from tamis.tables.streams import Batch, Stream, stream_of

BLOCK_CELLS = 2**19
"""Numbers that are summed at a time: few enough to stay in the cache."""
BLOCK_ROWS = 2**10
"""The rows of a block of many columns, at least: fewer would not be worth a merge."""

Progress = Callable[[str, int, int], None]
"""What is being done, how many rows are done, and how many there are, or 0 if nobody knows."""
Heard = Callable[[int], None]
"""Told how many rows have passed."""

_ADVICE = {
    Problem.MISSING: "Read in blocks, every cell needs a value: fill missing ones in, or drop "
    "those rows first; a table in memory takes missing='drop'.",
    Problem.CONTINUOUS: "Counted in blocks, columns have levels: cut continuous ones into levels "
    "first, with tamis.discretize, or give the files themselves to tamis learn, which takes the "
    "moments of numbers.",
}


@dataclass(frozen=True, eq=False)
class Seen:
    """What is known of some rows of a table."""

    names: tuple[str, ...]
    """In order."""
    columns: tuple[GrowingColumn, ...]
    rows: tuple[int, ...]
    """Of each part."""
    moments: Moments | None
    """Of all columns; None where they were not asked for, or a cell has no number."""

    @property
    def n_rows(self) -> int:
        """How many rows these are."""
        return sum(self.rows)

    def merge(self, later: Seen) -> Seen:
        """What is known of the rows of both; these come first."""
        if later.names != self.names:
            raise DataError("Parts of a table must have the same columns, and these have not.")
        moments = None
        if self.moments is not None and later.moments is not None:
            with np.errstate(over="ignore", invalid="ignore"):
                moments = self.moments.merge(later.moments)
        columns = [a.merge(b) for a, b in zip(self.columns, later.columns, strict=True)]
        return Seen(self.names, tuple(columns), self.rows + later.rows, moments)

    def column(self, name: str) -> GrowingColumn:
        """The column of this name."""
        return self.columns[self.names.index(name)]

    def settle(
        self, names: Sequence[str], types: Mapping[str, Told], *, continuous: bool
    ) -> dict[str, Column]:
        """Every column without its rows, in the order of ``names``, or one error that names all
        that cannot be taken."""
        require_rows(names, self.n_rows)
        outcomes: list[Column | ColumnRefused] = []
        for name in names:
            try:
                found = self.column(name).settle(self.n_rows, types.get(name), continuous)
                outcomes.append(found)
            except ColumnRefused as why:
                outcomes.append(why)
        try:
            return dict(zip(names, columns_or_refusal(names, outcomes), strict=True))
        except DataError as error:
            text = str(error)
            for problem, advice in _ADVICE.items():
                text = text.replace(problem.value, advice)
            raise DataError(text) from None


def open_stream(source: str, types: Mapping[str, Told] | None = None) -> Stream:
    """The rows at a path, by the ending of the files, with the columns that are not ignored."""
    stream = stream_of(find_parts(source))
    return stream.choose(wanted(stream.names, types or {}))


def wanted(names: Sequence[str], types: Mapping[str, Told]) -> tuple[str, ...]:
    """The columns that are not ignored, checked; all that are named must be there."""
    require_known(types, names)
    return check_names(name for name in names if types.get(name) != IGNORE)


def look(stream: Stream, heard: Heard | None = None, *, moments: bool = False) -> Seen:
    """One pass over a table, or over a part of it."""
    ordered = stream.choose(sorted(stream.chosen))
    columns = [stream.growing() for _ in ordered.chosen]
    lines = _lines(ordered, columns, heard, numbers=moments)
    found: Moments | None = None
    if moments:
        found = _moments(lines, len(columns))
    else:
        for _ in lines:
            pass
    return Seen(ordered.chosen, tuple(columns), (columns[0].rows,), found)


def look_at_parts(
    stream: Stream, progress: Progress | None = None, *, moments: bool = False
) -> Seen:
    """The files one after the other; what is found is merged in their order."""
    what = "taking moments" if moments else "looking at the columns"
    known: Seen | None = None
    for part in stream.parts():
        before = 0 if known is None else known.n_rows
        heard = told_of(progress, what, before, stream.expected_rows)
        found = look(part, heard, moments=moments)
        known = found if known is None else known.merge(found)
    if known is None:
        raise RuntimeError("a stream without parts")
    return known


def begins_measured(stream: Stream) -> bool:
    """Whether a number that is not whole is among the first rows: quick, and no proof."""
    for batch in stream.batches():
        if batch.n_rows:
            columns = [stream.growing() for _ in batch.columns]
            _look_at(batch, columns, stream, numbers=False)
            return any(column.is_measured for column in columns)
    return False


def products_in(
    stream: Stream, names: Sequence[str], moments: Moments, heard: Heard | None = None
) -> tuple[int, float]:
    """Another pass, for the shrinkage that the rows suggest: what it needs of this part.

    ``moments`` are those of the whole table, with its columns in the order of ``names``.
    """
    chosen = stream.choose(names)
    columns = [stream.growing() for _ in names]
    lines = _lines(chosen, columns, heard, numbers=True)
    return spread_of_products(moments.standardised(_complete(_blocks(lines))))


def reading_of(
    columns: Mapping[str, Column], types: Mapping[str, Told], information: str
) -> Literal["counts", "moments", "rows"]:
    """What a table of these columns is learned from, as in memory: numbers beside categories need
    their rows, and so do ranks of ordinal columns. Whole numbers whose kinds nobody has named are
    counted."""
    if information != "auto":
        return "moments" if information == "gaussian" else "counts"
    labels = [label for column in columns.values() for label in column.levels]
    told = any(name in columns for name in types)
    whole = all(column.levels for column in columns.values())
    kinds = {column.kind for column in columns.values()}
    if "number" not in kinds or (whole and not told and all(type(one) is int for one in labels)):
        return "rows" if any(map(_is_ranked, columns.values())) else "counts"
    return "moments" if kinds == {"number"} else "rows"


def _is_ranked(column: Column) -> bool:
    return column.kind == "ordinal" and len(column.levels) > 2


def needs_rows(columns: Mapping[str, Column], where: str) -> DataError:
    """The refusal of columns whose rows cannot be had: numbers beside categories, or ordinals."""
    numbers = [name for name, column in columns.items() if column.kind == "number"]
    others = [name for name in columns if name not in numbers]
    if not numbers:
        ranked = {name: "category" for name, one in columns.items() if _is_ranked(one)}
        return DataError(
            f"Ordinal columns ({listed(map(shown, ranked))}) have ranks, and those need all rows "
            f"in memory, {where}: count them as categories, with types={ranked}."
        )
    cure = {name: "number" for name in others if not _has_text(columns[name])}
    named = f"take them as numbers too, with types={cure}; " if len(cure) == len(others) else ""
    return DataError(
        f"Numbers ({listed(map(shown, numbers))}) stand beside categories "
        f"({listed(map(shown, others))}), and learning from both needs all rows in memory, "
        f"{where}: {named}leave the categories out, with types={{...: 'ignore'}}; cut the "
        "numbers into levels first, with tamis.discretize; or learn from a sample of the rows."
    )


def told_of(progress: Progress | None, what: str, before: int, of: int) -> Heard | None:
    """How progress is heard of while rows of a part pass, ``before`` of which others came."""
    if progress is None:
        return None
    return lambda done: progress(what, before + done, of)


def crowded_note(seen: Seen, columns: Mapping[str, Column]) -> tuple[str, ...]:
    """What to say about whole numbers that are continuous only because they take many values."""
    crowded = [
        shown(name)
        for name, column in columns.items()
        if not column.levels and seen.column(name).is_crowded(seen.n_rows)
    ]
    if not crowded:
        return ()
    return (
        f"Taken as continuous, having more than {MOST_LEVELS} whole numbers, which are not counted "
        f"in blocks: {listed(crowded)}.",
    )


def _has_text(column: Column) -> bool:
    return bool(column.levels) and isinstance(column.levels[0], str)


def _look_at(
    batch: Batch, columns: Sequence[GrowingColumn], stream: Stream, *, numbers: bool
) -> list[Floats | None]:
    return [
        column.look(cells, lambda row: stream.place(batch.first + row), numbers=numbers)
        for column, cells in zip(columns, batch.columns, strict=True)
    ]


def _lines(
    stream: Stream, columns: Sequence[GrowingColumn], heard: Heard | None, *, numbers: bool
) -> Iterator[list[Floats] | None]:
    """The numbers of each batch, column by column; None if a cell has no number."""
    for batch in stream.batches():
        found = _look_at(batch, columns, stream, numbers=numbers)
        lines = [line for line in found if line is not None]
        yield lines if len(lines) == len(found) else None
        if heard is not None:
            heard(batch.first + batch.n_rows)


def _moments(lines: Iterator[list[Floats] | None], n_columns: int) -> Moments | None:
    moments: Moments | None = Moments.of(np.zeros((n_columns, 0)))
    for block in _blocks(lines):
        if block is None:
            moments = None
        elif moments is not None:
            # Numbers too large to be squared are refused by name when all have passed.
            with np.errstate(over="ignore", invalid="ignore"):
                moments = moments.merge(Moments.of(block))
    return moments


def _blocks(batches: Iterator[list[Floats] | None]) -> Iterator[Floats | None]:
    """Rows in blocks, a column in each line: small batches together, large ones in parts.

    The limit of memory plays no part, so that the same files give the same sums.
    """
    kept: list[Floats] = []
    n_kept = 0
    for lines in batches:
        if lines is None:
            yield None
            continue
        step = max(BLOCK_CELLS // len(lines), BLOCK_ROWS)
        for start in range(0, len(lines[0]), step):
            kept.append(np.array([line[start : start + step] for line in lines]))
            n_kept += kept[-1].shape[1]
            if n_kept >= step:
                yield _joined(kept)
                kept, n_kept = [], 0
    if kept:
        yield _joined(kept)


def _joined(parts: list[Floats]) -> Floats:
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)


def _complete(blocks: Iterator[Floats | None]) -> Iterator[Floats]:
    for block in blocks:
        if block is None:
            raise changed()
        yield block
