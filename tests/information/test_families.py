"""The members of a family given each other, and its score: one table tells what many questions
do, to the last bit."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import naive
from engines import WAYS, contexts_of, force, wide_table
from tables import rows, table_of
from tamis.counting.compiled import uncompiled
from tamis.counting.counts import n_log_n
from tamis.information.counted import CountedInformation
from tamis.information.estimators import Minimax
from tamis.information.interface import Context, Group, Query, Source, Tests
from tamis.information.outside import CheckedSource
from tamis.information.regret import price
from tamis.information.wrappers import RememberedInformation, Wrapper

FIELDS = ("cmi", "plugin", "df", "pearson", "null_mean", "null_variance")
ESTIMATORS = ["grassberger", "miller-madow", "minimax", Minimax(support="observed")]


@pytest.fixture(autouse=True)
def compiled(monkeypatch):
    monkeypatch.setattr(uncompiled, "allows", lambda loop, seconds=0.0: False)


def assert_as_asked_one_by_one(source: CountedInformation, contexts: list[Context]) -> None:
    found, expected = source.families(contexts), Source.families(source, contexts)
    members = [Group(t, s[:i] + s[i + 1 :], (k,)) for t, s in contexts for i, k in enumerate(s)]
    for other in (expected.tests, source.joint_tests(members)) if members else ():
        for name in FIELDS:
            np.testing.assert_array_equal(getattr(found.tests, name), getattr(other, name))
    np.testing.assert_array_equal(found.scores, expected.scores)
    np.testing.assert_array_equal(found.scores, source._likelihoods(contexts, occurring=False))


@pytest.mark.parametrize("way", WAYS)
@settings(
    max_examples=8,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(table=rows(columns=(1, 5), length=(1, 200)), estimator=st.sampled_from(ESTIMATORS))
def test_a_family_is_what_its_members_are_one_by_one(monkeypatch, way, table, estimator):
    force(monkeypatch, way)
    source = CountedInformation(table_of(table), estimator, n_jobs=2)
    varying = [k for k in range(source.n_variables) if source.varies(k)]
    contexts = contexts_of(source.n_variables)
    assert_as_asked_one_by_one(source, [one for one in contexts if {*one.given} <= {*varying}])
    found = source.families(contexts)
    assert len(found.tests) == sum(len(one.given) for one in contexts)
    constant = [k not in varying for one in contexts for k in one.given]
    assert not found.tests.cmi[constant].any()
    assert not found.tests.stats[constant].any()


@given(table=rows(columns=(2, 4), length=(1, 60)))
def test_tests_and_scores_are_those_of_the_definition(table):
    n, d = table.shape
    source = CountedInformation(table_of(table), "plugin", n_jobs=1)
    H, I = naive.from_rows(table.tolist())  # noqa: E741
    contexts = contexts_of(d)
    found = source.families(contexts)
    cmi, scores = iter(found.tests.cmi.tolist()), iter(found.scores.tolist())
    sizes = [len(set(column)) for column in table.T.tolist()]
    for target, members in contexts:
        for k in members:
            assert next(cmi) == pytest.approx(
                I(target, (k,), tuple(m for m in members if m != k)), abs=1e-12
            )
        n_states = float(np.prod([sizes[k] for k in members]))
        expected = -n * H(target, members) - price(sizes[target], n_states, n)
        assert next(scores) == pytest.approx(expected, abs=1e-9)


def test_columns_without_planes_and_many_cells():
    source = CountedInformation(wide_table(3, 3000), n_jobs=1)
    assert_as_asked_one_by_one(source, contexts_of(source.n_variables))


@pytest.mark.parametrize("n_rows", [1, 7, 100, 129, 1000, 5000])
def test_likelihoods_are_added_up_without_rounding(n_rows):
    table = np.random.default_rng(n_rows).integers(0, 7, (n_rows, 6))
    source = CountedInformation(table_of(table), n_jobs=1)
    given = tuple(k for k in range(1, 6) if source.varies(k))
    _, n_family = np.unique(table, axis=0, return_counts=True)
    _, n_strata = np.unique(table[:, 1:], axis=0, return_counts=True)
    found = source._counts.families([(0, given)], source._lookup, tests=False)
    exact = [sum(map(Fraction, n_log_n(one, n_rows))) for one in (n_family, n_strata)]
    assert found.sums[0].tolist() == exact


def test_there_may_be_no_members_or_no_contexts():
    source = CountedInformation(table_of(np.random.default_rng(1).integers(0, 3, (50, 3))))
    for contexts in ([], [Context(0, ()), Context(2, ())]):
        tests, scores = source.families(contexts)
        assert len(tests) == 0
        np.testing.assert_array_equal(scores, source.penalised_likelihoods(contexts))


def test_likelihoods_that_came_with_families_are_remembered(monkeypatch):
    source = CountedInformation(table_of(np.random.default_rng(4).integers(0, 3, (90, 4))))
    keeping, contexts = RememberedInformation(source), contexts_of(4)
    expected = keeping.families(contexts).scores
    monkeypatch.setattr(source, "penalised_likelihoods", None)
    np.testing.assert_array_equal(keeping.penalised_likelihoods(contexts), expected)


def test_what_tests_by_itself_is_not_passed_by():
    class Doubtful(Wrapper):
        def tests(self, queries: list[Query]) -> Tests:
            return Tests(np.full(len(queries), 7.0))

    source = CountedInformation(table_of(np.random.default_rng(5).integers(0, 3, (90, 4))))
    contexts = contexts_of(4)
    assert (Doubtful(source).families(contexts).tests.cmi == 7.0).all()
    for around in (Wrapper(source), CheckedSource(source)):
        found, expected = around.families(contexts), source.families(contexts)
        np.testing.assert_array_equal(found.tests.cmi, expected.tests.cmi)
        np.testing.assert_array_equal(found.scores, expected.scores)
