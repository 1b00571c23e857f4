"""Every estimator against its published definition, computed another way."""

import math

import mpmath
import numpy as np
import pytest
import scipy.special
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import mutual_info_score

from tamis.counting.independence import HEAD
from tamis.errors import SettingError
from tamis.information.estimators import (
    ESTIMATORS,
    Grassberger,
    Jackknife,
    MillerMadow,
    Minimax,
    Plugin,
    as_estimator,
)

tables = st.lists(st.integers(0, 30), min_size=1, max_size=12).filter(any)


def plugin_by_scipy(counts):
    return float(scipy.stats.entropy(counts))


def jackknife_by_leaving_rows_out(counts):
    n = sum(counts)
    if n == 1:
        return 0.0
    rows = [cell for cell, count in enumerate(counts) for _ in range(count)]
    without = [plugin_by_scipy(np.bincount(rows[:i] + rows[i + 1 :])) for i in range(n)]
    return n * plugin_by_scipy(counts) - (n - 1) * math.fsum(without) / n


def grassberger_by_mpmath(counts):
    def psi_average(j):
        half = mpmath.mpf(1) / 2
        return mpmath.psi(0, j) + (-1) ** j * half * (
            mpmath.psi(0, (j + 1) * half) - mpmath.psi(0, j * half)
        )

    with mpmath.workdps(40):
        n = sum(counts)
        return float(mpmath.log(n) - sum(j * psi_average(j) for j in counts if j) / n)


@given(tables)
def test_plugin_is_the_entropy_of_the_frequencies(counts):
    assert Plugin().entropy(counts) == pytest.approx(plugin_by_scipy(counts), abs=1e-13)


@pytest.mark.parametrize("seed", range(5))
def test_plugin_entropies_add_up_to_the_mutual_information_of_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 4, 300), rng.integers(0, 3, 300)
    y = np.where(rng.random(300) < 0.3, x % 3, y)
    joint = np.zeros((4, 3), dtype=np.int64)
    np.add.at(joint, (x, y), 1)
    H = Plugin().entropy
    found = H(joint.sum(axis=1)) + H(joint.sum(axis=0)) - H(joint)
    assert found == pytest.approx(mutual_info_score(x, y), abs=1e-13)


@given(tables)
def test_miller_madow_adds_half_a_row_for_each_free_observed_cell(counts):
    observed = sum(count > 0 for count in counts)
    ref = plugin_by_scipy(counts) + (observed - 1) / (2 * sum(counts))
    assert MillerMadow().entropy(counts) == pytest.approx(ref, abs=1e-13)


@given(tables)
def test_jackknife_is_what_leaving_out_each_row_gives(counts):
    ref = jackknife_by_leaving_rows_out(counts)
    assert Jackknife().entropy(counts) == pytest.approx(ref, abs=1e-10)


@given(tables)
def test_grassberger_is_its_formula(counts):
    ref = grassberger_by_mpmath(counts)
    assert Grassberger().entropy(counts) == pytest.approx(ref, abs=1e-13)


@pytest.mark.parametrize("z", [0.3, 1.0, 4.0])
def test_grassberger_leaves_for_a_poisson_count_the_bias_he_states(z):
    counts = np.arange(120)
    mean = scipy.stats.poisson.pmf(counts, z) @ Grassberger().terms(counts, 1, 1)
    assert mean == pytest.approx(-z * math.log(z) - z * scipy.special.exp1(2 * z), abs=1e-13)


def exact_term(name, j, n):
    """f(j) by the definition of the estimator, in 60 digits."""
    j, n = mpmath.mpf(j), mpmath.mpf(n)

    def g(m, i):
        return -(i / m) * mpmath.log(i / m) if i else mpmath.mpf(0)

    def psi_average(i):
        change = mpmath.psi(0, (i + 1) / 2) - mpmath.psi(0, i / 2)
        return mpmath.psi(0, i) + (-1) ** int(i) * change / 2

    return {
        "plugin": lambda: g(n, j),
        "miller-madow": lambda: g(n, j) + 1 / (2 * n),
        "minimax": lambda: g(n, j) + 1 / (2 * n),
        "jackknife": lambda: (
            n * g(n, j) - (n - 1) * ((1 - j / n) * g(n - 1, j) + j / n * g(n - 1, j - 1))
        ),
        "grassberger": lambda: j / n * (mpmath.log(n) - psi_average(j)),
    }[name]()


@pytest.mark.parametrize("name", ESTIMATORS)
def test_terms_are_accurate_up_to_a_milliard_rows(name):
    n = 10**9
    counts = np.array([100, 10_001, 123_456_789, 500_000_000, n - 1], dtype=np.int64)
    with mpmath.workdps(60):
        ref = [float(exact_term(name, int(j), n)) for j in counts]
    np.testing.assert_allclose(as_estimator(name).terms(counts, n, 50), ref, atol=2e-15, rtol=1e-13)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_from_head_on_the_support_does_not_matter(name):
    counts = np.arange(HEAD, 5000, dtype=np.int64)
    estimator = Minimax(largest_support=10**9) if name == "minimax" else as_estimator(name)
    ref = estimator.terms(counts, 4999, 1)
    assert ref.dtype == np.float64
    for support in (0, 2, 100, 10**5, 10**9, 10**12):
        assert np.array_equal(estimator.terms(counts, 4999, support), ref)


def test_corrections_undo_most_of_the_bias_of_the_plugin():
    rng = np.random.default_rng(20211)
    samples = rng.multinomial(200, np.full(50, 1 / 50), size=300)
    bias = {
        name: np.mean([as_estimator(name).entropy(counts) for counts in samples]) - math.log(50)
        for name in ESTIMATORS
    }
    assert bias["plugin"] == pytest.approx(-49 / 400, abs=0.02)
    for name in ("miller-madow", "jackknife", "grassberger"):
        assert abs(bias[name]) < 0.2 * abs(bias["plugin"])
    assert abs(bias["minimax"]) < 0.4 * abs(bias["plugin"])


def test_estimators_are_found_by_name():
    classes = {
        "plugin": Plugin,
        "miller-madow": MillerMadow,
        "jackknife": Jackknife,
        "grassberger": Grassberger,
        "minimax": Minimax,
    }
    assert {name: type(as_estimator(name)) for name in classes} == classes
    assert all(as_estimator(name).name == name for name in classes)


@pytest.mark.parametrize("spec", ["Plugin", "chao-shen", "", None, Plugin])
def test_an_unknown_estimator_is_refused_with_the_choices(spec):
    with pytest.raises(SettingError, match="'plugin', 'miller-madow', 'jackknife', 'grass") as info:
        as_estimator(spec)
    assert repr(spec) in str(info.value)
