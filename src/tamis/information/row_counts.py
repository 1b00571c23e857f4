"""Counts of rows that are not all alike: what sources of missing values and of survey
weights share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tamis.counting.independence import STATS
from tamis.information.gap_states import GapStates
from tamis.information.interface import (
    Ability,
    Context,
    Floats,
    Group,
    Ints,
    Profiles,
    Query,
    Source,
)
from tamis.information.null_laws import CountTests
from tamis.tables.table import Table

KNOWN_BYTES = 2**27
"""Tests of whole contexts are kept while they fit in this."""


class RowCounts(Source):
    """H and I of a table of levels, every question asked of the rows that have its columns. Each
    test says how many rows it has. Looking ahead is off: it goes by complete rows of equal weight.
    """

    test_names = CountTests.offered
    abilities = frozenset({Ability.LIKELIHOOD, Ability.JOINT_TESTS})

    def __init__(self, table: Table, counted: Table, n_rows: float) -> None:
        self.names = table.names
        self.n_rows = n_rows
        self._n_table = table.n_rows
        self._missing = table.missing
        self._sizes: list[int] = table.arities.tolist()
        self._states = GapStates(counted)
        self._known: dict[Context, tuple[float, CountTests]] = {}

    def varies(self, k: int) -> bool:
        """Whether the column has more than one level."""
        return self._sizes[k] > 1

    def rows_behind(self, group: Group) -> int | None:
        """How many rows have a value in each of these columns; None where all rows have."""
        return n_rows_of(self._missing, group, self._n_table)

    def entropies(self, contexts: Sequence[Context]) -> Floats:
        """H(target | given), each on the rows that have the target and all that is given."""
        return np.array([self._entropy(context) for context in contexts], dtype=np.float64)

    def profiles(self, contexts: Sequence[Context]) -> Profiles:
        """Entropies and cmi; the tests, whose rows differ, are asked for apart."""
        known = [self._whole(context) for context in contexts]
        cmi = np.array([tests.cmi for _, tests in known])
        return Profiles(
            np.array([entropy for entropy, _ in known], dtype=np.float64),
            cmi.reshape(len(contexts), self.n_variables),
        )

    def tests(self, queries: Sequence[Query]) -> CountTests:
        """The candidates of all queries, end to end, each on the rows that have its columns."""
        return end_to_end(
            [
                self._some(k, given, np.asarray(others, dtype=np.int64))
                for k, given, others in queries
            ]
        )

    def joint_tests(self, groups: Sequence[Group]) -> CountTests:
        """Groups of variables, each missing where one of its members is."""
        return end_to_end([self._test_group(group) for group in groups])

    def penalised_likelihoods(self, contexts: Sequence[Context]) -> Floats:
        """What the parents explain a row, on the rows that have all of them, times all rows.

        Likelihoods on different rows cannot be compared. Their means can: the node-average
        likelihood of Balov (2013) and Bodewes and Scutari (2021). Here it is taken of a
        difference, target with and without its parents on the same rows, each at its price by
        quotient NML; to which comes the target alone, on all rows that have it. So what differs
        between sets of parents is what they explain, and not whose rows were asked, and an edge
        scores the same in both directions.
        """
        return np.array([self._score(context) for context in contexts], dtype=np.float64)

    def _whole(self, context: Context) -> tuple[float, CountTests]:
        """The entropy of a context and the tests of all variables with it."""
        known = self._known.get(context)
        if known is None:
            everyone = np.arange(self.n_variables)
            known = self._entropy(context), self._test(context, everyone)
            if len(self._known) * self.n_variables * 8 * (STATS + 2) < KNOWN_BYTES:
                self._known[context] = known
        return known

    def _some(self, target: int, given: tuple[int, ...], candidates: Ints) -> CountTests:
        known = self._known.get(Context(target, given))
        if known is None:
            return self._test(Context(target, given), candidates)
        return known[1].at(candidates)

    @abstractmethod
    def _entropy(self, context: Context) -> float:
        """H(target | given)."""

    @abstractmethod
    def _test(self, context: Context, candidates: Ints) -> CountTests:
        """The candidates, one by one; those that are part of the context say nothing."""

    @abstractmethod
    def _test_group(self, group: Group) -> CountTests:
        """Several variables as one candidate."""

    @abstractmethod
    def _score(self, context: Context) -> float:
        """The penalised likelihood of a target given its set."""


def n_rows_of(missing: Mapping[int, NDArray[np.bool_]], group: Group, n_rows: int) -> int | None:
    """How many rows have all columns of a group; None where none of these is missing anywhere."""
    columns = (group.target, *group.given, *group.members)
    absent = [missing[k] for k in columns if k in missing]
    return n_rows - int(np.logical_or.reduce(absent).sum()) if absent else None


def end_to_end(parts: Sequence[CountTests]) -> CountTests:
    """All tests as one batch."""
    nothing = CountTests(np.zeros(0), stats=np.zeros((0, STATS)), n_rows=np.zeros(0))
    return nothing.followed_by(parts)
