"""What tamis is measured by: tables with known graphs, published networks, public tables, peers."""

import zlib
from collections.abc import Collection

import numpy as np


def check(what: str, name: str, known: Collection[str]) -> None:
    """Refuse a name that is not known, and list those that are."""
    if name not in known:
        raise ValueError(f"there is no {what} {name!r}; there are {', '.join(known)}")


def stream(seed: int, *what: object) -> np.random.Generator:
    """Random numbers that depend on the seed and on what they are for, on any machine."""
    return np.random.default_rng([seed, zlib.crc32(" ".join(map(str, what)).encode())])
