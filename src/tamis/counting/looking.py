"""How far sets of columns are looked for: counted while the budget lasts, then screened.

More rows make counting dearer, and must not find less for that: sets that could be counted in a
smaller table are counted on a sample of that size, and sizes that could be counted in the smallest
table are always looked at.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from warnings import warn

from tamis.constants import constants
from tamis.counting.compiled import Ints, Words
from tamis.counting.interactions import (
    Found,
    Interaction,
    Parities,
    affordable,
    strongest_sets,
)
from tamis.counting.screening import SCREEN_WORDS, Screen
from tamis.counting.sharing import share
from tamis.errors import SettingError, TamisWarning

MOST_SETS = 2**36
"""More sets are not screened even if asked for: minutes would become hours."""

Sample = tuple[Words, int]
"""The planes of some rows, and how many rows these are."""


class Looking:
    """The sets of columns of a table that say something together; each size is looked for once.

    ``column`` is the column of each plane. ``counted`` is the largest number of candidates whose
    sets fit the budget; ``count`` counts all sets of up to so many, ``sample`` gives the rows on
    which larger ones are screened.
    """

    def __init__(
        self,
        column: Ints,
        n_rows: int,
        n_columns: int,
        counted: int,
        count: Callable[[int], Parities],
        sample: Callable[[], Sample],
        n_jobs: int,
    ) -> None:
        self._column = column
        self._n_rows = n_rows
        self._n_columns = n_columns
        self.counted = counted
        self._count = count
        self._sample = sample
        self._n_jobs = n_jobs
        self._by_counting: dict[int, list[Found]] = {}
        self._by_screening: dict[int, list[Found]] = {}
        self._rows: Sample | None = None

    @property
    def reach(self) -> int:
        """The largest number of candidates whose sets can be screened within the budget."""
        return max(self.counted, screenable(len(self._column), -(-self._n_rows // 64)))

    @property
    def least(self) -> int:
        """The number of candidates up to which sets are looked for in any case."""
        return max(self.counted, least_looked_for(len(self._column)))

    def worthwhile(self) -> int:
        """The number of candidates up to which it pays to look: farther than in any case while
        some column depends on a set of the largest size so far more than on any smaller one."""
        largest = self.least
        while largest < self.reach and any(
            one and len(one[0].members) == largest for one in self.interactions(largest)
        ):
            largest += 1
        return largest

    def interactions(self, largest: int) -> list[tuple[Interaction, ...]]:
        """For each column the sets of up to ``largest`` others that it depends on together."""
        require_reach(len(self._column), self._n_rows, self.counted, largest)
        counted = min(largest, self.counted)
        if counted not in self._by_counting:
            self._by_counting[counted] = self._count(counted).found() if counted > 1 else []
        found = list(self._by_counting[counted])
        for size in range(counted + 2, largest + 2):
            if size not in self._by_screening:
                self._by_screening[size] = self._screened(size)
            found += self._by_screening[size]
        return strongest_sets(found, self._n_columns)

    def _screened(self, size: int) -> list[Found]:
        n_planes = len(self._column)
        if n_planes < size:
            return []
        if self._rows is None:
            self._rows = self._sample()
        words, n_sampled = self._rows
        if size <= affordable(n_planes, words.shape[1]) + 1:
            return self._counted_on(words, n_sampled, size)
        screen = Screen(words, n_sampled, self._column, self._n_rows)

        def part(start: int, stop: int) -> None:
            screen.look(size, start, stop)

        # A set is looked at with its largest plane, and large planes are the largest of many.
        share(self._n_jobs, n_planes - size + 1, math.comb(n_planes, size), part, power=1 / size)
        return screen.found()

    def _counted_on(self, words: Words, n_sampled: int, size: int) -> list[Found]:
        """The sets of this size by counting, but on a sample; as strong as on all rows."""
        parities = Parities(words, self._column, n_sampled, size - 1)
        parities.count_all(self._n_jobs)
        more = math.sqrt(self._n_rows / n_sampled)
        return [(target, members, z * more) for target, members, z in parities.strong(size)]


def least_looked_for(n_planes: int) -> int:
    """The number of candidates up to which sets of planes are looked for whatever the rows.

    That is as far as all of them could be counted in a table of few rows; pairs, if they can be
    screened.
    """
    few = affordable(n_planes, SCREEN_WORDS)
    return max(few, min(screenable(n_planes, SCREEN_WORDS), 2))


def screenable(n_planes: int, n_words: int) -> int:
    """The largest number of candidates whose sets can be screened within the budget; 1 is none."""
    budget = constants.screened_sets + constants.screened_passes * n_planes**2 * n_words
    sizes = range(2, min(constants.largest_set, n_planes - 1) + 1)
    return max((k for k in sizes if math.comb(n_planes, k + 1) <= budget), default=1)


def require_reach(n_planes: int, n_rows: int, counted: int, largest: int) -> None:
    """Refuse what takes hours; say what goes beyond the budget."""
    n_words = -(-n_rows // 64)
    most = max(counted, screenable(n_planes, n_words))
    if largest <= most or n_planes <= largest:
        return
    n_sets = sum(math.comb(n_planes, size) for size in range(counted + 2, largest + 2))
    told = f"look_ahead={largest} looks at {n_sets:.2g} sets of the levels of these columns"
    within = f"look_ahead={most} is within the budget"
    if n_sets > MOST_SETS:
        raise SettingError(f"{told}, which would take hours; {within}")
    warn(f"{told}, beyond the budget; {within}.", TamisWarning, stacklevel=2)
