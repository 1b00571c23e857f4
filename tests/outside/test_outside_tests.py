"""Tests that a researcher brings: functions of a pair."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import tamis
from tamis.decisions.specification import as_rule, attached
from tamis.information.interface import Group, Query
from tamis.rules import CallableTest, Permutation

ASKED: list[tuple[int, int, tuple[int, ...]]] = []


def levels(n: int = 400) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    a = rng.integers(0, 3, n)
    b = (a + (rng.random(n) < 0.3)) % 3
    c = (b + (rng.random(n) < 0.3)) % 3
    return pd.DataFrame({"c": c, "a": a, "b": b})


def numbers(n: int = 200) -> pd.DataFrame:
    steps = np.random.default_rng(4).normal(size=(n, 3))
    return pd.DataFrame(steps.cumsum(axis=1), columns=list("xyz"))


def as_the_source_does(source, x, y, given) -> float:
    """The p-value of the source's own test, asked for one by one."""
    ASKED.append((x, y, given))
    return float(np.exp(source.tests([Query(x, given, np.array([y]))]).log_p[0]))


@pytest.mark.parametrize("search", ["node", "sequential"])
def test_a_function_in_place_of_the_sources_own_test_changes_nothing(search: str):
    ASKED.clear()
    ours = tamis.TAM(search, boundary_rule=Permutation(0.001)).fit(levels()).result_
    theirs = tamis.TAM(
        search, boundary_rule=as_the_source_does, masking_rule=as_the_source_does
    ).fit(levels())
    assert (theirs.result_.trace, theirs.result_.edges) == (ours.trace, ours.edges)
    assert len(set(ASKED)) == len(ASKED)


def test_what_judged_is_recorded_and_read_back(tmp_path):
    model = tamis.TAM("node", boundary_rule=as_the_source_does).fit(levels())
    assert model.result_.settings["boundary_rule"] == {
        "rule": f"{__name__}.as_the_source_does",
        "alpha": 0.001,
        "unit": "p",
    }
    model.save(tmp_path / "run.json")
    assert tamis.load(tmp_path / "run.json") == model.result_
    assert "as_the_source_does" in str(model.result_.settings)


def source():
    from tamis.information.counted import CountedInformation
    from tamis.tables import read_table

    return CountedInformation(read_table(levels()))


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (math.nan, "returned nan"),
        (1.5, r"returned 1\.5; a p-value is a number from 0 to 1"),
        (-0.1, "returned -0.1"),
        (True, "returned True"),
        ("0.5", "returned '0.5'"),
        (None, "returned None"),
        (np.array([0.5]), r"returned array\(\[0.5\]\)"),
    ],
)
def test_what_is_no_p_value_is_refused_with_the_function_and_the_pair(answer, message):
    def wrong(source, x, y, given):
        return answer

    rule = as_rule(wrong)
    tests = attached(source(), rule).tests([Query(0, (1,), np.array([2]))])
    with pytest.raises(tamis.PluginError, match=message) as refused:
        rule.strengths(tests)
    assert "wrong of 'c' and 'b' given ['a']" in str(refused.value)


def test_an_exception_inside_a_function_is_named_and_kept():
    def broken(source, x, y, given):
        raise ZeroDivisionError("no rows")

    with pytest.raises(
        tamis.PluginError, match=r"broken .* failed with ZeroDivisionError"
    ) as error:
        tamis.TAM("node", boundary_rule=broken).fit(levels())
    assert isinstance(error.value.__cause__, ZeroDivisionError)


def test_a_function_of_pairs_does_not_judge_groups():
    rule = as_rule(as_the_source_does)
    tests = attached(source(), rule).joint_tests([Group(0, (), (1, 2))])
    assert Permutation().strengths(tests) > 10
    with pytest.raises(tamis.SettingError, match="one column with one other, and here 2"):
        rule.strengths(tests)
    with pytest.raises(tamis.SettingError, match="search='layer' tests a node with a whole layer"):
        tamis.TAM("layer", masking_rule=as_the_source_does).fit(levels())
    with pytest.raises(tamis.SettingError, match="look_ahead=2 needs look-ahead"):
        tamis.TAM("node", boundary_rule=as_the_source_does, look_ahead=2).fit(levels())


def test_two_functions_of_one_name_stay_apart():
    one, other = (as_rule(lambda source, x, y, given, p=p: p) for p in (0.5, 0.25))
    both = attached(source(), one, other, one)
    tests = both.tests([Query(0, (), np.array([1, 2]))]).at(np.array([1]))
    tests = tests.followed_by([both.tests([Query(1, (0,), np.array([2]))])])
    assert one.p_values(tests) == pytest.approx([0.5, 0.5])
    assert other.p_values(tests) == pytest.approx([0.25, 0.25])
    assert len(both.test_names) == 4


def test_a_class_is_no_function():
    with pytest.raises(tamis.SettingError, match="CallableTest: function must be callable"):
        CallableTest(function=dict)


def test_a_function_that_holds_rows_says_so():
    class Held:
        knows_rows = True

        def __call__(self, source, x, y, given):
            return 0.5

    assert as_rule(Held()).knows_rows
    assert not as_rule(as_the_source_does).knows_rows
