"""Files written whole or not at all, and journals: finished parts of a long work, one line of JSON
each, appended and never changed.

A part is on the disk before the next one is heard of, so whatever ends the process takes away at
most the line that is being written. Such a torn line is dropped when the file is opened again.
One process at a time may add to a file: the lock on it belongs to the operating system and goes
with the process that holds it, however that ends, so that a lock can never be stale.
Each line carries the digest of its part, so that a damaged one is not believed.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any, Self

from tamis.errors import FileFormatError, SettingError

_waiting: ContextVar[dict[str, bytes] | None] = ContextVar("_waiting", default=None)


@contextmanager
def together() -> Iterator[None]:
    """Write what `write_files` is given within this block at its end, and all of it or nothing."""
    token = _waiting.set({})
    try:
        yield
        contents = _waiting.get()
    finally:
        _waiting.reset(token)
    write_files(contents or {})


def write_files(contents: Mapping[str, bytes]) -> None:
    """Put each content under its path; whatever fails, no path holds half a file.

    Everything is on the disk under temporary names, next to where it belongs, before the
    first file appears, so that a full disk is noticed while all old files still stand.
    """
    waiting = _waiting.get()
    if waiting is not None:
        waiting.update(contents)
        return
    staged: dict[str, str] = {}
    try:
        for path, content in contents.items():
            # A link stays a link: what it points to is replaced.
            target = os.path.realpath(path)
            temporary = os.path.join(os.path.dirname(target), f".tamis-{secrets.token_hex(8)}.tmp")
            staged[temporary] = target
            _write(temporary, target, content)
        for temporary, target in list(staged.items()):
            os.replace(temporary, target)
            del staged[temporary]
    except OSError as error:
        raise OSError(error.errno, error.strerror, target) from error
    finally:
        for temporary in staged:
            # Nothing more can be done about a temporary file that cannot be removed, and the
            # error that brought us here is the one to report.
            with suppress(OSError):
                os.unlink(temporary)


def _write(temporary: str, target: str, content: bytes) -> None:
    with open(temporary, "xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    if os.path.exists(target):
        shutil.copymode(target, temporary)


def check_place(path: str) -> None:
    """Refuse a path that cannot be written, before the work whose result it is to hold."""
    if "\0" in path or not _is_encodable(path):
        raise SettingError(f"{path!r} cannot be the path of a file")
    target = os.path.realpath(path)
    directory = os.path.dirname(target)
    if not os.path.isdir(directory):
        raise SettingError(f"{path!r} cannot be written: there is no directory {directory!r}")
    try:
        mode = os.stat(target).st_mode
    except FileNotFoundError:
        pass
    except OSError as error:
        raise SettingError(f"{path!r} cannot be written: {error.strerror}") from error
    else:
        _check_replaceable(path, target, mode)
    if not os.access(directory, os.W_OK | os.X_OK):
        raise SettingError(f"{path!r} cannot be written: {directory!r} is write-protected")


def _is_encodable(path: str) -> bool:
    """Whether the system can spell a path; bytes that are not text come as surrogates."""
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        return False
    return True


def _check_replaceable(path: str, target: str, mode: int) -> None:
    if stat.S_ISDIR(mode):
        raise SettingError(f"{path!r} cannot be written: it is a directory")
    if not stat.S_ISREG(mode):
        raise SettingError(f"{path!r} cannot be written: it is not an ordinary file")
    if not os.access(target, os.W_OK):
        raise SettingError(f"{path!r} cannot be written: it is write-protected")


Entry = Mapping[str, Any]
DIGEST = "sha256"

_FAR = 2**30
"""Where Windows locks a byte: past the text, which others may then read."""


class Journal:
    """The file of one work, open for adding; ``entries`` are the parts that were done before.

    ``of`` says which work it is, as JSON holds it; the file of another is refused.
    """

    def __init__(self, path: str | os.PathLike[str], work: str, of: object) -> None:
        if not isinstance(path, str | os.PathLike):
            raise SettingError(f"resume must be the path of a file, not {path!r}")
        place = os.fspath(path)
        check_place(place)
        self._file = os.open(place, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            _lock(self._file, place)
            self.entries = self._take_up(place, {"tamis": work, "of": of})
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


def _understood(content: bytes, place: str, work: str) -> tuple[Entry, list[Entry], int]:
    """The head, the entries and how many bytes hold them: the rest is a torn last line."""
    lines = content.splitlines(keepends=True)
    head = _entry(lines[0])
    if f'"tamis":"{work}"'.encode() in lines[0] and DIGEST.encode() not in lines[0]:
        raise FileFormatError(
            f"{place!r} was begun by an earlier tamis, and its lines have no digests: choose "
            "another path, and its parts are done again"
        )
    if head is None or head.get("tamis") != work or "of" not in head:
        raise FileFormatError(f"{place!r} is not a file of a {work}: choose another path")
    entries: list[Entry] = []
    whole = len(lines[0])
    for number, line in enumerate(lines[1:], start=2):
        entry = _entry(line)
        if entry is None:
            if number < len(lines):
                raise FileFormatError(
                    f"{place!r}, line {number} is not as it was written, and is not the last line: "
                    "the file was changed or damaged. Remove the line; its part is done again."
                )
            break
        entries.append(entry)
        whole += len(line)
    return head, entries, whole


def _line(entry: Entry) -> bytes:
    """An entry and the digest of its text."""
    text = json.dumps(entry, separators=(",", ":"))
    checked = {**entry, DIGEST: hashlib.sha256(text.encode()).hexdigest()}
    return f"{json.dumps(checked, separators=(',', ':'))}\n".encode("ascii")


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
