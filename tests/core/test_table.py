"""The table that counts in C++, against entropies and tests written out in ``naive``."""

from __future__ import annotations

import itertools
from collections import Counter
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammaincc, xlogy

import naive
from tamis.core._core import Table

TOLERANCE = 1e-10


def random_codes(rng, n_rows, n_columns, most_levels):
    """Columns of codes, skewed and depending on each other, every level of which occurs."""
    common = rng.integers(0, most_levels, n_rows)
    columns = []
    for _ in range(n_columns):
        r = int(rng.integers(1, most_levels + 1))
        own = rng.choice(r, size=n_rows, p=rng.dirichlet(np.full(r, 0.6)))
        values = np.where(rng.random(n_rows) < 0.4, common % r, own)
        columns.append(np.unique(values, return_inverse=True)[1])
    return np.array(columns)


def table_of(codes, absent=None, **options):
    """A table of these codes, without values where ``absent``."""
    levels = [int(column.max()) + 1 for column in codes]
    if absent is not None:
        codes = np.where(absent, np.array(levels)[:, None], codes)
        options["missing"] = set(np.flatnonzero(absent.any(axis=1)).tolist())
    return Table([np.ascontiguousarray(one, dtype=np.uint8) for one in codes], levels, **options)


def contexts(rng, n_columns, n_contexts):
    """Random targets and sets."""
    for _ in range(n_contexts):
        target, *others = rng.permutation(n_columns).tolist()
        yield target, tuple(sorted(others[: rng.integers(0, min(n_columns, 5))]))


def plug_in(codes, rows, columns):
    """The entropy of some columns in these rows, in numpy: quick enough for 10^5 contexts."""
    state = np.zeros(rows.sum(), dtype=np.int64)
    for k in columns:
        state = state * (int(codes[k].max()) + 1) + codes[k, rows]
        if len(state) and state.max() > 4 * len(state):
            state = np.unique(state, return_inverse=True)[1].ravel()
    shares = np.bincount(state) / max(len(state), 1)
    return -float(xlogy(shares, shares).sum())


def agree(rng, n_contexts):
    """Compare cmi and entropies of random contexts, complete, weighted and with missing values."""
    n_rows = int(10 ** rng.uniform(0.4, 5 if rng.random() < 0.05 else 3))
    codes = random_codes(rng, n_rows, int(rng.integers(2, 8)), int(rng.choice([2, 3, 5, 30])))
    absent = rng.random(codes.shape) < rng.choice([0.0, 0.2])
    absent[:, :1] = False
    weights = rng.integers(1, 4, n_rows)
    is_weighted, is_absent = bool(rng.random() < 0.3), bool(absent.any())
    repeats = weights if is_weighted else np.ones(n_rows, dtype=np.int64)
    whole, gone = np.repeat(codes, repeats, axis=1), np.repeat(absent, repeats, axis=1)
    table = table_of(codes, absent if is_absent else None, weights=weights if is_weighted else None)

    @cache
    def h(columns, present):
        return plug_in(whole, ~gone[list(present)].any(axis=0), columns)

    for target, given_set in contexts(rng, len(codes), n_contexts):
        row = table.cmi(target, given_set)
        own = tuple(sorted((target, *given_set)))
        for k in set(range(len(codes))) - set(own):
            columns, beside = tuple(sorted((*own, k))), tuple(sorted((*given_set, k)))
            expected = h(own, columns) - h(given_set, columns) + h(beside, columns)
            assert row[k] == pytest.approx(expected - h(columns, columns), abs=TOLERANCE)
        expected = h(own, own) - h(given_set, own)
        assert table.entropy(target, given_set) == pytest.approx(expected, abs=TOLERANCE)
        assert not row[[target, *given_set]].any()


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_entropies_and_cmi_are_those_of_the_definition(seed):
    agree(np.random.default_rng(seed), 4)


@pytest.mark.slow
def test_entropies_and_cmi_of_a_hundred_thousand_contexts():
    rng = np.random.default_rng(11)
    for _ in range(1000):
        agree(rng, 100)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_the_numpy_entropies_here_are_the_naive_ones(seed):
    rng = np.random.default_rng(seed)
    codes = random_codes(rng, 30, 3, 3)
    everywhere = np.ones(30, dtype=bool)
    for columns in ((0,), (0, 1), (0, 1, 2)):
        assert plug_in(codes, everywhere, columns) == pytest.approx(
            naive.entropy(codes.T, columns), abs=1e-12
        )


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_weights_that_are_whole_are_repeated_rows_to_the_bit(seed):
    rng = np.random.default_rng(seed)
    codes = random_codes(rng, int(rng.integers(2, 300)), 4, 4)
    weights = rng.integers(1, 5, codes.shape[1])
    weighted, repeated = table_of(codes, weights=weights), table_of(np.repeat(codes, weights, 1))
    in_halves = table_of(codes, weights=2 * weights, unit=0.5)
    for target, given_set in contexts(rng, 4, 5):
        others = [k for k in range(4) if k not in (target, *given_set)]
        for one in (weighted, in_halves):
            assert one.entropy(target, given_set) == repeated.entropy(target, given_set)
            assert (one.cmi(target, given_set) == repeated.cmi(target, given_set)).all()
            for mine, theirs in zip(
                one.tests(target, given_set, others),
                repeated.tests(target, given_set, others),
                strict=True,
            ):
                assert np.allclose(mine, theirs, rtol=1e-12, atol=1e-12)
        assert weighted.family(target, given_set) == pytest.approx(
            repeated.family(target, given_set), rel=1e-12
        )


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_scores_are_those_of_families(seed):
    rng = np.random.default_rng(seed)
    codes = random_codes(rng, int(rng.integers(5, 400)), 6, 4)
    absent = rng.random(codes.shape) < 0.1
    absent[:, : codes.max() + 1] = False
    for table in (table_of(codes, edge_price=2.0), table_of(codes, absent, edge_price=2.0)):
        for target, given_set in contexts(rng, 6, 4):
            others = [k for k in range(6) if k not in (target, *given_set)]
            scores = table.scores_with(target, given_set, others)
            families = [table.family(target, (*given_set, k))[0] for k in others]
            assert scores == pytest.approx(families, rel=1e-12, abs=1e-9)


def test_several_columns_as_one_add_up_by_the_chain_rule():
    rng = np.random.default_rng(4)
    codes = random_codes(rng, 500, 6, 4)
    table = table_of(codes)
    together = table.joint_test(0, (1,), (2, 3, 4))[0][0]
    by_steps = sum(
        table.cmi(0, (1, *before), [k])[0] for before, k in (((), 2), ((2,), 3), ((2, 3), 4))
    )
    assert together == pytest.approx(by_steps, abs=TOLERANCE)


def test_x2_and_its_moments_are_exact_where_no_level_is_rare():
    rows = [(0, 0, 0)] * 3 + [(0, 0, 1), (0, 1, 0), (0, 1, 1), (1, 0, 0), (1, 1, 1), (1, 1, 1)]
    stats = table_of(np.array(rows).T).tests(1, (0,), [2])[1][0]
    expected = np.zeros(3)
    for s in (0, 1):
        pairs = Counter((x, y) for where, x, y in rows if where == s)
        counts = np.array([[pairs[x, y] for y in (0, 1)] for x in (0, 1)])
        mean, variance = naive.permutation_moments(counts)
        if variance > 0:
            expected += naive.pearson(counts), float(mean), float(variance)
    assert stats[2:] == pytest.approx(expected)


def p_values(table, target, given_set, others):
    """p-values of the permutation test."""
    _, stats, _ = table.tests(target, given_set, others)
    mean, variance = stats[:, 3], np.where(stats[:, 4] > 0, stats[:, 4], np.inf)
    p = gammaincc(mean**2 / variance, stats[:, 2] * mean / variance)
    return np.where(stats[:, 4] > 0, p, 1.0)


def test_two_levels_of_one_row_that_meet_make_no_dependence():
    at = np.arange(2000)
    one, other = np.where(at == 0, 2, at % 2), np.where(at == 0, 2, at // 2 % 2)
    assert p_values(table_of(np.array([one, other])), 0, (), [1])[0] > 0.5


def test_one_row_with_a_rare_level_hides_no_dependence():
    rng = np.random.default_rng(1)
    x = rng.integers(0, 3, 230)
    y = np.where(rng.random(230) < 0.25, x, rng.integers(0, 3, 230))
    with_rare = [np.append(x, [3]), np.append(y, [3])]
    apart = p_values(table_of(np.array([x, y])), 0, (), [1])[0]
    assert p_values(table_of(np.array(with_rare)), 0, (), [1])[0] < 10 * apart


SHAPES = {
    "30 levels, 200 rows": (200, 30, 0.3, ()),
    "30 levels, 1000 rows": (1000, 30, 0.3, ()),
    "5 skewed levels": (500, 5, 0.3, ()),
    "5 levels": (300, 5, 1.0, ()),
    "5 levels given one column": (500, 5, 1.0, (4,)),
    "5 skewed levels given two columns": (500, 5, 0.3, (4, 4)),
    "3 levels in strata of four rows": (400, 3, 1.0, (100,)),
}


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_p_values_of_independent_columns_are_no_smaller_than_they_should_be(shape):
    n_rows, r, skew, strata = SHAPES[shape]
    rng = np.random.default_rng(7)
    found = []
    for _ in range(600):
        laws = [(q, 1.0) for q in strata] + [(r, skew)] * 101
        columns = [rng.choice(q, size=n_rows, p=rng.dirichlet(np.full(q, a))) for q, a in laws]
        codes = [np.unique(one, return_inverse=True)[1] for one in columns]
        k = len(strata)
        found.append(p_values(table_of(codes), k, range(k), range(k + 1, k + 101)))
    p = np.concatenate(found)
    for level, most in ((0.05, 1.1), (0.01, 1.2), (0.001, 1.6), (0.0001, 2.5)):
        error = 4 * np.sqrt(level / len(p))
        assert np.mean(p <= level) <= most * level + error, (shape, level)


def test_the_order_of_rows_columns_and_levels_changes_nothing():
    rng = np.random.default_rng(9)
    codes = random_codes(rng, 400, 5, 4)
    places, rows = rng.permutation(5), rng.permutation(400)
    other = table_of(np.array([codes[k].max() - codes[k] for k in places])[:, rows])
    table = table_of(codes)
    for i, j in itertools.permutations(range(5), 2):
        rest = [k for k in range(5) if k not in (i, j)][:2]
        mine = table.cmi(int(places[i]), [int(places[k]) for k in rest], [int(places[j])])
        assert mine == other.cmi(i, rest, [j])
