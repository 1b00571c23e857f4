"""Levels and measurements together: closed forms, conventions, and the tests they make."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import quad

from tamis.decisions.p_values import LocalPermutation
from tamis.information.interface import Context, Query
from tamis.information.neighbours import MixedInformation, level_entropy
from tamis.tables import read_table


def source(table: pd.DataFrame, **options) -> MixedInformation:
    return MixedInformation.from_table(read_table(table, continuous=True), **options)


def two_kinds(seed: int, n: int = 200) -> pd.DataFrame:
    """A level that moves two measurements and a second level."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, n)
    return pd.DataFrame(
        {
            "group": np.array(["low", "mid", "high"])[group],
            "x": group + rng.normal(size=n),
            "y": (group - 1.0) ** 2 + rng.normal(size=n),
            "flag": rng.random(n) < 0.2 + 0.3 * group,
        }
    )


def shift_information(shift: float) -> float:
    """I(B ; X) for a fair coin B and X ~ N(shift B, 1), by integration."""

    def density(x: float) -> float:
        return (stats.norm.pdf(x) + stats.norm.pdf(x - shift)) / 2

    mixed = quad(lambda x: -density(x) * math.log(density(x)), -9, 9 + shift)[0]
    return mixed - 0.5 * math.log(2 * math.pi * math.e)


@pytest.mark.parametrize("shift", [0.0, 1.0, 3.0])
def test_what_a_level_tells_of_a_measurement_comes_close_to_the_integral(shift):
    rng = np.random.default_rng(1)
    coin = rng.integers(0, 2, 2000)
    table = pd.DataFrame({"b": coin, "x": shift * coin + rng.normal(size=2000)})
    gain = source(table).cmi([Context(0, ())])[0, 1]
    assert gain == pytest.approx(shift_information(shift), abs=0.035)


def test_what_levels_tell_of_levels_comes_close_to_the_counts():
    rng = np.random.default_rng(2)
    a, noise = rng.integers(0, 2, 3000), rng.random(3000) < 0.1
    table = pd.DataFrame({"a": a, "b": a ^ noise, "x": rng.normal(size=3000)})
    expected = math.log(2) + 0.1 * math.log(0.1) + 0.9 * math.log(0.9)
    information = source(table)
    assert information.cmi([Context(0, ())])[0, 1] == pytest.approx(expected, abs=0.02)
    assert information.entropies([Context(1, (0,))])[0] == pytest.approx(
        math.log(2) - expected, abs=0.03
    )


@settings(max_examples=10)
@given(st.integers(0, 10**6), st.permutations(["low", "mid", "high"]))
def test_what_levels_are_called_and_where_columns_stand_leaves_no_trace(seed, names):
    table = two_kinds(seed, n=80)
    called = dict(zip(["low", "mid", "high"], names, strict=True))
    renamed = table.assign(group=table["group"].map(called))
    renamed = renamed[["y", "flag", "x", "group"]]
    one, other = source(table, shuffles=4), source(renamed, shuffles=4)
    for given_names in ((), ("group",), ("group", "y")):
        here = tuple(sorted(one.names.index(v) for v in given_names))
        there = tuple(sorted(other.names.index(v) for v in given_names))
        first = one.tests([Query(1, here, np.array([3]))])
        second = other.tests([Query(2, there, np.array([1]))])
        assert first.cmi[0] == second.cmi[0]
        assert one.entropies([Context(1, here)]) == pytest.approx(
            other.entropies([Context(2, there)]), abs=1e-12
        )


def test_levels_rank_by_shannon_entropy_and_measurements_in_their_unit():
    table = two_kinds(3, n=2000)
    information = source(table)
    levels = information.entropies([Context(0, ()), Context(3, ())])
    shares = [table[name].value_counts(normalize=True) for name in ("group", "flag")]
    assert levels == pytest.approx([stats.entropy(p) for p in shares], abs=0.005)
    finer = source(table.assign(x=1000 * table["x"]))
    moved = finer.entropies([Context(1, ())])[0] - information.entropies([Context(1, ())])[0]
    assert moved == pytest.approx(math.log(1000), abs=1e-9)


def test_the_entropy_of_a_level_is_never_below_0():
    rng = np.random.default_rng(4)
    x = rng.normal(size=200)
    table = pd.DataFrame({"above": x > 0, "x": x, "half": np.where(x > 1, "a", "b")})
    information = source(table)
    assert information.entropies([Context(0, (1,)), Context(0, (1, 2))]).min() >= 0.0
    assert information.entropies([Context(0, (1,))])[0] < 0.1


@given(st.lists(st.integers(0, 4), min_size=2, max_size=60))
def test_the_entropy_of_levels_lies_above_that_of_their_shares_but_not_by_much(codes):
    counts = np.bincount(codes)
    plug_in = stats.entropy(counts / len(codes))
    found = level_entropy(np.array(codes))
    if (counts > 0).sum() == 1:
        assert found == pytest.approx(0.0, abs=1e-12)
    assert plug_in - 1e-12 <= found <= plug_in + (counts > 0).sum() / len(codes)


def share_found(given: str, candidates: str, reps: int = 60) -> float:
    p = []
    for seed in range(reps):
        table = two_kinds(100 + seed, n=120)
        information = source(table, shuffles=20, seed=seed)
        place = [information.names.index(name) for name in (candidates[0], candidates[1:])]
        s = (information.names.index(given),) if given else ()
        p.append(
            LocalPermutation().p_values(
                information.tests([Query(place[0], s, np.array([place[1]]))])
            )[0]
        )
    return float(np.mean(np.array(p) < 0.05))


def test_independence_given_a_level_is_kept_and_dependence_is_found():
    assert share_found("group", "xy") <= 0.15
    assert share_found("group", "xflag") <= 0.15
    assert share_found("", "xgroup") >= 0.95
