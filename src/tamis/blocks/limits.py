"""A limit of memory as people write it."""

from __future__ import annotations

import re

import numpy as np

from tamis.errors import SettingError

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}


def bytes_of(memory: int | str | None) -> int | None:
    """A number of bytes, or a text such as "500MB" or "2GiB"; None stays None."""
    if memory is None:
        return None
    if isinstance(memory, int | np.integer) and not isinstance(memory, bool) and memory > 0:
        return int(memory)
    if isinstance(memory, str):
        found = re.fullmatch(r"\s*(\d{1,15}(?:\.\d{1,9})?)\s*([a-zA-Z]*)\s*", memory)
        if found is not None and found[2].upper() in _UNITS:
            return int(float(found[1]) * _UNITS[found[2].upper()])
    raise SettingError(f"memory must be a size such as '500MB' or '2GB', not {memory!r}")
