"""Columns by rank: ordinal ones, numbers with heavy tails beside categories, and numbers by their
Gaussian copula.

Ordinal columns are tested for what is monotone beside what counting their levels sees.

A test of two columns with levels spends a degree of freedom on every way in which their levels may
go together. Where the levels are ordered, most dependence is monotone, and the correlation of ranks
within the strata of S, squared, has one (Mantel, 1963; Landis, Heyman and Koch, 1978). Both tests
are made, and each has its share of alpha, by Bonferroni: ``ranks_share`` for the ranks, which gain
far more than that where dependence is monotone, and the rest for the counts, so that what is not
monotone is lost only where its p-value was that close to alpha. A column with two levels has an
order, whatever they are.

The cmi is the larger one too: that of the correlation misses what is not monotone and that of the
counts is rough where cells are many, but neither is more than there is, in the mean. Likelihoods
are those of the counts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Self

import numpy as np
from scipy.special import chdtrc, chdtri, gammaincc, gammainccinv

from tamis.constants import constants
from tamis.errors import DataError
from tamis.information.continuous import (
    column_entropy,
    normal_scores,
    require_numbers,
    tell_of_ties,
    untied,
)
from tamis.information.gaussian import GaussianInformation, analytic, checked_or_auto
from tamis.information.interface import Context, Floats, Ints, Profiles, Query, Source, Tests
from tamis.information.wrappers import Wrapper
from tamis.plugins import whole
from tamis.tables.moments import LARGEST, require_moments
from tamis.tables.refusals import listed, shown
from tamis.tables.table import Table

BEYOND_DOUBT = 1e-290
"""Smaller p-values are left as they are: some times as much is the same, and has no inverse."""
MOST_NUMBERS = 2**24
"""How many statistics are kept."""

Members = tuple[int, ...]


def ranks_of(codes: Ints) -> Floats:
    """The mean rank of each row's level, with mean 0 and variance 1."""
    counts = np.bincount(codes)
    middle = np.cumsum(counts) - counts / 2
    found: Floats = middle[codes] - len(codes) / 2
    return found / max(float(np.sqrt(np.mean(found**2))), 1e-300)


def ordered(table: Table) -> list[int]:
    """The columns that have ranks: ordinal ones, and those with two levels."""
    return [
        k
        for k, kind in enumerate(table.kinds)
        if (kind == "ordinal" and table.arities[k] > 1)
        or (kind != "number" and table.arities[k] == 2)
    ]


def has_ranks(table: Table) -> bool:
    """Whether ranks say more than levels do about any pair of columns with levels."""
    wide = [k for k, kind in enumerate(table.kinds) if kind == "ordinal" and table.arities[k] > 2]
    return bool(wide) and len(ordered(table)) > 1


class RankedInformation(Wrapper):
    """The answers of counts, with the tests of ordered columns."""

    def __init__(self, source: Source, table: Table) -> None:
        super().__init__(source)
        self._table = table
        self._columns = ordered(table)
        self._place = {k: i for i, k in enumerate(self._columns)}
        codes = table.codes.astype(np.int64)
        self._codes = codes
        self._ranks = np.array([ranks_of(codes[k]) for k in self._columns])
        wide = table.arities > 2
        self._is_wide = [bool(wide[k]) for k in self._columns]
        self._known: dict[Members, Floats] = {}

    def around(self, source: Source) -> Source:
        """These ranks beside another source."""
        return RankedInformation(source, self._table)

    def cmi(self, contexts: Sequence[Context]) -> Floats:
        """I(target ; l | given), the larger of both."""
        return self.profiles(contexts).cmi

    def profiles(self, contexts: Sequence[Context]) -> Profiles:
        """Those of the counts, with the tests of ordered columns where tests come along."""
        found = self.source.profiles(contexts)
        cmi = found.cmi.copy()
        stats = None if found.stats is None else found.stats.copy()
        for i, (target, given) in enumerate(contexts):
            others = self._compared(target, given, range(self.n_variables))
            if others:
                of_ranks = self._monotone(target, given, others)
                cmi[i, others] = np.maximum(cmi[i, others], self._gains(of_ranks))
                if stats is not None:
                    stats[i, others] = combined(stats[i, others], of_ranks)
        return Profiles(found.entropies, cmi, stats)

    def tests(self, queries: Sequence[Query]) -> Tests:
        """Those of the counts, with those of ordered columns."""
        found = self.source.tests(queries)
        if found.stats is None:
            return found
        cmi, stats = found.cmi.copy(), found.stats.copy()
        start = 0
        for target, given, candidates in queries:
            compared = set(self._compared(target, given, candidates.tolist()))
            places = [start + i for i, k in enumerate(candidates.tolist()) if k in compared]
            if places:
                others = [k for k in candidates.tolist() if k in compared]
                of_ranks = self._monotone(target, given, others)
                cmi[places] = np.maximum(cmi[places], self._gains(of_ranks))
                stats[places] = combined(stats[places], of_ranks)
            start += len(candidates)
        return self.as_tests(cmi, stats)

    def _compared(self, target: int, given: Members, candidates: Sequence[int]) -> list[int]:
        """Whose ranks say more than the levels: two with two levels each are the same either
        way."""
        place = self._place.get(target)
        if place is None or target in given:
            return []
        return [
            k
            for k in candidates
            if k in self._place
            and k != target
            and k not in given
            and (self._is_wide[place] or self._is_wide[self._place[k]])
        ]

    def _gains(self, of_ranks: Floats) -> Floats:
        """The cmi of a correlation, without its mean under independence."""
        found: Floats = (of_ranks - 1) / (2 * self.n_rows)
        return found

    def _monotone(self, target: int, given: Members, others: Sequence[int]) -> Floats:
        """The squared correlation of ranks within strata, over its variance if rows are permuted
        within them: chi-squared with one degree of freedom."""
        if given not in self._known:
            if len(self._known) * len(self._columns) ** 2 > MOST_NUMBERS:
                self._known.clear()
            self._known[given] = self._all_monotone(given)
        found: Floats = self._known[given][self._place[target], [self._place[k] for k in others]]
        return found

    def _all_monotone(self, given: Members) -> Floats:
        cell = np.zeros(self._codes.shape[1], dtype=np.int64)
        for k in given:
            fresh = cell * (int(self._codes[k].max()) + 1) + self._codes[k]
            cell = np.unique(fresh, return_inverse=True)[1]
        order = np.argsort(cell, kind="stable")
        counts = np.bincount(cell)
        starts = np.cumsum(counts) - counts
        ranks = self._ranks[:, order]
        ranks -= np.repeat(np.add.reduceat(ranks, starts, axis=1) / counts, counts, axis=1)
        squares = np.add.reduceat(ranks**2, starts, axis=1)
        variances = (squares / np.maximum(counts - 1, 1)) @ squares.T
        speaks = variances > 1e-9
        found: Floats = np.where(speaks, (ranks @ ranks.T) ** 2 / np.where(speaks, variances, 1), 0)
        return found


def combined(stats: Floats, of_ranks: Floats) -> Floats:
    """The statistics of counts, of which X2, its mean and its variance are replaced: a gamma law
    of the p-value of both has them."""
    found = stats.copy()
    x2, mean, variance = found[:, 2], found[:, 3], found[:, 4]
    speaks = variance > 0
    rate = np.where(speaks, mean / np.where(speaks, variance, 1), 1)
    shape = np.where(speaks, mean * rate, 1)
    p_counts = np.where(speaks, gammaincc(shape, x2 * rate), 1)
    p_ranks = chdtrc(1.0, of_ranks)
    raised = np.minimum(p_counts / (1 - constants.ranks_share), 1)
    by_ranks = p_ranks / constants.ranks_share < raised
    doubtful = speaks & (p_counts > BEYOND_DOUBT)
    found[doubtful, 2] = (gammainccinv(shape, raised) / rate)[doubtful]
    found[by_ranks, 2] = with_share(of_ranks, p_ranks, 1.0, constants.ranks_share)[by_ranks]
    found[by_ranks, 3], found[by_ranks, 4] = 1.0, 2.0
    return found


def with_share(statistic: Floats, p: Floats, df: Floats | float, share: Floats | float) -> Floats:
    """The chi-squared statistic that p-values have when a test has a share of alpha."""
    raised = np.minimum(np.maximum(p, BEYOND_DOUBT) / share, 1)
    found: Floats = np.where(p > BEYOND_DOUBT, chdtri(np.maximum(df, 1e-300), raised), statistic)
    return found


def heavy_columns(table: Table) -> list[int]:
    """The columns of numbers whose kurtosis is beyond what tests of variances bear."""
    return [
        k for k, kind in enumerate(table.kinds) if kind == "number" and _is_heavy(_seen(table, k))
    ]


def by_ranks(table: Table) -> Table:
    """The table with normal scores in place of numbers with heavy tails, in their own unit. Of
    columns with the same ranks one has scores: they would be copies of each other.

    Conditional Gaussians compare variances between cells, and how much a variance differs by
    chance grows with the fourth moment: by (kurtosis - 1) / 2 times what a normal law has. Counts
    of events, incomes or a column of mostly zeros would depend on everything. Their normal scores
    have the tails that the tests expect, and the same order; mixtures of normal laws, whose tails
    are light, stay as they are.
    """
    heavy = heavy_columns(table)
    if not heavy:
        return table
    continuous, levels = dict(table.continuous), list(table.levels)
    taken: set[bytes] = set()
    for k in heavy:
        own = _seen(table, k)
        scores = normal_scores(own)
        if scores.tobytes() in taken:
            continue
        taken.add(scores.tobytes())
        found = np.full(table.n_rows, np.nan)
        found[table.present(k)] = own.mean() + scores * (own.std() / scores.std())
        continuous[k], levels[k] = found, ()
    return replace(table, continuous=continuous, levels=tuple(levels))


def ranks_note(table: Table) -> tuple[str, ...]:
    """What is to be said about columns that enter by their ranks."""
    heavy = [shown(table.names[k]) for k in heavy_columns(table)]
    if not heavy:
        return ()
    return (
        "Taken by rank, because their tails are too heavy for normal laws beside categories: "
        f"{listed(heavy)}.",
    )


def thin_note(table: Table, thin: int) -> tuple[str, ...]:
    """What is to be said about categories of which most rows are in levels of fewer rows than a
    comparison of numbers needs: no number can be seen to depend on them."""
    found = [
        shown(table.names[k])
        for k, kind in enumerate(table.kinds)
        if kind != "number" and _in_thin_levels(table, k, thin) > 0.5
    ]
    if not found:
        return ()
    return (
        f"Too few rows a level (fewer than {thin}) to compare numbers between most levels of "
        f"{listed(found)}: dependence on them is hardly seen. Merge levels, or take numbers for "
        "them.",
    )


def _in_thin_levels(table: Table, k: int, thin: int) -> float:
    """The share of rows in levels of fewer rows."""
    rows = np.bincount(table.codes[k][table.present(k)])
    return float(rows[rows < thin].sum() / max(rows.sum(), 1))


def _seen(table: Table, k: int) -> Floats:
    found: Floats = table.numbers(k)[table.present(k)]
    return found


def _is_heavy(numbers: Floats) -> bool:
    with np.errstate(over="ignore"):
        centred = numbers - numbers.mean()
    scale = np.abs(centred).max()
    if not 0 < scale < LARGEST:
        # Numbers whose squares no float holds are refused by name when their moments are taken.
        return False
    squares = (centred / scale) ** 2
    return bool(np.mean(squares**2) > constants.heavy_tails * np.mean(squares) ** 2)


class CopulaInformation(GaussianInformation):
    """H and I of variables with a Gaussian copula, judged as Gaussian ones are (``FTest``)."""

    def __init__(
        self,
        names: Sequence[str],
        scores: Floats,
        own_entropies: Floats,
        *,
        shrinkage: float | str = 0.0,
    ) -> None:
        """``scores`` has shape (d, n), a row of zeros for a column that never varies."""
        # A Gaussian variable with the entropy of the column: then entropies come out in its unit.
        spread = np.sqrt(np.mean(scores**2, axis=1))
        wanted = np.exp(own_entropies) / math.sqrt(2 * math.pi * math.e)
        standard = scores / np.where(spread > 0, spread, 1.0)[:, None]
        n = scores.shape[1]
        correlation = standard @ standard.T / n
        shrunk = checked_or_auto(shrinkage)
        if isinstance(shrunk, str):
            shrunk = analytic([standard], correlation)
        super().__init__(names, correlation * np.outer(wanted, wanted), n, shrinkage=shrunk)

    @classmethod
    def from_table(cls, table: Table, *, shrinkage: float | str = 0.0, seed: int = 0) -> Self:
        """The ranks of a table of numbers; ``seed`` decides only how ties are spread for H(X_k)."""
        seed = whole("seed", seed, 0)
        numbers = {name: table.numbers(k) for k, name in enumerate(table.names)}
        for name, values in numbers.items():
            require_numbers(name, values)
        varying = {name: one for name, one in numbers.items() if require_moments(name, one)}
        scores, entropies = np.zeros((len(numbers), table.n_rows)), np.zeros(len(numbers))
        for k, (name, values) in enumerate(numbers.items()):
            if name in varying:
                scores[k] = normal_scores(values)
                scores[k] -= scores[k].mean()
                entropies[k] = column_entropy(untied(name, values, seed))
        tell_of_ties(varying)
        return cls(table.names, scores, entropies, shrinkage=shrinkage)

    def _refusal(self, columns: Ints, i: int) -> DataError:
        return DataError(
            f"The ranks of column {shown(self.names[columns[i]])} follow from those of "
            f"{self._explaining(columns, i)}, so that the copula cannot be inverted. Drop one of "
            "them, or shrink the correlations: source={'shrinkage': 0.1}; on the command line "
            "--source shrinkage=0.1."
        )
