"""Ordinal columns: against Mantel's statistic stratum by stratum, and what counting would see."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2

import tamis
from tamis.constants import constants
from tamis.information.counted import CountedInformation
from tamis.information.interface import Context, Query
from tamis.information.ranked import RankedInformation, has_ranks, ranks_of
from tamis.opening import open_information
from tamis.settings import Settings
from tamis.tables import read_table

ORDINAL = {"a": "ordinal", "b": "ordinal"}
EFFECTS = {"none": 0.0, "monotone": 0.3, "U-shaped": 0.6}


def table_of(data, types=None):
    return read_table(data, continuous=True, types=ORDINAL if types is None else types)


def columns(rng, n, effect, given, other):
    """A column of ranks, another column that may depend on it, and what both depend on."""
    z = rng.normal(size=n)
    common = np.digitize(z, [-0.5, 0.5]).astype(float) - 1 if given == "level" else z
    a = np.digitize(0.5 * common + rng.normal(size=n), [-1.0, -0.3, 0.3, 1.0])
    step = (a - 2.0) / 1.4
    shape = np.abs(step) - np.abs(step).mean() if effect == "U-shaped" else step
    b = 0.5 * common + EFFECTS[effect] * shape + rng.normal(size=n)
    levels = np.array([f"l{code}" for code in range(5)])
    return {
        "a": levels[a],
        "b": b if other == "number" else levels[np.digitize(b, [-1.0, -0.3, 0.3, 1.0])],
        "s": levels[common.astype(int) + 1] if given == "level" else common,
    }


def p_value(table):
    """Of the first two columns given the third."""
    information = "conditional-gaussian" if "number" in table.kinds else "counts"
    source = open_information(table, Settings().on(information))
    return float(np.exp(source.tests([Query(0, (2,), np.array([1]))]).log_p[0]))


def rejected(kind, n, effect, given, other, seeds):
    """The share of tables in which independence is rejected."""
    types = {"a": kind} if other == "number" else {"a": kind, "b": kind}
    drawn = (columns(np.random.default_rng(seed), n, effect, given, other) for seed in seeds)
    return np.mean([p_value(table_of(data, types)) < 0.05 for data in drawn])


def mantel(data, given: list[str]) -> float:
    """Stratum by stratum, from the definition."""
    u, v = (ranks_of(np.unique(data[k], return_inverse=True)[1]) for k in "ab")
    n = len(u)
    strata = np.column_stack(
        [np.zeros(n), *(np.unique(data[k], return_inverse=True)[1] for k in given)]
    )
    total, variance = 0.0, 0.0
    for stratum in np.unique(strata, axis=0):
        rows = (strata == stratum).all(axis=1)
        if rows.sum() > 1:
            total += ((u[rows] - u[rows].mean()) * (v[rows] - v[rows].mean())).sum()
            variance += u[rows].var() * v[rows].var() * rows.sum() ** 2 / (rows.sum() - 1)
    return total**2 / variance


@pytest.mark.parametrize("given", [[], ["s"]])
def test_ranks_are_compared_stratum_by_stratum(given):
    data = columns(np.random.default_rng(1), 300, "monotone", "level", "level")
    table = table_of(data)
    asked = [Query(0, tuple(range(2, 2 + len(given))), np.array([1]))]
    found = open_information(table, Settings().on("counts")).tests(asked)
    statistic = mantel(data, given)
    counts = CountedInformation(table)
    levels = float(np.exp(counts.tests(asked).log_p[0]))
    share = constants.ranks_share
    ref = min(levels / (1 - share), chi2.sf(statistic, 1) / share, 1)
    assert np.exp(found.log_p[0]) == pytest.approx(ref, rel=1e-6)
    assert found.cmi[0] == pytest.approx(max(counts.tests(asked).cmi[0], (statistic - 1) / 600))


@pytest.mark.parametrize("other", ["level", "number"])
@pytest.mark.parametrize("given", ["level", "number"])
def test_the_other_end_may_come_first(given, other):
    """Levels in reverse change nothing but where the iterations of a regression end."""
    data = columns(np.random.default_rng(2), 300, "monotone", given, other)
    turned = {
        k: np.array([f"l{4 - int(v[1])}" for v in own]) if k == "a" else own
        for k, own in data.items()
    }
    types = {k: kind for k, kind in ORDINAL.items() if k == "a" or other == "level"}
    assert p_value(table_of(turned, types)) == pytest.approx(
        p_value(table_of(data, types)), rel=5e-3
    )


@pytest.mark.parametrize("other", ["level", "number"])
@pytest.mark.parametrize("given", ["level", "number"])
def test_what_is_monotone_is_found_with_fewer_rows_and_the_rest_is_not_lost(given, other):
    seeds = range(7000, 7060)
    found = {
        (kind, effect): rejected(kind, 200, effect, given, other, seeds)
        for kind in ("category", "ordinal")
        for effect in ("none", "monotone", "U-shaped")
    }
    assert found["ordinal", "monotone"] > found["category", "monotone"] + 0.1
    assert found["ordinal", "U-shaped"] > found["category", "U-shaped"] - 0.12
    assert found["ordinal", "none"] <= 0.15


def test_profiles_and_single_tests_agree():
    table = table_of(columns(np.random.default_rng(3), 200, "monotone", "level", "level"))
    source = open_information(table, Settings().on("counts"))
    assert isinstance(source, RankedInformation)
    whole = source.profiles([Context(0, (2,)), Context(1, ())])
    for i, (target, given) in enumerate([(0, (2,)), (1, ())]):
        others = np.array([k for k in range(3) if k != target and k not in given])
        single = source.tests([Query(target, given, others)])
        np.testing.assert_allclose(whole.cmi[i, others], single.cmi)
        np.testing.assert_allclose(whole.stats[i, others], single.stats)


def test_without_ordinal_columns_all_is_as_before():
    data = columns(np.random.default_rng(4), 100, "monotone", "level", "level")
    table = table_of(data, {})
    assert not has_ranks(table)
    assert isinstance(open_information(table, Settings().on("counts")), CountedInformation)


def test_ordered_categoricals_are_learned_by_their_order():
    rng = np.random.default_rng(5)
    size = rng.integers(0, 5, 150)
    price = np.clip(size + rng.integers(-2, 3, 150), 0, 4)
    words = np.array(["tiny", "small", "middle", "large", "huge"])
    frame = pd.DataFrame(
        {
            "size": pd.Categorical(words[size], categories=words, ordered=True),
            "price": pd.Categorical(words[price], categories=words, ordered=True),
            "noise": rng.integers(0, 2, 150).astype(str),
        }
    )
    model = tamis.TAM().fit(frame)
    assert {frozenset(edge) for edge in model.graph_.edges} == {frozenset(("size", "price"))}


def test_ranks_have_mean_0_and_variance_1_and_know_ties():
    found = ranks_of(np.array([0, 0, 1, 2]))
    assert found.mean() == pytest.approx(0)
    assert found.var() == pytest.approx(1)
    assert found[0] == found[1] < found[2] < found[3]
