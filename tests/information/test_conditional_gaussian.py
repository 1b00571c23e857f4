"""Conditional Gaussians: against cell-by-cell computation, counts, moments and known laws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import digamma
from scipy.stats import chi2_contingency, multivariate_normal

import tamis
from tamis.constants import constants
from tamis.errors import TamisWarning
from tamis.information.cell_algebra import factors_of, joined_gains
from tamis.information.conditional_gaussian import ConditionalGaussianInformation
from tamis.information.counted import CountedInformation
from tamis.information.gaussian import GaussianInformation
from tamis.information.interface import Context, Group, Query
from tamis.information.logistic import (
    Design,
    Left,
    covariance,
    entropy_left,
    regress,
)
from tamis.rules import ChiSquared, FTest, Permutation
from tamis.tables import read_table

A, B, X, Y, Z = range(5)
NAMES = ("a", "b", "x", "y", "z")


def columns(n: int = 400, seed: int = 1) -> dict[str, np.ndarray]:
    """Two columns of levels and three measured, each of which depends on some before it."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 2, n), rng.integers(0, 3, n)
    b = np.where(rng.random(n) < 0.3, a, b)
    x = rng.normal(size=n) * (1 + a) + b
    y = (0.5 + a) * x + rng.normal(size=n)
    z = rng.normal(size=n) + 0.3 * y
    return dict(zip(NAMES, (a, b, x, y, z), strict=True))


def as_table(data: dict[str, np.ndarray]):
    labelled = {
        k: v if v.dtype == np.float64 else [f"v{code}" for code in v] for k, v in data.items()
    }
    return read_table(labelled, continuous=True)


def source_of(data: dict[str, np.ndarray], **options) -> ConditionalGaussianInformation:
    return ConditionalGaussianInformation.from_table(as_table(data), **options)


def evidence(source, target, given, *candidates):
    return source.tests([Query(target, given, np.array(candidates))])


# Brute force


def left_over(rows: np.ndarray, on: np.ndarray) -> float:
    """The variance of a column that least squares on others leave, by numpy's own solver."""
    design = np.column_stack([np.ones(len(rows)), *on])
    return float(np.mean((rows - design @ np.linalg.lstsq(design, rows, rcond=None)[0]) ** 2))


def naive_gain(data, level: str, measured: str, levels: list[str], numbers: list[str]):
    """Stratum by stratum: one regression for all levels against one for each, less its bias."""
    n, q, gain, bias, df = len(data[level]), len(numbers), 0.0, 0.0, 0
    strata = np.column_stack([np.zeros(n), *(data[k] for k in levels)])
    for stratum in np.unique(strata, axis=0):
        inside = (strata == stratum).all(axis=1)
        kept = [
            rows
            for code in np.unique(data[level][inside])
            if (rows := inside & (data[level] == code)).sum() >= 10
        ]
        if len(kept) < 2:
            continue
        df += (len(kept) - 1) * (q + 2)
        for rows, sign in [(np.any(kept, axis=0), 1), *((rows, -1) for rows in kept)]:
            m, on = rows.sum(), [data[k][rows] for k in numbers]
            gain += sign * m / n / 2 * math.log(left_over(data[measured][rows], on))
            bias += sign * m / n / 2 * (digamma((m - 1 - q) / 2) - math.log(m / 2))
    return gain, bias, df


@pytest.mark.parametrize("n", [60, 400])
@pytest.mark.parametrize(
    ("levels", "numbers"), [([], []), (["a"], []), ([], ["y"]), (["a"], ["y", "z"])]
)
def test_a_level_and_a_measurement_are_compared_stratum_by_stratum(n, levels, numbers):
    data = columns(n)
    source = source_of(data)
    given = tuple(NAMES.index(k) for k in levels + numbers)
    ref_gain, ref_bias, ref_df = naive_gain(data, "b", "x", levels, numbers)
    for target, other in ((B, X), (X, B)):
        comp = evidence(source, target, given, other)
        assert comp.cmi[0] == pytest.approx(ref_gain - ref_bias, abs=1e-7)
        assert comp.df[0] == ref_df
        scaled = ref_gain * ref_df / (2 * n * ref_bias)
        assert comp.plugin[0] == pytest.approx(scaled, abs=1e-7)


def test_two_measurements_are_compared_in_every_cell_of_the_levels():
    data = columns()
    ref, n = 0.0, len(data["a"])
    for code in (0, 1):
        rows = data["a"] == code
        alone = left_over(data["x"][rows], [data["y"][rows]])
        both = left_over(data["x"][rows], [data["y"][rows], data["z"][rows]])
        free = (rows.sum() - 2) / 2
        ref += rows.mean() / 2 * (math.log(alone / both) - digamma(free) + digamma(free - 0.5))
    comp = evidence(source_of(data), X, (A, Y), Z)
    assert comp.cmi[0] == pytest.approx(ref, abs=1e-7)
    assert comp.df[0] == 2
    assert n == comp.n_rows


def test_the_entropy_of_a_measurement_is_that_of_its_cells_in_its_unit():
    data = columns(2000)
    data["x"] *= 1000
    source = source_of(data)
    ref = sum(
        np.mean(data["a"] == code) / 2
        * math.log(2 * math.pi * math.e * np.var(data["x"][data["a"] == code]))
        for code in (0, 1)
    )  # fmt: skip
    assert source.entropies([Context(X, (A,))])[0] == pytest.approx(ref, abs=2e-3)


# Special cases


def test_without_levels_it_is_the_moments():
    data = {k: v for k, v in columns().items() if k in "xyz"}
    source, other = source_of(data), GaussianInformation.from_table(as_table(data))
    contexts = [Context(0, ()), Context(0, (1,)), Context(2, (0, 1))]
    np.testing.assert_allclose(source.cmi(contexts), other.cmi(contexts), atol=3e-3)
    np.testing.assert_allclose(source.entropies(contexts), other.entropies(contexts), atol=7e-3)
    ours, theirs = evidence(source, 0, (1,), 2), evidence(other, 0, (1,), 2)
    np.testing.assert_allclose(
        ChiSquared().p_values(ours), FTest().p_values(theirs), rtol=0.02, atol=1e-12
    )


def test_without_measurements_it_is_the_counts():
    data = {k: columns()[k] for k in "ab"} | {"c": columns(seed=5)["b"]}
    source, other = source_of(data), CountedInformation(as_table(data))
    contexts = [Context(0, ()), Context(0, (1,)), Context(2, (0, 1))]
    np.testing.assert_allclose(source.cmi(contexts), other.cmi(contexts), atol=1e-12)
    np.testing.assert_allclose(source.entropies(contexts), other.entropies(contexts), atol=1e-12)
    ours, theirs = (evidence(one, 0, (1,), 2) for one in (source, other))
    np.testing.assert_allclose(
        ChiSquared().p_values(ours), Permutation().p_values(theirs), rtol=1e-9
    )


@given(st.integers(0, 10**6), st.integers(30, 120))
def test_gains_are_symmetric_and_nobody_informs_members(seed, n):
    source = source_of(columns(n, seed))
    everyone = [Context(k, ()) for k in range(5)]
    np.testing.assert_allclose(source.cmi(everyone), source.cmi(everyone).T, atol=1e-8)
    for pair in ((A, X), (Z, Y), (A, B)):
        given = tuple(sorted({A, B, X, Y, Z} - {*pair}))
        found = source.cmi([Context(k, given) for k in pair])
        assert found[0, pair[1]] == pytest.approx(found[1, pair[0]], abs=1e-8)
        assert not found[:, list(given)].any()


def test_an_entropy_falls_by_the_gain():
    """The chain rule, exactly where all cells are filled and the columns added are measured."""
    source = source_of(columns(2000))
    before, after = source.entropies([Context(Z, (A, B)), Context(Z, (A, B, Y))])
    assert before - after == pytest.approx(source.cmi([Context(Z, (A, B))])[0, Y], abs=1e-9)
    before, after = source.entropies([Context(X, (B,)), Context(X, (A, B))])
    assert before - after == pytest.approx(source.cmi([Context(X, (B,))])[0, A], abs=1e-9)


def test_equivalent_graphs_score_alike():
    source = source_of(columns())
    chains = [
        [(A, ()), (X, (A,)), (Y, (X,))],
        [(Y, ()), (X, (Y,)), (A, (X,))],
        [(X, ()), (A, (X,)), (Y, (X,))],
    ]
    scores = [
        source.penalised_likelihoods([Context(*one) for one in chain]).sum() for chain in chains
    ]
    np.testing.assert_allclose(scores, scores[0], rtol=1e-10)
    worse = source.penalised_likelihoods([Context(A, ()), Context(X, ()), Context(Y, (X,))]).sum()
    assert worse < scores[0] - 10


def naive_fit(data, levels: list[str], numbers: list[str]) -> float:
    """The ln likelihood of a set whose cells are all filled, from the density of each row."""
    n, total = len(data["a"]), 0.0
    strata = np.column_stack([np.zeros(n), *(data[k] for k in levels)])
    for stratum in np.unique(strata, axis=0):
        rows = (strata == stratum).all(axis=1)
        total += rows.sum() * math.log(rows.mean())
        if numbers:
            inside = np.column_stack([data[k][rows] for k in numbers])
            law = multivariate_normal(inside.mean(axis=0), np.cov(inside.T, bias=True))
            total += law.logpdf(inside).sum()
    return total


@pytest.mark.parametrize(("levels", "numbers"), [("a", "x"), ("ab", "xyz"), ("", "xy"), ("b", "")])
def test_scores_are_likelihoods_of_the_rows(levels, numbers):
    data = columns(900)
    source = source_of(data)
    members = tuple(NAMES.index(k) for k in levels + numbers)
    score = sum(
        source.penalised_likelihoods([Context(k, members[:i])])[0] for i, k in enumerate(members)
    )
    n_cells, q = math.prod({"a": 2, "b": 3}[k] for k in levels), len(numbers)
    price = n_cells - 1 + constants.mixed_price * n_cells * (q + q * (q + 1) / 2)
    ref = naive_fit(data, list(levels), list(numbers)) - 0.5 * math.log(900) * price
    assert score == pytest.approx(ref, abs=1e-3)


def test_whole_rows_and_single_tests_agree():
    """Rows come from one compiled loop, single tests from another."""
    source, other = source_of(columns()), source_of(columns())
    for target, known in [(X, (A, Y)), (B, (A, Z)), (A, (B,)), (Z, ())]:
        others = np.array([k for k in range(5) if k != target and k not in known])
        whole = source.cmi([Context(target, known)])[0, others]
        single = evidence(other, target, known, *others)
        np.testing.assert_allclose(single.cmi, whole, atol=1e-12)
        after = evidence(source, target, known, *others)
        np.testing.assert_allclose(single.stats, after.stats, rtol=1e-9)


def test_a_group_is_judged_one_after_the_other():
    source = source_of(columns())
    together = source.joint_tests([Group(Z, (X,), (B, Y, X))])
    first, second = evidence(source, Z, (X,), B), evidence(source, Z, (B, X), Y)
    assert together.cmi[0] == pytest.approx(first.cmi[0] + second.cmi[0])
    assert together.plugin[0] == pytest.approx(first.plugin[0] + second.plugin[0])
    assert together.df[0] == first.df[0] + second.df[0]


# Levels given measurements


def logistic_pair(n: int, rng: np.random.Generator, link: float = 0.0) -> dict[str, np.ndarray]:
    """Two columns of levels that both depend on x, and b on a if there is a link."""
    x = rng.normal(size=n)
    a = (rng.random(n) < 1 / (1 + np.exp(-2 * x))).astype(int)
    b = np.array([(2 * x + link * a), np.zeros(n), x]) + rng.gumbel(size=(3, n))
    return {"a": a, "b": b.argmax(axis=0), "x": x}


def test_a_logistic_regression_finds_the_entropy_that_is_left():
    rng = np.random.default_rng(2)
    x = rng.normal(size=20_000)
    p = 1 / (1 + np.exp(-1 - 2 * x))
    truth = -np.mean(p * np.log(p) + (1 - p) * np.log(1 - p))
    source = source_of({"a": (rng.random(20_000) < p).astype(int), "x": x})
    assert source.entropies([Context(0, (1,))])[0] == pytest.approx(truth, abs=0.01)


def test_a_level_that_is_told_perfectly_has_no_entropy_left_and_none_below_0():
    rng = np.random.default_rng(3)
    a = rng.integers(0, 3, 300)
    data = {"a": a, "x": 100.0 * a + rng.normal(size=300), "b": rng.integers(0, 2, 300)}
    source = source_of(data)
    assert 0 <= source.entropies([Context(0, (1,))])[0] < 0.01
    test = evidence(source, 0, (1,), 2)
    assert ChiSquared().p_values(test)[0] > 0.01


def naive_regression(codes, arity, columns, penalty=0.01):
    """Newton's method on a dense design, until nothing changes: probabilities of all levels."""
    weights = np.zeros((arity - 1, columns.shape[1]))
    wanted = codes[:, None] == np.arange(1, arity)
    for _ in range(60):
        logits = np.column_stack([np.zeros(len(codes)), columns @ weights.T])
        p = np.exp(logits - logits.max(axis=1, keepdims=True))
        p = (p / p.sum(axis=1, keepdims=True))[:, 1:]
        slope = ((wanted - p).T @ columns - penalty * weights).ravel()
        spread = p[:, :, None] * (np.eye(arity - 1) - p[:, None, :])
        curved = np.einsum("rab,ri,rj->aibj", spread, columns, columns)
        curved = curved.reshape(2 * (weights.size,)) + penalty * np.eye(weights.size)
        weights += np.linalg.solve(curved, slope).reshape(weights.shape)
    return weights, wanted - p


@pytest.mark.parametrize(("n", "arity", "n_cells"), [(300, 2, 1), (700, 4, 3), (6000, 3, 12)])
def test_regressions_agree_with_newtons_method_on_a_dense_design(n, arity, n_cells):
    """The last of them start from some of the rows, which lack some levels of rare cells."""
    rng = np.random.default_rng(n)
    cell = np.sort(rng.integers(0, n_cells, n) * rng.integers(0, 2, n))
    cell = np.unique(cell, return_inverse=True)[1]
    x = rng.normal(size=(2, n))
    logits = np.outer(np.arange(arity), x[0] + 0.5 * cell)
    codes = (logits + 2 * rng.gumbel(size=(arity, n))).argmax(axis=0)
    shuffled = rng.permutation(n)
    cell, x, codes = cell[shuffled], x[:, shuffled], codes[shuffled]
    design = Design(cell, np.bincount(cell), x, 2)
    numbers = np.array([*x, x[0] ** 2, x[0] * x[1], x[1] ** 2])
    dense = np.column_stack([cell[:, None] == np.arange(cell.max() + 1), numbers.T])
    weights, left = naive_regression(codes, arity, dense)
    found = regress(codes, arity, design)
    assert np.sqrt(((found.left - left[design.order].T) ** 2).sum()) < 0.7
    p = np.column_stack([1 - (wanted := codes[:, None] == np.arange(1, arity)).sum(1), wanted])
    p = (p - np.column_stack([-left.sum(axis=1), left])).max(axis=1, where=p == 1, initial=0)
    curved = -np.log(p).mean()
    assert entropy_left(codes, design, found) == pytest.approx(
        curved + 0.5 * weights.size / n, abs=0.2 * weights.size / n
    )


def test_products_of_residuals_are_weighed_as_by_hand():
    rng = np.random.default_rng(12)
    p, q = (rng.dirichlet(np.ones(k + 1), 1300).T[1:].astype(np.float32) for k in (2, 3))
    left, right = (
        Left(rng.normal(size=chances.shape).astype(np.float32), chances) for chances in (p, q)
    )
    sums = np.array([float(a @ b) for a in left.lines for b in right.lines])
    variances = sum(
        np.kron(np.diag(a) - np.outer(a, a), np.diag(b) - np.outer(b, b))
        for a, b in zip(p.T.astype(float), q.T.astype(float), strict=True)
    )
    found = covariance(left, right)
    assert found.df == 6
    assert found.statistic == pytest.approx(sums @ np.linalg.solve(variances, sums), rel=1e-4)


def left_by(codes, arity, design):
    lines = regress(codes, arity, design).left
    own = design.sorted(codes) == np.arange(1, arity)[:, None]
    return Left(lines, own - lines)


def test_without_anything_given_the_covariance_is_pearsons():
    rng = np.random.default_rng(5)
    one, other = rng.integers(0, 3, 600), rng.integers(0, 4, 600)
    design = Design(np.zeros(600, dtype=np.int64), np.array([600]), np.empty((0, 600)))
    found = covariance(left_by(one, 3, design), left_by(other, 4, design))
    table = np.histogram2d(one, other, bins=(3, 4))[0]
    wanted = chi2_contingency(table, correction=False)
    assert found.df == wanted.dof
    assert found.statistic == pytest.approx(wanted.statistic, rel=2e-3)


@pytest.mark.parametrize(("link", "least", "most"), [(0.0, 0.0, 0.12), (2.0, 0.9, 1.0)])
def test_levels_with_a_common_continuous_cause_are_independent_given_it(link, least, most):
    rng = np.random.default_rng(5)
    rejected = 0
    for _ in range(100):
        source = source_of(logistic_pair(500, rng, link))
        rejected += ChiSquared().p_values(evidence(source, 0, (2,), 1))[0] < 0.05
    assert least <= rejected / 100 <= most


@pytest.mark.parametrize("rare", [False, True])
@pytest.mark.parametrize("kinds", ["level", "measurement"])
def test_false_dependences_are_as_many_as_asked_for(kinds, rare):
    """S sets means, slopes and spreads; 200 tests at .05, so between .01 and .10."""
    rng = np.random.default_rng(6)
    rejected = 0
    for _ in range(200):
        d = rng.choice(3, size=200, p=[0.75, 0.2, 0.05] if rare else [1 / 3] * 3)
        s = rng.normal(size=200) * (1 + d)
        x = (1 + d) * s + rng.normal(size=200) * (1 + d)
        y = (2 - d) * s + rng.normal(size=200)
        if kinds == "level":
            y = (y > np.median(y)).astype(int)
        source = source_of({"x": x, "y": y, "d": d, "s": s})
        rejected += ChiSquared().p_values(evidence(source, 0, (2, 3), 1))[0] < 0.05
    assert 0.01 <= rejected / 200 <= 0.10


def test_no_column_tells_more_of_levels_than_they_have_to_tell():
    """A copy of the levels with a little noise, as numbers and as other levels, and by rank."""
    rng = np.random.default_rng(13)
    a = rng.integers(0, 3, 500)
    data = {"a": a, "x": a + 1e-7 * rng.normal(size=500), "b": (a > 0).astype(int)}
    data |= {"y": rng.normal(size=500)}
    source = source_of(data)
    most = -sum(p * math.log(p) for p in np.bincount(a) / 500)
    for shared in ((), (3,)):
        gains = source.cmi([Context(k, shared) for k in range(3)])
        assert gains.max() < most + 1e-9
        assert gains[2].max() < math.log(2)
        assert evidence(source, 0, shared, 1).cmi[0] < most + 1e-9


# Small cells


def test_constant_columns_inform_nobody():
    data = columns(100)
    data |= {"flat": np.full(100, 0.1), "one": np.zeros(100, dtype=int)}
    with pytest.warns(TamisWarning, match="'flat', 'one'"):
        source = source_of(data)
    assert [source.varies(k) for k in range(7)] == [True] * 5 + [False] * 2
    contexts = [Context(X, (A, 5, 6)), Context(X, (A,)), Context(5, (X,)), Context(6, (X,))]
    cmi, entropies = source.cmi(contexts), source.entropies(contexts)
    np.testing.assert_array_equal(cmi[0], cmi[1])
    assert not cmi[2:].any()
    assert entropies[0] == entropies[1]
    assert not entropies[2:].any()


def test_a_measurement_that_is_constant_in_a_cell_is_a_strong_dependence():
    rng = np.random.default_rng(10)
    wet = rng.integers(0, 2, 200)
    source = source_of({"wet": wet, "rain": wet * rng.exponential(size=200)})
    test = evidence(source, 0, (), 1)
    # The density of a constant has no bound; what it can tell of the coin has.
    assert test.cmi[0] == pytest.approx(
        -(p := wet.mean()) * math.log(p) - (1 - p) * math.log(1 - p)
    )
    assert ChiSquared().p_values(test)[0] < 1e-100
    assert np.isfinite(source.penalised_likelihoods([Context(1, (0,))])).all()


# Rules


# Graphs


@pytest.mark.parametrize("search", ["sequential", "node", "layer", "auto"])
def test_shuffled_columns_give_the_same_graph(search):
    data = columns(150)
    names = ["z", "b", "x", "a", "y"]
    one, other = (
        tamis.TAM(search, information="conditional-gaussian").fit({k: data[k] for k in order})
        for order in (NAMES, names)
    )
    assert set(one.graph_.edges) == set(other.graph_.edges)
    assert one.entropies_ == other.entropies_


@given(st.integers(0, 10_000), st.lists(st.integers(1, 5), min_size=2, max_size=5))
def test_joined_gains_are_those_of_three_determinants(seed, sizes):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(sum(sizes), 3 * sum(sizes)))
    left = rows @ rows.T / rows.shape[1]
    places = np.split(np.arange(len(left)), np.cumsum(sizes)[:-1])

    def log(*columns):
        chosen = np.concatenate([places[k] for k in columns])
        return np.linalg.slogdet(left[np.ix_(chosen, chosen)])[1]

    lengths = np.array(sizes)
    factors, logs = factors_of(left, lengths)
    assert logs == pytest.approx([log(k) for k in range(len(sizes))])
    for own in range(len(sizes)):
        others = np.array([k for k in range(len(sizes)) if k != own])
        found = joined_gains(left, factors, logs, lengths, own, others, 100)
        gains = [
            0.5 * (log(own) + log(k) - log(own, k) - sizes[own] * sizes[k] / 100) for k in others
        ]
        assert found == pytest.approx(gains)
