"""Strengths and thresholds of every rule: hand-worked values, order, and tests that say nothing."""

from __future__ import annotations

import math

import numpy as np
import pytest
from decision_tables import evidence
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.errors import SettingError
from tamis.rules import BIC, ChiSquared, Fixed, Permutation, Rate, Rule

RULES = [Fixed(0.01), ChiSquared(), ChiSquared(alpha=0.5), Permutation(0.001), BIC()]
P_VALUE_RULES = [ChiSquared(), Permutation()]
REPEATABLE = settings(deadline=None, derandomize=True)

counts_of_tests = st.integers(min_value=1, max_value=10**9)
rules = st.sampled_from(RULES)


# --- hand-worked values --------------------------------------------------------------------


def test_fixed_scores_the_gain_of_the_estimator_against_its_threshold():
    rule = Fixed(0.25)
    found = evidence(cmi=[0.1, 0.25, 0.3], plugin=[9, 9, 9])
    scores = rule.strengths(found)
    assert scores.tolist() == [0.1, 0.25, 0.3]
    assert rule.accepts(scores, 1).tolist() == [False, False, True]
    assert rule.accepts(scores, 1, inclusive=True).tolist() == [False, True, True]
    assert rule.accepts(scores, 1000).tolist() == [False, False, True]
    assert rule.natural(0.3) == 0.3


def test_chi_squared_with_two_degrees_of_freedom_has_an_exponential_tail():
    # p = exp(-G / 2) with G = 2 n I, so the score is n I.
    found = evidence(n_rows=500, plugin=[0.0, 0.002, 0.01], df=2)
    assert ChiSquared().strengths(found) == pytest.approx([0.0, 1.0, 5.0])


def test_chi_squared_with_one_degree_of_freedom_at_the_tabulated_quantiles():
    g = np.array([2.705543454, 3.841458821, 6.634896601])  # upper 10 %, 5 % and 1 %
    rule = ChiSquared()
    scores = rule.strengths(evidence(n_rows=100, plugin=g / 200, df=1))
    assert [rule.natural(score) for score in scores] == pytest.approx([0.1, 0.05, 0.01])
    assert rule.accepts(scores, 2).tolist() == [False, False, True]


def test_permutation_with_variance_equal_to_the_squared_mean_has_an_exponential_tail():
    # A gamma law of shape 1: p = exp(-X2 / mean).
    found = evidence(pearson=[0.0, 6.0, 20.0], null_mean=[3.0, 2.0, 4.0], null_variance=[9, 4, 16])
    assert Permutation().strengths(found) == pytest.approx([0.0, 3.0, 5.0])


def test_permutation_with_the_moments_of_chi_squared_is_the_chi_squared_test():
    df = np.array([1.0, 3.0, 12.0])
    x2 = np.array([5.0, 2.0, 30.0])
    by_moments = evidence(pearson=x2, null_mean=df, null_variance=2 * df)
    by_law = evidence(n_rows=100, plugin=x2 / 200, df=df)
    assert Permutation().strengths(by_moments) == pytest.approx(ChiSquared().strengths(by_law))


def test_bic_takes_half_the_log_of_n_off_the_likelihood_for_each_degree_of_freedom():
    found = evidence(n_rows=1000, plugin=[0.02, 0.02, 0.005], df=[1, 4, 2])
    penalty = math.log(1000) / 2
    expected = [20 - penalty, 20 - 4 * penalty, 5 - 2 * penalty]
    scores = BIC().strengths(found)
    assert scores == pytest.approx(expected)
    assert BIC().accepts(scores, 1).tolist() == [True, True, False]
    # 20 - 2 ln 1000 is 6.18: enough among e^6 candidates, not among e^6.5.
    assert BIC().accepts(scores[1], round(math.exp(6)))
    assert not BIC().accepts(scores[1], round(math.exp(6.5)))


def test_rate_by_hand():
    # d = 10, n = 1000: d^3 ln d = 2302.585, (d / (n ln d))^2 = 1.88612e-5,
    # ln d / sqrt(n) = 0.0728141; (2302.585 * 0.0728330)^(1/4) = 3.59862.
    assert Rate(c=1.0).bind(1000, 10).threshold == pytest.approx(3.59862, rel=1e-6)
    assert Rate().bind(1000, 10) == Fixed(0.005 * Rate(c=1.0).bind(1000, 10).threshold)


def test_rate_falls_with_rows_like_the_eighth_root_and_rises_with_columns():
    rate = Rate()
    ratio = rate.threshold(2**8 * 10**9, 20) / rate.threshold(10**9, 20)
    assert ratio == pytest.approx(1 / 2, rel=1e-3)
    assert rate.threshold(1000, 50) > rate.threshold(1000, 10)


def test_rate_alone_knows_no_threshold():
    with pytest.raises(SettingError, match="bind"):
        Rate().threshold_for(1)
    assert Rate().strengths(evidence(cmi=0.5)) == pytest.approx([0.5])


def test_p_value_rules_divide_alpha_by_the_number_of_tests():
    rule = ChiSquared(alpha=0.05)
    assert rule.threshold_for(1) == pytest.approx(math.log(20))
    assert rule.threshold_for(np.array([1, 10])) == pytest.approx([math.log(20), math.log(200)])
    assert rule.accepts(np.array([5.0, 5.0]), np.array([7, 8])).tolist() == [True, False]


# --- order ---------------------------------------------------------------------------------


@REPEATABLE
@given(rules, counts_of_tests, counts_of_tests)
def test_the_bar_never_falls_as_candidates_are_added(rule: Rule, few: int, more: int):
    few, more = sorted((few, more))
    assert rule.threshold_for(few) <= rule.threshold_for(more)
    both = rule.threshold_for(np.array([few, more])).tolist()
    assert both == [rule.threshold_for(few), rule.threshold_for(more)]


@REPEATABLE
@given(rules, st.floats(-1e3, 1e3), counts_of_tests, counts_of_tests)
def test_a_refusal_stays_one_as_candidates_are_added(rule: Rule, score, few: int, more: int):
    few, more = sorted((few, more))
    if not rule.accepts(np.array([score]), few)[0]:
        assert not rule.accepts(np.array([score]), more)[0]


@pytest.mark.parametrize("rule", [ChiSquared(), Permutation(), BIC()], ids=repr)
def test_the_bar_rises_with_the_number_of_candidates(rule: Rule):
    assert np.all(np.diff(rule.threshold_for(np.array([1, 2, 10, 1000]))) > 0.5)


@REPEATABLE
@given(
    st.sampled_from([Fixed(0.0), ChiSquared(), Permutation(), BIC()]),
    st.integers(1, 50),
    st.lists(st.floats(0, 0.5), min_size=2, max_size=6),
)
def test_stronger_evidence_never_scores_lower(rule: Rule, df: int, gains: list[float]):
    gains = np.sort(gains)
    found = evidence(
        cmi=gains, plugin=gains, pearson=2000 * gains, df=df, null_mean=df, null_variance=2 * df
    )
    assert np.all(np.diff(rule.strengths(found)) >= 0)


# --- evidence that says nothing, or too much -----------------------------------------------


@REPEATABLE
@given(
    st.sampled_from([*RULES, Rate()]),
    st.integers(1, 10**9),
    st.lists(
        st.tuples(
            st.floats(-1e-12, 20),
            st.integers(0, 10**7),
            st.one_of(st.just(0.0), st.floats(0, 1e15)),
            st.one_of(st.just(0.0), st.floats(1e-6, 1e8)),
            st.one_of(st.just(0.0), st.floats(1e-6, 1e12)),
        ),
        min_size=1,
        max_size=8,
    ),
)
def test_scores_are_finite_whatever_the_evidence(rule: Rule, n_rows: int, tests: list):
    plugin, df, pearson, mean, variance = map(list, zip(*tests, strict=True))
    found = evidence(
        n_rows=n_rows,
        cmi=plugin,
        plugin=plugin,
        df=df,
        pearson=pearson,
        null_mean=mean,
        null_variance=variance,
    )
    scores = rule.strengths(found)
    assert scores.shape == (len(tests),)
    assert np.isfinite(scores).all()


@pytest.mark.parametrize("rule", [ChiSquared(0.999), Permutation(0.999), BIC()], ids=repr)
@pytest.mark.parametrize("inclusive", [False, True])
def test_a_table_that_cannot_speak_is_never_dependence(rule: Rule, inclusive: bool):
    # No degrees of freedom, no variance; what is left of the gain is rounding.
    scores = rule.strengths(evidence(cmi=1e-15, plugin=1e-15))
    assert not rule.accepts(scores, 1, inclusive=inclusive)[0]


@pytest.mark.parametrize("rule", P_VALUE_RULES, ids=repr)
def test_overwhelming_evidence_has_a_finite_score_and_a_positive_p(rule: Rule):
    found = evidence(
        n_rows=1e6, plugin=[0.6, 5.0], df=1, pearson=[1e6, 1e12], null_mean=1, null_variance=2
    )
    scores = rule.strengths(found)
    assert scores == pytest.approx(-math.log(1e-300))
    assert rule.natural(float(scores[0])) == pytest.approx(1e-300)
    assert rule.accepts(scores, 10**9).all()


@pytest.mark.parametrize("rule", P_VALUE_RULES, ids=repr)
def test_no_evidence_scores_zero_and_reads_as_p_equal_to_one(rule: Rule):
    scores = rule.strengths(
        evidence(plugin=-1e-17, df=[0, 1], null_mean=[0, 1], null_variance=[0, 2])
    )
    assert scores.tolist() == [0.0, 0.0]
    assert rule.natural(float(scores[0])) == 1.0


# --- the size of the data ------------------------------------------------------------------


@pytest.mark.parametrize("rule", [ChiSquared(), Permutation(), BIC(), Rate()], ids=repr)
def test_rules_that_need_rows_refuse_exact_information_and_advise(rule: Rule):
    with pytest.raises(SettingError, match=rf"{type(rule).__name__} .*no sampling noise.*Fixed\("):
        rule.bind(math.inf, 5)
    with pytest.raises(SettingError, match="n_rows must be 1 or more, not 0"):
        rule.bind(0, 5)
