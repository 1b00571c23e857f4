"""A packed file: names, levels and rows in a header, then blocks, mapped into memory; and how a
table becomes one, in two passes, one for the levels and one for the planes.

The file begins with a prelude of fixed size and a header in JSON with a digest of its own. Blocks
are read when they are counted, and checked at first.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import secrets
import shutil
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np

from tamis.atomic import check_place
from tamis.errors import FileFormatError, SettingError
from tamis.tables.columns import Codes, Column
from tamis.tables.first_pass import Progress, Seen, look_at_parts, open_stream
from tamis.tables.growing import GrowingColumn, changed
from tamis.tables.kinds import Told, checked_types, require_levels
from tamis.tables.paths import PACKED_ENDING, ending_of
from tamis.tables.planes import BLOCK_ROWS, DIGEST_BYTES, Blocks, BlockWriter, Layout, digest
from tamis.tables.refusals import listed, shown, shown_path
from tamis.tables.sources import require_complete
from tamis.tables.streams import Stream
from tamis.tables.table import Label, Table

MAGIC = b"\x93TAMIS planes\r\n\x1a"
"""Not text, and damaged by whatever changes line ends."""
VERSION = 1
PRELUDE = struct.Struct("<16sIIQ32s")
"""Magic, version, nothing, the bytes of the header, and its digest."""
MOST_HEADER_BYTES = 2**30

_TYPES: dict[str, type] = {"string": str, "integer": int, "boolean": bool}


@dataclass(frozen=True)
class Header:
    """What a packed file says about itself."""

    names: tuple[str, ...]
    levels: tuple[tuple[Label, ...], ...]
    rows: int
    block_rows: int = BLOCK_ROWS

    def to_bytes(self) -> bytes:
        """Prelude and header."""
        content = {
            "rows": self.rows,
            "block_rows": self.block_rows,
            "columns": [
                {"name": name, "type": _type_of(levels), "levels": list(levels)}
                for name, levels in zip(self.names, self.levels, strict=True)
            ],
        }
        text = json.dumps(content, separators=(",", ":")).encode()
        return PRELUDE.pack(MAGIC, VERSION, 0, len(text), _digest(text)) + text

    def layout(self, header_end: int) -> Layout:
        """Where everything stands in the file."""
        return Layout(self.rows, self.block_rows, tuple(map(len, self.levels)), header_end)


def read_header(path: str, file: BinaryIO) -> tuple[Header, int]:
    """The header of an open file, and where it ends; anything odd raises ``FileFormatError``."""
    prelude = file.read(PRELUDE.size)
    if not prelude.startswith(MAGIC):
        raise FileFormatError(
            f"The file {shown_path(path)} is no packed file. Make one with: tamis pack TABLE FILE"
        )
    if len(prelude) < PRELUDE.size:
        raise damaged(path, "it ends within its first bytes")
    _, version, _, size, digest = PRELUDE.unpack(prelude)
    if version != VERSION:
        raise FileFormatError(
            f"The file {shown_path(path)} has version {version} of the format, and version "
            f"{VERSION} is read here. Pack the table again."
        )
    text = file.read(size) if size <= MOST_HEADER_BYTES else b""
    if len(text) != size or _digest(text) != digest:
        raise damaged(path, "its header does not match the header's digest")
    return _header(path, text), PRELUDE.size + size


def damaged(path: str, seen: str) -> FileFormatError:
    """The refusal of a file that is not as it was written."""
    return FileFormatError(f"The file {shown_path(path)} is damaged: {seen}. Pack the table again.")


def _header(path: str, text: bytes) -> Header:
    try:
        content = json.loads(text)
        columns = content["columns"]
        return _checked(
            Header(
                tuple(_of_type(str, column["name"]) for column in columns),
                tuple(_levels(column) for column in columns),
                _of_type(int, content["rows"]),
                _of_type(int, content["block_rows"]),
            )
        )
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        # The digest is right, so somebody wrote it so.
        raise damaged(path, f"its header is not one ({shown(str(error))})") from error


def _checked(header: Header) -> Header:
    if header.rows < 2 or header.block_rows < 64 or header.block_rows % 64:
        raise ValueError(f"{header.rows} rows in blocks of {header.block_rows}")
    if len(header.names) < 2 or len(set(header.names)) < len(header.names):
        raise ValueError("columns that are too few or share a name")
    return header


def _levels(column: Any) -> tuple[Label, ...]:  # noqa: ANN401 - whatever JSON held
    kind = _TYPES[column["type"]]
    levels = tuple(_of_type(kind, level) for level in column["levels"])
    if not levels or len(set(levels)) < len(levels):
        raise ValueError("levels that are none or the same")
    return levels


def _of_type(kind: type, value: Any) -> Any:  # noqa: ANN401 - whatever JSON held
    if type(value) is not kind:
        raise TypeError(f"{value!r} where {kind.__name__} was expected")
    return value


def _type_of(levels: Sequence[Label]) -> str:
    return next(name for name, kind in _TYPES.items() if type(levels[0]) is kind)


def _digest(text: bytes) -> bytes:
    return hashlib.blake2b(text, digest_size=32).digest()


class PackedFile(Blocks):
    """The blocks of a packed file, mapped into memory.

    Magic, version, size, header and the list of digests are checked when the file is opened; each
    block is compared with its digest before it is used for the first time.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fsdecode(path)
        try:
            self._open()
        except OSError as error:
            raise FileFormatError(
                f"The file {shown_path(self.path)} cannot be read: {error.strerror or error}. "
                "Check that it is a file and that you may read it."
            ) from error

    def _open(self) -> None:
        with open(self.path, "rb") as file:
            self.header, header_end = read_header(self.path, file)
            layout = self.header.layout(header_end)
            size = os.fstat(file.fileno()).st_size
            if size != layout.size:
                raise damaged(self.path, f"it has {size} bytes where {layout.size} belong")
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        super().__init__(layout, np.frombuffer(self._map, dtype=np.uint8))
        listed = self._map[self.layout.digests_start :]
        if digest([listed[:-DIGEST_BYTES]]) != listed[-DIGEST_BYTES:]:
            raise damaged(self.path, "its list of digests does not match their digest")
        self._digests = listed
        self._checked = np.zeros(self.layout.n_blocks, dtype=np.bool_)

    def groups(self, at_once: int) -> Iterator[tuple[int, int]]:
        """The blocks in order, a number of them at a time: their first, and the one after them.

        A group leaves memory when the next one comes, unless one group is all.
        """
        for start, stop in super().groups(at_once):
            self._check(start, stop)
            yield start, stop
            if at_once < self.layout.n_blocks:
                self._leave(start, stop)

    def _check(self, start: int, stop: int) -> None:
        """Compare blocks with their digests, once."""
        for block in (start + np.flatnonzero(~self._checked[start:stop])).tolist():
            with memoryview(self._map) as view:
                parts = [view[begin:end] for begin, end in self.layout.parts(block)]
                found = digest([*parts])
                for part in parts:
                    part.release()
            at = block * DIGEST_BYTES
            if found != self._digests[at : at + DIGEST_BYTES]:
                first = block * self.layout.block_rows
                raise damaged(
                    self.path,
                    f"block {block} of {self.layout.n_blocks}, which begins with row {first}, does "
                    "not match its digest",
                )
            self._require_codes(block)
            self._require_planes(block)
            self._checked[block] = True

    def _require_codes(self, block: int) -> None:
        """Codes lead into tables, so that a wrong one would count beside them."""
        for k in self.layout.code_starts:
            if int(self.codes(k, block, block + 1).max(initial=0)) >= self.layout.arities[k]:
                raise damaged(self.path, f"block {block} holds a code that no level has")

    def _require_planes(self, block: int) -> None:
        """A row has one level, and behind the last row there is none: counts rely on both."""
        words, first = self.words(block, block + 1)[0], self.layout.first
        full, rest = divmod(self.rows_in(block), 64)
        behind = words[:, full:]
        if behind[:, 1:].any() or (behind[:, :1] >> np.uint64(rest)).any():
            raise damaged(self.path, f"block {block} holds levels behind the last row")
        for k, name in enumerate(self.header.names):
            taken = np.zeros(self.layout.words, dtype=np.uint64)
            for plane in words[first[k] : first[k + 1]]:
                if (taken & plane).any():
                    raise damaged(
                        self.path, f"block {block} gives column {name!r} two levels in one row"
                    )
                taken |= plane

    def _leave(self, start: int, stop: int) -> None:
        """Let go of the pages of these blocks, where the system can be told so."""
        if not hasattr(self._map, "madvise"):
            return
        begin = self.layout.parts(start)
        end = self.layout.parts(stop - 1)
        for (first, _), (_, last) in zip(begin, end, strict=True):
            first -= first % mmap.PAGESIZE
            if last > first:
                self._map.madvise(mmap.MADV_DONTNEED, first, last - first)


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
