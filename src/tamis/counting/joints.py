"""One joint table a question, counted in bit planes: a context with several candidates taken as
one, or with a single one, or a set of columns alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from tamis.counting.compiled import Ints
from tamis.counting.counts import Bank, Judgements, Question, part_starts
from tamis.counting.judge import judge_tables
from tamis.counting.lookup import Lookup
from tamis.counting.sharing import share
from tamis.counting.tables import joint_cells

JOINT_CROSSOVER = 1024
"""A single joint table with more cells is counted row by row; measured by
`python -m benchmarks.crossover`."""
TOGETHER_CELLS = 2**17
"""Tables are counted and judged so many cells at a time, so that they stay in the cache."""
MASK_BYTES = 2**26
"""One whose masks would take more than this is counted row by row too."""


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
        ends = part_ends([self._n_cells(one) for one in sets])
        levels = np.array([self._sizes[target] for target, _ in contexts], dtype=np.int64)
        widths = np.array([self._n_cells(together) for together in others], dtype=np.int64)
        tables = lookup.as_kernel_argument()
        nothing = np.zeros(0, dtype=np.int64)

        def part(start: int, stop: int) -> None:
            room = np.empty(room_for(ends), dtype=np.int64)
            for i, j in parts_of(ends, start, stop):
                own = ends[i : j + 1] - ends[i]
                cells = room[: own[-1]]
                self._count(variables, starts[i : j + 1], cells, own)
                judge_tables(
                    cells, own, levels[i:j], widths[i:j], nothing, base_choices[i:j],
                    choices[i:j], tables, plain, answers.entropies[i:j], answers.gains[i:j],
                    answers.stats[i:j],
                )  # fmt: skip

        self._share(sets, part)
        return answers

    def cells(self, sets: Sequence[tuple[int, ...]]) -> list[Ints]:
        """For each set of columns the rows of every joint state, whether it occurs or not."""
        variables, starts = _laid_out(sets)
        ends = part_ends([self._n_cells(one) for one in sets])
        cells = np.empty(int(ends[-1]), dtype=np.int64)

        def part(start: int, stop: int) -> None:
            self._count(variables, starts[start : stop + 1], cells, ends[start : stop + 1])

        self._share(sets, part)
        return np.split(cells, ends[1:-1]) if sets else []

    def _count(self, variables: Ints, starts: Ints, cells: Ints, ends: Ints) -> None:
        bank = self._bank
        joint_cells(
            bank.words, bank.ones, bank.first, bank.arities, self._n_rows, variables, starts,
            cells, ends,
        )  # fmt: skip

    def _share(self, sets: Sequence[tuple[int, ...]], part: Callable[[int, int], None]) -> None:
        # Every cell is masked once and counted once.
        work = 2 * sum(map(self._n_cells, sets)) * self._bank.words.shape[1]
        share(self._n_jobs, len(sets), work, part)

    def _n_cells(self, variables: Sequence[int]) -> int:
        return math.prod(self._sizes[k] for k in variables)


def part_ends(sizes: Sequence[int]) -> Ints:
    """Where tables of these sizes begin when they are laid end to end, and the last one ends."""
    return np.array([0, *accumulate(sizes)], dtype=np.int64)


def parts_of(ends: Ints, start: int, stop: int) -> Iterator[tuple[int, int]]:
    """The tables from ``start`` to ``stop``, as many at a time as have few cells; one at least."""
    while start < stop:
        far = int(np.searchsorted(ends, ends[start] + TOGETHER_CELLS, side="right")) - 1
        end = min(max(far, start + 1), stop)
        yield start, end
        start = end


def room_for(ends: Ints) -> int:
    """The most cells of the tables that are taken at a time."""
    return max(min(TOGETHER_CELLS, int(ends[-1])), int(np.diff(ends).max(initial=1)))


def _laid_out(sets: Sequence[tuple[int, ...]]) -> tuple[Ints, Ints]:
    """The sets end to end, and where each begins."""
    return np.array([k for one in sets for k in one], dtype=np.int64), part_starts(sets)
