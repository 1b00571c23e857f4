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
from tamis.errors import DataError, SettingError, TamisWarning
from tamis.information import cell_algebra
from tamis.information.cell_algebra import by_stratum, factors_of, joined_gains, refined
from tamis.information.conditional_gaussian import ConditionalGaussianInformation
from tamis.information.counted import CountedInformation
from tamis.information.gaussian import GaussianInformation
from tamis.information.gaussian_cells import tied
from tamis.information.interface import Context, Group, Query
from tamis.information.logistic import (
    Design,
    Left,
    by_frequency,
    covariance,
    entropy_left,
    judged_by,
    regress,
)
from tamis.rules import BIC, ChiSquared, Fixed, FTest, LocalPermutation, Permutation
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


def test_a_level_told_by_numbers_is_not_paid_for_their_misfit():
    rng = np.random.default_rng(12)
    a = rng.integers(0, 2, 400)
    source = source_of({"a": a, "x": 20.0 * a + rng.normal(size=400)})
    forward = source.penalised_likelihoods([Context(0, ()), Context(1, (0,))]).sum()
    backward = source.penalised_likelihoods([Context(1, ()), Context(0, (1,))]).sum()
    assert forward > backward + 100


def test_profiles_leave_entropies_open():
    """The order search asks for profiles by the thousand, and never for entropies."""
    source = source_of(columns())
    contexts = [Context(A, (X,)), Context(A, (B,)), Context(X, (A,))]
    assert np.isnan(source.profiles(contexts).entropies).all()
    assert np.isfinite(source.entropies(contexts)).all()


def test_regressions_have_products_only_where_rows_are_enough():
    """A level that is told by a product, and by nothing else."""
    rng = np.random.default_rng(3)

    def entropy(n):
        x, y = rng.normal(size=(2, n))
        a = (x * y + 0.3 * rng.normal(size=n) > 0).astype(int)
        return source_of({"a": a, "x": x, "y": y}).entropies([Context(0, (1, 2))])

    assert entropy(400) < 0.5
    assert entropy(50) > 0.6


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


def test_residuals_have_mean_0_and_agree_with_themselves():
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 3, 500)
    cell = rng.integers(0, 2, 500)
    design = Design(cell, np.bincount(cell), rng.normal(size=(1, 500)))
    left = left_by(codes, 3, design)
    np.testing.assert_allclose(left.lines.mean(axis=1), 0, atol=1e-3)
    assert covariance(left, left).statistic > 400
    assert covariance(left, Left(left.lines[:1], left.chances[:1])).df == 2


def test_without_anything_given_the_covariance_is_pearsons():
    rng = np.random.default_rng(5)
    one, other = rng.integers(0, 3, 600), rng.integers(0, 4, 600)
    design = Design(np.zeros(600, dtype=np.int64), np.array([600]), np.empty((0, 600)))
    found = covariance(left_by(one, 3, design), left_by(other, 4, design))
    table = np.histogram2d(one, other, bins=(3, 4))[0]
    wanted = chi2_contingency(table, correction=False)
    assert found.df == wanted.dof
    assert found.statistic == pytest.approx(wanted.statistic, rel=2e-3)


def frequencies(*rows):
    return by_frequency(np.repeat(np.arange(len(rows)), rows), len(rows), np.empty((0, sum(rows))))


def test_rare_levels_are_not_judged_by_themselves_and_ties_go_together():
    one, other = judged_by(frequencies(485, 400, 110, 5), frequencies(600, 385, 10, 3, 2))
    assert one.tolist() == [1, 2]
    assert other.tolist() == [1, 2]
    even = judged_by(frequencies(*[100] * 40), frequencies(3000, 1000))
    assert [len(k) for k in even] == [39, 1]
    assert [len(k) for k in judged_by(frequencies(5, 1), frequencies(3, 3))] == [1, 1]


def test_of_even_levels_names_do_not_choose_which_are_judged():
    """40 levels of five rows each are too rare to be judged by more than one, of equal columns the
    same, whatever they are called in each."""
    rng = np.random.default_rng(3)
    level = np.arange(200) % 40
    p_values = [
        p_value_of_levels(
            read_table(
                {
                    "number": rng.permutation(np.linspace(-1, 1, 200)),
                    "one": np.array([f"l{k:02d}" for k in rng.permutation(40)])[level],
                    "other": np.array([f"l{k:02d}" for k in rng.permutation(40)])[level],
                },
                continuous=True,
            )
        )
        for _ in range(3)
    ]
    assert max(p_values) < 1e-6


@pytest.mark.parametrize("seed", range(6))
def test_levels_that_are_told_perfectly_leave_nothing_to_test(seed):
    """But for what single precision makes of a variance of 0."""
    rng = np.random.default_rng(seed)
    told = np.array(rng.integers(0, 3, 1000) == [[1], [2]], dtype=np.float32)
    chances = rng.random((1, 1000), dtype=np.float32)
    other = Left((rng.random((1, 1000), dtype=np.float32) < chances) - chances, chances)
    assert covariance(Left(np.zeros_like(told), told), other) == (0, 0)


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


def test_cells_without_enough_rows_share_a_covariance():
    assert tied(np.array([20, 30]), 10, 1).tolist() == [0, 1]
    assert tied(np.array([3, 30, 9, 20]), 10, 1).tolist() == [0, 1, 0, 2]
    # Three rows are too few even together: the next larger cell joins, whatever its place.
    assert tied(np.array([3, 30, 40]), 10, 1).tolist() == [0, 0, 1]
    assert tied(np.array([2, 2, 1]), 10, 1) is None


def test_a_level_of_one_row_changes_little():
    data = columns(300)
    plain = source_of(data).entropies([Context(X, (A, B))])[0]
    data["b"] = data["b"].copy()
    data["b"][0] = 3
    source = source_of(data)
    assert source.entropies([Context(X, (A, B))])[0] == pytest.approx(plain, abs=0.05)
    assert evidence(source, X, (A,), B).df[0] == 2 * 2 * 2  # the one row is left out


def test_where_no_cell_has_rows_enough_nothing_is_found():
    rng = np.random.default_rng(8)
    data = {"a": np.arange(40) % 13, "x": rng.normal(size=40), "y": rng.normal(size=40)}
    test = evidence(source_of(data), 1, (0,), 2)
    assert (test.df[0], ChiSquared().p_values(test)[0]) == (0, 1)


def test_a_set_that_uses_up_the_rows_is_refused_by_name():
    rng = np.random.default_rng(9)
    data = {"many": np.arange(40) % 20, "more": np.arange(40) // 2, "x": rng.normal(size=40)}
    with pytest.raises(DataError, match=r"'many', 'more', 'x' .*40 rows leave nothing"):
        source_of(data).entropies([Context(2, (0, 1))])


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


def test_collinear_measurements_are_refused_by_name():
    data = columns(100)
    data["twin"] = 2 * data["x"] - data["z"]
    with pytest.raises(DataError, match=r"Column 'twin' is a linear function of 'x', 'z'"):
        source_of(data)


@pytest.mark.parametrize("thin", [2, 2.5, True, "10"])
def test_thin_must_be_a_number_of_rows(thin):
    with pytest.raises(SettingError, match="thin must be a whole number from 3 on"):
        tamis.TAM(information="conditional-gaussian", source={"thin": thin}).fit(columns(60))


# Rules


def test_only_rules_that_know_the_law_judge_it():
    test = evidence(source_of(columns(100)), X, (A,), Y)
    for rule in (ChiSquared(), BIC(), Fixed(0.1)):
        assert np.isfinite(rule.strengths(test)).all()
    for rule in (Permutation(), FTest(), LocalPermutation()):
        with pytest.raises(SettingError, match=f"{rule.name!r} .*choose 'chi-squared'"):
            rule.strengths(test)


# Graphs


def test_levels_and_measurements_are_learned_out_of_the_box():
    rng = np.random.default_rng(11)
    site = rng.integers(0, 3, 600)
    depth = 2.0 * site + rng.normal(size=600) * 3
    colour = (rng.random(600) < 1 / (1 + np.exp(-depth + 2))).astype(int)
    data = {"<site>": [f"s{i}" for i in site], "depth": depth, 'co"l': colour.astype(bool)}
    model = tamis.TAM().fit(data)
    assert model.result_.settings["information"] == "conditional-gaussian"
    assert {frozenset(edge) for edge in model.graph_.edges} == {
        frozenset(("<site>", "depth")),
        frozenset(("depth", 'co"l')),
    }
    assert all(0 <= edge.p_value < 0.01 for edge in model.result_.edges)


@pytest.mark.parametrize("search", ["sequential", "sieve", "node", "layer", "auto"])
def test_shuffled_columns_give_the_same_graph(search):
    data = columns(150)
    names = ["z", "b", "x", "a", "y"]
    one, other = (
        tamis.TAM(search, information="conditional-gaussian").fit({k: data[k] for k in order})
        for order in (NAMES, names)
    )
    assert set(one.graph_.edges) == set(other.graph_.edges)
    assert one.entropies_ == other.entropies_


@pytest.mark.parametrize("q", range(4))
def test_sums_of_cells_stay_within_their_arrays(q):
    """As Python, which minds the ends of arrays; the compiled loops do not."""
    rng = np.random.default_rng(q)
    rows = rng.normal(size=(50, 5))
    centre = rows.mean(axis=0)
    scatter = (rows - centre).T @ (rows - centre)
    own = np.arange(q + 2)
    mean, squares, left = np.zeros(q + 2), np.zeros(q + 2), np.zeros(q + 2)
    total, shares = np.zeros((q, q + 2)), np.zeros((q, q + 2))
    cell_algebra._add_cell.py_func(50, centre, scatter, own, q, mean, total, squares)
    cell_algebra._merge.py_func(50, mean, total, squares, q, shares, left)
    upper = np.triu(np.ones((q, q + 2), dtype=bool))
    np.testing.assert_allclose(shares[upper], (scatter[:q, : q + 2] / 50)[upper], atol=1e-9)
    np.testing.assert_allclose(left, scatter.diagonal()[: q + 2] / 50, atol=1e-6)


def many_levels(seed, n=1500, related=False):
    """Two columns of 40 and 30 levels that both hang on a number, and on each other if related."""
    rng = np.random.default_rng(seed)
    number = rng.normal(size=n)
    one, other = (
        (rng.gumbel(size=(size, n)) + np.outer(np.linspace(-1.5, 1.5, size), number)).argmax(axis=0)
        for size in (40, 30)
    )
    if related:
        other = np.where(rng.random(n) < 0.4, one % 30, other)
    return read_table(
        {"number": number, "one": one, "other": other},
        continuous=True,
        types={"one": "category", "other": "category"},
    )


def p_value_of_levels(table):
    source = ConditionalGaussianInformation.from_table(table)
    number, one, other = (source.names.index(k) for k in ("number", "one", "other"))
    tests = source.tests([Query(one, (number,), np.array([other]))])
    return float(np.exp(tests.log_p_by(source.test_names[0])[0]))


def test_columns_of_many_levels_are_judged_by_their_frequent_ones():
    """Few are found related that are not, and those that are, are found."""
    p_values = [p_value_of_levels(many_levels(seed)) for seed in range(40)]
    assert sum(p < 0.05 for p in p_values) <= 6
    assert all(p_value_of_levels(many_levels(seed, related=True)) < 1e-6 for seed in range(3))


def test_the_entropy_of_many_levels_lies_between_that_of_the_frequent_ones_and_of_all():
    table = many_levels(1)
    source = ConditionalGaussianInformation.from_table(table)
    number, one = (source.names.index(k) for k in ("number", "one"))
    given, alone = source.entropies([Context(one, (number,)), Context(one, ())])
    assert 0.5 < given < alone


@given(st.integers(0, 10_000), st.integers(1, 60), st.integers(1, 5), st.integers(1, 6))
def test_cells_are_refined_and_put_side_by_side_as_by_sorting(seed, n, arity, thin):
    rng = np.random.default_rng(seed)
    _, coarse = np.unique(rng.integers(0, 4, n), return_inverse=True)
    codes = rng.integers(0, arity, n)
    cell, counts = refined(coarse, codes, arity, int(coarse.max()) + 1)
    _, place, sizes = np.unique(coarse * arity + codes, return_inverse=True, return_counts=True)
    assert cell.tolist() == place.tolist()
    assert counts.tolist() == sizes.tolist()

    full = np.flatnonzero(counts >= thin)
    order, starts = by_stratum(cell, full, coarse, len(counts))
    stratum = np.array([coarse[cell == c][0] for c in full], dtype=np.int64)
    assert order.tolist() == np.argsort(stratum, kind="stable").tolist()
    sizes = np.unique(stratum, return_counts=True)[1]
    assert starts.tolist() == [0, *np.cumsum(sizes).tolist()]


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
