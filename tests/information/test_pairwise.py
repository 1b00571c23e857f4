"""Counts of rows with missing values: every number is that of the rows that have its columns."""

from __future__ import annotations

import math
import warnings
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tamis
from tamis.counting.counts import n_log_n
from tamis.decisions.p_values import ChiSquared, Permutation
from tamis.decisions.rule import BIC
from tamis.errors import TamisWarning
from tamis.information.counted import CountedInformation
from tamis.information.interface import Context, Group, Query
from tamis.information.real_counts import RealCountInformation
from tamis.information.regret import price
from tamis.tables.table import Table

ESTIMATORS = ["grassberger", "plugin", "miller-madow", "jackknife"]
FIELDS = ["cmi", "plugin", "df", "pearson", "null_mean", "null_variance"]


def pierced(seed: int, n: int = 60, d: int = 4, share: float = 0.2, widest: int = 3) -> Table:
    """Dependent columns of 1 to ``widest`` levels, every level seen, a share of cells missing."""
    rng = np.random.default_rng(seed)
    base = rng.integers(0, widest, n)
    codes = np.where(rng.random((d, n)) < 0.5, base, rng.integers(0, widest, (d, n)))
    absences, levels = {}, []
    for k in range(d):
        absent = rng.random(n) < share * rng.integers(0, 3)
        absent[:widest] = False
        found, codes[k] = np.unique(np.where(absent, codes[k, 0], codes[k]), return_inverse=True)
        codes[k, absent] = 0
        levels.append(tuple(range(len(found))))
        if absent.any():
            absences[k] = absent
    return Table(tuple("abcdefgh"[:d]), tuple(levels), codes.astype(np.uint8), missing=absences)


def complete(table: Table, columns: tuple[int, ...]) -> Table:
    """The rows that have all these columns; what the others say there does not matter."""
    kept = np.ones(table.n_rows, dtype=bool)
    for k in columns:
        if k in table.missing:
            kept &= ~table.missing[k]
    return Table(table.names, table.levels, table.codes[:, kept])


def contexts(d: int) -> list[Context]:
    return [
        Context(k, s)
        for k in range(d)
        for size in range(d - 1)
        for s in combinations([j for j in range(d) if j != k], size)
    ]


@settings(max_examples=6)
@given(seed=st.integers(0, 2**32 - 1), name=st.sampled_from(ESTIMATORS))
def test_every_entropy_is_that_of_the_rows_that_have_its_columns(seed, name):
    table = pierced(seed)
    found = RealCountInformation(table, name).entropies(contexts(4))
    for context, entropy in zip(contexts(4), found, strict=True):
        rows = complete(table, (context.target, *context.given))
        wanted = CountedInformation(rows, name).entropies([context])[0]
        assert entropy == pytest.approx(wanted, abs=1e-12)


@settings(max_examples=5)
@given(seed=st.integers(0, 2**32 - 1), name=st.sampled_from(ESTIMATORS))
def test_every_test_is_that_of_the_rows_that_have_its_columns(seed, name):
    table = pierced(seed)
    source = RealCountInformation(table, name)
    whole = source.profiles(contexts(4)).cmi
    for i, (target, s) in enumerate(contexts(4)):
        others = np.array([k for k in range(4) if k != target and k not in s])
        found = source.tests([Query(target, s, others)])
        fresh = RealCountInformation(table, name).tests([Query(target, s, others)])
        for j, k in enumerate(others.tolist()):
            rows = complete(table, (target, *s, k))
            wanted = CountedInformation(rows, name).tests([Query(target, s, np.array([k]))])
            for field in FIELDS:
                value = getattr(wanted, field)[0]
                assert getattr(found, field)[j] == pytest.approx(value, rel=1e-9, abs=1e-11), field
                assert getattr(fresh, field)[j] == getattr(found, field)[j]
            assert whole[i, k] == found.cmi[j]
            assert found.n_rows[j] == rows.n_rows
            for rule in (Permutation(), ChiSquared(), BIC()):
                score = rule.strengths(found)[j]
                # -ln p has lost most of its digits where p is nearly 1.
                wanted_score = rule.strengths(wanted)[0]
                assert score == pytest.approx(wanted_score, rel=1e-6, abs=1e-5)


@settings(max_examples=6)
@given(seed=st.integers(0, 2**32 - 1))
def test_a_group_is_missing_where_one_of_its_members_is(seed):
    table = pierced(seed)
    groups = [Group(0, (), (1, 2)), Group(1, (3,), (0, 2)), Group(2, (), (0, 1, 3))]
    found = RealCountInformation(table).joint_tests(groups)
    for i, (target, s, members) in enumerate(groups):
        rows = complete(table, (target, *s, *members))
        wanted = CountedInformation(rows).joint_tests([groups[i]])
        for field in FIELDS:
            value = getattr(wanted, field)[0]
            assert getattr(found, field)[i] == pytest.approx(value, rel=1e-9, abs=1e-11)


@pytest.mark.parametrize("seed", range(6))
def test_columns_of_too_many_levels_to_number_in_a_table_give_the_same(seed, monkeypatch):
    table = pierced(seed)
    query = [Query(0, (1,), np.arange(4)), Query(2, (0, 3), np.array([1]))]
    groups = [Group(0, (3,), (1, 2))]
    plain = RealCountInformation(table)
    wanted = plain.tests(query), plain.joint_tests(groups)
    monkeypatch.setattr("tamis.counting.counts.DENSE_CELLS", 1)
    sparse = RealCountInformation(table)
    for found, one in zip((sparse.tests(query), sparse.joint_tests(groups)), wanted, strict=True):
        for field in FIELDS:
            assert getattr(found, field).tolist() == getattr(one, field).tolist()


@settings(max_examples=6)
@given(seed=st.integers(0, 2**32 - 1), name=st.sampled_from(ESTIMATORS))
def test_without_missing_values_it_is_the_plain_source(seed, name):
    table = pierced(seed, share=0.0)
    comp, ref = RealCountInformation(table, name), CountedInformation(table, name)
    asked = contexts(4)
    np.testing.assert_allclose(comp.entropies(asked), ref.entropies(asked), atol=1e-13)
    np.testing.assert_allclose(comp.cmi(asked), ref.cmi(asked), atol=1e-13)
    scores = comp.penalised_likelihoods(asked), ref.penalised_likelihoods(asked)
    np.testing.assert_allclose(*scores, rtol=1e-9, atol=1e-9)
    assert [comp.varies(k) for k in range(4)] == [ref.varies(k) for k in range(4)]
    assert comp.rows_behind(Group(0, (1, 2), (3,))) is None


def quotient_nml(table: Table, target: int, s: tuple[int, ...]) -> float:
    source, n = CountedInformation(table), table.n_rows
    cells, strata = source.tables([(*s, target), s])
    told = float(n_log_n(cells, n).sum() - n_log_n(strata, n).sum())
    return told - price(int(table.arities[target]), source.n_cells(s), n)


@settings(max_examples=6)
@given(seed=st.integers(0, 2**32 - 1))
def test_scores_are_what_parents_explain_on_the_rows_that_have_them(seed):
    table = pierced(seed)
    n = table.n_rows
    asked = contexts(4)
    found = RealCountInformation(table).penalised_likelihoods(asked)
    for (target, s), score in zip(asked, found, strict=True):
        own, rows = complete(table, (target,)), complete(table, (target, *s))
        alone = quotient_nml(own, target, ())
        with_s, without = (quotient_nml(rows, target, given) for given in (s, ()))
        wanted = n / own.n_rows * alone + n / rows.n_rows * (with_s - without)
        # Constant columns have a state; their price is 0 either way.
        assert score == pytest.approx(wanted, rel=1e-9, abs=1e-8)


def test_an_edge_scores_the_same_both_ways():
    source = RealCountInformation(pierced(5, n=400))
    one = source.penalised_likelihoods([Context(0, ()), Context(1, (0,))])
    other = source.penalised_likelihoods([Context(1, ()), Context(0, (1,))])
    assert one.sum() == pytest.approx(other.sum(), abs=1e-6)


def test_the_rows_behind_a_test_have_all_its_columns():
    table = pierced(2)
    source = RealCountInformation(table)
    assert source.rows_behind(Group(0, (1,), (2,))) == complete(table, (0, 1, 2)).n_rows
    whole = next(k for k in range(4) if k not in pierced(3).missing)
    assert RealCountInformation(pierced(3)).rows_behind(Group(whole, (), ())) is None


def test_columns_that_are_never_seen_together_are_independent():
    absent = np.array([True, False] * 20)
    codes = np.tile(np.array([0, 0, 1, 1], dtype=np.uint8), (2, 10))
    table = Table(("a", "b"), ((0, 1), (0, 1)), codes, missing={0: absent, 1: ~absent})
    source = RealCountInformation(table)
    found = source.tests([Query(0, (), np.array([1]))])
    assert (found.cmi[0], found.plugin[0], found.n_rows[0]) == (0.0, 0.0, 0.0)
    assert Permutation().p_values(found)[0] == 1.0
    assert ChiSquared().p_values(found)[0] == 1.0
    assert BIC().strengths(found)[0] <= 0.0
    assert math.isfinite(source.penalised_likelihoods([Context(0, (1,))])[0])


# Learning.


def fitted(data, missing, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TamisWarning)
        return tamis.TAM(missing=missing, **settings).fit(data).result_


def chain(n: int, seed: int, share: float) -> dict[str, list[int | None]]:
    rng = np.random.default_rng(seed)
    columns = {"a": rng.random(n) < 0.3}
    for name, parent in (("b", "a"), ("c", "b"), ("d", "c")):
        columns[name] = columns[parent] ^ (rng.random(n) < 0.2)
    return {
        name: [None if rng.random() < share else int(value) for value in values]
        for name, values in columns.items()
    }


@pytest.mark.parametrize("search", ["auto", "node", "layer", "sequential"])
def test_searches_find_a_chain_through_missing_values(search):
    result = fitted(chain(4000, 1, 0.1), "pairwise", search=search)
    assert {frozenset((e.parent, e.child)) for e in result.edges} == {
        frozenset(pair) for pair in ("ab", "bc", "cd")
    }
    used = [verdict.n_rows for verdict in result.trace.verdicts()]
    assert used
    assert all(rows is not None and 2000 < rows < 4000 for rows in used)


def test_the_order_of_rows_and_columns_plays_no_part():
    data = chain(600, 3, 0.15)
    order = np.random.default_rng(0).permutation(600)
    turned = {name: [data[name][i] for i in order] for name in reversed(list(data))}
    one, other = fitted(data, "pairwise"), fitted(turned, "pairwise")
    assert one.order == other.order
    assert set(one.edges) == set(other.edges)
