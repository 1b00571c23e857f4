"""Entropies, mutual information and boundaries of a table, asked for one by one."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from scipy.stats import entropy as scipy_entropy
from sklearn.metrics import mutual_info_score

import naive
import tamis
from tables import rows
from tamis.information.estimators import Minimax

pytestmark = pytest.mark.filterwarnings("ignore::tamis.TamisWarning")


def frame(table: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(table, columns=[f"v{k}" for k in range(table.shape[1])])


@given(table=rows(columns=(4, 5), length=(8, 100)))
def test_quantities_are_those_of_the_definition(table):
    data = frame(table)
    H, I = naive.from_rows(table.tolist())  # noqa: E741
    joint = H(0, (2,)) + H(1, (0, 2))
    assert tamis.entropy(data, "v0", estimator="plugin") == pytest.approx(H(0, ()), abs=1e-12)
    assert tamis.entropy(data, ["v0", "v1"], "v2", estimator="plugin") == pytest.approx(joint)
    found = tamis.conditional_mutual_information(data, "v0", "v1", given=["v2", "v3"])
    assert found == pytest.approx(I(0, (1,), (2, 3)), abs=1e-12)
    found = tamis.conditional_mutual_information(data, ["v0", "v3"], ["v1", "v2"])
    assert found == pytest.approx(I(0, (1, 2), ()) + I(3, (1, 2), (0,)), abs=1e-12)


@given(table=rows(columns=(2, 3), length=(8, 100)))
def test_they_agree_with_scipy_and_scikit_learn(table):
    data = frame(table)
    expected = scipy_entropy(np.unique(table[:, 0], return_counts=True)[1])
    assert tamis.entropy(data, "v0", estimator="plugin") == pytest.approx(expected, abs=1e-12)
    expected = mutual_info_score(table[:, 0], table[:, 1])
    found = tamis.conditional_mutual_information(data, "v0", "v1")
    assert found == pytest.approx(expected, abs=1e-12)


@given(table=rows(columns=(3, 4), length=(8, 100)))
def test_miller_madow_adds_its_correction_for_the_cells_that_occur(table):
    H, _ = naive.from_rows(table.tolist(), naive.miller_madow)
    found = tamis.entropy(frame(table), "v0", ["v1", "v2"], estimator="miller-madow")
    assert found == pytest.approx(H(0, (1, 2)), abs=1e-12)


@pytest.mark.parametrize("support", ["product", "observed"])
def test_minimax_takes_its_support_from_the_columns_or_from_what_occurs(support):
    rng = np.random.default_rng(8)
    x = rng.integers(0, 4, 300)
    data = pd.DataFrame({"x": x, "y": (x + rng.integers(0, 2, 300)) % 4})
    estimator = Minimax(support=support)
    pairs = np.unique(data.to_numpy(), axis=0, return_counts=True)[1]
    singles = np.unique(x, return_counts=True)[1]
    cells = 16 if support == "product" else len(pairs)
    expected = estimator.entropy(pairs, cells) - estimator.entropy(singles, 4)
    assert tamis.entropy(data, "y", "x", estimator=estimator) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("estimator", ["plugin", "minimax"])
def test_a_column_named_twice_counts_once(estimator):
    data, options = collider(500), {"estimator": estimator}
    once = tamis.entropy(data, "effect", ["cause"], **options)
    assert tamis.entropy(data, ["effect", "effect"], ["cause", "cause"], **options) == once
    once = tamis.conditional_mutual_information(data, "effect", "cause", "other", **options)
    twice = tamis.conditional_mutual_information(
        data, ["effect"] * 2, ["cause"] * 2, ["other"] * 2, **options
    )
    assert twice == once


def collider(n: int = 5000) -> pd.DataFrame:
    """cause -> effect <- other, effect -> sign; noise beside them."""
    rng = np.random.default_rng(1)
    cause, other, noise = (rng.random((3, n)) < 0.4).astype(int)
    effect = cause + other + (rng.random(n) < 0.1)
    sign = (effect > 1) ^ (rng.random(n) < 0.1)
    return pd.DataFrame(
        {"noise": noise, "sign": sign, "cause": cause, "effect": effect, "other": other}
    )


def test_the_boundary_among_all_columns_holds_spouses():
    assert set(tamis.markov_boundary(collider(), "cause")) == {"effect", "other"}
    assert set(tamis.markov_boundary(collider(), "effect")) == {"cause", "other", "sign"}


def test_the_boundary_among_candidates_is_theirs():
    found = tamis.markov_boundary(collider(), "effect", candidates=["cause", "noise"])
    assert found == ["cause"]


@pytest.mark.parametrize("backward", ["one", "together", "none", True, False])
def test_the_backward_phase_drops_what_the_others_make_superfluous(backward):
    # The sum of two coins tells most about their parity's carrier, until both are known.
    rng = np.random.default_rng(2)
    a, b = rng.integers(0, 2, (2, 6000))
    blur = a + b + (rng.random(6000) < 0.02)
    y = 2 * a + b
    flips = rng.random(6000) < 0.05
    y = np.where(flips, rng.integers(0, 4, 6000), y)
    data = pd.DataFrame({"a": a, "b": b, "blur": blur, "y": y})
    found = tamis.markov_boundary(data, "y", rule=0.01, backward=backward)
    expected = {"a", "b", "blur"} if backward in ("none", False) else {"a", "b"}
    assert set(found) == expected


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda d: tamis.entropy(d, "smok"), "no column 'smok'"),
        (lambda d: tamis.entropy(d, []), "at least one column"),
        (lambda d: tamis.entropy(d, "cause", estimator="exact"), "no entropy estimator 'exact'"),
        (lambda d: tamis.conditional_mutual_information(d, "cause", "cause"), "share 'cause'"),
        (lambda d: tamis.conditional_mutual_information(d, [], "cause"), "both sides"),
        (lambda d: tamis.markov_boundary(d, "effekt"), "did you mean 'effect'"),
        (lambda d: tamis.markov_boundary(d, "cause", backward="never"), "backward"),
        (lambda d: tamis.markov_boundary(d, "cause", rule=-1), "nats"),
        (lambda d: tamis.markov_boundary(d, ["cause", "other"]), "target must be one column"),
        (lambda d: tamis.markov_boundary(d, []), "target must be one column"),
        (lambda d: tamis.markov_boundary(d, "cause", max_boundary=-1), "max_boundary"),
        (lambda d: tamis.markov_boundary(d, "cause", max_boundary="3"), "max_boundary"),
    ],
)
def test_what_has_no_meaning_is_refused_by_name(call, said):
    with pytest.raises(tamis.SettingError, match=said):
        call(collider())
