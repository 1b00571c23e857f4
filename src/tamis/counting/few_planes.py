"""Sets of few planes by numpy, all at once: what the loops of ``interactions`` find, where loading
or compiling these would take longer.

Arrays have an axis for each column here: at 0 none of its planes is in a set, else the one that the
index says.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tamis.counting.compiled import Floats, Ints, Words

SECONDS = 1e-8
"""What a set takes, about, for each pair of columns."""


def seconds_for(column: Ints) -> float:
    """What all sets take, given the column of each plane."""
    n_planes = np.unique(column, return_counts=True)[1]
    return SECONDS * len(n_planes) ** 2 * float(np.prod(n_planes + 1.0))


class Dependence(NamedTuple):
    """How planes of a column, on the first axis, depend on the parity of sets of others: by how
    much the mean of their product differs from that of independent ones, the square of what this
    can be at most, their correlation, and the largest one with a part of the set."""

    lead: Floats
    spread: Floats
    correlation: Floats
    of_parts: Floats


class FewPlanes:
    """How strongly each plane depends on the parity of every set of planes of other columns."""

    def __init__(self, words: Words, column: Ints, n_rows: int) -> None:
        self._n_rows = n_rows
        planes = [np.flatnonzero(column == k) for k in np.unique(column)]
        self._plane = np.full((len(planes), max(map(len, planes)) + 1), len(words))
        for places, own in zip(self._plane, planes, strict=True):
            places[1 : len(own) + 1] = own
        bits = np.unpackbits(words.view(np.uint8), axis=1, count=n_rows, bitorder="little")
        shape = tuple(len(own) + 1 for own in planes)
        states = tuple(np.arange(1, len(own) + 1) @ bits[own] for own in planes)
        mean = 1.0 - 2.0 / n_rows * odd_rows(states, shape)
        self._sizes: Ints = (np.indices(shape) > 0).sum(axis=0)
        self._found = [dependence(np.moveaxis(mean, axis, 0)) for axis in range(len(shape))]

    def strong(self, size: int, threshold: float, rounding: float) -> tuple[Ints, Ints, Floats]:
        """The planes of the sets of this size that pass, in their order, which of them is the
        target, and the strengths."""
        least = threshold * threshold / self._n_rows
        targets, sets, strengths = [], [], []
        for axis, (lead, spread, correlation, of_parts) in enumerate(self._found):
            passes = np.moveaxis(self._sizes, axis, 0)[1:] == size
            passes &= (lead * lead > least * spread) & (of_parts < correlation - rounding)
            chosen = np.array(np.nonzero(passes))
            chosen[0] += 1
            axes = [axis, *(k for k in range(len(self._plane)) if k != axis)]
            planes = self._plane[np.array(axes)[:, None], chosen]
            sets.append(np.sort(planes, axis=0)[:size].T.reshape(-1, size))
            targets.append((sets[-1] < planes[0][:, None]).sum(axis=1))
            strengths.append(correlation[passes] * np.sqrt(self._n_rows))
        return np.concatenate(sets), np.concatenate(targets), np.concatenate(strengths)


def odd_rows(states: tuple[Ints, ...], shape: tuple[int, ...]) -> Floats:
    """The rows in which an odd number of the planes of each set are 1, given the plane of each
    column that each row is in."""
    n_rows = len(states[0])
    places = np.ravel_multi_index(states, shape)
    signed = np.bincount(places, minlength=int(np.prod(shape))).reshape(shape)
    for axis in range(len(shape)):  # becomes the even rows less the odd ones
        total = signed.sum(axis=axis, keepdims=True)
        inside = np.moveaxis(signed, axis, 0)[1:]
        signed = np.concatenate([total, total - 2 * np.moveaxis(inside, 0, axis)], axis=axis)
    return np.asarray((n_rows - signed) // 2, dtype=np.float64)


def dependence(mean: Floats) -> Dependence:
    """How the planes of the first column depend on sets of others, given the means of products."""
    others = tuple(range(1, mean.ndim))
    own = np.expand_dims(mean[1:].reshape(len(mean) - 1, -1)[:, 0], others)
    rest = mean[0]
    spread = (1.0 - own * own) * (1.0 - rest * rest)
    lead = mean[1:] - own * rest
    correlation = np.zeros(lead.shape)
    np.divide(np.abs(lead), np.sqrt(spread), out=correlation, where=spread > 0.0)
    up_to, of_parts = correlation.copy(), np.zeros(lead.shape)
    for axis in others:
        whole = np.moveaxis(up_to, axis, 0)
        np.maximum(whole[1:], whole[0], out=whole[1:])
    for axis in others:
        whole, part = np.moveaxis(up_to, axis, 0), np.moveaxis(of_parts, axis, 0)
        np.maximum(part[1:], whole[0], out=part[1:])
    return Dependence(lead, spread, correlation, of_parts)
