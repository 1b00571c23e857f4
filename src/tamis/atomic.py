"""Files written whole or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Mapping
from contextlib import suppress


def write_files(contents: Mapping[str, bytes]) -> None:
    """Put each content under its path; whatever fails, no path holds half a file.

    Everything is on the disk under temporary names, next to where it belongs, before the
    first file appears, so that a full disk is noticed while all old files still stand.
    """
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
