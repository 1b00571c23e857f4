"""Entropies, tests and scores from the counts of a table of levels.

**Missing values.** Each question is asked of the rows that have all of its columns. Where values
are missing completely at random each answer is that of a smaller sample; where what is missing
depends on what it would have been, the rows that are left are a biased one, here as after leaving
rows out. Answers about different rows need not fit together.

**Weights.** Whole numbers say how often a row occurs. Others are survey weights: a row stands for w
units of a population, and all rows are worth n = (sum w)^2 / sum w^2 of equal weight (Kish, 1965).
Counts are scaled to add up to that n. Clusters and strata of a survey are not known here; rows that
are alike make every p-value too small.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from tamis.core import _core as core
from tamis.errors import SettingError
from tamis.information.interface import (
    Ability,
    Context,
    Floats,
    Group,
    Ints,
    Query,
    Source,
)
from tamis.information.null_laws import CountTests
from tamis.sources.estimators import (
    AnyEstimator,
    EntropyEstimator,
    EntropyFunction,
    as_estimator,
)
from tamis.tables.sources import are_frequencies, effective_rows
from tamis.tables.table import Table

Nodes = tuple[int, ...]
Line = tuple[float, Floats, float]
"""Of a test: the cmi, what p-values follow from, and the rows behind it."""

STEPS = 2.0**20
"""Survey weights are whole numbers of such parts of a row, so that their sums have no order."""
MOST_KEPT = 2**27
"""Bytes of answers that are kept; then they are forgotten."""


class Counts(Source):
    """H and I of a table of levels by an estimator, permutation tests, and scores by the two-part
    price; ``table`` is what counts, and judges families for a search with an ``edge_price``."""

    title = "counts"
    test_names = CountTests.offered
    abilities = frozenset({Ability.LIKELIHOOD, Ability.JOINT_TESTS})

    def __init__(
        self,
        table: Table,
        estimator: str | AnyEstimator | Callable[..., float] = "grassberger",
        *,
        edge_price: float = 0.0,
    ) -> None:
        self.names = table.names
        self.estimator = as_estimator(estimator)
        additive = None if isinstance(self.estimator, EntropyFunction) else self.estimator
        weights, unit = whole_weights(table.weights)
        if table.missing:
            require_scaling(self.estimator)
        if additive is None and unit != 1.0:
            raise SettingError(
                f"entropy={self.estimator.name} needs whole counts, and survey weights make none: "
                "use 'grassberger', 'miller-madow' or 'plugin'"
            )
        self.table = core.Table(
            list(codes_of(table)),
            table.arities.tolist(),
            weights,
            edge_price,
            missing=frozenset(table.missing),
            unit=unit,
            estimator=additive,
        )
        self.n_rows = self.table.n_rows
        self._edge_price = edge_price
        self._levels = table.arities
        self._missing = table.missing
        self._n_lines = table.n_rows
        self._known: dict[tuple[object, ...], object] = {}
        self._n_bytes = 0

    def varies(self, k: int) -> bool:
        """Whether the column has more than one level."""
        return bool(self._levels[k] > 1)

    def rows_behind(self, group: Group) -> int | None:
        """How many rows have a value in each of these columns; None where all rows have."""
        columns = (group.target, *group.given, *group.members)
        absent = [self._missing[k] for k in columns if k in self._missing]
        return self._n_lines - int(np.logical_or.reduce(absent).sum()) if absent else None

    # The questions.

    def entropies(self, contexts: Sequence[Context]) -> Floats:
        """H(target | given), one for each context."""
        return np.array([self._entropy(k, tuple(given)) for k, given in contexts], dtype=float)

    def cmi(self, contexts: Sequence[Context]) -> Floats:
        """I(target ; l | given) for every column l: a row of d values for each context."""
        rows = [self._row(k, tuple(given)) for k, given in contexts]
        return np.array(rows, dtype=float).reshape(len(rows), self.n_variables)

    def tests(self, queries: Sequence[Query]) -> CountTests:
        """The candidates of all queries, end to end, each on the rows that have its columns."""
        return self._as_tests(line for query in queries for line in self._lines(query))

    def joint_tests(self, groups: Sequence[Group]) -> CountTests:
        """Each target with several columns that are tested as one."""
        return self._as_tests(self._joint(group) for group in groups)

    def penalised_likelihoods(self, contexts: Sequence[Context]) -> Floats:
        """ln of the largest likelihood, less the two-part price of the table."""
        return np.array([self._score(k, tuple(given)) for k, given in contexts], dtype=float)

    # One by one, and kept.

    def _entropy(self, target: int, given: Nodes) -> float:
        if isinstance(self.estimator, EntropyFunction):
            return self._by_function((*given, target)) - self._by_function(given)
        key = ("entropy", target, given)
        if key not in self._known:
            self._keep(key, self.table.entropy(target, given), 8)
        return self._known[key]  # type: ignore[return-value]

    def _row(self, target: int, given: Nodes) -> Floats:
        key = ("cmi", target, given)
        if key not in self._known:
            if isinstance(self.estimator, EntropyFunction):
                everyone = range(self.n_variables)
                row = self._by_entropies([Group(target, given, (one,)) for one in everyone])
            else:
                row = self.table.cmi(target, given)
            self._keep(key, row, row.nbytes)
        return self._known[key]  # type: ignore[return-value]

    def _lines(self, query: Query) -> list[Line]:
        target, given = query.target, tuple(query.given)
        keys = [("test", target, given, k) for k in np.asarray(query.candidates).tolist()]
        fresh = [key for key in keys if key not in self._known]
        if fresh:
            found = self.table.tests(target, given, [key[-1] for key in fresh])
            for key, cmi, stats, n in zip(fresh, *found, strict=True):
                self._keep(key, (self._cmi_of(Group(target, given, key[-1:]), cmi), stats, n), 64)
        return [self._known[key] for key in keys]  # type: ignore[misc]

    def _joint(self, group: Group) -> Line:
        members = tuple(k for k in group.members if k not in (group.target, *group.given))
        if not members:
            return 0.0, np.zeros(5), self.n_rows
        key = ("test", group.target, tuple(group.given), members)
        if key not in self._known:
            cmi, stats, n_rows = self.table.joint_test(group.target, group.given, members)
            found = self._cmi_of(Group(group.target, group.given, members), cmi[0])
            self._keep(key, (found, stats[0], n_rows[0]), 64)
        return self._known[key]  # type: ignore[return-value]

    def _score(self, target: int, given: Nodes) -> float:
        key = ("score", target, given)
        if key not in self._known:
            self._keep(key, self.table.family(target, given)[0] + self._edge_price * len(given), 8)
        return self._known[key]  # type: ignore[return-value]

    def _keep(self, key: tuple[object, ...], answer: object, n_bytes: int) -> None:
        if self._n_bytes > MOST_KEPT:
            self._known, self._n_bytes = {}, 0
        self._known[key] = answer
        self._n_bytes += n_bytes + 300  # about what a key and its place take

    def _as_tests(self, lines: Iterable[Line]) -> CountTests:
        found = list(lines)
        return CountTests(
            np.array([cmi for cmi, _, _ in found], dtype=float),
            stats=np.array([stats for _, stats, _ in found], dtype=float).reshape(-1, 5),
            n_rows=np.array([n_rows for _, _, n_rows in found], dtype=float),
        )

    # An estimator that is a function of whole tables.

    def _by_function(self, columns: Nodes) -> float:
        key = ("function", *sorted(columns))
        if not columns:
            return 0.0
        if key not in self._known and isinstance(self.estimator, EntropyFunction):
            names = ", ".join(self.names[k] for k in sorted(columns))
            cells = float(np.prod(self._levels[list(columns)], dtype=float))
            counts = self.table.counts(sorted(columns))
            self._keep(key, self.estimator.entropy(counts, cells, f"the table of {names}"), 8)
        return self._known[key]  # type: ignore[return-value]

    def _cmi_of(self, group: Group, by_cells: float) -> float:
        if isinstance(self.estimator, EntropyFunction):
            return float(self._by_entropies([group])[0])
        return by_cells


def codes_of(table: Table) -> Iterable[NDArray[np.generic]]:
    """The codes of each column, where it is missing its number of levels."""
    for k, levels in enumerate(table.arities.tolist()):
        dtype = np.uint8 if levels < 2**8 else np.uint16 if levels < 2**16 else np.int32
        codes = np.ascontiguousarray(table.codes[k], dtype=dtype)
        if k in table.missing:
            codes = np.where(table.missing[k], np.array(levels, dtype=dtype), codes)
        yield codes


def whole_weights(weights: Floats | None) -> tuple[Ints | None, float]:
    """Weights as whole numbers of some part of a row, and that part."""
    if weights is None:
        return None, 1.0
    if are_frequencies(weights):
        return weights.astype(np.int64), 1.0
    steps = np.rint(weights * (effective_rows(weights) / weights.sum() * STEPS))
    return np.maximum(steps, 1.0).astype(np.int64), 1.0 / STEPS


def require_scaling(estimator: AnyEstimator) -> None:
    """Refuse an estimator whose f for fewer rows does not follow from that for all of them."""
    follows = False
    if isinstance(estimator, EntropyEstimator) and not (estimator.uses_support or estimator.clips):
        counts = np.arange(1, 6, dtype=np.int64)
        few, many = (n * estimator.terms(counts, n, 1) for n in (100, 1000))
        follows = bool(np.abs(many - few - counts * (many[0] - few[0])).max() < 1e-9)
    if not follows:
        raise SettingError(
            f"entropy={estimator.name!r} depends on the rows in more than one way, and with "
            "missing='pairwise' they differ from test to test: use 'grassberger', 'plugin', "
            "'miller-madow' or 'jackknife', or missing='drop' or 'level'"
        )
