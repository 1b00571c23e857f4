"""Rows of gains, I(X_k ; X_l | S) for all l, as a selection reads them: who is the best candidate,
and who would have come before it.

A row is listed, best first, where it is asked very often. Of wide tables only the best are listed;
whoever needs the others keeps the row as it was counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from tamis.decisions.rule import Rule
from tamis.information.interface import Context, Floats, Ints, Profiles, Source
from tamis.search.constraints import as_bits
from tamis.search.parts import in_parts

MOST_LISTED = 128
"""Of a row so many variables are listed, those of largest gain; where none of them will do, the
row is kept whole."""
WHOLE_ROWS = 512
"""With up to so many variables all are listed at once."""

Given = tuple[int, ...]


class Best(NamedTuple):
    """The best candidate of a row."""

    variable: int
    gain: float
    score: float | None
    """None where the tests of a row do not come with it."""
    place: int
    """Where it stands in the row, for the row to know."""


@dataclass(slots=True)
class ListedRow:
    """Variables by falling gain, of equals the first, without the target and what is given."""

    entropy: float
    variables: list[int]
    gains: list[float]
    scores: list[float] | None
    is_whole: bool
    tests: Profiles | None = None
    """The tests of all variables by position, for those who read them."""

    def best(self, candidates: int, rank: Sequence[int] | None) -> Best | None:
        """The candidate (one bit each) of largest gain; of equals the lowest rank, if there are
        ranks."""
        place = next((i for i, k in enumerate(self.variables) if candidates >> k & 1), None)
        if place is None:
            return None
        if rank is not None:
            place = self._of_equals(place, candidates, rank)
        score = None if self.scores is None else self.scores[place]
        return Best(self.variables[place], self.gains[place], score, place)

    def _of_equals(self, first: int, candidates: int, rank: Sequence[int]) -> int:
        equal = [
            i
            for i in range(first, len(self.gains))
            if self.gains[i] == self.gains[first] and candidates >> self.variables[i] & 1
        ]
        return min(equal, key=lambda i: rank[self.variables[i]])

    def before(self, place: int) -> int:
        """Who stands before a place, one bit each."""
        return as_bits(self.variables[:place])


@dataclass(slots=True)
class WholeRow:
    """Gains by position, minus infinity for the target and what is given."""

    entropy: float
    gains: Floats
    is_whole = True

    def best(self, candidates: int, rank: Sequence[int] | None) -> Best | None:
        """The candidate (one bit each) of largest gain; of equals the lowest rank, if there are
        ranks."""
        among = positions(candidates)
        if not len(among):
            return None
        own = self.gains[among]
        place = int(own.argmax())
        gain = float(own[place])
        if gain == -np.inf:
            return None
        if rank is not None:
            place = min(np.flatnonzero(own == gain).tolist(), key=lambda i: rank[int(among[i])])
        k = int(among[place])
        return Best(k, gain, None, k)

    def before(self, place: int) -> int:
        """Who comes before the variable at a place, one bit each."""
        gain = self.gains[place]
        ahead = self.gains > gain
        ahead[:place] |= self.gains[:place] == gain
        return int.from_bytes(np.packbits(ahead, bitorder="little").tobytes(), "little")


Row = ListedRow | WholeRow


@lru_cache(maxsize=4)
def positions(bits: int) -> Ints:
    """The positions of the bits that are set."""
    packed = np.frombuffer(bits.to_bytes(bits.bit_length() // 8 + 1, "little"), dtype=np.uint8)
    return np.flatnonzero(np.unpackbits(packed, bitorder="little"))


class CmiRows:
    """The rows that have been counted, by target and what is given.

    With ``lists`` rows are listed even where their tests do not come along: this pays where a
    context is asked about many times.
    """

    def __init__(self, information: Source, rule: Rule, *, lists: bool) -> None:
        self._information = information
        self._rule = rule
        self._lists = lists
        self._rows: list[dict[Given, Row]] = [{} for _ in range(information.n_variables)]

    def of(self, target: int) -> dict[Given, Row]:
        """The rows of a target."""
        return self._rows[target]

    def forget(self, target: int, kept: Sequence[Given]) -> None:
        """Drop the rows of a target but for some."""
        rows = self._rows[target]
        if len(rows) > len(kept):
            self._rows[target] = {given: rows[given] for given in kept}

    def know(self, contexts: Sequence[Context]) -> None:
        """Count what is not there, and what is there in part, which is then kept whole."""
        unknown = [
            one
            for one in dict.fromkeys(contexts)
            if (row := self._rows[one.target].get(one.given)) is None or not row.is_whole
        ]
        for part in in_parts(unknown, self._information.n_variables):
            self._file(part, self._information.profiles(part))

    def _file(self, contexts: Sequence[Context], counted: Profiles) -> None:
        gains = counted.cmi.copy()
        places = [(i, k) for i, (target, given) in enumerate(contexts) for k in (target, *given)]
        gains[tuple(np.array(places).T)] = -np.inf
        entropies = counted.entropies.tolist()
        d = self._information.n_variables
        if d <= WHOLE_ROWS and (self._lists or counted.stats is not None):
            self._list_all(contexts, counted, gains)
            return
        for (target, given), entropy, own in zip(contexts, entropies, gains, strict=True):
            rows = self._rows[target]
            if self._lists and given not in rows:
                variables = _largest(own, MOST_LISTED)
                rows[given] = ListedRow(
                    entropy, variables.tolist(), own[variables].tolist(), None, False
                )
            else:
                rows[given] = WholeRow(entropy, own.copy())

    def _list_all(self, contexts: Sequence[Context], counted: Profiles, gains: Floats) -> None:
        """List whole rows, with all their scores where their tests came along: one by one they
        would take longer."""
        order = np.argsort(-gains, axis=1, kind="stable")
        falling = np.take_along_axis(gains, order, axis=1).tolist()
        scores = stats = [None] * len(contexts)
        if counted.stats is not None:
            stats = list(counted.stats)
            tests = counted.stats.reshape(gains.size, -1)
            evidence = self._information.as_tests(counted.cmi.ravel(), tests)
            every = self._rule.scores(evidence).reshape(gains.shape)
            scores = np.take_along_axis(every, order, axis=1).tolist()
        for i, (variables, (target, given)) in enumerate(
            zip(order.tolist(), contexts, strict=True)
        ):
            n = len(variables) - 1 - len(given)
            score = scores[i]
            self._rows[target][given] = ListedRow(
                float(counted.entropies[i]),
                variables[:n],
                falling[i][:n],
                None if score is None else score[:n],
                True,
                None if self._lists else Profiles(counted.entropies[i], counted.cmi[i], stats[i]),
            )


def _largest(gains: Floats, size: int) -> Ints:
    """Variables by falling gain, of equals the first: at least so many, and none left out that
    gains as much as the last of them."""
    size = min(size, int(np.count_nonzero(gains > -np.inf)))
    least = np.partition(gains, len(gains) - size)[len(gains) - size]
    some = np.flatnonzero(gains >= least)
    return some[np.argsort(-gains[some], kind="stable")]
