"""Where all chance comes from: one seed, and a stream of its own for every purpose and node.

The streams are PCG64, seeded through ``SeedSequence`` by the seed, the purpose and, for noise,
the replicate and the node. So the same graph can be given other parameters, the same model
other rows, and no node's noise depends on how many others there are. Every column takes one
word a row, and therefore a longer sample begins like a shorter one.

Only the raw words of the generator are used, which numpy keeps the same on every machine and
in every version; what is made of them is in this file and in ``portable``.
"""

from __future__ import annotations

import math
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from tamis.network.sampling import Seed, checked_seed
from tamis.portable import Floats, log, normal_quantile

__all__ = ["Purpose", "Seed", "Stream", "checked_seed", "child"]


class Purpose(IntEnum):
    """What a stream is for; the numbers are part of every seed and never change."""

    GRAPH = 0
    LABELS = 1
    PARAMETERS = 2
    NOISE = 3


class Stream:
    """Random numbers for one purpose."""

    def __init__(self, seed: Seed, purpose: Purpose, *key: int) -> None:
        self._generator = np.random.PCG64(child(seed, purpose, *key))

    def uniforms(self, n: int) -> Floats:
        """Numbers in [0, 1), on the grid of 2^-53."""
        return np.asarray(self._bits(n, 53) * 2.0**-53, dtype=np.float64)

    def inner_uniforms(self, n: int) -> Floats:
        """Numbers in (0, 1), neither end included: the middles of 2^52 equal parts."""
        return np.asarray((self._bits(n, 52) + 0.5) * 2.0**-52, dtype=np.float64)

    def below(self, bound: int, n: int) -> NDArray[np.int64]:
        """Whole numbers from 0 to ``bound - 1``, equally likely but for a part in 2^53 / bound."""
        return (self.uniforms(n) * bound).astype(np.int64)

    def between(self, low: float, high: float, n: int) -> Floats:
        """Numbers spread evenly from ``low`` to ``high``."""
        return low + (high - low) * self.uniforms(n)

    def coins(self, p: float, n: int) -> NDArray[np.bool_]:
        """True with probability p, each independently."""
        return np.asarray(self._bits(n, 53) < np.uint64(math.ceil(p * 2**53)))

    def signs(self, n: int) -> Floats:
        """-1 or 1, equally likely."""
        return np.where(self.coins(0.5, n), -1.0, 1.0)

    def exponentials(self, n: int) -> Floats:
        """Numbers of the exponential law of mean 1."""
        return -log(self.inner_uniforms(n))

    def normals(self, n: int) -> Floats:
        """Numbers of the standard normal law, by its quantile function."""
        return normal_quantile(self.inner_uniforms(n))

    def permutation(self, n: int) -> NDArray[np.intp]:
        """The numbers from 0 to ``n - 1`` in any order, all orders equally likely."""
        return np.argsort(self._bits(n, 64), kind="stable")

    def _bits(self, n: int, number: int) -> NDArray[np.uint64]:
        words = np.asarray(self._generator.random_raw(n), dtype=np.uint64)
        return words if number == 64 else words >> np.uint64(64 - number)


def child(seed: Seed, purpose: Purpose, *key: int) -> np.random.SeedSequence:
    """The seed of one stream; the same however often it is asked for."""
    root = checked_seed(seed)
    return np.random.SeedSequence(root.entropy, spawn_key=(*root.spawn_key, int(purpose), *key))
