"""Counts of rows with weights, missing values and both, against sums over rows by definition."""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import psi

from tamis.counting.independence import null_moments
from tamis.information.interface import Context, Group, Query
from tamis.information.real_counts import STEPS, RealCountInformation
from tamis.information.regret import price
from tamis.tables.sources import effective_rows
from tamis.tables.table import Table

D = 4
CONTEXTS = [Context(0, ()), Context(1, (0,)), Context(2, (0, 3)), Context(3, (0, 1, 2))]
GROUPS = [Group(0, (), (1,)), Group(2, (0,), (3,)), Group(1, (3,), (0, 2)), Group(3, (), (0, 1, 2))]
FIELDS = ("cmi", "plugin", "df", "pearson", "null_mean", "null_variance", "n_rows")


@st.composite
def tables(draw):
    """Small tables of 1 to 5 levels a column, some of them tied to each other, and extreme weights
    among ordinary ones."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    has_weights, has_missing = draw(st.sampled_from([(True, False), (False, True), (True, True)]))
    n = draw(st.integers(2, 40))
    sizes = draw(st.lists(st.integers(1, 5), min_size=D, max_size=D))
    tied = rng.integers(0, 5, n)
    codes = np.array(
        [np.where(rng.random(n) < 0.6, tied, rng.integers(0, 5, n)) % size for size in sizes]
    )
    missing = {}
    if has_missing:
        for k in range(D):
            absent = rng.random(n) < draw(st.sampled_from([0.1, 0.4, 0.95]))
            absent[k % n] = False  # a column without values is not read
            if absent.any():
                missing[k] = absent
                codes[k, absent] = 0
    spread = draw(st.sampled_from([0.3, 1.0, 2.5]))
    weights = rng.lognormal(sigma=spread, size=n) if has_weights else None
    levels = tuple(tuple(range(size)) for size in sizes)
    return Table(tuple("abcd"), levels, codes.astype(np.uint8), missing=missing, weights=weights)


class ByDefinition:
    """The same answers, row by row."""

    def __init__(self, table: Table, name: str) -> None:
        self.table, self.name = table, name
        n = table.n_rows
        self.n_rows = float(n) if table.weights is None else effective_rows(table.weights)
        self.weights = self.squares = np.ones(n)
        if table.weights is not None:
            scaled = table.weights * (self.n_rows / table.weights.sum())
            self.weights = np.maximum(np.rint(scaled * STEPS), 1) / STEPS
            self.squares = np.maximum(np.rint(self.weights**2 * STEPS), 1) / STEPS

    def rows(self, columns) -> tuple[list[int], float, float]:
        """The rows that have these columns, what their weights are multiplied by, their worth."""
        there = [
            i
            for i in range(self.table.n_rows)
            if not any(k in self.table.missing and self.table.missing[k][i] for k in columns)
        ]
        weight, square = self.weights[there].sum(), self.squares[there].sum()
        return there, *((weight / square, weight**2 / square) if there else (0.0, 0.0))

    def cells(self, columns, rows, scale) -> dict[tuple[int, ...], np.ndarray]:
        """Weight and square in each cell."""
        found = defaultdict(lambda: np.zeros(2))
        for i in rows:
            cell = tuple(int(self.table.codes[k, i]) for k in columns)
            found[cell] += scale * self.weights[i], scale**2 * self.squares[i]
        return found

    def f(self, count: float, n: float) -> float:
        if self.name == "grassberger":
            below = math.floor(count)
            share = count - below
            return ((1 - share) * below * (math.log(n) - g(below))) / n + (
                share * (below + 1) * (math.log(n) - g(below + 1)) / n
            )
        beyond = 1 / (2 * n) if self.name == "miller-madow" else 0.0
        return -count / n * math.log(count / n) + beyond

    def entropy(self, columns, rows, scale, n) -> float:
        counts = [weight for weight, _ in self.cells(columns, rows, scale).values()]
        if len(counts) <= 1:
            return 0.0
        constant = -1 / (2 * n) if self.name == "miller-madow" else 0.0
        return sum(self.f(count, n) for count in counts) + constant

    def conditional(self, target, given_) -> float:
        rows = self.rows((target, *given_))
        return self.entropy((*given_, target), *rows) - self.entropy(given_, *rows)

    def test(self, target, given_, members) -> dict[str, float]:
        rows, scale, n = self.rows((target, *given_, *members))
        sets = ((*given_, target), (*given_, *members), given_, (*given_, target, *members))
        signs = (1, 1, -1, -1)
        found = dict.fromkeys(FIELDS, 0.0) | {"n_rows": n}
        found["cmi"] = sum(
            sign * self.entropy(one, rows, scale, n) for sign, one in zip(signs, sets, strict=True)
        )
        strata = defaultdict(list)
        for i in rows:
            strata[tuple(self.table.codes[list(given_), i].tolist())].append(i)
        for inside in strata.values():
            joint = self.cells((target, *members), inside, scale)
            for name, value in self.stratum(joint, n).items():
                found[name] += value
        return found

    def stratum(self, joint, n) -> dict[str, float]:
        x, y = defaultdict(lambda: np.zeros(2)), defaultdict(lambda: np.zeros(2))
        for cell, both in joint.items():
            x[cell[:1]] += both
            y[cell[1:]] += both
        if len(x) < 2 or len(y) < 2:
            return {}
        total, square = sum(joint.values())
        free = (len(x) - 1) * (len(y) - 1)
        spread = lead = chi = 0.0
        for a, (w_a, q_a) in x.items():
            for b, (w_b, q_b) in y.items():
                w, q = joint.get(a + b, (0.0, 0.0))
                mean = q / w if w else q_a / w_a * (q_b / w_b) / (square / total)
                spread += mean * (1 - w_a / total) * (1 - w_b / total)
                p, expected = w / total, w_a * w_b / total**2
                lead += p * math.log(p / expected) if w else 0.0
                chi += (p - expected) ** 2 / expected
        worth = total if self.table.weights is None else total * free / spread
        inverses = (sum(total / worth / w for w, _ in one.values()) for one in (x, y))
        mean, variance = null_moments.py_func(worth, float(len(x)), float(len(y)), *inverses)
        found = {"plugin": worth * lead / n, "df": free}
        if variance > 1e-12 * mean:
            found |= {"pearson": worth * chi, "null_mean": mean, "null_variance": variance}
        return found

    def score(self, target, given_) -> float:
        alone = self.likelihood(target, (), self.rows((target,)))
        rows = self.rows((target, *given_))
        explained = self.likelihood(target, given_, rows) - self.likelihood(target, (), rows)
        return alone + explained

    def likelihood(self, target, given_, rows) -> float:
        there, scale, n = rows
        sizes = self.table.arities
        inside, strata = (
            sum(w * math.log(w) for w, _ in self.cells(one, there, scale).values())
            for one in ((*given_, target), given_)
        )
        cost = price(int(sizes[target]), float(np.prod(sizes[list(given_)])), round(n))
        return self.n_rows / max(n, 1.0) * (inside - strata - cost)


def g(count: int) -> float:
    if count == 0:
        return 0.0
    sign = 0.5 if count % 2 == 0 else -0.5
    return float(psi(count) + sign * (psi((count + 1) / 2) - psi(count / 2)))


@given(table=tables(), name=st.sampled_from(["grassberger", "plugin", "miller-madow"]))
def test_all_answers_are_those_of_the_definition(table, name):
    source, wanted = RealCountInformation(table, name), ByDefinition(table, name)
    close = {"rel": 1e-8, "abs": 1e-9}
    for context, entropy in zip(CONTEXTS, source.entropies(CONTEXTS), strict=True):
        assert entropy == pytest.approx(wanted.conditional(*context), **close)
    for context, score in zip(CONTEXTS, source.penalised_likelihoods(CONTEXTS), strict=True):
        assert score == pytest.approx(wanted.score(*context), **close)
    joint = source.joint_tests(GROUPS)
    singles = [(i, one) for i, one in enumerate(GROUPS) if len(one.members) == 1]
    alone = source.tests([Query(t, s, np.array(members)) for _, (t, s, members) in singles])
    for i, group in enumerate(GROUPS):
        by_definition = wanted.test(*group)
        for field in FIELDS:
            assert getattr(joint, field)[i] == pytest.approx(by_definition[field], **close), field
    for place, (i, _) in enumerate(singles):
        for field in FIELDS:
            same = pytest.approx(getattr(joint, field)[i], rel=1e-12, abs=1e-12)  # but for rounding
            assert getattr(alone, field)[place] == same, field


@given(table=tables(), seed=st.integers(0, 2**32 - 1))
def test_neither_the_order_of_rows_nor_that_of_levels_matters(table, seed):
    """Sums of whole numbers, so that ties stay ties."""
    rng = np.random.default_rng(seed)
    turned = table.arrange(rng.permutation(table.n_rows))
    codes = turned.codes.copy()
    for k, size in enumerate(table.arities.tolist()):
        codes[k] = rng.permutation(size)[codes[k]]
    turned = Table(table.names, table.levels, codes, missing=turned.missing, weights=turned.weights)
    one, other = RealCountInformation(table), RealCountInformation(turned)
    if table.weights is None:
        assert one.cmi(CONTEXTS).tolist() == other.cmi(CONTEXTS).tolist()
        assert one.entropies(CONTEXTS).tolist() == other.entropies(CONTEXTS).tolist()
    else:
        # What all rows are worth is a sum of floats.
        np.testing.assert_allclose(one.cmi(CONTEXTS), other.cmi(CONTEXTS), atol=1e-5)
