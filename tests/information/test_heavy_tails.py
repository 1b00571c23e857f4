"""Numbers with heavy tails beside categories: their ranks, and no dependence that is not there."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtri
from scipy.stats import kurtosis, rankdata

import tamis
from tamis.information.ranked import by_ranks, heavy_columns
from tamis.tables import read_table


def skewed(seed: int, n: int = 400) -> pd.DataFrame:
    """Columns that have nothing to do with each other."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "income": np.exp(1.5 * rng.normal(size=n)),
            "claims": np.where(rng.random(n) < 0.7, 0.0, rng.exponential(10, n)),
            "height": rng.normal(170, 8, n),
            "sex": rng.choice(["f", "m"], n),
            "region": rng.choice(list("abcd"), n, p=[0.5, 0.3, 0.15, 0.05]),
        }
    )


def test_columns_of_a_kurtosis_above_6_have_normal_scores():
    frame = skewed(0)
    table = read_table(frame, continuous=True)
    numbers = frame[["income", "claims", "height"]].to_numpy()
    expected = np.flatnonzero(kurtosis(numbers, fisher=False) > 6).tolist()
    assert heavy_columns(table) == expected == [0, 1]
    found = by_ranks(table)
    scores = ndtri((rankdata(numbers[:, 0]) - 0.5) / len(numbers))
    assert np.corrcoef(found.numbers(0), scores)[0, 1] == pytest.approx(1)
    assert found.numbers(0).mean() == pytest.approx(numbers[:, 0].mean())
    assert np.array_equal(found.numbers(2), numbers[:, 2])


def test_nothing_depends_on_a_heavy_tail():
    found = [tamis.TAM(n_jobs=1).fit(skewed(seed)) for seed in range(12)]
    assert sum(len(model.graph_.edges) for model in found) <= 3
    assert any("Taken by rank" in note for note in found[0].result_.warnings)
    as_it_is = [tamis.TAM(n_jobs=1, units="same").fit(skewed(seed)) for seed in range(12)]
    assert sum(len(model.graph_.edges) for model in as_it_is) >= 10


def test_a_monotone_change_of_a_heavy_column_changes_no_class():
    frame = skewed(3)
    frame["spent"] = frame["income"] ** 1.2 * np.exp(np.random.default_rng(4).normal(size=400))
    same = frame.assign(income=frame["income"] ** 2)
    first, second = (tamis.TAM(n_jobs=1).fit(one) for one in (frame, same))
    assert first.graph_.has_edge("income", "spent") or first.graph_.has_edge("spent", "income")
    assert set(first.cpdag_.edges) == set(second.cpdag_.edges)


def test_columns_of_the_same_ranks_are_no_copies():
    frame = skewed(5).assign(squared=lambda one: one["income"] ** 2)
    assert tamis.TAM(n_jobs=1).fit(frame).graph_.number_of_nodes() == 6


def test_categories_with_few_rows_a_level_are_told_of():
    rng = np.random.default_rng(6)
    state = np.repeat(np.arange(27), 6)
    rate = state % 5 + 0.1 * rng.normal(size=len(state))
    states = [f"state {k}" for k in state]
    model = tamis.TAM(n_jobs=1).fit({"state": states, "rate": rate, "x": rng.normal(size=162)})
    assert any("levels of 'state': dependence on them" in note for note in model.result_.warnings)
    assert not any("Too few rows" in note for note in tamis.TAM().fit(skewed(1)).result_.warnings)
