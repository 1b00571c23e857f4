"""Numbers and sizes as people write them on the command line."""

from __future__ import annotations

import re

from tamis.errors import SettingError

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}


def bytes_from_text(option: str, text: str | None) -> int | None:
    """A number of bytes, such as 500MB or 2GiB."""
    if text is None:
        return None
    found = re.fullmatch(r"\s*(\d{1,15}(?:\.\d{1,9})?)\s*([a-zA-Z]*)\s*", text)
    if found is None or found[2].upper() not in _UNITS or float(found[1]) == 0:
        raise SettingError(f"{option} {text!r} is no size: write it as 500MB or 2GB")
    return max(int(float(found[1]) * _UNITS[found[2].upper()]), 1)


def numbers_from_text(option: str, text: str) -> tuple[int, ...]:
    """Whole numbers above 0, with commas between them."""
    parts = [part.strip() for part in text.split(",")]
    if not all(re.fullmatch(r"[1-9]\d{0,8}", part) for part in parts):
        raise SettingError(f"{option} {text!r} must be whole numbers with commas, such as 100,1000")
    return tuple(dict.fromkeys(map(int, parts)))
