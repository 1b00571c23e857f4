"""Passes over bit planes: planes and pairs of them, and the cells of contexts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np

from tamis.counting.block_loops import add_masked, add_ones, add_pairs
from tamis.counting.compiled import Ints, Words
from tamis.counting.folding import starts_of
from tamis.counting.passes import Pass, Sums, View
from tamis.counting.sharing import share


class PlaneRows(Pass):
    """The rows of each plane and, if wanted, of each pair of planes, of which the second is not
    before the first."""

    def __init__(self, with_pairs: bool) -> None:
        self._with_pairs = with_pairs

    def over(self, view: View) -> Sums:
        """The sums over the rows of this view."""
        n = view.n_planes
        ones = np.zeros(n, dtype=np.int64)
        pairs = np.zeros((n, n) if self._with_pairs else (0, 0), dtype=np.int64)
        for start, stop in view.groups():
            blocks = view.blocks.words(start, stop)
            add_ones(blocks, ones)
            if not self._with_pairs:
                continue

            def part(first: int, last: int, blocks: Words = blocks) -> None:
                add_pairs(blocks, first, last, pairs)

            work = n**2 * blocks.shape[0] * blocks.shape[2] // 2
            share(view.n_jobs, n, work, part, power=0.5, falling=True)
        return ones, pairs


class Masked(Pass):
    """The cells of contexts, alone and with each plane of their candidates."""

    def __init__(
        self,
        sets: Sequence[tuple[int, ...]],
        candidates: Sequence[Ints],
        arities: Ints,
        with_pairs: bool,
    ) -> None:
        self._sets = list(sets)
        self._candidates = list(candidates)
        self._arities = arities
        self._with_pairs = with_pairs

    @cached_property
    def wanted(self) -> tuple[Ints, Ints, Ints, Ints, Ints]:
        """Sets and candidates end to end, where each begins, and where its sums do."""
        lengths = np.array([len(one) for one in self._candidates], dtype=np.int64)
        return (
            np.array([k for one in self._sets for k in one], dtype=np.int64),
            starts_of(np.array([len(one) for one in self._sets], dtype=np.int64)),
            np.concatenate([np.zeros(0, dtype=np.int64), *self._candidates]),
            starts_of(lengths),
            starts_of(self._sizes()),
        )

    def _sizes(self) -> Ints:
        """The sums of each set: a row for each cell that is counted."""
        widths = self._arities - 1
        rows = np.array([self._n_counted(one) for one in self._sets], dtype=np.int64)
        planes = [int(widths[some].sum()) for some in self._candidates]
        return rows * (1 + np.array(planes, dtype=np.int64))

    def _n_counted(self, one: tuple[int, ...]) -> int:
        sizes: list[int] = self._arities[list(one)].tolist()
        singles = sum(sizes) - len(sizes)
        return math.prod(sizes) - 1 - (singles if self._with_pairs else 0)

    @property
    def size(self) -> int:
        """The number of sums; without any no rows are needed."""
        return int(self.wanted[-1][-1])

    def over(self, view: View) -> Sums:
        """Threads share the blocks, and each has sums of its own."""
        size = self.size
        sums = np.zeros(size, dtype=np.int64)
        one_at_a_time = Lock()
        for start, stop in view.groups():
            blocks = view.blocks.words(start, stop)

            def part(i: int, j: int, blocks: Words = blocks) -> None:
                own = np.zeros(size, dtype=np.int64)
                add_masked(
                    blocks[i:j], view.first, view.arities, self._with_pairs, *self.wanted, own
                )
                with one_at_a_time:
                    np.add(sums, own, out=sums)

            share(view.n_jobs, len(blocks), len(blocks) * size * blocks.shape[2], part)
        return (sums,)

    def __getstate__(self) -> dict[str, Any]:
        """Most contexts are asked about all other columns, which need not be listed to travel."""
        kept = [self._packed(i) for i in range(len(self._sets))]
        return {
            "sets": self._sets,
            "candidates": kept,
            "arities": self._arities,
            "with_pairs": self._with_pairs,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._sets, self._arities = state["sets"], state["arities"]
        self._with_pairs = state["with_pairs"]
        self._candidates = [
            self._others(i) if some is None else some.astype(np.int64)
            for i, some in enumerate(state["candidates"])
        ]

    def _others(self, i: int) -> Ints:
        return np.delete(np.arange(len(self._arities)), list(self._sets[i]))

    def _packed(self, i: int) -> Ints | None:
        some = self._candidates[i]
        everyone = len(self._arities) - len(self._sets[i])
        if len(some) == everyone and np.array_equal(some, self._others(i)):
            return None
        return some.astype(np.int32)
