"""Differential entropy by smoothing: closed forms, invariances, and the paper's example."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tamis.decisions.rule import Fixed
from tamis.errors import SettingError
from tamis.information.estimators import Minimax
from tamis.information.interface import Context, Group, Query
from tamis.information.lipschitz import LipschitzInformation
from tamis.information.smoothed_entropy import (
    DifferentialEntropy,
    Smoothing,
    column_shifts,
    count_grids,
    halved_terms,
    halves,
    polynomial_terms,
    taylor_terms,
    to_cube,
    whole_terms,
)
from tamis.search.layered import run
from tamis.settings import Settings
from tamis.simulate import draw

LAWS = {
    "uniform": stats.uniform(2, 5),
    "truncated normal": stats.truncnorm(-1, 2),
    "normal": stats.norm(1, 3),
    "beta": stats.beta(2, 4),
    "exponential": stats.expon(scale=0.5),
}


def source(columns: np.ndarray, **options) -> LipschitzInformation:
    names = [f"x{k}" for k in range(len(columns))]
    return LipschitzInformation(names, columns, Smoothing(**options))


def joint(columns: np.ndarray, **options) -> float:
    """The entropy of all columns, smoothed by their own number."""
    smoothing = Smoothing(**options)
    cube = to_cube([f"x{k}" for k in range(len(columns))], columns)
    d = len(columns)
    width = smoothing.width(cube.n_rows, d)
    return DifferentialEntropy(cube, smoothing).estimate(range(d), width)


@pytest.mark.parametrize("split", [False, True])
@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_the_entropy_of_a_column_is_that_of_its_law(law, split):
    rng = np.random.default_rng(1)
    errors = [
        joint(law.rvs((1, 3000), random_state=rng), split=split) - law.entropy() for _ in range(6)
    ]
    assert abs(np.mean(errors)) < 0.03


def test_the_entropy_of_correlated_normals_is_that_of_their_covariance():
    rng = np.random.default_rng(3)
    factor = np.array([[1.0, 0.0], [0.8, 0.6]])
    columns = factor @ rng.normal(size=(2, 5000))
    truth = math.log(2 * math.pi * math.e) + math.log(0.6)
    assert joint(columns) == pytest.approx(truth, abs=0.06)


@pytest.mark.parametrize("law", ["normal", "exponential", "beta"])
def test_the_error_falls_with_the_number_of_rows(law):
    rng = np.random.default_rng(4)
    truth = 2 * LAWS[law].entropy()
    errors = [
        np.sqrt(
            np.mean(
                [(joint(LAWS[law].rvs((2, n), random_state=rng)) - truth) ** 2 for _ in range(8)]
            )
        )
        for n in (100, 800, 6400)
    ]
    assert errors[0] > 1.5 * errors[1] > 1.5**2 * errors[2]


def test_open_walls_smear_a_jump_and_cut_ones_do_not():
    columns = np.random.default_rng(5).random((2, 2000))
    assert abs(joint(columns)) < 0.03
    assert joint(columns, boundary="open") > 0.05


numbers = st.lists(
    st.integers(-4096, 4096).map(lambda i: i / 1024), min_size=40, max_size=60, unique=True
)


@given(values=numbers, seed=st.integers(0, 10**6), split=st.booleans())
def test_the_order_of_rows_and_of_columns_changes_nothing(values, seed, split):
    rng = np.random.default_rng(seed)
    columns = np.array([values, rng.permutation(values)])
    shuffled = columns[:, rng.permutation(len(values))]
    names, smoothing = ("a", "b"), Smoothing(split=split)
    contexts = [Context(0, ()), Context(0, (1,)), Context(1, ())]
    expected = LipschitzInformation(names, columns, smoothing).entropies(contexts)
    assert np.array_equal(
        LipschitzInformation(names, shuffled, smoothing).entropies(contexts), expected
    )
    turned = LipschitzInformation(names[::-1], columns[::-1], smoothing)
    contexts = [Context(1, ()), Context(1, (0,)), Context(0, ())]
    assert np.array_equal(turned.entropies(contexts), expected)


@given(
    values=numbers,
    shift=st.integers(-8, 8).map(float),
    power=st.integers(-6, 6),
    split=st.booleans(),
)
def test_a_shift_changes_nothing_and_a_factor_adds_its_logarithm(values, shift, power, split):
    # Powers of two, so that rounding moves no row into another cell.
    factor = 2.0**power
    columns = np.array([values, np.sqrt(np.arange(1, len(values) + 1))])
    before = source(columns, split=split)
    columns[0] = (columns[0] + shift) * factor
    after = source(columns, split=split)
    context = [Context(0, (1,))]
    assert after.entropies(context) == pytest.approx(
        before.entropies(context) + math.log(factor), abs=1e-9
    )
    assert np.allclose(after.cmi([Context(1, ())]), before.cmi([Context(1, ())]), atol=1e-9)


def test_on_one_grid_it_is_the_discrete_estimator_with_n_cells_plus_the_log_width():
    values = np.random.default_rng(6).normal(size=(1, 500))
    smoothing = Smoothing(boundary="open", shifts=1)
    cube = to_cube(["x0"], values)
    width = smoothing.width(500, 1)
    cells = np.floor(cube.scaled[0] / width + column_shifts("x0", 1, 0)[0]).astype(int)
    counts = np.bincount(cells)
    seen = counts[counts > 0]
    expected = Minimax().terms(seen, 500, 500).sum() + math.log(width) + cube.log_side[0]
    assert joint(values, boundary="open", shifts=1) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("n", [50, 1000, 100_000])
def test_the_polynomial_continues_the_terms_of_the_discrete_estimator(n):
    degree = int(1.6 * math.log(n))
    assert polynomial_terms(n)[1 : degree + 1] == pytest.approx(
        whole_terms(n)[1 : degree + 1], abs=1e-12
    )
    assert len(polynomial_terms(n)) == int(3.5 * math.log(n)) + 1
    assert polynomial_terms(n)[0] == 0.0


def test_the_polynomial_is_nearly_unbiased_where_the_plug_in_is_not():
    n = 2000
    terms = polynomial_terms(n)
    counts = np.arange(len(terms))
    for mean in (0.5, 2.0, 5.0):
        weights = stats.poisson(mean).pmf(counts)
        truth = -mean / n * math.log(mean / n)
        plugin = float(weights[1:] @ (-counts[1:] / n * np.log(counts[1:] / n)))
        assert abs(weights @ terms - truth) < abs(plugin - truth) / 1.5


def test_the_taylor_terms_are_unbiased_for_the_expansion():
    n, p, q = 40, 0.3, 0.35
    counts = np.arange(n + 1)
    weights = stats.binom(n, q).pmf(counts)
    expansion = -p * math.log(p) - (math.log(p) + 1) * (q - p) - (q - p) ** 2 / (2 * p)
    found = taylor_terms(np.full(n + 1, p), counts, n)
    assert weights @ found == pytest.approx(expansion, abs=1e-12)


def test_the_pilot_chooses_between_the_regimes():
    n = 1000
    # The polynomial serves pilots up to 1.6 ln(1000), which is 11.05.
    pilot = np.array([0, 5, 11, 12, 972])
    counts = np.array([3, 200, 9, 9, 779])
    found = halved_terms(pilot, counts)
    assert found[[0, 2]].tolist() == polynomial_terms(n)[[3, 9]].tolist()
    assert found[1] == pytest.approx(-0.2 * math.log(0.2) + 0.5 / n)
    assert found[3:] == pytest.approx(taylor_terms(pilot[3:] / n, counts[3:], n))
    assert found[2] != pytest.approx(found[3], abs=1e-6)


def test_every_row_is_counted_once_in_every_grid():
    rng = np.random.default_rng(7)
    cube = to_cube(["a", "b"], rng.exponential(size=(2, 300)))
    shifts = np.array([column_shifts(name, 8, 0) for name in cube.names])
    half = halves(list(cube.scaled), 300, 0)
    assert half.sum() == 150
    for width in (0.001, 0.05, 0.7, 1.0):
        for whole, split in zip(
            count_grids(cube, [0, 1], width, shifts, "cut"),
            count_grids(cube, [0, 1], width, shifts, "cut", half),
            strict=True,
        ):
            assert whole.counts.sum() == 300
            assert np.array_equal(split.counts.sum(axis=0), whole.counts[0])
            assert split.counts.sum(axis=1).tolist() == [150, 150]
            assert whole.log_volume <= 2 * math.log(width) + 1e-12


def test_the_shifts_of_a_column_cover_it_evenly_and_are_its_own():
    shifts = column_shifts("a", 16, 0)
    assert np.allclose(np.sort(shifts), (np.arange(16) + 0.5) / 16)
    assert not np.array_equal(shifts, column_shifts("b", 16, 0))
    assert not np.array_equal(shifts, column_shifts("a", 16, 1))


@pytest.mark.parametrize("bandwidth", ["shared", "own"])
def test_gains_agree_whichever_way_they_are_asked_for(bandwidth):
    rng = np.random.default_rng(8)
    information = source(rng.normal(size=(4, 300)).cumsum(axis=0), bandwidth=bandwidth)
    rows = information.cmi([Context(0, (2,)), Context(1, ())])
    assert rows[[0, 0, 1], [0, 2, 1]].tolist() == [0.0] * 3
    asked = information.tests([Query(0, (2,), np.array([1, 3])), Query(1, (), np.array([0]))])
    assert asked.cmi.tolist() == [rows[0, 1], rows[0, 3], rows[1, 0]]
    grouped = information.joint_tests([Group(0, (2,), (3,)), Group(0, (2,), (1, 3))])
    assert grouped.cmi[0] == rows[0, 3]
    chain = rows[0, 1] + information.cmi([Context(0, (1, 2))])[0, 3]
    assert grouped.cmi[1] == pytest.approx(chain, abs=0.3)
    turned = information.cmi([Context(1, (2,))])
    assert turned[0, 0] == rows[0, 1]
    assert asked.log_p is None
    assert Fixed(0.01).strengths(asked) is asked.cmi


def test_a_shared_bandwidth_keeps_the_gain_of_independent_columns_near_zero():
    rng = np.random.default_rng(9)
    z, x, y = rng.normal(size=(3, 2000))
    columns = np.array([x + z, y + z, z])
    query = [Query(0, (2,), np.array([1]))]
    shared = source(columns).tests(query).cmi[0]
    own = source(columns, bandwidth="own").tests(query).cmi[0]
    assert abs(shared) < 0.025
    assert own < -0.04


@pytest.mark.parametrize("seed", [0, 1])
def test_the_unfaithful_example_of_the_paper_is_recovered(seed):
    data = draw(model="unfaithful", n=1000, seed=seed)
    names = sorted(data.data)
    information = LipschitzInformation(names, np.array([data.data[name] for name in names]))
    outcome = run(information, Settings("node", Fixed(0.04), Fixed(0.04), max_boundary=2))
    edges = {
        (names[parent], names[k])
        for k, boundary in outcome.boundaries.items()
        for parent in boundary.members
    }
    assert edges == set(data.graph.edges)


def test_the_bandwidth_is_that_of_the_theory():
    smoothing = Smoothing(smoothness=1.0, constant=0.5)
    assert smoothing.width(1000, 2) == pytest.approx(0.5 * (1000 * math.log(1000)) ** (-1 / 3))
    assert Smoothing(constant=100.0).width(1000, 2) == 1.0
    assert Smoothing(**smoothing.to_dict()) == smoothing
    with pytest.raises(SettingError, match="raise constant"):
        joint(np.random.default_rng(0).normal(size=(4, 100)), constant=1e-5)
