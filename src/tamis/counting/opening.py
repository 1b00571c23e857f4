"""What is counted where its rows are: packed files, folders and patterns, files under a memory
limit, and data frames of Dask. Whatever else holds a table is read into memory."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial

from tamis.counting.elsewhere import (
    DEFAULT_MEMORY,
    PROGRAM_BYTES,
    Again,
    Counted,
    MomentTable,
    PackedTable,
    bytes_of,
    checked_limit,
)
from tamis.errors import DataError, SettingError
from tamis.tables.columns import Column
from tamis.tables.first_pass import (
    Progress,
    Seen,
    begins_measured,
    crowded_note,
    look_at_parts,
    needs_rows,
    open_stream,
    products_in,
    reading_of,
    told_of,
    wanted,
)
from tamis.tables.kinds import Told, checked_types
from tamis.tables.moments import Moments
from tamis.tables.packed_file import PackedFile, write_packed
from tamis.tables.paths import (
    PACKED_ENDING,
    STREAMED_ENDINGS,
    are_small,
    ending_of,
    find_parts,
    is_several,
)
from tamis.tables.refusals import shown
from tamis.tables.streams import BATCH_BYTES, Stream

READER_BYTES = 3 * 10**8
"""What Python, its libraries and the compiled loops take while moments are taken."""
CELL_BYTES = 24
"""What a cell takes while a table is read and learned from: a number and two copies."""
WITHOUT_ROWS = ("auto", "counts", "gaussian")
"""The information that can be had without rows in memory."""


@contextmanager
def opened(
    data: object,
    *,
    memory: int | str | None = None,
    missing: str = "error",
    information: str = "auto",
    weights: object = None,
    types: Mapping[str, Told] | None = None,
) -> Iterator[object]:
    """A table that is counted where its rows are, on a cluster or in blocks; ``data`` as it came
    where it is to be read into memory, or what Dask has computed of it."""
    if not is_dask_frame(data):
        yield open_blocks(
            data, memory=memory, missing=missing, information=information, types=types
        )
        return
    if memory is not None:
        raise SettingError(
            "memory limits the counting of files in this process, and the rows of a Dask data "
            "frame are counted by its workers: set their memory where they are started"
        )
    require_whole_rows(missing, weights)
    from tamis.counting.dask.opening import opened_frame

    with opened_frame(data, information, types) as table:
        yield table


def open_blocks(
    data: object,
    *,
    memory: int | str | None = None,
    missing: str = "error",
    information: str = "auto",
    types: Mapping[str, Told] | None = None,
    progress: Progress | None = None,
) -> object:
    """A table of what is to be counted in blocks, and otherwise ``data`` as it came, to be read.

    Packed files are opened. Of folders and patterns, and of single files if ``memory`` sets a
    limit, levels are packed into a temporary file, which goes when the table does; of
    numbers the moments are taken. Where both stand side by side, or in other words where a table
    in memory is learned from by its rows, they are read into memory if that is large enough.
    """
    limit = bytes_of(memory)
    path = os.fsdecode(data) if isinstance(data, str | bytes | os.PathLike) else None
    if path is None or not _is_for_blocks(path, limit):
        if limit is not None:
            raise SettingError(
                "memory limits the counting of files: pass the path of a packed file, of CSV or "
                "Parquet, a folder or a pattern; what is in memory already is there"
            )
        return data
    checked_limit(limit)  # before the work whose counting it limits
    needs_rows_here = missing != "error" or information not in WITHOUT_ROWS
    if needs_rows_here and limit is None and is_several(path) and are_small(find_parts(path)):
        return data
    if missing != "error":
        raise SettingError(
            f"missing={missing!r} is for tables in memory; in blocks every cell needs a value: "
            "drop or fill in missing values before"
        )
    if information not in WITHOUT_ROWS:
        raise SettingError(
            f"information={information!r} needs the rows in memory, and these are read in blocks, "
            "for counts or moments: use information='counts' or 'gaussian', or read the table "
            "itself, or a sample of its rows"
        )
    kinds = checked_types(types)
    if ending_of(path) == PACKED_ENDING:
        return _planes(PackedTable(PackedFile(path), limit), kinds)
    return _open_files(path, limit, information, kinds, progress) or data


def require_whole_rows(missing: str, weights: object) -> None:
    """Refuse what only tables in memory have."""
    if missing != "error":
        raise SettingError(
            f"missing={missing!r} is for tables in memory; on a cluster every cell needs a value: "
            "drop or fill in missing values before"
        )
    if weights is not None:
        raise SettingError(
            "Weights of rows are for tables in memory: repeat rows, or read a sample of them"
        )


def require_rows_here(data: object) -> None:
    """Refuse a forecast of what is elsewhere."""
    if is_dask_frame(data):
        raise SettingError(
            "A forecast is about the memory of this process, and the rows of a Dask data frame are "
            "elsewhere: ask it about a sample of them"
        )


def is_dask_frame(data: object) -> bool:
    """Whether this is a data frame of Dask."""
    kind = type(data)
    return kind.__name__ == "DataFrame" and kind.__module__.split(".")[0] in ("dask", "dask_expr")


def require_memory(columns: Mapping[str, Column], n_rows: int, memory: int) -> None:
    """Refuse numbers beside categories, and ordinal columns, if their rows would not fit."""
    needed = PROGRAM_BYTES + CELL_BYTES * n_rows * len(columns)
    if needed > memory:
        where = f"about {needed / 10**9:.2g}GB, where {memory / 10**9:.2g}GB are allowed"
        raise needs_rows(columns, where)


def _is_for_blocks(path: str, limit: int | None) -> bool:
    ending = ending_of(path)
    if ending == PACKED_ENDING or is_several(path):
        return True
    return limit is not None and ending in STREAMED_ENDINGS


def _planes(table: PackedTable, types: Mapping[str, Told]) -> PackedTable:
    """The columns of a packed file that are not ignored."""
    kept = wanted(table.names, types)
    numbers = [name for name in kept if types.get(name) == "number"]
    if numbers:
        raise SettingError(
            f"types: column {numbers[0]!r} of a packed file is counted, whatever its levels: read "
            "the table itself to take it as a number"
        )
    return table.select([table.names.index(name) for name in kept]).as_told(types)


def _open_files(
    path: str,
    limit: int | None,
    information: str,
    types: Mapping[str, Told],
    progress: Progress | None,
) -> PackedTable | MomentTable | None:
    """What a table in memory would be taken for; None if its rows are needed."""
    stream = open_stream(path, types)
    numbers = information == "gaussian" or (information == "auto" and begins_measured(stream))
    if numbers:
        enough_memory(limit, stream)
    seen = look_at_parts(stream, progress, moments=numbers)
    columns = seen.settle(stream.chosen, types, continuous=information != "counts")
    reading = reading_of(columns, types, information)
    if reading == "rows":
        require_memory(columns, seen.n_rows, checked_limit(limit))
        return None
    if reading == "counts":
        return _packed_for_now(path, limit, stream, seen, columns, progress).as_told(types)
    memory = enough_memory(limit, stream)
    if not numbers:
        # The first rows were whole, and others are not.
        seen = look_at_parts(stream, progress, moments=True)
    parts = stream.parts()
    counted = Counted("blocks", len(parts))
    counted.note(8 * seen.n_rows * len(columns))
    again = partial(products_of, parts, progress)
    return table_of_moments(seen, columns, memory=memory, again=again, counted=counted)


def _packed_for_now(
    path: str,
    limit: int | None,
    stream: Stream,
    seen: Seen,
    columns: Mapping[str, Column],
    progress: Progress | None,
) -> PackedTable:
    folder = _Folder()
    try:
        target = os.path.join(folder.path, f"planes{PACKED_ENDING}")
        write_packed(target, stream, seen, columns, progress=progress)
        note = (
            f"The rows were packed into a temporary file of "
            f"{os.path.getsize(target) / 10**6:.3g} MB; `tamis pack` makes one that stays."
        )
        table = PackedTable(PackedFile(target), limit, notes=(note,), owned=folder, called=path)
    except BaseException:
        folder.remove()
        raise
    if os.name == "posix":
        # What is mapped stays readable, and nothing is left behind however the process ends.
        folder.remove()
    return table


class _Folder:
    """A folder for temporary files, which goes with the last who knows of it."""

    def __init__(self) -> None:
        self.path = tempfile.mkdtemp(prefix="tamis-")
        self.remove = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


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
    """The limit, if the products of the columns and batches of rows fit."""
    limit, d = checked_limit(memory), len(stream.chosen)
    batch = max(BATCH_BYTES, 2**15 * d)
    needed = READER_BYTES + stream.column_bytes * d + 4 * batch + 6 * 8 * d * d
    if needed > limit:
        raise SettingError(
            f"memory must be {-(-needed // 10**6)}MB or more for the moments of {d} columns, not "
            f"{limit / 10**6:.0f}MB: leave columns out, or raise it"
        )
    return limit
