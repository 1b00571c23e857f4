"""One joint table a question, counted in bit planes: a context with several candidates taken as
one, or with a single one, or a set of columns alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from tamis.counts.batches import Bank, Judgements, Question, part_starts
from tamis.counts.compiled import Ints
from tamis.counts.judge_joint import joint_cells, judge_joint_planes
from tamis.counts.lookup import Lookup
from tamis.counts.sharing import share

JOINT_CROSSOVER = 1024
"""A single joint table with more cells is counted row by row; measured by
`python -m benchmarks.crossover`."""
MASK_BYTES = 2**26
"""So is one whose masks would take more than this."""


class Joints:
    """The joint tables of columns that have planes."""

    def __init__(self, bank: Bank, planed: NDArray[np.bool_], n_rows: int, n_jobs: int) -> None:
        self._bank = bank
        self._planed = planed.tolist()
        self._sizes: list[int] = bank.arities.tolist()
        self._n_rows = n_rows
        self._n_jobs = n_jobs

    def are_small(self, variables: Sequence[int]) -> bool:
        """Whether the joint table of these columns is for planes to count."""
        n_cells = 1
        for k in variables:
            n_cells *= self._sizes[k]
            if n_cells > JOINT_CROSSOVER or not self._planed[k]:
                return False
        n_words: int = self._bank.words.shape[1]
        return n_cells * 8 * n_words <= MASK_BYTES

    def judge(
        self,
        contexts: Sequence[Question],
        others: Sequence[tuple[int, ...]],
        base_choices: Ints,
        choices: Ints,
        lookup: Lookup,
        plain: Ints,
        *,
        tests: bool,
    ) -> Judgements:
        """Judge each context with its candidates taken together."""
        answers = Judgements.blank(len(contexts), len(contexts), tests=tests)
        sets = [
            (*given, target, *together)
            for (target, given), together in zip(contexts, others, strict=True)
        ]
        variables, starts = _laid_out(sets)
        n_given = np.array([len(given) for _, given in contexts], dtype=np.int64)
        tables = lookup.as_kernel_argument()
        bank = self._bank

        def part(start: int, stop: int) -> None:
            judge_joint_planes(
                bank.words, bank.ones, bank.first, bank.arities, self._n_rows, variables,
                starts[start : stop + 1], n_given[start:stop], base_choices[start:stop],
                choices[start:stop], tables, plain, answers.entropies[start:stop],
                answers.gains[start:stop], answers.stats[start:stop],
            )  # fmt: skip

        self._share(sets, part)
        return answers

    def cells(self, sets: Sequence[tuple[int, ...]]) -> list[Ints]:
        """For each set of columns the rows of every joint state, whether it occurs or not."""
        variables, starts = _laid_out(sets)
        sizes = [self._n_cells(one) for one in sets]
        ends = np.array([0, *accumulate(sizes)], dtype=np.int64)
        cells = np.empty(int(ends[-1]), dtype=np.int64)
        bank = self._bank

        def part(start: int, stop: int) -> None:
            joint_cells(
                bank.words, bank.ones, bank.first, bank.arities, self._n_rows, variables,
                starts[start : stop + 1], cells, ends[start : stop + 1],
            )  # fmt: skip

        self._share(sets, part)
        return np.split(cells, ends[1:-1]) if sets else []

    def _share(self, sets: Sequence[tuple[int, ...]], part: Callable[[int, int], None]) -> None:
        # Every cell is masked once and counted once.
        work = 2 * sum(map(self._n_cells, sets)) * self._bank.words.shape[1]
        share(self._n_jobs, len(sets), work, part)

    def _n_cells(self, variables: Sequence[int]) -> int:
        return math.prod(self._sizes[k] for k in variables)


def _laid_out(sets: Sequence[tuple[int, ...]]) -> tuple[Ints, Ints]:
    """The sets end to end, and where each begins."""
    return np.array([k for one in sets for k in one], dtype=np.int64), part_starts(sets)
