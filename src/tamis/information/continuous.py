"""Continuous columns as ranks and neighbours want them: normal scores, values without ties, and the
differential entropy of one column.

Chance belongs to columns by name, whatever their order in the table.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, ndtri

from tamis.errors import DataError, TamisWarning
from tamis.information.interface import Floats
from tamis.portable import random_words
from tamis.tables.refusals import listed, shown

TIED = 0.05
"""Above this share of rows that share their value, the analyst is told."""
LUMP = 0.05
"""A value with this share of the rows is a lump if most other values occur once."""


def normal_scores(values: Floats) -> Floats:
    """The normal quantiles of the ranks, (rank - 1/2) / n; ties share their middle rank."""
    from scipy.stats import rankdata  # takes a moment to load

    scores: Floats = ndtri((rankdata(values) - 0.5) / len(values))
    return scores


def require_numbers(name: str, values: Floats) -> None:
    """Refuse what has no rank."""
    wrong = np.flatnonzero(~np.isfinite(values))
    if len(wrong):
        raise DataError(
            f"Column {shown(name)} holds {float(values[wrong[0]])} at row {wrong[0]}, counting "
            "from 0. Every cell needs a finite number: drop those rows or fill them in."
        )


def untied(name: str, values: Floats, seed: int) -> Floats:
    """The column with every value once, so that ranks and distances are never 0.

    A value that occurs in several rows is taken as a rounded one: its rows are spread at random
    over its cell, which ends half-way to the next values. Where every value is spread so, no
    mutual information changes, because the rounded value can still be told, and the
    differential entropy is the entropy of the values on their grid plus the log of its step.
    """
    distinct, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    if len(distinct) == len(values):
        return values
    _refuse_lump(name, distinct, counts)
    middles = (distinct[1:] + distinct[:-1]) / 2
    lower = np.concatenate([[2 * distinct[0] - middles[0]], middles])
    upper = np.concatenate([middles, [2 * distinct[-1] - middles[-1]]])
    chance = uniforms(seed, [["ties"], [name]], len(values))
    moved = lower[place] + (upper - lower)[place] * chance
    spread = np.where(counts[place] > 1, moved, values)
    if len(np.unique(spread)) < len(spread):
        raise DataError(
            f"Column {shown(name)} holds values too close together for floating-point numbers, "
            f"near {float(distinct[np.argmax(counts)])}: subtract what they have in common."
        )
    return spread


def _refuse_lump(name: str, distinct: Floats, counts: np.ndarray) -> None:
    """Refuse a column that is partly discrete: it has no differential entropy."""
    top = int(np.argmax(counts))
    n, most = int(counts.sum()), int(counts[top])
    once = int((counts == 1).sum())
    if most >= max(10, LUMP * n) and once > (n - most) / 2:
        raise DataError(
            f"Column {shown(name)} holds {float(distinct[top])} in {most} of {n} rows, while most "
            "of its other values occur once: it is partly discrete, and has no entropy to rank it "
            "by. Make levels of it, or drop those rows."
        )


def tell_of_ties(columns: Mapping[str, Floats]) -> None:
    """Warn of columns in which many rows share their values."""
    found = []
    for name, values in columns.items():
        _, counts = np.unique(values, return_counts=True)
        share = float(counts[counts > 1].sum()) / len(values)
        if share > TIED:
            found.append(f"{shown(name)} ({share:.0%})")
    if found:
        warnings.warn(
            TamisWarning(
                f"Columns in which rows share their values: {listed(found)}. They are taken as "
                "rounded, and such rows are spread over the cells of their values."
            ),
            stacklevel=4,
        )


def refuse_copies(columns: Iterable[tuple[str, Floats]]) -> None:
    """Refuse a continuous column that puts the rows in the order of another, or in its reverse."""
    from scipy.stats import rankdata  # takes a moment to load

    seen: dict[bytes, str] = {}
    for name, values in columns:
        ranks = rankdata(values)
        for order in (ranks, len(ranks) + 1 - ranks):
            other = seen.get(order.tobytes())
            if other is not None:
                raise DataError(
                    f"Columns {shown(other)} and {shown(name)} are monotone functions of each "
                    "other, so no direction between them can be told. Drop one of them."
                )
        seen[ranks.tobytes()] = name


def neighbours_for(n_rows: int) -> int:
    """The k for one column: sqrt(n) / 3, 10 for a thousand rows.

    The best of those tried over five laws (docs/continuous.md): fewer neighbours are noisier,
    more of them smear the density, and spacings of any width are biased more.
    """
    return max(min(round(math.sqrt(n_rows) / 3), n_rows - 1), 1)


def column_entropy(values: Floats, k: int | None = None) -> float:
    """H(X) in nats, by Kozachenko and Leonenko (1987): psi(n) - psi(k) + mean of ln(2 r), r the
    distance to the k-th neighbour; the values are all different."""
    n = len(values)
    k = neighbours_for(n) if k is None else k
    ordered = np.sort(values)
    # The k-th neighbour ends the narrowest of the runs of k + 1 values that hold the value.
    radius = np.full(n, np.inf)
    padded = np.concatenate([np.full(k, -np.inf), ordered, np.full(k, np.inf)])
    for before in range(k + 1):
        lowest = padded[k - before : k - before + n]
        highest = padded[2 * k - before : 2 * k - before + n]
        np.minimum(radius, np.maximum(ordered - lowest, highest - ordered), out=radius)
    return float(digamma(n) - digamma(k) + np.log(2 * radius).mean())


Words = NDArray[np.uint64]


def words(seed: int, key: Sequence[Sequence[str]], n: int) -> Words:
    """``n`` random words of the stream that belongs to this key, a list of lists of names."""
    return random_words(seed, repr([list(names) for names in key]).encode(), n)


def uniforms(seed: int, key: Sequence[Sequence[str]], n: int) -> Floats:
    """Numbers strictly between 0 and 1: the middles of 2^52 equal parts."""
    bits = words(seed, key, n) >> np.uint64(12)
    return np.asarray((bits.astype(np.float64) + 0.5) * 2.0**-52, dtype=np.float64)
