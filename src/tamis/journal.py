"""Finished parts of a long work, one line of JSON each, appended and never changed.

A part is on the disk before the next one is heard of, so whatever ends the process takes away at
most the line that is being written. Such a torn line is dropped when the file is opened again.
One process at a time may add to a file: the lock on it belongs to the operating system and goes
with the process that holds it, however that ends, so that a lock can never be stale.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Self

from tamis.atomic import check_place
from tamis.errors import FileFormatError, SettingError

Entry = Mapping[str, Any]

_FAR = 2**30
"""Where Windows locks a byte: past the text, which others may then read."""


class Journal:
    """The file of one work, open for adding; ``entries`` are the parts that were done before.

    ``of`` says which work it is, as JSON holds it; the file of another is refused. ``note`` is kept
    with a new file and is no part of what the work is.
    """

    def __init__(self, path: str | os.PathLike[str], work: str, of: object, note: str = "") -> None:
        if not isinstance(path, str | os.PathLike):
            raise SettingError(f"resume must be the path of a file, not {path!r}")
        place = os.fspath(path)
        check_place(place)
        self._file = os.open(place, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            _lock(self._file, place)
            self.entries = self._take_up(place, {"tamis": work, "of": of, "note": note})
        except BaseException:
            os.close(self._file)
            raise

    def add(self, entries: Sequence[Entry]) -> None:
        """Put parts on the disk."""
        left = b"".join(map(_line, entries))
        while left:
            left = left[os.write(self._file, left) :]
        os.fsync(self._file)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._file)

    def _take_up(self, place: str, head: Entry) -> list[Entry]:
        with open(place, "rb") as file:
            content = file.read()
        if _line(head).startswith(content):
            # New, or ended while its first line was written.
            os.ftruncate(self._file, 0)
            self.add([head])
            return []
        found, entries, whole = _understood(content, place, str(head["tamis"]))
        if found["of"] != head["of"]:
            raise SettingError(
                f"{place!r} belongs to a {head['tamis']} of another table or with other settings: "
                "use those, or choose another path"
            )
        if whole < len(content):
            os.ftruncate(self._file, whole)
        return entries


def read_journal(path: str | os.PathLike[str], work: str) -> tuple[Entry, list[Entry]] | None:
    """The first line and the finished parts, also while others are being added; None if there is
    no such file or it holds nothing yet."""
    try:
        with open(path, "rb") as file:
            content = file.read()
    except FileNotFoundError:
        return None
    return None if b"\n" not in content else _understood(content, os.fspath(path), work)[:2]


def _understood(content: bytes, place: str, work: str) -> tuple[Entry, list[Entry], int]:
    """The head, the entries and how many bytes hold them: the rest is a torn last line."""
    lines = content.splitlines(keepends=True)
    head = _entry(lines[0])
    if head is None or head.get("tamis") != work or "of" not in head:
        raise FileFormatError(f"{place!r} is not a file of a {work}: choose another path")
    entries: list[Entry] = []
    whole = len(lines[0])
    for number, line in enumerate(lines[1:], start=2):
        entry = _entry(line)
        if entry is None:
            if number < len(lines):
                raise FileFormatError(
                    f"{place!r}, line {number} is not whole, and is not the last line: the file "
                    "was changed or damaged. Remove the line; its part is done again."
                )
            break
        entries.append(entry)
        whole += len(line)
    return head, entries, whole


def _line(entry: Entry) -> bytes:
    return f"{json.dumps(entry, separators=(',', ':'))}\n".encode("ascii")


def _entry(line: bytes) -> Entry | None:
    """The entry of a line; None if it is not whole."""
    if not line.endswith(b"\n"):
        return None
    try:
        entry = json.loads(line)
    except ValueError:
        return None
    return entry if isinstance(entry, dict) else None


def _lock(file: int, place: str) -> None:
    """Hold the file until it is closed; refuse if another process does."""
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(file, _FAR, os.SEEK_SET)
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError) as error:
        raise SettingError(
            f"{place!r} is in use by another process: wait until that has ended, or choose "
            "another path"
        ) from error
