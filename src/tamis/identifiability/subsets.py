"""The gains of one node given every subset of a few others, from one joint table.

The PPS condition asks 2^|m| times as many questions as there are candidates. Asked one by one
each is an inference; but all of them concern marginals of one table over the node, the candidate
and the members of m, and those follow from each other by summing out a member at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.special import entr

from tamis.identifiability.known import Known
from tamis.identifiability.linear import LinearInformation
from tamis.information.interface import Floats
from tamis.information.joint import RESOLUTION

MOST_CELLS = 2**21
"""Larger tables are not made; the questions are then asked one by one."""


def uncertainties(known: Known, k: int, members: Sequence[int]) -> Floats:
    """H(X_k | S) for every subset S of the members, S as a number whose bit i is member i."""
    ask = known.information
    if isinstance(ask, LinearInformation) or not _fits(known, (k, *members)):
        return np.array([ask.conditional_entropy(k, subset) for subset in _subsets(members)])
    table = ask.marginal((k, *members))
    found = np.empty(2 ** len(members))
    for subset, marginal in _marginals(table, 1):
        found[subset] = _entropy(marginal) - _entropy(marginal.sum(axis=0))
    return found


def gains(known: Known, k: int, other: int, members: Sequence[int]) -> Floats:
    """I(X_k ; X_other | S) for every subset S of the members."""
    ask = known.information
    if ask.separated(other, (k, *members), ()):
        return np.zeros(2 ** len(members))
    if isinstance(ask, LinearInformation) or not _fits(known, (k, other, *members)):
        return np.array([ask.gain(k, [other], subset) for subset in _subsets(members)])
    table = ask.marginal((k, other, *members))
    found = np.empty(2 ** len(members))
    for subset, marginal in _marginals(table, 2):
        found[subset] = (
            _entropy(marginal.sum(axis=0))
            + _entropy(marginal.sum(axis=1))
            - _entropy(marginal)
            - _entropy(marginal.sum(axis=(0, 1)))
        )
    found[found < RESOLUTION] = 0.0
    return found


def _fits(known: Known, variables: Sequence[int]) -> bool:
    levels = known.network.levels
    cells = 1
    for k in variables:
        cells *= len(levels[k])
    return cells <= MOST_CELLS and len(variables) <= 30


def _subsets(members: Sequence[int]) -> Iterator[tuple[int, ...]]:
    for subset in range(2 ** len(members)):
        yield tuple(m for i, m in enumerate(members) if subset >> i & 1)


def _marginals(table: Floats, kept: int) -> Iterator[tuple[int, Floats]]:
    """Every marginal that keeps the first axes, with the subset of the others it keeps.

    Axes are summed out in falling order, so that every subset comes once and only the marginals on
    the way to it are held.
    """
    n_members = table.ndim - kept
    waiting = [(2**n_members - 1, n_members, table)]
    while waiting:
        subset, below, marginal = waiting.pop()
        yield subset, marginal
        for i in range(below):
            # All members below ``below`` are still there, so member i is axis kept + i.
            waiting.append((subset & ~(1 << i), i, marginal.sum(axis=kept + i)))


def _entropy(marginal: Floats) -> float:
    return float(entr(marginal).sum())
