"""Bit planes as the loops see them: counting the rows they share."""

from __future__ import annotations

import numpy as np

from tamis.counts.compiled import Ints, Pairs, Words, compiled, inner, popcount


@inner
def count_common(
    a: Words,
    p: int,
    b: Words,
    q: int,
) -> np.int64:
    """The rows that plane p of ``a`` and plane q of ``b`` share."""
    total = np.uint64(0)
    for w in range(a.shape[1]):
        total += popcount(a[p, w] & b[q, w])
    return np.int64(total)


@compiled
def plane_ones(
    words: Words,
) -> Ints:
    """The rows of each plane."""
    ones = np.empty(words.shape[0], dtype=np.int64)
    for p in range(words.shape[0]):
        ones[p] = count_common(words, p, words, p)
    return ones


@compiled
def pair_counts(
    words: Words,
    start: int,
    stop: int,
    out: Pairs,
) -> None:
    """All-pairs joint counts of planes ``start`` to ``stop`` with themselves and all later."""
    for p in range(start, stop):
        for q in range(p, words.shape[0]):
            common = count_common(words, p, words, q)
            out[p, q] = common
            out[q, p] = common
