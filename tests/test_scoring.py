"""TAM.score: the mean log-likelihood of rows that were not learned from, and what it refuses."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score

import tamis
from tamis.errors import DataError, SettingError, TamisWarning


def chain(n: int = 400, seed: int = 1) -> pd.DataFrame:
    """Levels a → b → c."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 2, n)
    b = np.where(rng.random(n) < 0.85, a, 1 - a)
    c = np.where(rng.random(n) < 0.9, b, 2)
    return pd.DataFrame({"a": a, "b": b, "c": np.array(["no", "yes", "maybe"])[c]})


def lines(n: int = 300, seed: int = 1) -> pd.DataFrame:
    """Numbers x → y → z."""
    rng = np.random.default_rng(seed)
    x = rng.normal(0, 2, n)
    y = x + rng.normal(0, 1, n)
    return pd.DataFrame({"x": x, "y": y, "z": 2 - y + rng.normal(0, 1.5, n)})


def quick() -> tamis.TAM:
    return tamis.TAM("sequential", n_jobs=1)


# What it is


def test_it_is_the_mean_log_likelihood_of_the_fitted_network():
    for rows, fresh in ((chain(), chain(seed=2)), (lines(), lines(seed=2))):
        model = quick().fit(rows)
        expected = model.network_.log_likelihood(fresh) / len(fresh)
        assert model.score(fresh) == pytest.approx(expected, rel=1e-12)
        assert model.score(fresh.iloc[:1]) == pytest.approx(
            model.network_.log_likelihood(fresh.iloc[:1]), rel=1e-12
        )


def test_two_levels_without_an_arrow_score_as_their_shares_say():
    rows = {"a": [0] * 30 + [1] * 10, "b": ([0, 1] * 20)}
    model = quick().fit(rows)
    assert not model.result_.edges
    p, q = 30.5 / 41, 0.5
    assert model.score({"a": [0], "b": [1]}) == pytest.approx(math.log(p * q))
    assert model.score({"a": [1], "b": [1]}) == pytest.approx(math.log((1 - p) * q))


def test_numbers_without_an_arrow_score_as_normal_laws():
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(80, 2))
    model = quick().fit(rows)
    assert not model.result_.edges
    means, scales = rows.mean(axis=0), rows.std(axis=0, ddof=1)
    at = np.array([[0.3, -1.0]])
    expected = (-0.5 * ((at - means) / scales) ** 2 - np.log(scales * math.sqrt(2 * math.pi))).sum()
    assert model.score(at) == pytest.approx(expected)


@given(st.integers(0, 10**6), st.permutations(["a", "b", "c"]))
@settings(max_examples=10)
def test_the_order_of_rows_and_columns_changes_nothing(seed, names):
    model = quick().fit(chain())
    fresh = chain(50, seed)
    shuffled = fresh.sample(frac=1, random_state=seed % 1000)[names]
    assert model.score(shuffled) == pytest.approx(model.score(fresh), rel=1e-12)


def test_the_arrows_of_the_table_score_better_than_none():
    for rows, fresh in ((chain(), chain(seed=2)), (lines(), lines(seed=2))):
        bare = tamis.TAM("sequential", knowledge={"forbidden": pairs(rows)}).fit(rows)
        assert not bare.result_.edges
        assert quick().fit(rows).score(fresh) > bare.score(fresh) + 0.1


def pairs(rows: pd.DataFrame) -> list[tuple[str, str]]:
    return [(a, b) for a in rows for b in rows if a != b]


# scikit-learn


def test_cross_validation_and_grids_choose_by_it():
    rows = chain()
    found = cross_val_score(quick(), rows, cv=4)
    assert np.isfinite(found).all()
    searched = GridSearchCV(
        tamis.TAM(n_jobs=1), {"alpha": [1e-9, 0.05], "search": ["sequential", "node"]}, cv=3
    ).fit(rows)
    assert np.isfinite(searched.cv_results_["mean_test_score"]).all()
    assert searched.best_score_ == searched.cv_results_["mean_test_score"].max()
    assert searched.score(rows) == searched.best_estimator_.score(rows)
    few = GridSearchCV(tamis.TAM("sequential"), {"max_boundary": [0, 1]}, cv=3)
    assert few.fit(lines().to_numpy()).best_params_ == {"max_boundary": 1}


def test_a_model_that_is_fitted_again_scores_by_its_last_fit():
    model = quick().fit(chain())
    first = model.score(chain(seed=2))
    model.fit(lines())
    assert model.score(lines(seed=2)) != first
    assert clone(model).fit(chain()).score(chain(seed=2)) == first
    with pytest.raises(NotFittedError):
        quick().score(chain())


# What may be odd about rows


def test_labels_never_seen_are_one_more_level_and_told():
    rows = chain()
    model = quick().fit(rows)
    one = rows.iloc[[0]]
    with pytest.warns(TamisWarning, match=r"'c' has 'new' in 1 of 1 rows"):
        found = model.score(one.assign(c="new"))
    network = model.network_
    table = network.tables[network.names.index("c")]
    (parent,) = network.parents_of("c")
    levels = network.levels[network.names.index(parent)]
    place = levels.index(one[parent].iloc[0])
    own = network.levels[network.names.index("c")].index(one["c"].iloc[0])
    expected = model.score(one) - math.log(table[place, own]) + math.log(1 / 401 / 4)
    assert found == pytest.approx(expected)
    with pytest.warns(TamisWarning, match="'b' has 7, 9 in 2 of 3 rows"):
        assert math.isfinite(model.score(rows.iloc[:3].assign(b=[7, 9, 1])))


def test_what_was_never_seen_says_nothing_about_its_children():
    rows = chain()
    model = tamis.TAM("sequential", knowledge={"tiers": [["a"], ["b"], ["c"]]}).fit(rows)
    assert model.parents_["c"] == ["b"]
    one = pd.DataFrame({"a": [0], "b": [5], "c": ["yes"]})
    network = model.network_
    root = network.tables[network.names.index("a")][0]
    with pytest.warns(TamisWarning, match="never seen"):
        assert model.score(one) == pytest.approx(
            math.log(root) + math.log(1 / 401 / 3) + math.log(1 / 3)
        )


def test_missing_values_are_refused_left_out_or_a_level():
    rows = chain()
    gaps = rows.assign(c=rows["c"].where(rows.index % 10 > 0, None))
    with pytest.raises(DataError, match=r"missing, of 'c' in 40 of 400 rows"):
        quick().fit(rows).score(gaps)
    dropping = tamis.TAM("sequential", missing="drop")
    with pytest.warns(TamisWarning, match="left out 40 of 400"):
        dropping.fit(gaps)
    with pytest.warns(TamisWarning, match="left out 40 of 400"):
        found = dropping.score(gaps)
    assert found == pytest.approx(dropping.score(gaps.dropna()))
    level = tamis.TAM("sequential", missing="level").fit(gaps)
    assert "(missing)" in level.network_.levels[2]
    assert math.isfinite(level.score(gaps))
    pairwise = tamis.TAM("sequential", missing="pairwise").fit(gaps)
    with pytest.raises(SettingError, match="fitted to whole rows that count alike"):
        pairwise.score(rows)


def test_survey_weights_and_rows_elsewhere_have_no_network(tmp_path):
    rows = chain()
    weighted = quick().fit(rows, sample_weight=np.linspace(0.5, 1.5, len(rows)))
    with pytest.raises(SettingError, match="survey weights"):
        weighted.score(rows)
    rows.to_csv(tmp_path / "rows.csv", index=False)
    elsewhere = tamis.TAM("sequential", memory="1GB").fit(tmp_path / "rows.csv")
    with pytest.raises(SettingError, match="never held in memory"):
        elsewhere.score(rows)


# The fitted network


def test_the_network_has_the_kind_of_its_columns():
    levels = quick().fit(chain()).network_
    assert isinstance(levels, tamis.BayesianNetwork)
    numbers = quick().fit(lines()).network_
    assert numbers.kind == "linear Gaussian"
    both = quick().fit(lines().assign(g=chain(300)["c"])).network_
    assert both.kind == "conditional Gaussian"
    for network in (levels, numbers, both):
        assert network.n_parameters > 0
        assert {(e.parent, e.child) for e in network.edges} == set(network.graph.edges)
        drawn = network.sample(20, seed=1)
        assert list(drawn) == list(network.names)
        assert math.isfinite(network.log_likelihood(drawn, unseen=0.1))


def test_whole_numbers_are_what_the_search_took_them_for():
    rng = np.random.default_rng(4)
    x = rng.poisson(30, 500)
    rows = pd.DataFrame({"x": x, "y": x + rng.poisson(20, 500)})
    model = tamis.TAM(n_jobs=1).fit(rows)
    assert model.result_.settings["information"] == "gaussian"
    assert model.network_.kind == "linear Gaussian"
    counted = tamis.TAM(n_jobs=1, information="counts").fit(rows // 20)
    assert isinstance(counted.network_, tamis.BayesianNetwork)


def test_the_network_is_fitted_once_and_anew_after_a_fit():
    model = quick().fit(chain())
    first = model.network_
    assert model.network_ is first
    assert model.fit(chain()).network_ is not first
    assert model.network_ == first
