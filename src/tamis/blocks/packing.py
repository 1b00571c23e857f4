"""A table becomes a plane file in two passes: one for the levels, one for the planes."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import BinaryIO

import numpy as np

from tamis.atomic import check_place
from tamis.blocks.csv_stream import CsvStream
from tamis.blocks.header import Header
from tamis.blocks.layout import BLOCK_ROWS, Layout
from tamis.blocks.parquet_stream import ParquetStream
from tamis.blocks.parts import PLANES_ENDING, TEXT_ENDINGS, ending_of, find_parts
from tamis.blocks.plane_file import Codes, digest
from tamis.blocks.streams import GrowingLevels, Stream, changed
from tamis.counts.planes import build_planes
from tamis.errors import DataError, SettingError
from tamis.tables.columns import smallest_unsigned
from tamis.tables.continuous import require_levels
from tamis.tables.missing import require_complete
from tamis.tables.refusals import ColumnRefused, Problem, listed, refusal, shown
from tamis.tables.table import Label, Table

Progress = Callable[[str, int, int], None]
"""What is being done, how many rows are done, and how many there are, or 0 if nobody knows."""


_ADVICE = {
    Problem.MISSING: "Counted in blocks, every cell needs a value: fill missing ones in, or drop "
    "those rows before.",
    Problem.CONTINUOUS: "Counted in blocks, columns have levels: cut continuous ones into levels "
    "first, with tamis.discretize, or, if there are no labels beside them, give the files "
    "themselves to tamis learn, which takes the moments of numbers.",
}


def pack(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    block_rows: int = BLOCK_ROWS,
    progress: Progress | None = None,
) -> Header:
    """Pack CSV or Parquet, a file, a folder or a pattern, into a plane file; say what is in it.

    The target appears when it is whole, and not before; until then it is written under another
    name next to it, and what stands there has no header yet. Levels are those that `read_table`
    would find. Measured columns and missing values are refused: planes have levels only.
    """
    path = _checked_target(target)
    stream = open_stream(os.fspath(source))
    heard = progress or nobody
    columns = [stream.growing_levels() for _ in stream.names]
    n_rows = look(stream, columns, heard)
    require_rows(stream.names, n_rows)
    header = Header(stream.names, settled(stream.names, columns, n_rows), n_rows, block_rows)
    with _appearing(path) as file:
        _write(file, header, encoded(stream, columns, n_rows, heard))
    return header


def pack_table(
    table: Table, target: str | os.PathLike[str], *, block_rows: int = BLOCK_ROWS
) -> Header:
    """Pack a table of levels that is in memory."""
    require_levels(table)
    require_complete(table)
    path = _checked_target(target)
    header = Header(table.names, table.levels, table.n_rows, block_rows)
    with _appearing(path) as file:
        _write(file, header, [list(table.codes)])
    return header


def _checked_target(target: str | os.PathLike[str]) -> str:
    path = os.fspath(target)
    if ending_of(path) != PLANES_ENDING:
        raise SettingError(f"{path!r} must end in {PLANES_ENDING!r}, as plane files do")
    check_place(path)
    return path


def open_stream(source: str) -> Stream:
    """The rows at a path, by the ending of the files."""
    return stream_of(find_parts(source))


def stream_of(
    paths: Sequence[str], groups: tuple[int, int] | None = None, names: Sequence[str] | None = None
) -> Stream:
    """The rows of these files, or of some row groups of one of Parquet; with ``names`` they must
    have these columns."""
    if ending_of(paths[0]) in TEXT_ENDINGS:
        return CsvStream(paths, names)
    return ParquetStream(paths, groups, names)


def nobody(what: str, done: int, of: int) -> None:
    """Nobody wants to know."""


def look(stream: Stream, columns: Sequence[GrowingLevels], progress: Progress) -> int:
    """The first pass: what levels there are. Returns the number of rows."""
    n_rows = 0
    for batch in stream.batches():
        for column, cells in zip(columns, batch.columns, strict=True):
            column.look(cells, batch)
        n_rows += batch.n_rows
        progress("looking for levels", n_rows, stream.expected_rows)
    return n_rows


def require_rows(names: Sequence[str], n_rows: int) -> None:
    """Refuse a table that is too short to count anything."""
    if n_rows < 2:
        raise DataError(
            f"The table with columns {listed(map(shown, names))} needs at least 2 rows, "
            f"but has {n_rows or 'none'}. Add rows: dependence is counted over them."
        )


def settled(
    names: Sequence[str], columns: Sequence[GrowingLevels], n_rows: int
) -> tuple[tuple[Label, ...], ...]:
    """The levels of all columns, or one error that names every bad column."""
    levels: list[tuple[Label, ...]] = []
    refused: list[tuple[str, ColumnRefused]] = []
    for name, column in zip(names, columns, strict=True):
        try:
            levels.append(column.settle(n_rows))
        except ColumnRefused as why:
            refused.append((name, why))
    if refused:
        raise _for_planes(refusal(refused))
    return tuple(levels)


def _for_planes(error: DataError) -> DataError:
    """The same refusal with advice that helps here."""
    text = str(error)
    for problem, advice in _ADVICE.items():
        text = text.replace(problem.value, advice)
    return DataError(text)


def encoded(
    stream: Stream, columns: Sequence[GrowingLevels], n_rows: int, progress: Progress
) -> Iterator[list[Codes]]:
    """The second pass: the codes of one batch after the other."""
    done = 0
    for batch in stream.batches():
        done += batch.n_rows
        if done > n_rows:
            raise changed()
        yield [column.encode(c) for column, c in zip(columns, batch.columns, strict=True)]
        progress("packing", done, n_rows)
    if done < n_rows:
        raise changed()


def _write(file: BinaryIO, header: Header, batches: Iterable[list[Codes]]) -> None:
    """Planes and digests; the header comes last, so that half a file is no plane file."""
    start = header.to_bytes()
    blocks = BlockWriter(file, header.layout(len(start)))
    for codes in batches:
        blocks.add(codes)
    blocks.finish()
    file.seek(0)
    file.write(start)


class BlockWriter:
    """Codes go in, blocks of planes come out."""

    def __init__(self, file: BinaryIO, layout: Layout) -> None:
        self._file = file
        self._layout = layout
        self._arities = np.array(layout.arities, dtype=np.int64)
        kind = smallest_unsigned(max(layout.arities))
        self._codes: Codes = np.zeros((len(layout.arities), layout.block_rows), dtype=kind)
        self._filled = 0
        self._digests: list[bytes] = []

    def add(self, codes: Sequence[Codes]) -> None:
        """Take these rows, a column a line."""
        taken, n_rows = 0, len(codes[0])
        while taken < n_rows:
            share = min(n_rows - taken, self._layout.block_rows - self._filled)
            for k, column in enumerate(codes):
                self._codes[k, self._filled : self._filled + share] = column[taken : taken + share]
            taken += share
            self._filled += share
            if self._filled == self._layout.block_rows:
                self._flush()

    def finish(self) -> None:
        """Write the last block, filled up with zeros, and the digests."""
        if self._filled:
            self._flush()
        self._file.seek(self._layout.digests_start)
        self._file.write(b"".join(self._digests))
        self._file.write(digest([b"".join(self._digests)]))

    def _flush(self) -> None:
        block = len(self._digests)
        parts = [self._planes(), *map(self._codes_of, self._layout.code_starts)]
        for (start, _), part in zip(self._layout.parts(block), parts, strict=True):
            self._file.seek(start)
            self._file.write(part)
        self._digests.append(digest([*parts]))
        self._filled = 0

    def _planes(self) -> bytes:
        packed = build_planes(self._codes[:, : self._filled], self._arities).words
        words = np.zeros((self._layout.n_planes, self._layout.words), dtype="<u8")
        words[:, : packed.shape[1]] = packed
        return words.tobytes()

    def _codes_of(self, k: int) -> bytes:
        codes = np.zeros(self._layout.block_rows, dtype=self._layout.code_type(k))
        codes[: self._filled] = self._codes[k, : self._filled]
        return codes.tobytes()


@contextmanager
def _appearing(path: str) -> Iterator[BinaryIO]:
    """A file that gets its name when all is written; whatever fails, nothing is left of it."""
    target = os.path.realpath(path)
    temporary = os.path.join(os.path.dirname(target), f".tamis-{secrets.token_hex(8)}.tmp")
    try:
        with open(temporary, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if os.path.exists(target):
            shutil.copymode(target, temporary)
        os.replace(temporary, target)
    except BaseException:
        # The error that brought us here is the one to report.
        with suppress(OSError):
            os.unlink(temporary)
        raise
