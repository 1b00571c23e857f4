"""One run at a time into one folder.

The lock belongs to the operating system: it goes with the process that holds it, however that
ends, so that a lock can never be stale. What is left is a file that says who held it last.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from tamis.errors import SettingError

NAME = ".lock"
_FAR = 2**30
"""Where Windows locks a byte: past the text, which others may then read."""


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the folder; refuse if another process does."""
    # Not inherited by the processes that are started meanwhile: the lock ends with this one.
    with open(folder / NAME, "a+b") as file:
        if not _take(file):
            raise SettingError(
                f"{str(folder)!r} is in use{_by_whom(file)}: wait until that run has ended, or "
                "use another folder"
            )
        file.truncate(0)
        file.write(str(os.getpid()).encode())
        file.flush()
        yield


def _by_whom(file: IO[bytes]) -> str:
    file.seek(0)
    text = file.read(20).decode("ascii", "replace")
    return f" by process {text}" if text.isdigit() else ""


def _take(file: IO[bytes]) -> bool:
    """Whether the lock could be had; it is given back when the file is closed."""
    try:
        if sys.platform == "win32":
            import msvcrt

            file.seek(_FAR)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True
