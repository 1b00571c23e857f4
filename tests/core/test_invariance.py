"""Names, places and the order of rows decide nothing that the data do not leave open."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from test_parents_and_orders import dependent

import tamis

pytestmark = pytest.mark.filterwarnings("ignore::tamis.TamisWarning")


def told(frame: pd.DataFrame, names: dict[str, str] | None = None) -> tuple:
    """The edges and what they rest on, the score and the search, under the names of before."""
    result = tamis.TAM(n_jobs=1).fit(frame).result_
    name = (names or {}).get
    edges = {
        (name(e.parent, e.parent), name(e.child, e.child)): (
            e.warrant,
            pytest.approx(e.direction_probability, abs=1e-9),
        )
        for e in result.edges
    }
    return edges, result.search, pytest.approx(result.ranking[0].score, rel=1e-9)


def levels(seed: int) -> pd.DataFrame:
    rows = dependent(seed, 3 + seed % 4, (20, 60, 300)[seed % 3])
    return "level " + pd.DataFrame(rows).add_prefix("v").astype(str)


def numbers(seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    d = 3 + seed % 5
    rows = rng.normal(size=((30, 300)[seed % 2], d))
    for k in range(d):
        rows[:, k] += rows[:, :k] @ (rng.normal(size=k) * (rng.random(k) < 0.5))
    return pd.DataFrame(rows[:, rng.permutation(d)]).add_prefix("v")


@pytest.mark.parametrize(("table", "n_tables"), [(levels, 200), (numbers, 60)])
def test_columns_rows_and_levels_may_come_in_any_order_under_any_name(table, n_tables):
    n_edges = 0
    for seed in range(n_tables):
        rng, frame = np.random.default_rng(seed), table(seed)
        other = frame.iloc[rng.permutation(len(frame))]
        other = other[other.columns[::-1]] if seed % 2 else other[rng.permutation(other.columns)]
        if table is levels:
            for name in other:
                known = sorted(set(other[name]))
                other[name] = other[name].map(dict(zip(known, rng.permutation(known), strict=True)))
        # Names in the same order, as columns that the data cannot tell apart go by them.
        other = other.add_prefix("the ")
        one = told(frame)
        assert told(other, {f"the {name}": name for name in frame}) == one
        n_edges += len(one[0])
    assert n_edges > n_tables


def test_what_other_names_turn_is_claimed_under_neither():
    turned = 0
    for seed in range(0, 200, 3):  # the shortest tables
        frame = levels(seed)
        rng = np.random.default_rng(seed)
        names = dict(zip(rng.permutation(frame.columns), frame.columns, strict=True))
        one, search, score = told(frame)
        two, *others = told(frame.rename(columns={v: k for k, v in names.items()}), names)
        assert others == [search, score]
        assert {frozenset(edge) for edge in one} == {frozenset(edge) for edge in two}
        for edge in one.keys() - two.keys():
            assert one[edge][0] == two[edge[::-1]][0] == "none"
            turned += 1
    assert turned


@pytest.mark.parametrize("seed", range(8))
def test_units_and_zeros_of_measurements_do_not_touch_the_class(seed):
    rng, frame = np.random.default_rng(seed), numbers(seed)
    other = frame * np.exp(rng.normal(0, 2, frame.shape[1])) + rng.normal(0, 10, frame.shape[1])
    one, two = (tamis.TAM(n_jobs=1).fit(rows) for rows in (frame, other))
    assert set(one.cpdag_.edges) == set(two.cpdag_.edges)
