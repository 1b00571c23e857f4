"""Batches of questions as the counting loops read them, and room for the answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Sized
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.counting.compiled import Codes, Floats, Ints, Pairs, Words
from tamis.counting.independence import STATS

Question = tuple[int, tuple[int, ...]]
"""A target and its conditioning set."""


class Judgements(NamedTuple):
    """The answers to a batch: one entropy a context, one row a (context, candidate).

    ``stats`` is empty where no tests were wanted.
    """

    entropies: Floats
    gains: Floats
    stats: Floats

    @classmethod
    def blank(cls, n_contexts: int, n_candidates: int, *, tests: bool) -> Judgements:
        """Room for the answers."""
        return cls(
            np.empty(n_contexts),
            np.empty(n_candidates),
            np.empty((n_candidates if tests else 0, STATS)),
        )

    def put(
        self, answers: Judgements, places: Sequence[int], span: Sequence[int] | Ints | None = None
    ) -> None:
        """Write these answers to their places among others: those of the contexts, and those of
        the candidates, which are the same where each context has one."""
        span = places if span is None else span
        answers.entropies[places] = self.entropies
        answers.gains[span] = self.gains
        if len(answers.stats):
            answers.stats[span] = self.stats


class Batch(NamedTuple):
    """A batch as the loops read it: the contexts' candidates laid end to end, and which head
    of the lookup each table uses."""

    contexts: Sequence[Question]
    candidates: Ints
    starts: Ints
    base_choices: Ints
    choices: Ints

    def others(self, b: int) -> tuple[int, ...]:
        """The candidates of context b."""
        return tuple(self.candidates[self.starts[b] : self.starts[b + 1]].tolist())

    def tables(self) -> Iterator[tuple[int, ...]]:
        """The columns of each table that is needed."""
        for b, (target, given) in enumerate(self.contexts):
            yield (*given, target)
            for k in self.others(b):
                yield (*given, target, k)

    def some(self, places: Sequence[int]) -> tuple[Batch, Ints]:
        """The contexts at these places, and where their candidates lie in the whole batch."""
        lengths = np.diff(self.starts)[places]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        span = np.repeat(self.starts[places] - starts[:-1], lengths) + np.arange(starts[-1])
        contexts = [self.contexts[b] for b in places]
        batch = Batch(
            contexts, self.candidates[span], starts, self.base_choices[places],
            self.choices[places],
        )  # fmt: skip
        return batch, span

    def part(self, b: int, chosen: NDArray[np.bool_]) -> Batch:
        """Context b alone, with those of its candidates that are chosen."""
        candidates = self.candidates[self.starts[b] : self.starts[b + 1]][chosen]
        return Batch(
            self.contexts[b : b + 1],
            candidates,
            np.array([0, len(candidates)]),
            self.base_choices[b : b + 1],
            self.choices[b : b + 1],
        )


class Columns(NamedTuple):
    """Candidates as the row-wise loop reads them: codes, numbers of levels, classes of support."""

    codes: Codes
    arities: Ints
    classes: Ints


class Bank(NamedTuple):
    """Columns as the loops over planes read them."""

    words: Words
    ones: Ints
    pairs: Pairs
    first: Ints
    arities: Ints
    widest: int
    classes: Ints


def part_starts(parts: Sequence[Sized]) -> Ints:
    """Where each part begins, and the last one ends, when they are laid end to end."""
    return np.array([0, *accumulate(map(len, parts))], dtype=np.int64)
