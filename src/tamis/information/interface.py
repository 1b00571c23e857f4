"""The two questions every algorithm of the paper asks: H(X_k | S) and I(X_k ; X_l | S).

Whatever can answer them, counts of a table or a known network, is a ``Source``;
the algorithms see nothing else. Variables are positions 0..d-1, entropies are in nats,
and calls come in batches, because one pass over the data can answer many questions.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.counts.independence import STATS
from tamis.counts.interactions import Interaction
from tamis.errors import SettingError

__all__ = [
    "STATS",
    "Context",
    "Floats",
    "Group",
    "Interaction",
    "Ints",
    "Profiles",
    "Query",
    "Source",
    "Tests",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Context(NamedTuple):
    """A target X_k and the set S it is conditioned on; S is kept sorted."""

    target: int
    given: tuple[int, ...]


class Query(NamedTuple):
    """A context and the candidates it is to be tested with, one by one."""

    target: int
    given: tuple[int, ...]
    candidates: Ints


class Group(NamedTuple):
    """A context and several variables to be tested with it as if they were one."""

    target: int
    given: tuple[int, ...]
    members: tuple[int, ...]


@dataclass(slots=True)
class Tests:
    """What a decision rule needs to know about a batch of tests, one entry a test.

    ``cmi`` is I(X_k ; X_l | S) by the source's own estimator. The other fields describe
    the same table as a test of independence: the plug-in gain, the degrees of freedom that
    the occupied levels leave, Pearson's X2 summed over the strata of S, and the exact mean
    and variance of that X2 when the rows of X_k are permuted within each stratum.
    """

    cmi: Floats
    plugin: Floats
    df: Floats
    pearson: Floats
    null_mean: Floats
    null_variance: Floats
    n_rows: float
    n_variables: int
    residual: Floats | None = None
    """For numbers: the rows left after fitting everything; their tests have no strata."""

    rows: Floats | None = None
    """Where each test has rows of its own: how many, in place of ``n_rows``, those of the table."""

    __test__: ClassVar[bool] = False  # not a class of tests of a program

    def __len__(self) -> int:
        return len(self.cmi)

    @classmethod
    def gathered(cls, entries: Sequence[tuple[Tests, int]]) -> Tests:
        """Single tests out of several batches of one source, as one batch."""
        first = entries[0][0]
        columns = {}
        for name in _BY_TEST:
            if getattr(first, name) is not None:
                columns[name] = np.array([getattr(batch, name)[i] for batch, i in entries])
        return cls(n_rows=first.n_rows, n_variables=first.n_variables, **columns)

    @classmethod
    def end_to_end(cls, one: Tests, other: Tests) -> Tests:
        """The tests of two batches of one source as one batch."""
        columns: dict[str, Any] = {
            name: np.concatenate([getattr(one, name), getattr(other, name)])
            for name in _BY_TEST
            if getattr(one, name) is not None
        }
        return replace(one, **columns)

    def at(self, places: Ints) -> Tests:
        """Some of the tests."""
        parts = {name: getattr(self, name) for name in _BY_TEST}
        return replace(
            self, **{name: one[places] for name, one in parts.items() if one is not None}
        )

    @property
    def n_tested(self) -> float | Floats:
        """The rows behind each test."""
        return self.n_rows if self.rows is None else self.rows


_BY_TEST = (
    "cmi", "plugin", "df", "pearson", "null_mean", "null_variance", "residual", "rows",
)  # fmt: skip
"""The parts of evidence that have an entry for each test."""


class Profiles(NamedTuple):
    """For each context its entropy, the gains of all variables and, where they came along,
    their tests.

    ``entropies`` has shape (contexts,), ``cmi`` (contexts, d); ``stats``, if any, (contexts,
    d, STATS).
    """

    entropies: Floats
    cmi: Floats
    stats: Floats | None = None


class Source(ABC):
    """A source of entropies and of the evidence for dependence."""

    names: tuple[str, ...]
    n_rows: float
    """The number of rows behind the answers; infinite for a known network."""
    score_noise: float = 0.0
    """How much of the logarithm of the turns tried the scores of two graphs may differ because
    they are not of the same rows."""

    @property
    def n_variables(self) -> int:
        """The paper's d."""
        return len(self.names)

    def varies(self, k: int) -> bool:
        """Whether a variable takes more than one value; one that does not informs nobody."""
        return True

    def rows_with(self, variables: Sequence[int]) -> int | None:
        """How many rows have a value in each of these columns; None where all rows have."""
        return None

    @abstractmethod
    def entropies(self, contexts: Sequence[Context]) -> Floats:
        """H(target | given), one for each context."""

    @abstractmethod
    def cmi(self, contexts: Sequence[Context]) -> Floats:
        """I(target ; l | given) for every variable l: a row of d values for each context.

        The entries of the target and of the given variables themselves are 0.
        """

    def profiles(self, contexts: Sequence[Context]) -> Profiles:
        """Entropies and gains, with the tests of all candidates where they are at hand."""
        return Profiles(self.entropies(contexts), self.cmi(contexts))

    def as_tests(self, gains: Floats, stats: Floats) -> Tests:
        """Gains and their tests, one a line of ``stats``, as a rule reads them."""
        plugin, df, pearson, mean, variance = stats.T
        return Tests(gains, plugin, df, pearson, mean, variance, self.n_rows, self.n_variables)

    @abstractmethod
    def tests(self, queries: Sequence[Query]) -> Tests:
        """All that is known about each test: the candidates of all queries, end to end."""

    @abstractmethod
    def joint_tests(self, groups: Sequence[Group]) -> Tests:
        """The same for groups of variables, one test a group."""

    def penalised_likelihoods(self, contexts: Sequence[Context]) -> Floats:
        """ln of the likelihood of each target given its set, less the price of its parameters.

        Added up over the nodes of a DAG this is its score, the larger the better.
        """
        raise SettingError(f"{type(self).__name__} has no rows whose likelihood could be scored")

    def occurring_likelihoods(self, contexts: Sequence[Context]) -> Floats:
        """The same, with the price of the states that can occur, as far as the rows tell."""
        return self.penalised_likelihoods(contexts)

    def scale_free(self) -> Source | None:
        """The same information about columns brought to one scale; None where no column has a
        unit."""
        return None

    entropy_variance: float = 1.0
    """The variance of an estimated entropy H(X_k | S), times the number of rows: at most about."""

    def entropy_kinds(self) -> Sequence[object]:
        """For each variable what its entropies can be compared with: those of its own kind, and
        with nothing where this is None."""
        return [0] * self.n_variables

    def affordable_look_ahead(self) -> int:
        """The largest sets of candidates that can be looked for within the budget; 1 is none."""
        return 1

    def worthwhile_look_ahead(self) -> int:
        """The largest sets of candidates that it pays to look for; at least the affordable ones."""
        return self.affordable_look_ahead()

    def interactions(self, largest: int) -> list[tuple[Interaction, ...]]:
        """For each variable the sets of up to ``largest`` others to try together, by strength."""
        raise SettingError(
            f"looking ahead needs the counts of a table of levels; {type(self).__name__} has "
            "none: use look_ahead=1"
        )
