"""Networks of numbers: coefficients, noise, draws and likelihoods, against closed forms, brute
force and other libraries."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_networks import outside
from scipy import stats

from naive import least_squares, normal_log_density
from tamis.errors import DataError, SettingError
from tamis.network import GaussianNetwork

DIAMOND = {"b": ["a"], "c": ["a"], "d": ["b", "c"]}


def numbers(seed: int, n: int = 200) -> pd.DataFrame:
    """a → b, c → d, in units of their own."""
    rng = np.random.default_rng(seed)
    a = rng.normal(100, 15, n)
    b = 3 - 0.2 * a + rng.normal(0, 2, n)
    c = 0.01 * a + rng.normal(0, 0.3, n)
    d = 4 * c + b + rng.normal(0, 1.5, n)
    return pd.DataFrame({"a": a, "b": b, "c": c, "d": d})


def mixed(seed: int, n: int = 600) -> pd.DataFrame:
    """group → dose, group and dose → effect, dose → outcome."""
    rng = np.random.default_rng(seed)
    group = rng.choice(["x", "y", "z"], n, p=[0.5, 0.3, 0.2])
    place = pd.Series(group).map({"x": 0, "y": 1, "z": 2}).to_numpy()
    dose = 2.0 * place + rng.normal(0, 1 + place, n)
    effect = (1 + place) * dose + rng.normal(0, 1 + 0.5 * place, n)
    odds = np.array([np.zeros(n), dose, 1 - dose])
    odds = np.exp(odds) / np.exp(odds).sum(axis=0)
    drawn = (rng.random(n) > np.cumsum(odds, axis=0)).sum(axis=0)
    outcome = np.array(["bad", "fair", "good"])[drawn]
    return pd.DataFrame({"group": group, "dose": dose, "effect": effect, "outcome": outcome})


MIXED = {"dose": ["group"], "effect": ["dose", "group"], "outcome": ["dose", "group"]}


def regression(network: GaussianNetwork, name: str, place: int = 0):
    return network.laws[network.names.index(name)].regressions[place]


# Linear Gaussian


@given(st.integers(0, 10**6))
def test_coefficients_are_those_of_the_normal_equations(seed):
    rows = numbers(seed, 25)
    one = regression(GaussianNetwork.fit(DIAMOND, rows), "d")
    expected = least_squares(rows[["b", "c"]].to_numpy().tolist(), rows["d"].tolist())
    assert [one.intercept, *one.slopes] == pytest.approx(expected, rel=1e-7, abs=1e-9)


def test_coefficients_errors_and_noise_are_those_of_statsmodels():
    api = outside("statsmodels.api")
    rows = numbers(3)
    network = GaussianNetwork.fit(DIAMOND, rows)
    theirs = api.OLS(rows["d"], api.add_constant(rows[["b", "c"]])).fit()
    one = regression(network, "d")
    assert [one.intercept, *one.slopes] == pytest.approx(theirs.params.tolist(), rel=1e-9)
    assert one.standard_errors == pytest.approx(theirs.bse.tolist()[1:], rel=1e-9)
    assert one.scale == pytest.approx(math.sqrt(theirs.scale), rel=1e-12)
    scores = (rows - rows.mean()) / rows.std()
    standardised = api.OLS(scores["d"], scores[["b", "c"]]).fit().params
    for edge in network.edges:
        if edge.child == "d":
            (found,) = edge.coefficients
            assert found.value == pytest.approx(theirs.params[edge.parent], rel=1e-9)
            assert found.standard_error == pytest.approx(theirs.bse[edge.parent], rel=1e-9)
            assert found.standardised == pytest.approx(standardised[edge.parent], rel=1e-9)


def test_units_change_coefficients_and_not_the_standardised_ones():
    rows = numbers(4)
    first = GaussianNetwork.fit(DIAMOND, rows)
    second = GaussianNetwork.fit(DIAMOND, rows.assign(a=rows["a"] * 1000 - 7, d=rows["d"] / 50))
    for one, other in zip(first.edges, second.edges, strict=True):
        assert other.coefficients[0].standardised == pytest.approx(
            one.coefficients[0].standardised, rel=1e-9
        )
    slope = {(e.parent, e.child): e.coefficients[0].value for e in second.edges}
    assert slope["a", "b"] == pytest.approx(first.edges[0].coefficients[0].value / 1000, rel=1e-9)


def test_the_order_of_rows_and_columns_changes_no_bit():
    rows = numbers(5)
    first = GaussianNetwork.fit(DIAMOND, rows)
    second = GaussianNetwork.fit(DIAMOND, rows.sample(frac=1, random_state=1))
    for one, other in zip(first.laws, second.laws, strict=True):
        assert one.regressions == other.regressions
        assert one.deviations == other.deviations
    third = GaussianNetwork.fit(DIAMOND, rows[["d", "b", "a", "c"]])
    assert regression(third, "d").slopes == pytest.approx(regression(first, "d").slopes, rel=1e-12)


@given(st.integers(0, 10**6))
@settings(max_examples=10)
def test_the_likelihood_is_the_sum_of_densities_row_by_row(seed):
    rows = numbers(seed, 30)
    network = GaussianNetwork.fit(DIAMOND, rows)
    total = []
    for _, row in rows.iterrows():
        for k, name in enumerate(network.names):
            one = network.laws[k].regressions[0]
            parents = network.parents_of(name)
            mean = one.intercept + sum(s * row[p] for s, p in zip(one.slopes, parents, strict=True))
            total.append(normal_log_density(row[name], mean, one.scale))
    assert network.log_likelihood(rows) == pytest.approx(math.fsum(total), rel=1e-10)


def test_the_likelihood_is_that_of_the_joint_normal_law():
    rows = numbers(6)
    network = GaussianNetwork.fit(DIAMOND, rows)
    names = list(network.names)
    slopes, noise = np.zeros((4, 4)), np.zeros(4)
    intercepts = np.zeros(4)
    for k, name in enumerate(names):
        one = network.laws[k].regressions[0]
        slopes[k, [names.index(p) for p in network.parents_of(name)]] = one.slopes
        noise[k], intercepts[k] = one.scale**2, one.intercept
    mixing = np.linalg.inv(np.eye(4) - slopes)
    law = stats.multivariate_normal(mixing @ intercepts, mixing @ np.diag(noise) @ mixing.T)
    assert network.log_likelihood(rows) == pytest.approx(law.logpdf(rows[names]).sum(), rel=1e-9)


def test_pgmpy_fits_the_same_and_gives_rows_the_same_likelihood():
    models = outside("pgmpy.models")
    rows = numbers(7)
    network = GaussianNetwork.fit(DIAMOND, rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = models.LinearGaussianBayesianNetwork(list(network.graph.edges)).fit(rows)
        for name in network.names:
            cpd, one = theirs.get_cpds(name), regression(network, name)
            mine = dict(zip(network.parents_of(name), one.slopes, strict=True))
            assert cpd.beta[0] == pytest.approx(one.intercept, rel=1e-8)
            assert dict(zip(cpd.evidence, cpd.beta[1:], strict=True)) == pytest.approx(mine)
            assert cpd.std == pytest.approx(one.scale, rel=1e-9)
        handed = network.to_pgmpy()
        assert handed.check_model()
        assert handed.log_likelihood(rows) == pytest.approx(network.log_likelihood(rows), rel=1e-8)


def test_a_round_trip_through_pgmpy_keeps_every_coefficient():
    rows = numbers(8)
    network = GaussianNetwork.fit(DIAMOND, rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outside("pgmpy.models")
        back = GaussianNetwork.from_pgmpy(network.to_pgmpy())
    assert set(back.graph.edges) == set(network.graph.edges)
    assert back.log_likelihood(rows) == pytest.approx(network.log_likelihood(rows), rel=1e-12)
    found = {(e.parent, e.child): e.coefficients[0] for e in back.edges}
    for edge in network.edges:
        (own,) = edge.coefficients
        its = found[edge.parent, edge.child]
        assert its.value == own.value
        assert its.standardised == pytest.approx(own.standardised, rel=0.1)
        assert its.standard_error == math.inf
    with pytest.raises(SettingError, match="LinearGaussianBayesianNetwork, not int"):
        GaussianNetwork.from_pgmpy(3)


# Draws


def test_the_order_in_which_variables_are_listed_changes_no_draw():
    rows = mixed(2)
    network = GaussianNetwork.fit(MIXED, rows)
    order = [2, 0, 3, 1]
    place = {k: i for i, k in enumerate(order)}
    other = GaussianNetwork(
        tuple(network.names[k] for k in order),
        tuple(network.levels[k] for k in order),
        tuple(tuple(place[p] for p in network.parents[k]) for k in order),
        tuple(network.laws[k] for k in order),
    )
    first, second = network.sample(100, seed=5), other.sample(100, seed=5)
    for name in network.names:
        assert first[name].tolist() == second[name].tolist()


def test_drawn_rows_give_the_coefficients_back():
    network = GaussianNetwork.fit(DIAMOND, numbers(10))
    again = GaussianNetwork.fit(DIAMOND, network.sample(40_000, seed=1))
    for one, other in zip(network.edges, again.edges, strict=True):
        (mine,), (its,) = one.coefficients, other.coefficients
        assert abs(mine.value - its.value) < 5 * its.standard_error
    for name in network.names:
        assert regression(again, name).scale == pytest.approx(
            regression(network, name).scale, rel=0.02
        )


# Cells of levels


def test_every_cell_has_the_regression_of_its_own_rows():
    rows = mixed(1)
    network = GaussianNetwork.fit(MIXED, rows, equivalent_sample_size=0)
    law = network.laws[network.names.index("effect")]
    assert len(law.regressions) == 4
    for level, place in zip(("x", "y", "z"), law.which.tolist(), strict=True):
        own = rows[rows["group"] == level]
        expected = stats.linregress(own["dose"], own["effect"])
        found = law.regressions[place]
        assert (found.intercept, *found.slopes) == pytest.approx(
            (expected.intercept, expected.slope), rel=1e-9
        )
        assert found.standard_errors[0] == pytest.approx(expected.stderr, rel=1e-9)
        rest = own["effect"] - expected.intercept - expected.slope * own["dose"]
        assert found.scale == pytest.approx(math.sqrt((rest**2).sum() / (len(own) - 2)), rel=1e-9)


def test_the_difference_of_levels_is_that_of_means_and_has_welchs_error():
    rows = mixed(1)
    network = GaussianNetwork.fit({"dose": ["group"]}, rows[["group", "dose"]])
    (edge,) = network.edges
    first = rows["dose"][rows["group"] == "x"]
    assert [one.level for one in edge.coefficients] == ["y", "z"]
    for one in edge.coefficients:
        own = rows["dose"][rows["group"] == one.level]
        assert one.value == pytest.approx(own.mean() - first.mean(), rel=1e-9)
        assert one.standard_error == pytest.approx(
            math.sqrt(own.var() / len(own) + first.var() / len(first)), rel=1e-9
        )
        assert one.standardised == pytest.approx(one.value / rows["dose"].std(), rel=1e-9)


def test_a_parent_that_is_constant_in_a_cell_has_no_slope_there_and_says_so():
    rng = np.random.default_rng(2)
    works = np.repeat(["no", "yes"], 40)
    pay = np.where(works == "yes", rng.normal(30, 5, 80), 0.0)
    spends = pay * 0.5 + rng.normal(10, 1, 80)
    rows = pd.DataFrame({"works": works, "pay": pay, "spends": spends})
    network = GaussianNetwork.fit({"spends": ["works", "pay"]}, rows)
    edge = next(one for one in network.edges if one.parent == "pay")
    without, within = edge.coefficients
    assert dict(without.when) == {"works": "no"}
    assert (without.value, without.standard_error) == (0.0, math.inf)
    assert within.value == pytest.approx(0.5, abs=0.2)
    assert math.isfinite(network.log_likelihood(rows))
    # What those without pay would spend at the mean pay is not known.
    (difference,) = next(one for one in network.edges if one.parent == "works").coefficients
    assert difference.standard_error == math.inf


def test_the_likelihood_of_mixed_rows_is_the_sum_over_laws_row_by_row():
    rows = mixed(3, 200)
    network = GaussianNetwork.fit(MIXED, rows)
    group, dose, effect, outcome = network.laws
    total = []
    for _, row in rows.iterrows():
        g = network.levels[0].index(row["group"])
        total.append(math.log(group.table[g]))
        for law, x, among in ((dose, row["dose"], ()), (effect, row["effect"], (row["dose"],))):
            one = law.regressions[law.which[g]]
            mean = one.intercept + sum(s * v for s, v in zip(one.slopes, among, strict=True))
            total.append(normal_log_density(x, mean, one.scale))
        lines = [row["dose"], float(g == 1), float(g == 2)]
        z = [(v - m) / s for v, m, s in zip(lines, outcome.means, outcome.deviations, strict=True)]
        features = [1.0, *z, *(z[i] * z[j] for i, j in outcome.pairs)]
        odds = [0.0, *(float(np.dot(line, features)) for line in outcome.weights)]
        chosen = odds[network.levels[3].index(row["outcome"])]
        total.append(chosen - math.log(sum(map(math.exp, odds))))
    assert network.log_likelihood(rows) == pytest.approx(math.fsum(total), rel=1e-9)


def test_drawn_mixed_rows_fit_as_well_as_the_network_expects():
    network = GaussianNetwork.fit(MIXED, mixed(4, 2000))
    again = GaussianNetwork.fit(MIXED, network.sample(20_000, seed=1))
    rows, n = network.sample(20_000, seed=2), 20_000
    assert again.log_likelihood(rows) / n == pytest.approx(
        network.log_likelihood(rows) / n, abs=0.01
    )
    shares = pd.Series(rows["outcome"]).value_counts(normalize=True)
    expected = mixed(4, 2000)["outcome"].value_counts(normalize=True)
    for level in expected.index:
        assert shares[level] == pytest.approx(expected[level], abs=0.03)


# Log odds


def test_log_odds_are_those_of_statsmodels():
    api = outside("statsmodels.api")
    rows = mixed(5)
    network = GaussianNetwork.fit({"outcome": ["dose", "effect"]}, rows, equivalent_sample_size=0)
    law = network.laws[network.names.index("outcome")]
    lines = rows[["dose", "effect"]].to_numpy()
    z = (lines - lines.mean(axis=0)) / lines.std(axis=0)
    features = np.column_stack([np.ones(len(z)), z, *(z[:, i] * z[:, j] for i, j in law.pairs)])
    assert law.pairs == ((0, 0), (0, 1), (1, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        codes = rows["outcome"].map({"bad": 0, "fair": 1, "good": 2}).to_numpy()
        theirs = api.MNLogit(codes, features).fit(disp=0, maxiter=100)
    np.testing.assert_allclose(law.weights, theirs.params.T, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(law.errors, theirs.bse.T, rtol=1e-3)
    assert law.n_parameters == 12


def test_a_level_that_is_told_perfectly_has_finite_log_odds():
    x = np.linspace(-1, 1, 60)
    rows = {"x": x, "y": np.where(x > 0, "up", "down")}
    for prior in (0.0, 1.0):
        network = GaussianNetwork.fit({"y": ["x"]}, rows, equivalent_sample_size=prior)
        assert math.isfinite(network.log_likelihood(rows))
        assert np.isfinite(network.laws[1].weights).all()


# What comes in


def test_labels_that_were_never_seen_are_refused_or_as_rare_as_asked():
    rows = mixed(8)
    network = GaussianNetwork.fit(MIXED, rows)
    one = rows.iloc[[0]]
    new = one.assign(outcome="unheard of")
    with pytest.raises(DataError, match=r"'outcome' holds 'unheard of'.* 'bad', 'fair', 'good'"):
        network.log_likelihood(new)
    law = network.laws[3]
    values = [np.array([network.levels[0].index(one["group"].iloc[0])]), one["dose"].to_numpy()]
    given = [values[["group", "dose"].index(p)] for p in network.parents_of("outcome")]
    known = law.log_densities(
        np.array([network.levels[3].index(one["outcome"].iloc[0])]), given, None
    )
    assert network.log_likelihood(new, unseen=0.02) == pytest.approx(
        network.log_likelihood(one) - float(known[0]) + math.log(0.02 / 4)
    )
    elsewhere = one.assign(group="nowhere")
    expected = math.log(0.02 / 4)
    pooled = [network.laws[k].regressions[0] for k in (1, 2)]
    expected += normal_log_density(one["dose"].iloc[0], pooled[0].intercept, pooled[0].scale)
    mean = pooled[1].intercept + pooled[1].slopes[0] * one["dose"].iloc[0]
    expected += normal_log_density(one["effect"].iloc[0], mean, pooled[1].scale)
    own = np.array([network.levels[3].index(one["outcome"].iloc[0])])
    given = [
        np.array([3]) if p == "group" else one["dose"].to_numpy()
        for p in network.parents_of("outcome")
    ]
    expected += float(law.log_densities(own, given, None)[0])
    assert network.log_likelihood(elsewhere, unseen=0.02) == pytest.approx(expected)


def test_what_cannot_be_fitted_is_refused():
    rows = numbers(1)
    with pytest.raises(SettingError, match="equivalent_sample_size must be a number from 0 on"):
        GaussianNetwork.fit(DIAMOND, rows, equivalent_sample_size=-1)
    with pytest.raises(DataError, match="has a cycle"):
        GaussianNetwork.fit({"a": ["b"], "b": ["a"]}, rows)
    with pytest.raises(DataError, match="node 'q' that is not a column"):
        GaussianNetwork.fit({"q": []}, rows)
    with pytest.raises(SettingError, match="column 'b' holds numbers with fractions"):
        GaussianNetwork.fit({"b": ["a"]}, rows, numbers=["a"])
    with pytest.raises(SettingError, match=r"pgmpy has no model of numbers beside levels.*'group'"):
        GaussianNetwork.fit(MIXED, mixed(1)).to_pgmpy()
