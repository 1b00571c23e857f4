"""What is counted in blocks: plane files, folders and patterns, and files under a memory limit."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Mapping
from functools import partial

from tamis.blocks.first_pass import (
    Progress,
    Seen,
    begins_measured,
    look_at_parts,
    needs_rows,
    open_stream,
    reading_of,
    wanted,
)
from tamis.blocks.limits import bytes_of
from tamis.blocks.moment_table import MomentTable, enough_memory, products_of, table_of_moments
from tamis.blocks.packed import PROGRAM_BYTES, Counted, PackedTable, checked_limit
from tamis.blocks.packing import write_planes
from tamis.blocks.plane_file import PlaneFile
from tamis.errors import SettingError
from tamis.tables.columns import Column
from tamis.tables.kinds import Told, checked_types
from tamis.tables.paths import (
    PLANES_ENDING,
    STREAMED_ENDINGS,
    are_small,
    ending_of,
    find_parts,
    is_several,
)
from tamis.tables.streams import Stream

CELL_BYTES = 24
"""What a cell takes while a table is read and learned from: a number and two copies."""
WITHOUT_ROWS = ("auto", "counts", "gaussian")
"""The information that can be had without rows in memory."""


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

    Plane files are opened. Of folders and patterns, and of single files if ``memory`` sets a
    limit, levels are packed into a temporary plane file, which goes when the table does; of
    numbers the moments are taken. Where both stand side by side, or in other words where a table
    in memory is learned from by its rows, they are read into memory if that is large enough.
    """
    limit = bytes_of(memory)
    path = os.fsdecode(data) if isinstance(data, str | bytes | os.PathLike) else None
    if path is None or not _is_for_blocks(path, limit):
        if limit is not None:
            raise SettingError(
                "memory limits the counting of files: pass the path of a plane file, of CSV or "
                "Parquet, a folder or a pattern; what is in memory already is there"
            )
        return data
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
    if ending_of(path) == PLANES_ENDING:
        return _planes(PackedTable(PlaneFile(path), limit), kinds)
    return _open_files(path, limit, information, kinds, progress) or data


def require_memory(columns: Mapping[str, Column], n_rows: int, memory: int) -> None:
    """Refuse numbers beside categories, and ordinal columns, if their rows would not fit."""
    needed = PROGRAM_BYTES + CELL_BYTES * n_rows * len(columns)
    if needed > memory:
        where = f"about {needed / 10**9:.2g}GB, where {memory / 10**9:.2g}GB are allowed"
        raise needs_rows(columns, where)


def _is_for_blocks(path: str, limit: int | None) -> bool:
    ending = ending_of(path)
    if ending == PLANES_ENDING or is_several(path):
        return True
    return limit is not None and ending in STREAMED_ENDINGS


def _planes(table: PackedTable, types: Mapping[str, Told]) -> PackedTable:
    """The columns of a plane file that are not ignored."""
    kept = wanted(table.names, types)
    numbers = [name for name in kept if types.get(name) == "number"]
    if numbers:
        raise SettingError(
            f"types: column {numbers[0]!r} of a plane file is counted, whatever its levels: read "
            "the table itself to take it as a number"
        )
    return table.select([table.names.index(name) for name in kept])


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
        return _packed_for_now(path, limit, stream, seen, columns, progress)
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
        target = os.path.join(folder.path, f"planes{PLANES_ENDING}")
        write_planes(target, stream, seen, columns, progress=progress)
        note = (
            f"The rows were packed into a temporary plane file of "
            f"{os.path.getsize(target) / 10**6:.3g} MB; `tamis pack` makes one that stays."
        )
        table = PackedTable(PlaneFile(target), limit, notes=(note,), owned=folder, called=path)
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
