"""What is counted in blocks: plane files, folders and patterns, and files under a memory limit."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref

from tamis.blocks.limits import bytes_of
from tamis.blocks.moment_table import MomentTable, read_moments
from tamis.blocks.numbers import begins_measured
from tamis.blocks.packed import PackedTable
from tamis.blocks.packing import Progress, open_stream, pack
from tamis.blocks.plane_file import PlaneFile
from tamis.errors import DataError, SettingError
from tamis.tables.paths import PARQUET_ENDINGS, PLANES_ENDING, TEXT_ENDINGS, ending_of, is_several

WITHOUT_ROWS = ("auto", "counts", "gaussian")
"""The information that can be had without rows in memory."""


def open_blocks(
    data: object,
    *,
    memory: int | str | None = None,
    missing: str = "error",
    information: str = "auto",
    progress: Progress | None = None,
) -> object:
    """A packed table where ``data`` is to be counted in blocks, and otherwise ``data`` as it came.

    Plane files are opened. Folders and patterns are packed into a temporary plane file, which goes
    when the table does; so is a single CSV or Parquet file if ``memory`` sets a limit. Of numbers
    with measured ones among them, or if ``information`` is "gaussian", the moments are taken.
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
    if ending_of(path) == PLANES_ENDING:
        return PackedTable(PlaneFile(path), limit)
    if information in ("auto", "gaussian"):
        return _counts_or_moments(path, limit, information, progress)
    return _packed_for_now(path, limit, progress)


def _is_for_blocks(path: str, limit: int | None) -> bool:
    ending = ending_of(path)
    if ending == PLANES_ENDING or is_several(path):
        return True
    return limit is not None and ending in TEXT_ENDINGS + PARQUET_ENDINGS


def _counts_or_moments(
    path: str, limit: int | None, information: str, progress: Progress | None
) -> PackedTable | MomentTable:
    """What a table in memory would be taken for; how the rows begin says what to try first."""
    stream = open_stream(path)

    def moments() -> MomentTable | None:
        return read_moments(stream, information=information, memory=limit, progress=progress)

    if information == "gaussian" or begins_measured(stream):
        return moments() or _packed_for_now(path, limit, progress)
    try:
        return _packed_for_now(path, limit, progress)
    except DataError as error:
        why = error
    found = moments()
    if found is None:
        raise why
    return found


def _packed_for_now(path: str, limit: int | None, progress: Progress | None) -> PackedTable:
    folder = _Folder()
    try:
        target = os.path.join(folder.path, f"planes{PLANES_ENDING}")
        pack(path, target, progress=progress)
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
