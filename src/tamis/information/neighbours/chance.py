"""Random numbers that belong to columns by name, whatever their order in the table.

Every use has a PCG64 stream of its own, seeded by the seed and the SHA-256 of what it is for. Only
the raw words are used, which numpy keeps the same on every machine and in every version.
"""

from __future__ import annotations

import hashlib
import operator
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tamis.errors import SettingError
from tamis.information.interface import Floats

Words = NDArray[np.uint64]


def words(seed: int, key: Sequence[Sequence[str]], n: int) -> Words:
    """``n`` random words of the stream that belongs to this key, a list of lists of names."""
    digest = hashlib.sha256(repr([list(names) for names in key]).encode()).digest()
    own = tuple(int.from_bytes(digest[i : i + 4], "little") for i in range(0, 16, 4))
    stream = np.random.PCG64(np.random.SeedSequence(seed, spawn_key=own))
    return np.asarray(stream.random_raw(n), dtype=np.uint64)


def uniforms(seed: int, key: Sequence[Sequence[str]], n: int) -> Floats:
    """Numbers strictly between 0 and 1: the middles of 2^52 equal parts."""
    bits = words(seed, key, n) >> np.uint64(12)
    return np.asarray((bits.astype(np.float64) + 0.5) * 2.0**-52, dtype=np.float64)


def whole(parameter: str, value: object, least: int, most: int | None = None) -> int:
    """The value, if it is a whole number within bounds."""
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = least - 1
    if number < least or (most is not None and number > most) or isinstance(value, bool):
        end = "on" if most is None else f"to {most}"
        raise SettingError(f"{parameter} must be a whole number from {least} {end}, not {value!r}")
    return number
