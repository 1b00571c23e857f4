"""The source that counts: estimators, weights, missing values and scores."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import naive
from tables import table_of
from tamis.errors import SettingError
from tamis.information.interface import Context, Group, Query
from tamis.sources.counts import Counts
from tamis.sources.estimators import ESTIMATORS, EntropyEstimator, Minimax, as_estimator


def rows_of(seed=0, n_rows=200, levels=(2, 3, 4, 3)):
    """Rows of columns that depend on the one before."""
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, levels[0], n_rows)]
    for r in levels[1:]:
        copied = rng.random(n_rows) < 0.5
        columns.append(np.where(copied, columns[-1] % r, rng.integers(0, r, n_rows)))
    return np.array(columns).T


@pytest.mark.parametrize("name", [*ESTIMATORS, Minimax(support="observed")])
def test_each_estimator_is_its_sum_over_cells(name):
    rows = rows_of()
    table, estimator = table_of(rows), as_estimator(name)
    source = Counts(table, estimator)

    def h(*columns):
        counts = np.array(list(naive.counts(rows, columns).values()))
        possible = float(np.prod(table.arities[list(columns)]))
        return estimator.entropy(counts, possible) if columns else 0.0

    entropy = source.entropies([Context(0, (1, 2))])[0]
    assert entropy == pytest.approx(h(0, 1, 2) - h(1, 2), abs=1e-11)
    cmi = source.cmi([Context(0, (1,))])[0]
    assert cmi[2] == pytest.approx(h(0, 1) - h(1) + h(1, 2) - h(0, 1, 2), abs=1e-11)
    assert cmi[0] == cmi[1] == 0.0


def test_a_function_of_whole_tables_is_an_estimator():
    def plug_in(counts):
        return float(-(counts / counts.sum() * np.log(counts / counts.sum())).sum())

    table = table_of(rows_of())
    mine, own = Counts(table, plug_in), Counts(table, "plugin")
    contexts = [Context(0, (1,)), Context(2, ())]
    assert mine.cmi(contexts) == pytest.approx(own.cmi(contexts), abs=1e-12)
    assert mine.entropies(contexts) == pytest.approx(own.entropies(contexts), abs=1e-12)
    query = [Query(0, (1,), np.array([2, 3]))]
    assert mine.tests(query).log_p == pytest.approx(own.tests(query).log_p)


def test_an_estimator_of_ones_own_takes_part():
    class Halved(EntropyEstimator):
        name = "halved"

        def terms(self, counts, n_rows, support):
            return as_estimator("plugin").terms(counts, n_rows, support) / 2

    table = table_of(rows_of())
    context = [Context(0, (1,))]
    assert Counts(table, Halved()).cmi(context) * 2 == pytest.approx(
        Counts(table, "plugin").cmi(context), abs=1e-12
    )


def test_equal_survey_weights_are_plain_rows():
    table = table_of(rows_of())
    weighted = replace(table, weights=np.full(table.n_rows, 0.3))
    contexts = [Context(0, (1,)), Context(3, (0, 2))]
    assert (Counts(weighted).cmi(contexts) == Counts(table).cmi(contexts)).all()


def test_survey_weights_are_worth_what_kish_says():
    rng = np.random.default_rng(2)
    weights = rng.gamma(2.0, size=200)
    source = Counts(replace(table_of(rows_of()), weights=weights), "plugin")
    assert source.n_rows == pytest.approx(weights.sum() ** 2 / (weights**2).sum(), rel=1e-5)
    shares = np.array([weights[rows_of()[:, 0] == x].sum() for x in (0, 1)]) / weights.sum()
    expected = -(shares * np.log(shares)).sum()
    assert source.entropies([Context(0, ())])[0] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("name", ["plugin", "miller-madow", "jackknife", "grassberger"])
def test_rows_without_a_value_are_left_out_of_the_questions_that_need_it(name):
    rows = rows_of()
    absent = np.random.default_rng(3).random(len(rows)) < 0.3
    source = Counts(replace(table_of(rows), missing={1: absent}), name)
    left = Counts(table_of(rows[~absent]), name)
    contexts = [Context(0, (1,)), Context(1, ())]
    assert source.entropies(contexts) == pytest.approx(left.entropies(contexts), abs=1e-11)
    assert source.cmi(contexts) == pytest.approx(left.cmi(contexts), abs=1e-11)
    tests = source.tests([Query(0, (), np.array([1, 2]))])
    assert tests.n_rows.tolist() == [(~absent).sum(), len(rows)]
    assert tests.log_p[0] == pytest.approx(left.tests([Query(0, (), np.array([1]))]).log_p[0])
    assert source.rows_behind(Group(0, (), (1,))) == (~absent).sum()


def test_minimax_and_missing_values_are_refused_together():
    table = replace(table_of(rows_of()), missing={1: np.arange(200) < 20})
    with pytest.raises(SettingError, match="minimax"):
        Counts(table, "minimax")


def test_groups_are_columns_tested_as_one():
    rows = rows_of()
    source = Counts(table_of(rows))
    both = np.column_stack([rows, rows[:, 2] * 3 + rows[:, 3]])
    single = Counts(table_of(both)).tests([Query(0, (1,), np.array([4]))])
    group = source.joint_tests([Group(0, (1,), (2, 3))])
    assert group.cmi[0] == single.cmi[0]
    assert group.log_p[0] == pytest.approx(single.log_p[0])
    assert source.joint_tests([Group(0, (1,), (1,))]).cmi[0] == 0.0


def test_equivalent_families_score_alike():
    source = Counts(table_of(rows_of()), edge_price=3.0)
    one = source.penalised_likelihoods([Context(0, ()), Context(1, (0,))]).sum()
    other = source.penalised_likelihoods([Context(1, ()), Context(0, (1,))]).sum()
    assert one == pytest.approx(other, rel=1e-12)


def test_nothing_asked_is_nothing_answered():
    source = Counts(table_of(rows_of()))
    assert len(source.tests([])) == len(source.joint_tests([])) == 0
    assert source.cmi([]).shape == (0, 4)
