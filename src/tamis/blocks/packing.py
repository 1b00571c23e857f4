"""A table becomes a plane file in two passes: one for the levels, one for the planes."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import BinaryIO

import numpy as np

from tamis.atomic import check_place
from tamis.blocks.first_pass import Progress, Seen, look_at_parts, open_stream
from tamis.blocks.header import Header
from tamis.blocks.layout import BLOCK_ROWS, Layout
from tamis.blocks.plane_file import Codes, digest
from tamis.counts.planes import build_planes
from tamis.errors import SettingError
from tamis.tables.columns import Column, smallest_unsigned
from tamis.tables.continuous import require_levels
from tamis.tables.growing import GrowingColumn, changed
from tamis.tables.kinds import Told, checked_types
from tamis.tables.missing import require_complete
from tamis.tables.paths import PLANES_ENDING, ending_of
from tamis.tables.refusals import listed, shown
from tamis.tables.streams import Stream
from tamis.tables.table import Table


def pack(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    block_rows: int = BLOCK_ROWS,
    progress: Progress | None = None,
    types: Mapping[str, Told] | None = None,
    noted: Callable[[str], None] | None = None,
) -> Header:
    """Pack files, one, those of a folder or of a pattern, into a plane file; say what is in it.

    The target appears when it is whole, and not before; until then it is written under another
    name next to it, and what stands there has no header yet. Levels are those that `read_table`
    would find. Measured columns and missing values are refused: planes have levels only. ``types``
    names the kinds of columns where the user knows better, or "ignore" for those to leave out.
    ``noted`` is told what else there is to know.
    """
    path = _checked_target(target)
    kinds = checked_types(types)
    stream = open_stream(os.fspath(source), kinds)
    seen = look_at_parts(stream, progress)
    columns = seen.settle(stream.chosen, kinds, continuous=False)
    note = _numbers_note(columns)
    if note is not None and noted is not None:
        noted(note)
    return write_planes(path, stream, seen, columns, block_rows=block_rows, progress=progress)


def _numbers_note(columns: Mapping[str, Column]) -> str | None:
    """Which columns a table in memory would take for more than categories."""
    numbers = [shown(name) for name, column in columns.items() if column.kind != "category"]
    if not numbers or all(type(one.levels[0]) is int for one in columns.values()):
        return None
    return (
        f"Packed as categories, which a table in memory would not take them for: "
        f"{listed(numbers)}. Learn from the files themselves, or cut numbers into levels first, "
        "with tamis.discretize."
    )


def write_planes(
    path: str,
    stream: Stream,
    seen: Seen,
    columns: Mapping[str, Column],
    *,
    block_rows: int = BLOCK_ROWS,
    progress: Progress | None = None,
) -> Header:
    """The second pass: the rows of columns that are settled, as a plane file."""
    levels = tuple(columns[name].levels for name in stream.chosen)
    header = Header(stream.chosen, levels, seen.n_rows, block_rows)
    growing = [seen.column(name) for name in stream.chosen]
    with _appearing(path) as file:
        _write(file, header, encoded(stream, growing, seen.n_rows, progress or nobody))
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


def nobody(what: str, done: int, of: int) -> None:
    """Nobody wants to know."""


def encoded(
    stream: Stream, columns: Sequence[GrowingColumn], n_rows: int, progress: Progress
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
