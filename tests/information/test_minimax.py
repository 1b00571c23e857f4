"""The minimax estimator against its statement, and its coefficients against Chebyshev's theorem."""

import importlib.util
import json
import math
from importlib import resources
from itertools import pairwise
from pathlib import Path

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf
from scipy.optimize import linprog

from tamis.information.estimators import Minimax, Plugin
from tamis.information.estimators.minimax import (
    FILE_NAME,
    LARGEST_DEGREE,
    best_approximations,
    checksum,
)

DEGREES = range(1, LARGEST_DEGREE + 1)


def shipped_text():
    return (
        resources.files("tamis.information.estimators")
        .joinpath(FILE_NAME)
        .read_text(encoding="ascii")
    )


def shipped_polynomial(degree):
    return [mpf(value) for value in json.loads(shipped_text())["coefficients"][str(degree)]]


# The coefficients


def polynomial(a, x):
    return sum(value * x**m for m, value in enumerate(a))


def peaks_of_the_error(a):
    """Where -x ln x - p(x) peaks on [0, 1]: the best of a grid, then Newton's method."""
    slope = [m * value for m, value in enumerate(a)][1:]
    curvature = [m * value for m, value in enumerate(slope)][1:]

    def error(x):
        return (-x * mp.log(x) if x else mpf(0)) - polynomial(a, x)

    steps = 10 * len(a)
    grid = [(1 - mp.cos(mp.pi * i / steps)) / 2 for i in range(steps + 1)]
    sizes = [abs(error(x)) for x in grid]
    peaks = [mpf(0)]
    for x, left, here, right in zip(grid[1:], sizes, sizes[1:], sizes[2:], strict=False):
        if here >= left and here > right:
            for _ in range(8):
                rise = -mp.log(x) - 1 - polynomial(slope, x)
                x -= rise / (-1 / x - polynomial(curvature, x))
            peaks.append(x)
    peaks.append(mpf(1))
    return peaks, [error(x) for x in peaks]


@pytest.mark.parametrize("degree", DEGREES)
def test_each_polynomial_is_best_for_its_error_equioscillates(degree):
    with mpmath.workdps(80):
        a = shipped_polynomial(degree)
        peaks, errors = peaks_of_the_error(a)
        assert len(peaks) == degree + 2
        assert all(low < high for low, high in pairwise(peaks))
        assert all(u * v < 0 for u, v in pairwise(errors))
        for error in errors:
            # Rounded to 60 digits, coefficients of up to 3e20 leave about 38 of them equal.
            assert abs(abs(error) / abs(a[0]) - 1) < mpf("1e-34")


@pytest.mark.parametrize("degree", range(2, 9))
def test_low_degrees_agree_with_a_linear_program(degree):
    theta = np.linspace(0, np.pi, 4001)
    x = (1 - np.cos(theta)) / 2
    f = -x * np.log(np.where(x > 0, x, 1))
    powers = np.polynomial.chebyshev.chebvander(2 * x - 1, degree)
    ones = np.ones((x.size, 1))
    fit = linprog(
        np.append(np.zeros(degree + 1), 1.0),
        A_ub=np.vstack([np.hstack([powers, -ones]), np.hstack([-powers, -ones])]),
        b_ub=np.concatenate([f, -f]),
        bounds=[(None, None)] * (degree + 2),
    )
    assert fit.success
    ref = np.polynomial.chebyshev.chebval(2 * x - 1, fit.x[:-1])
    comp = np.polynomial.polynomial.polyval(x, [float(v) for v in best_approximations()[degree]])
    np.testing.assert_allclose(comp, ref, atol=1e-6)
    assert abs(float(best_approximations()[degree][0])) == pytest.approx(fit.fun, abs=1e-7)


@pytest.mark.parametrize("degree", [2, 7])
def test_the_script_makes_the_shipped_numbers(degree):
    path = Path(__file__).parents[2] / "scripts" / "minimax_coefficients.py"
    spec = importlib.util.spec_from_file_location("minimax_coefficients", path)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    with mpmath.workdps(script.WORKING_DIGITS):
        comp = [script.written(value) for value in script.remez(degree).coefficients]
    assert comp == json.loads(shipped_text())["coefficients"][str(degree)]


def test_the_shipped_file_holds_its_own_checksum_and_the_command_that_made_it():
    content = json.loads(shipped_text())
    rows = {int(degree): row for degree, row in content["coefficients"].items()}
    assert sorted(rows) == list(DEGREES)
    assert content["sha256"] == checksum(rows)
    assert content["command"] == "python scripts/minimax_coefficients.py"


# The estimator


def naive_term(j, n, k):
    """The statement of the estimator, word for word, in as many digits as mpmath is set to."""
    L = N = int(mp.floor(mpf("1.6") * mp.log(k)))
    M = mpf("3.5") * mp.log(k)
    if j > N:
        return -(mpf(j) / n) * mp.log(mpf(j) / n) + mpf(1) / (2 * n)
    a = shipped_polynomial(L)
    total = mpf(0)
    for m in range(min(j, L) + 1):
        falling = mpf(1)
        for i in range(m):
            falling *= j - i
        total += a[m] * falling / M**m
    return (M * total + j * mp.log(mpf(n) / M)) / n


def naive_entropy(counts, k):
    with mpmath.workdps(80):
        n = sum(counts)
        seen = [int(j) for j in counts if j > 0]
        total = sum(naive_term(j, n, k) for j in seen) + (k - len(seen)) * naive_term(0, n, k)
        return max(float(total), 0.0)


@given(
    st.lists(st.integers(0, 60), min_size=2, max_size=30).filter(lambda c: sum(map(bool, c)) > 1),
    st.sampled_from([1, 3, 50, 3000]),
)
def test_minimax_is_its_statement(counts, spread):
    k = len(counts) * spread
    comp = Minimax().entropy(counts, cells=k)
    assert comp == pytest.approx(naive_entropy(counts, k), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("k", [2, 10, 99_999, 10**6, 10**8, 910_000_000, 10**9])
def test_every_count_is_accurate_whatever_the_degree(k):
    counts = np.arange(40)
    with mpmath.workdps(80):
        ref = [float(naive_term(int(j), 5000, k)) for j in counts]
    np.testing.assert_allclose(Minimax().terms(counts, 5000, k), ref, rtol=1e-12, atol=1e-17)


def test_small_tables_agree_with_the_horner_scheme_of_the_authors():
    k, n = 60, 900
    a = [float(value) for value in best_approximations()[int(1.6 * math.log(k))]]
    M = 3.5 * math.log(k)
    ref = []
    for j in range(len(a)):
        total = a[j]
        for i in range(j, 0, -1):
            total = a[i - 1] + total * (j - i + 1) / M
        ref.append((total * M + math.log(n / M) * j) / n)
    np.testing.assert_allclose(Minimax().terms(np.arange(len(a)), n, k), ref, rtol=1e-11)


def test_the_support_is_the_product_up_to_a_cap_or_the_observed_cells():
    assert Minimax().support_size(64.0, 10) == 64
    assert Minimax().support_size(1e300, 10) == 100_000
    assert Minimax().support_size(math.inf, 10) == 100_000
    assert Minimax(largest_support=50).support_size(64.0, 10) == 50
    assert Minimax(support="observed").support_size(64.0, 10) == 10
    assert Minimax(support="observed").observed_support
    assert not Minimax().observed_support


def test_cells_beyond_the_cap_are_subtracted():
    counts = [3, 1, 4, 1, 5, 9, 2, 6, 40]
    comp = Minimax(largest_support=5).entropy(counts)
    ref = naive_entropy(counts, 5)
    assert comp == pytest.approx(ref, abs=1e-13)
    with mpmath.workdps(30):
        without = sum(float(naive_term(j, sum(counts), 5)) for j in counts)
    assert comp < without - 0.01


def test_observed_support_ignores_cells_that_are_possible_only_on_paper():
    counts = [30, 20, 10]
    observed = Minimax(support="observed")
    assert observed.entropy(counts, cells=500) == observed.entropy(counts)
    assert observed.entropy(counts) == pytest.approx(naive_entropy(counts, 3), abs=1e-13)


@pytest.mark.parametrize(
    "weights",
    [np.ones(10_000), 1 / np.arange(1, 10_001)],
    ids=["uniform", "zipf"],
)
def test_minimax_needs_but_k_over_log_k_rows(weights):
    rng = np.random.default_rng(20162)
    p = weights / weights.sum()
    truth = Plugin().entropy(np.rint(p * 1e15).astype(np.int64))
    samples = rng.multinomial(3 * int(10_000 / math.log(10_000)), p, size=20)
    bias = np.mean([Minimax().entropy(counts) for counts in samples]) - truth
    plugin_bias = np.mean([Plugin().entropy(counts) for counts in samples]) - truth
    assert plugin_bias < -0.5
    assert abs(bias) < 0.2 * abs(plugin_bias)


def test_structural_zeros_bias_the_product_support_upward_but_not_the_observed():
    rng = np.random.default_rng(3)
    counts = np.zeros(1000, dtype=np.int64)
    counts[::111] = rng.multinomial(500, np.full(10, 0.1))
    assert Minimax().entropy(counts) > math.log(10) + 0.05
    assert Minimax(support="observed").entropy(counts) == pytest.approx(math.log(10), abs=0.02)
