"""A table becomes a packed file in two passes: one for the levels, one for the planes."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import BinaryIO

from tamis.atomic import check_place
from tamis.counting.compiled import Codes
from tamis.counting.packed_file import Header
from tamis.counting.stored_blocks import BLOCK_ROWS, BlockWriter
from tamis.errors import SettingError
from tamis.tables.columns import Column
from tamis.tables.continuous import require_levels
from tamis.tables.first_pass import Progress, Seen, look_at_parts, open_stream
from tamis.tables.growing import GrowingColumn, changed
from tamis.tables.kinds import Told, checked_types
from tamis.tables.missing import require_complete
from tamis.tables.paths import PACKED_ENDING, ending_of
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
    """Pack files, one, those of a folder or of a pattern, into a packed file; say what is in it.

    The target appears when it is whole, and not before; until then it is written under another
    name next to it, and what stands there has no header yet. Levels are those that `read_table`
    would find. Continuous columns and missing values are refused: planes have levels only.
    ``types`` names the kinds of columns where the user knows better, or "ignore" for those to leave
    out. ``noted`` is told what else there is to know.
    """
    path = _checked_target(target)
    kinds = checked_types(types)
    stream = open_stream(os.fspath(source), kinds)
    seen = look_at_parts(stream, progress)
    columns = seen.settle(stream.chosen, kinds, continuous=False)
    note = _numbers_note(columns)
    if note is not None and noted is not None:
        noted(note)
    return write_packed(path, stream, seen, columns, block_rows=block_rows, progress=progress)


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


def write_packed(
    path: str,
    stream: Stream,
    seen: Seen,
    columns: Mapping[str, Column],
    *,
    block_rows: int = BLOCK_ROWS,
    progress: Progress | None = None,
) -> Header:
    """The second pass: the rows of columns that are settled, as a packed file."""
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
    if ending_of(path) != PACKED_ENDING:
        raise SettingError(f"{path!r} must end in {PACKED_ENDING!r}, as packed files do")
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
    """Planes and digests; the header comes last, so that half a file is no packed file."""
    start = header.to_bytes()
    blocks = BlockWriter(file, header.layout(len(start)))
    for codes in batches:
        blocks.add(codes)
    blocks.finish()
    file.seek(0)
    file.write(start)


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
    except BaseException as error:
        # The error that brought us here is the one to report.
        with suppress(OSError):
            os.unlink(temporary)
        if isinstance(error, OSError) and error.filename in (None, temporary):
            raise OSError(error.errno, error.strerror, path) from error
        raise
