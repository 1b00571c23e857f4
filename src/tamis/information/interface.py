"""The two questions every algorithm of the paper asks: H(X_k | S) and I(X_k ; X_l | S).

Whatever can answer them, counts of a table, a known network or a program from elsewhere, is a
``Source``; the algorithms see nothing else. Variables are positions 0..d-1, entropies are in nats,
and calls come in batches, because one pass over the data can answer many questions.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from enum import StrEnum
from typing import ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from tamis.core import Asked, Judge
from tamis.counting.interactions import Interaction as Interaction
from tamis.errors import SettingError

LEVELS = "levels"
"""The kind of an entropy that has no unit of measurement,"""
NUMBERS = "numbers"
"""and of one that depends on it: ln of the unit is added to it."""

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Ability(StrEnum):
    """What a source may be able to do besides answering the two questions.

    Examples
    --------
    >>> import tamis
    >>> [one.value for one in tamis.Ability]
    ['likelihood', 'joint tests', 'look-ahead']
    """

    LIKELIHOOD = "likelihood"
    """Score graphs: ``penalised_likelihoods``."""
    JOINT_TESTS = "joint tests"
    """Give ``joint_tests`` p-values of several variables at once, not only their information."""
    LOOK_AHEAD = "look-ahead"
    """Find sets of variables that say something only together: ``interactions``."""


class Context(NamedTuple):
    """A target X_k and the set S it is conditioned on.

    Attributes
    ----------
    target : int
        The position of the target.
    given : tuple of int
        The positions of S, sorted.

    Examples
    --------
    >>> import tamis
    >>> tamis.Context(target=2, given=(0, 1))
    Context(target=2, given=(0, 1))
    """

    target: int
    given: tuple[int, ...]


class Query(NamedTuple):
    """A context and the candidates that are tested with it, one by one.

    Attributes
    ----------
    target : int
        The position of the target.
    given : tuple of int
        The positions of the conditioning set, sorted.
    candidates : array of int
        The positions of the candidates.

    Examples
    --------
    >>> import numpy as np, tamis
    >>> tamis.Query(2, (0,), np.array([1, 3])).candidates
    array([1, 3])
    """

    target: int
    given: tuple[int, ...]
    candidates: Ints


class Group(NamedTuple):
    """A context and several variables that are tested with it as if they were one.

    Attributes
    ----------
    target : int
        The position of the target.
    given : tuple of int
        The positions of the conditioning set, sorted.
    members : tuple of int
        The positions of the variables.

    Examples
    --------
    >>> import tamis
    >>> tamis.Group(target=2, given=(), members=(0, 1)).members
    (0, 1)
    """

    target: int
    given: tuple[int, ...]
    members: tuple[int, ...]


class Tests:
    """What a source says about a batch of tests, one entry each.

    A source with several tests, or with p-values that are costly, returns a subclass. It keeps in
    ``stats``, one line for each test, what p-values follow from, and computes them when they are
    asked for, because only few of very many tests are judged.

    Parameters
    ----------
    cmi : array
        I(X_k ; X_l | S) in nats, by the source's own estimator.
    log_p : array or None
        The natural logarithm of the p-value of independence, by the test that the source prefers;
        None if it has none.
    n_rows : float or array
        The number of rows behind the tests, one for all or one for each.
    stats : array or None
        What p-values follow from.

    Examples
    --------
    >>> import numpy as np, tamis
    >>> tests = tamis.Tests(np.array([0.2, 0.0]), np.log([0.001, 1.0]), n_rows=100)
    >>> len(tests), tests.at(np.array([0])).cmi
    (2, array([0.2]))
    """

    __slots__ = ("_log_p", "cmi", "n_rows", "stats")
    __test__: ClassVar[bool] = False  # nothing for pytest to collect

    offered: ClassVar[tuple[str, ...]] = ()
    """The tests by name, where there are several; the source prefers the first."""
    origin: ClassVar[str] = "this source"
    """Whose tests these are, in a message."""

    def __init__(
        self,
        cmi: Floats,
        log_p: Floats | None = None,
        *,
        n_rows: float | Floats = math.inf,
        stats: Floats | None = None,
    ) -> None:
        self.cmi = cmi
        self.n_rows = n_rows
        self.stats = stats
        self._log_p = log_p

    def __len__(self) -> int:
        return len(self.cmi)

    @property
    def log_p(self) -> Floats | None:
        """ln of each p-value by the test that the source prefers; None where it has none."""
        return self._log_p

    def log_p_by(self, test: str | None) -> Floats:
        """ln of each p-value by the test of this name, or by the one that the source prefers."""
        found = self.log_p
        if found is None:
            raise SettingError(
                f"{self.origin} gives no p-values: choose a threshold in nats, such as Fixed(0.04)"
            )
        return found

    def penalised(self) -> Floats:
        """What dependence adds to the log-likelihood of the rows, less its price by BIC."""
        instead = " or ".join(map(repr, self.offered)) or "a threshold in nats, such as Fixed(0.04)"
        raise SettingError(
            f"BIC counts degrees of freedom, and {self.origin} gives none: choose {instead}"
        )

    def at(self, places: Ints) -> Self:
        """Some of the tests."""
        return type(self)(
            self.cmi[places],
            None if self._log_p is None else self._log_p[places],
            n_rows=self.n_rows[places] if isinstance(self.n_rows, np.ndarray) else self.n_rows,
            stats=None if self.stats is None else self.stats[places],
        )

    def followed_by(self, others: Sequence[Tests]) -> Self:
        """These tests and more of the same source, end to end."""
        batches: tuple[Tests, ...] = (self, *others)
        log_p = [one._log_p for one in batches if one._log_p is not None]
        stats = [one.stats for one in batches if one.stats is not None]
        rows = [one.n_rows for one in batches if isinstance(one.n_rows, np.ndarray)]
        return type(self)(
            np.concatenate([one.cmi for one in batches]),
            np.concatenate(log_p) if log_p else None,
            n_rows=np.concatenate(rows) if rows else self.n_rows,
            stats=np.concatenate(stats) if stats else None,
        )


LEADING = 128
"""The largest cmi of a row that are always there, besides those of the context itself."""


class Profiles(NamedTuple):
    """The entropy of each context, its cmi with all variables and perhaps their tests.

    Attributes
    ----------
    entropies : array of shape (contexts,)
        Nan where an entropy takes much longer than the cmi: few of them are read, and
        ``Source.entropies`` computes it.
    cmi : array of shape (contexts, d)
        Conditional mutual informations in nats.
    stats : array of shape (contexts, d, a few) or None
        Lines that ``Source.as_tests`` turns into tests.
    whole : array of bool or None
        Which rows are whole. The others have only their largest cmi, at least LEADING, and -inf
        elsewhere. None if all rows are whole.

    Examples
    --------
    >>> import numpy as np, tamis
    >>> tamis.Profiles(np.array([0.7]), np.array([[0.0, 0.3]])).cmi.shape
    (1, 2)
    """

    entropies: Floats
    cmi: Floats
    stats: Floats | None = None
    whole: NDArray[np.bool_] | None = None


class Source(ABC):
    """What can say how uncertain a variable is given others, and how much one tells of another.

    A source of your own has ``names``, ``n_rows`` and ``entropies``; all else follows from those.
    Override ``cmi`` where it has an estimator of its own. Override ``tests``, and name the test in
    ``test_names``, where it has p-values. Each further ability is declared in ``abilities`` and
    then has its methods (``Ability``).

    Examples
    --------
    >>> import numpy as np, tamis
    >>> class Coins(tamis.Source):
    ...     names, n_rows = ("one", "other"), float("inf")
    ...     def entropies(self, contexts):
    ...         return np.array([0.0 if one.given else np.log(2) for one in contexts])
    >>> Coins().cmi([(0, ())]).round(3)
    array([[0.   , 0.693]])
    """

    names: tuple[str, ...]
    n_rows: float
    """The number of rows behind the answers; infinite for a known law."""
    test_names: tuple[str, ...] = ()
    """What gives ``Tests.log_p``, as in ``("kernel test",)``; empty without p-values. The sources
    of tamis may have several tests, of which the first is preferred."""
    abilities: frozenset[str] = frozenset()
    """What this source can do besides: members of ``Ability``."""
    entropy_variance: float = 1.0
    """The variance of an estimated entropy H(X_k | S), times the number of rows: at most about."""

    @property
    def n_variables(self) -> int:
        """The paper's d."""
        return len(self.names)

    @property
    def title(self) -> str:
        """What messages call this source."""
        return type(self).__name__

    def require(self, ability: Ability, needed_by: str, instead: str) -> None:
        """Refuse to go on without an ability; ``instead`` says what to do."""
        if ability not in self.abilities:
            raise SettingError(
                f"{needed_by} needs {ability}, and there is none with {self.title}: {instead}"
            )

    def has_own(self, method: str) -> bool:
        """Whether this source answers a question itself, or leaves it to the entropies."""
        return getattr(type(self), method) is not getattr(Source, method)

    def varies(self, k: int) -> bool:
        """Whether a variable takes more than one value; one that does not informs nobody."""
        return True

    def rows_behind(self, group: Group) -> int | None:
        """How many rows a test of these variables rests on, where values are missing: those that
        have all of them, or as many as what is present is worth. None where it is all rows."""
        return None

    # The questions.

    @abstractmethod
    def entropies(self, contexts: Sequence[Context]) -> Floats:
        """H(target | given), one for each context."""

    def cmi(self, contexts: Sequence[Context]) -> Floats:
        """I(target ; l | given) for every variable l: a row of d values for each context.

        The entries of the target and of the given variables themselves are 0.
        """
        if self.has_own("profiles"):
            return self.profiles(contexts).cmi
        everyone = range(self.n_variables)
        groups = [Group(k, tuple(given), (other,)) for k, given in contexts for other in everyone]
        return self._by_entropies(groups).reshape(len(contexts), self.n_variables)

    def profiles(self, contexts: Sequence[Context]) -> Profiles:
        """Entropies and cmi, with the tests of all candidates where they are at hand."""
        return Profiles(self.entropies(contexts), self.cmi(contexts))

    def as_tests(self, cmi: Floats, stats: Floats) -> Tests:
        """Entries of ``Profiles`` as tests, one a line of ``stats``: by default ln p."""
        return Tests(cmi, stats[:, 0], n_rows=self.n_rows)

    def tests(self, queries: Sequence[Query]) -> Tests:
        """The candidates of all queries, end to end, each tested with its target."""
        if self.has_own("joint_tests") or not self.has_own("cmi"):
            return self.joint_tests(singles(queries))
        rows = self.cmi([Context(k, given) for k, given, _ in queries])
        parts = [row[query.candidates] for row, query in zip(rows, queries, strict=True)]
        return Tests(np.concatenate([np.zeros(0), *parts]), n_rows=self.n_rows)

    def joint_tests(self, groups: Sequence[Group]) -> Tests:
        """Each target with a group of variables, one test a group."""
        return Tests(self._by_entropies(groups), n_rows=self.n_rows)

    def _by_entropies(self, groups: Sequence[Group]) -> Floats:
        """I(target ; members | given) = H(target | given) - H(target | given, members)."""
        fresh = [set(members) - {target, *given} for target, given, members in groups]
        some = [i for i, one in enumerate(fresh) if one]
        before = [Context(groups[i].target, groups[i].given) for i in some]
        after = [
            Context(groups[i].target, tuple(sorted({*groups[i].given, *fresh[i]}))) for i in some
        ]
        asked = list(dict.fromkeys((*before, *after)))
        known = dict(zip(asked, self.entropies(asked) if asked else (), strict=True))
        found = np.zeros(len(groups))
        found[some] = [known[b] - known[a] for b, a in zip(before, after, strict=True)]
        return found

    # With LIKELIHOOD.

    def penalised_likelihoods(self, contexts: Sequence[Context]) -> Floats:
        """ln of the likelihood of each target given its set, less the price of its parameters.

        Added up over the nodes of a DAG this is its score, the larger the better.
        """
        raise SettingError(f"there is no likelihood with {self.title}")

    def judge(
        self, nodes: Sequence[int], *, edge_price: float = 0.0, same_units: bool = False
    ) -> Judge:
        """What the search over orders asks about these variables: the score of a family, less
        ``edge_price`` for each parent, and its noise entropy, of numbers on one scale unless they
        have the ``same_units``."""
        measured = self if same_units else self.scale_free() or self

        def ask(target: int, given: list[int], candidates: list[int] | None) -> Floats:
            sets = [given] if candidates is None else [[*given, one] for one in candidates]
            contexts = [Context(nodes[target], tuple(sorted(nodes[p] for p in s))) for s in sets]
            prices = [edge_price * len(one) for one in sets]
            scores: Floats = self.penalised_likelihoods(contexts) - np.array(prices)
            if candidates is None:
                return np.concatenate([scores, measured.entropies(contexts)])
            return scores

        return Asked(len(nodes), self.n_rows, ask)

    # With LOOK_AHEAD.

    def affordable_look_ahead(self) -> int:
        """The largest sets of candidates that can be looked for within the budget; 1 is none."""
        return 1

    def worthwhile_look_ahead(self) -> int:
        """The largest sets of candidates that it pays to look for; at least the affordable ones."""
        return self.affordable_look_ahead()

    def interactions(self, largest: int) -> list[tuple[Interaction, ...]]:
        """For each variable the sets of up to ``largest`` others to try together, by strength."""
        raise SettingError(
            f"looking ahead needs counts of complete rows of equal weight, not {self.title}: use "
            "look_ahead=1"
        )

    # What entropies of different variables mean to each other.

    def scale_free(self) -> Source | None:
        """This source for columns brought to one scale; None where no column has a unit."""
        return None

    def entropy_kinds(self) -> Sequence[str | None]:
        """For each variable what its entropies can be compared with: those of its own kind,
        ``LEVELS`` or ``NUMBERS``, and with nothing where this is None."""
        return [LEVELS] * self.n_variables


def singles(queries: Sequence[Query]) -> list[Group]:
    """The candidates of all queries, end to end, each as a group of one."""
    return [Group(k, given, (int(one),)) for k, given, candidates in queries for one in candidates]
