"""How rules are written, read back, compared and refused."""

from __future__ import annotations

import json
from functools import partial

import numpy as np
import pytest

from tamis.decisions.specification import (
    RecordedRule,
    as_rule,
    rule_from_dict,
    rule_to_dict,
)
from tamis.errors import SettingError
from tamis.information.interface import Floats, Tests
from tamis.rules import (
    BIC,
    CallableTest,
    ChiSquared,
    Fixed,
    FTest,
    LocalPermutation,
    Permutation,
    PValue,
    Rate,
    Rule,
)

EVERY_RULE = [
    Fixed(0.005),
    ChiSquared(0.01),
    Permutation(0.1),
    BIC(),
    Rate(0.02),
    FTest(0.02),
    LocalPermutation(0.03),
    PValue(0.04),
]


@pytest.mark.parametrize("number", [0, 0.001, 2, np.float64(0.5), np.float32(0.5), np.int64(3)])
def test_a_plain_number_is_a_fixed_threshold(number):
    assert as_rule(number) == Fixed(float(number))


@pytest.mark.parametrize("spec", [True, np.True_, "0.05", None, [0.1], ChiSquared])
def test_what_is_neither_number_nor_rule_is_refused_with_the_choices(spec):
    with pytest.raises(
        SettingError,
        match=r"Fixed, ChiSquared, .* FTest, LocalPermutation, PValue, Score\) or .* not",
    ):
        as_rule(spec)


@pytest.mark.parametrize("rule", EVERY_RULE, ids=repr)
def test_rules_survive_json(rule: Rule):
    written = json.dumps(rule_to_dict(rule))
    assert rule_from_dict(json.loads(written)) == rule


def test_the_written_form_of_each_rule():
    assert [rule_to_dict(rule) for rule in EVERY_RULE] == [
        {"rule": "fixed", "threshold": 0.005},
        {"rule": "chi-squared", "alpha": 0.01},
        {"rule": "permutation", "alpha": 0.1},
        {"rule": "bic"},
        {"rule": "rate", "c": 0.02},
        {"rule": "f-test", "alpha": 0.02},
        {"rule": "local-permutation", "alpha": 0.03},
        {"rule": "p-value", "alpha": 0.04},
    ]


@pytest.mark.parametrize("written", [{}, {"rule": "z-test"}, {"rule": None}, {"rule": ["fixed"]}])
def test_unknown_names_are_refused_with_the_list(written: dict):
    with pytest.raises(
        SettingError,
        match=r"fixed, chi-squared, .* local-permutation, p-value, score, or .* not",
    ):
        rule_from_dict(written)


def test_unknown_missing_and_meaningless_parameters_are_refused():
    with pytest.raises(SettingError, match=r"\['alfa'\].*Permutation has \['alpha', 'whole"):
        rule_from_dict({"rule": "permutation", "alfa": 0.05})
    with pytest.raises(SettingError, match=r"Fixed cannot do without .*\['threshold'\]"):
        rule_from_dict({"rule": "fixed"})
    with pytest.raises(SettingError, match=r"alpha must be .* not '0\.05'"):
        rule_from_dict({"rule": "permutation", "alpha": "0.05"})


class Always(Rule):
    """A rule from outside."""

    def __init__(self, least: float, weights: list[int]) -> None:
        self.least, self.weights, self._hidden = least, weights, "not told"

    def strengths(self, tests: Tests) -> Floats:
        return np.ones(len(tests))

    def threshold_for(self, n_tests) -> Floats:
        return np.zeros(np.shape(n_tests))


def always_one(source, x, y, given) -> float:
    return 1.0


def test_a_rule_from_outside_is_written_by_its_qualified_name_and_parameters():
    rule = Always(0.5, [1, 2])
    assert as_rule(rule) is rule
    assert rule_to_dict(rule) == {
        "rule": f"{__name__}.Always",
        "least": 0.5,
        "weights": "[1, 2]",
        "unit": "nats",
    }


def test_a_function_becomes_a_test_at_the_alpha_of_the_rule_it_replaces():
    assert as_rule(always_one) == CallableTest(0.05, function=always_one)
    rule = as_rule(always_one, Permutation(0.001, whole_graph=True))
    assert rule == CallableTest(0.001, whole_graph=True, function=always_one)
    assert rule.bind(100, 10) == CallableTest(0.0001, function=always_one)
    assert rule_to_dict(rule) == {
        "rule": f"{__name__}.always_one",
        "alpha": 0.001,
        "whole_graph": True,
        "unit": "p",
    }
    assert rule_to_dict(as_rule(partial(always_one, kernel="linear")))["kernel"] == "linear"


@pytest.mark.parametrize("rule", [Always(0.5, []), as_rule(always_one)], ids=["rule", "function"])
def test_what_came_from_outside_is_read_as_a_record_that_does_nothing(rule: Rule):
    written = json.loads(json.dumps(rule_to_dict(rule)))
    read = rule_from_dict(written)
    assert isinstance(read, RecordedRule)
    assert rule_to_dict(read) == written
    assert (as_rule(read), read.unit) == (read, rule.unit)
    with pytest.raises(SettingError, match=rf"{written['rule']} was read from a file"):
        read.threshold_for(1)


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ({"rule": "a.Rule"}, "unit"),
        ({"rule": "a.Rule", "unit": "bits"}, "unit"),
        ({"rule": "a.Rule", "unit": "p", "deep": [1]}, "deep"),
        ({"rule": "a.Rule; import os", "unit": "p"}, "must be one of"),
    ],
)
def test_records_of_rules_that_no_run_writes_are_refused(written: dict, message: str):
    with pytest.raises(SettingError, match=message):
        rule_from_dict(written)


def test_a_rule_from_outside_must_have_a_unit_that_results_know():
    rule = Always(0.5, [])
    rule.unit = "bits"
    with pytest.raises(SettingError, match=r"Always must be one of 'nats', 'p'.* not 'bits'"):
        as_rule(rule)


def test_rules_read_well_and_compare_by_value():
    assert repr(Permutation()) == "Permutation(alpha=0.05)"
    assert repr(BIC()) == "BIC()"
    assert repr(Fixed(0)) == "Fixed(threshold=0.0)"
    assert Fixed(0) == Fixed(0.0)
    assert ChiSquared(0.05) != Permutation(0.05)
    assert len({Rate(), Rate(0.005), Rate(0.002), BIC(), BIC()}) == 3
