"""The beginning of a plane file: names, levels and rows, with a digest of their own."""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from tamis.blocks.layout import BLOCK_ROWS, Layout, layout_of
from tamis.errors import FileFormatError
from tamis.tables.refusals import shown, shown_path
from tamis.tables.table import Label

MAGIC = b"\x93TAMIS planes\r\n\x1a"
"""Not text, and damaged by whatever changes line ends."""
VERSION = 1
PRELUDE = struct.Struct("<16sIIQ32s")
"""Magic, version, nothing, the bytes of the header, and its digest."""
MOST_HEADER_BYTES = 2**30

_TYPES: dict[str, type] = {"string": str, "integer": int, "boolean": bool}


@dataclass(frozen=True)
class Header:
    """What a plane file says about itself."""

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
        return layout_of(self.rows, self.block_rows, self.levels, header_end)


def read_header(path: str, file: BinaryIO) -> tuple[Header, int]:
    """The header of an open file, and where it ends; anything odd raises ``FileFormatError``."""
    prelude = file.read(PRELUDE.size)
    if not prelude.startswith(MAGIC):
        raise FileFormatError(
            f"The file {shown_path(path)} is no plane file. Make one with: tamis pack TABLE FILE"
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
