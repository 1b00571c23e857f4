"""How far sets of columns are looked for: counted while the budget lasts, then screened.

More rows make counting dearer, and must not find less for that: sets that could be counted in a
smaller table are counted on a sample of that size, and sizes that could be counted in the smallest
table are always looked at.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property
from warnings import warn

from tamis.constants import constants
from tamis.counting.compiled import Ints, Words
from tamis.counting.interactions import (
    MOST_BYTES,
    SCREEN_WORDS,
    Found,
    Interaction,
    Parities,
    PlanePass,
    Screen,
    affordable,
    by_evenness,
    bytes_of_sets,
    even_sets,
    interacting_columns,
    strongest_sets,
)
from tamis.counting.passes import Sums
from tamis.counting.row_sample import Sample, sampled
from tamis.counting.sharing import share
from tamis.errors import SettingError, TamisWarning
from tamis.tables.planes import plane_ones

MOST_SETS = 2**36
"""More sets are not screened even if asked for: minutes would become hours."""


class Looking:
    """The sets of columns of a table that say something together; each size is looked for once.

    ``ones`` are the rows of each plane that takes part (``interacting_planes``), and ``run`` goes
    over all rows. The counts of all sets may take no more than ``most_bytes``.
    """

    def __init__(
        self,
        arities: Ints,
        ones: Ints,
        n_rows: int,
        run: Callable[[PlanePass], Sums],
        n_jobs: int,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self._column = interacting_columns(arities)
        self._ones = ones
        self._n_rows = n_rows
        self._n_columns = len(arities)
        self._run = run
        self._n_jobs = n_jobs
        n_planes = len(self._column)
        self.counted = affordable(n_planes, -(-n_rows // 64))
        """The largest number of candidates whose sets are counted."""
        while self.counted > 1 and bytes_of_sets(n_planes, self.counted) > most_bytes:
            self.counted -= 1
        self._by_counting: dict[int, list[Found]] = {}
        self._by_screening: dict[int, list[Found]] = {}

    @cached_property
    def _rows(self) -> Sample:
        """The rows on which larger sets are screened."""
        return sampled(self._column, self._ones, self._n_rows, self._run)

    @cached_property
    def _screen(self) -> Screen:
        """What screens these rows."""
        return Screen(*self._rows, self._column, self._n_rows)

    @cached_property
    def _n_sets(self) -> list[int]:
        """The sets of each size that would be screened."""
        n_planes, top = len(self._column), constants.largest_set + 1
        if (
            self.counted == constants.largest_set
            or screenable(all_sets(n_planes), self._n_read) < 2
        ):
            return all_sets(n_planes)
        words, n_sampled = self._rows
        _, even = by_evenness(plane_ones(words), n_sampled)
        return even_sets(even, constants.least_screened, top)

    @property
    def _n_read(self) -> int:
        """The words that a pass over all pairs of planes reads."""
        return len(self._column) ** 2 * -(-self._n_rows // 64)

    @property
    def reach(self) -> int:
        """The largest number of candidates whose sets can be screened within the budget."""
        return max(self.counted, screenable(self._n_sets, self._n_read))

    @property
    def least(self) -> int:
        """The number of candidates up to which sets are looked for in any case: also as far as few
        planes are even enough to be screened."""
        few = within(self._n_sets, constants.always_screened)
        return max(self.counted, least_looked_for(len(self._column)), min(few, self.reach))

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
        require_reach(self._n_sets, self._n_read, self.counted, largest)
        counted = min(largest, self.counted)
        if counted not in self._by_counting:
            parities = Parities(self._column, self._n_rows, counted, self._ones)
            self._by_counting[counted] = parities.count(self._run).found() if counted > 1 else []
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
        words, n_sampled = self._rows
        if size <= affordable(n_planes, words.shape[1]) + 1:
            return self._counted_on(words, n_sampled, size)
        found: list[Found] = []

        def part(start: int, stop: int) -> None:
            found.extend(self._screen.look(size, start, stop))

        # A set is looked at with its largest plane, and large planes are the largest of many.
        share(self._n_jobs, n_planes - size + 1, math.comb(n_planes, size), part, power=1 / size)
        return sorted(found)  # in an order that does not depend on who looked first

    def _counted_on(self, words: Words, n_sampled: int, size: int) -> list[Found]:
        """The sets of this size by counting, but on a sample; as strong as on all rows."""
        parities = Parities(self._column, n_sampled, size - 1, plane_ones(words))
        parities.count(lambda one: one.of_block(words, n_sampled, self._n_jobs))
        more = math.sqrt(self._n_rows / n_sampled)
        return [(target, members, z * more) for target, members, z in parities.strong(size)]


def all_sets(n_planes: int) -> list[int]:
    """The number of sets of each size among ``n_planes`` planes."""
    return [math.comb(n_planes, size) for size in range(constants.largest_set + 2)]


def within(n_sets: Sequence[int], budget: int) -> int:
    """The largest number of candidates up to which a size has no more sets than that; 1 is none."""
    largest = 1
    while largest < constants.largest_set and 0 < n_sets[largest + 2] <= budget:
        largest += 1
    return largest


def least_looked_for(n_planes: int) -> int:
    """The number of candidates up to which sets of planes are looked for whatever the rows.

    That is as far as all of them could be counted in a table of few rows; pairs, if they can be
    screened.
    """
    few = affordable(n_planes, SCREEN_WORDS)
    return max(few, min(screenable(all_sets(n_planes), n_planes**2 * SCREEN_WORDS), 2))


def screenable(n_sets: Sequence[int], n_read: int) -> int:
    """The largest number of candidates whose sets can be screened within the budget; 1 is none."""
    return within(n_sets, constants.screened_sets + constants.screened_passes * n_read)


def require_reach(n_sets: Sequence[int], n_read: int, counted: int, largest: int) -> None:
    """Refuse what takes hours; say what goes beyond the budget."""
    most = max(counted, screenable(n_sets, n_read))
    if largest <= most or not n_sets[largest + 1]:
        return
    total = sum(n_sets[counted + 2 : largest + 2])
    told = f"look_ahead={largest} looks at {total:.2g} sets of the levels of these columns"
    within_budget = f"look_ahead={most} is within the budget"
    if total > MOST_SETS:
        raise SettingError(f"{told}, which would take hours; {within_budget}")
    warn(f"{told}, beyond the budget; {within_budget}.", TamisWarning, stacklevel=2)
