"""Finished parts of a long work, one line of JSON each, appended and never changed.

A part is on the disk before the next one is heard of, so whatever ends the process takes away at
most the line that is being written. Such a torn line is dropped when the file is opened again.
Each line carries the digest of its part, so that a damaged one is not believed.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from tamis.atomic import check_place, write_files
from tamis.errors import FileFormatError, SettingError

Entry = Mapping[str, Any]
DIGEST = "sha256"


class Journal:
    """The file of one work; ``entries`` are the parts that were done when it was opened."""

    def __init__(self, path: str, entries: Sequence[Entry]) -> None:
        self._path = path
        self.entries = entries

    @classmethod
    def open(cls, path: str | os.PathLike[str], work: str, digest: str) -> Journal:
        """Open or begin the file of a work; one that belongs to another is refused."""
        if not isinstance(path, str | os.PathLike):
            raise SettingError(f"resume must be the path of a file, not {path!r}")
        place = os.fspath(path)
        check_place(place)
        head = {"tamis": work, "version": 2, "of": digest}
        if not os.path.exists(place) or os.path.getsize(place) == 0:
            write_files({place: _line(head)})
            return cls(place, [])
        if not _begins(place, work):
            raise FileFormatError(f"{place!r} is not a file of a {work}: choose another path")
        entries, whole = _read(place)
        if entries[0] != head:
            raise SettingError(
                f"{place!r} belongs to a {work} of another table or with other settings: use "
                "those, or choose another path"
            )
        if whole < os.path.getsize(place):
            os.truncate(place, whole)
        return cls(place, entries[1:])

    def add(self, entries: Sequence[Entry]) -> None:
        """Put parts on the disk."""
        with open(self._path, "ab") as file:
            file.write(b"".join(map(_line, entries)))
            file.flush()
            os.fsync(file.fileno())


def _begins(path: str, work: str) -> bool:
    """Whether the first line is the head of such a work."""
    with open(path, "rb") as file:
        line = file.readline()
    if line.startswith(f'{{"tamis":"{work}","version":1,'.encode()):
        raise FileFormatError(
            f"{path!r} was begun by an earlier tamis, and its lines have no digests: choose "
            "another path, and its parts are done again"
        )
    entry = _entry(line)
    return entry is not None and entry.get("tamis") == work


def _line(entry: Entry) -> bytes:
    """An entry and the digest of its text."""
    text = json.dumps(entry, separators=(",", ":"))
    checked = {**entry, DIGEST: hashlib.sha256(text.encode()).hexdigest()}
    return f"{json.dumps(checked, separators=(',', ':'))}\n".encode("ascii")


def _read(path: str) -> tuple[list[Entry], int]:
    """The entries, and how many bytes from the start hold them: the rest is a torn last line."""
    with open(path, "rb") as file:
        lines = file.read().splitlines(keepends=True)
    entries: list[Entry] = []
    whole = 0
    for number, line in enumerate(lines, start=1):
        entry = _entry(line)
        if entry is None:
            if number < len(lines):
                raise FileFormatError(
                    f"{path!r}, line {number} is not as it was written, and is not the last line: "
                    "the file was changed or damaged. Remove the line; its part is done again."
                )
            break
        entries.append(entry)
        whole += len(line)
    return entries, whole


def _entry(line: bytes) -> Entry | None:
    """The entry of a line; None if it is not, byte for byte, what was written."""
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(entry, dict):
        return None
    entry.pop(DIGEST, None)
    return entry if _line(entry) == line else None
