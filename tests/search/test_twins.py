"""Each search takes the same decisions as its brute-force twin, on rows."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings

import naive
from tables import rows, table_of, varying
from tamis.counting.lookup import SCALE
from tamis.information.counted import CountedInformation
from tamis.information.estimators import Minimax
from tamis.rules import Fixed, Permutation
from tamis.search.layered import run
from tamis.settings import Settings

SEARCHES = ["node", "layer", "sequential", "reference"]


def in_fixed_point(f):
    """An estimator summed as the kernel sums, so that a tie here is a tie there."""

    def estimate(table: Counter, cells: int) -> float:
        n = sum(table.values())
        return sum(round(f(c, n) * SCALE) for c in table.values()) / SCALE

    return estimate


def plugin_term(count: int, n: int) -> float:
    return -(count / n) * math.log(count / n)


def names_of(outcome):
    return outcome.layers, {k: tuple(sorted(b.members)) for k, b in outcome.boundaries.items()}


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("thresholds", [(0.005, 0.001), (0.05, 0.05)])
@settings(max_examples=10)
@given(table=rows(columns=(3, 6), length=(20, 120), levels=3).map(varying).filter(np.size))
def test_with_fixed_thresholds(search, thresholds, table):
    kappa, omega = thresholds
    H, I = naive.from_rows(table.tolist(), in_fixed_point(plugin_term))  # noqa: E741
    decide = naive.thresholds(I, kappa, omega, search)
    expected = naive.tam(H, I, table.shape[1], decide, search)
    information = CountedInformation(table_of(table), "plugin")
    settings_ = Settings(search, Fixed(kappa), Fixed(omega), backward="none")
    assert names_of(run(information, settings_)) == expected


@pytest.mark.parametrize("search", ["node", "layer", "sequential"])
@pytest.mark.parametrize("together", [False, True], ids=["one at a time", "together"])
@given(table=rows(columns=(3, 5), length=(20, 120), levels=3).map(varying).filter(np.size))
def test_without_pps_the_backward_phase_finds_the_parents(search, together, table):
    H, I = naive.from_rows(table.tolist(), in_fixed_point(plugin_term))  # noqa: E741
    decide = naive.thresholds(I, 0.02, 0.02, search)
    expected = naive.tam(
        H, I, table.shape[1], decide, search, boundary="none", simultaneous=together
    )
    settings_ = Settings(
        search,
        Fixed(0.02),
        Fixed(0.02),
        boundary="none",
        backward="together" if together else "one",
    )
    assert names_of(run(CountedInformation(table_of(table), "plugin"), settings_)) == expected


@pytest.mark.parametrize("search", ["node", "sequential"])
@pytest.mark.parametrize("together", [False, True], ids=["one at a time", "together"])
@settings(max_examples=10)
@given(table=rows(columns=(4, 6), length=(20, 120), levels=2).map(varying).filter(np.size))
def test_the_backward_phase_prunes_what_pps_found(search, together, table):
    H, I = naive.from_rows(table.tolist(), in_fixed_point(plugin_term))  # noqa: E741
    decide = naive.thresholds(I, 0.01, 0.01, search)
    expected = naive.tam(H, I, table.shape[1], decide, search, prune=True, simultaneous=together)
    settings_ = Settings(
        search, Fixed(0.01), Fixed(0.01), backward="together" if together else "one"
    )
    assert names_of(run(CountedInformation(table_of(table), "plugin"), settings_)) == expected


@pytest.mark.parametrize("search", ["node", "layer", "sequential"])
@settings(max_examples=10, deadline=None)
@given(table=rows(columns=(3, 5), length=(30, 150), levels=3).map(varying).filter(np.size))
def test_with_a_rule_corrected_for_the_number_of_candidates(search, table):
    alpha = 0.1
    listed = table.tolist()
    H, I = naive.from_rows(listed, in_fixed_point(plugin_term))  # noqa: E741

    def dependent(k, others, given_, n_tests):
        return permutation_p(naive.strata_evidence(listed, k, others, given_)) < alpha / n_tests

    decide = naive.Decide(grow=dependent, retain=dependent, mask=dependent)
    expected = naive.tam(H, I, table.shape[1], decide, search)
    settings_ = Settings(search, Permutation(alpha), Permutation(alpha), backward="none")
    assert names_of(run(CountedInformation(table_of(table), "plugin"), settings_)) == expected


def permutation_p(evidence: dict[str, float]) -> float:
    from scipy.stats import gamma

    mean, variance = evidence["null_mean"], evidence["null_variance"]
    if variance == 0:
        return 1.0
    return float(gamma.sf(evidence["pearson"], mean**2 / variance, scale=variance / mean))


def minimax_in_fixed_point(table: Counter, cells: int) -> float:
    if cells == 1:
        return 0.0
    n = sum(table.values())
    terms = Minimax().terms(np.array([0, *table.values()]), n, cells)
    nothing, *seen = (round(f * SCALE) for f in terms.tolist())
    return max(sum(seen) + (cells - len(table)) * nothing, 0) / SCALE


@given(table=rows(columns=(3, 6), length=(30, 150), levels=3).map(varying).filter(np.size))
def test_the_reference_with_the_minimax_estimator(table):
    H, I = naive.from_rows(table.tolist(), minimax_in_fixed_point)  # noqa: E741
    decide = naive.thresholds(I, 0.005, 0.001, "reference")
    expected = naive.tam(H, I, table.shape[1], decide, "reference")
    information = CountedInformation(table_of(table), Minimax())
    settings_ = Settings("reference", Fixed(0.005), Fixed(0.001), backward="none")
    assert names_of(run(information, settings_)) == expected
