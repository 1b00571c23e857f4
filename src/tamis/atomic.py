"""Files written whole or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar

from tamis.errors import SettingError

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
