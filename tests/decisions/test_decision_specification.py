"""How rules are written, read back, compared and refused."""

from __future__ import annotations

import dataclasses
import json
import math
import sys
from functools import partial

import numpy as np
import pytest

import tamis.rules
from tamis.decisions.specification import (
    RULES,
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


@pytest.mark.parametrize("rule", EVERY_RULE, ids=repr)
def test_a_rule_is_itself(rule: Rule):
    assert as_rule(rule) is rule


@pytest.mark.parametrize("spec", [True, np.True_, "0.05", None, [0.1], ChiSquared])
def test_what_is_neither_number_nor_rule_is_refused_with_the_choices(spec):
    with pytest.raises(
        SettingError,
        match=r"Fixed, ChiSquared, .* FTest, LocalPermutation, PValue\) or .* not",
    ):
        as_rule(spec)


@pytest.mark.parametrize("number", [-0.1, math.inf, math.nan])
def test_a_number_that_is_no_threshold_is_refused(number: float):
    with pytest.raises(SettingError, match=f"threshold must be a finite .* not {number}"):
        as_rule(number)


@pytest.mark.parametrize("alpha", [0, 1, -0.05, 5, math.nan, "0.05", True, None])
@pytest.mark.parametrize("kind", [ChiSquared, Permutation])
def test_a_level_outside_zero_to_one_is_refused(kind, alpha):
    with pytest.raises(SettingError, match=f"{kind.__name__}: alpha must be .* between 0 and 1"):
        kind(alpha)


@pytest.mark.parametrize("c", [0, -1, math.inf, math.nan, "1", False])
def test_a_rate_without_a_positive_constant_is_refused(c):
    with pytest.raises(SettingError, match="Rate: c must be a finite number above 0, not"):
        Rate(c)


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


def test_a_parameter_left_out_has_its_default():
    assert rule_from_dict({"rule": "permutation"}) == Permutation(alpha=0.05)


@pytest.mark.parametrize("written", [{}, {"rule": "z-test"}, {"rule": None}, {"rule": ["fixed"]}])
def test_unknown_names_are_refused_with_the_list(written: dict):
    with pytest.raises(
        SettingError,
        match=r"fixed, chi-squared, .* local-permutation, p-value, or .* not",
    ):
        rule_from_dict(written)


def test_unknown_missing_and_meaningless_parameters_are_refused():
    with pytest.raises(SettingError, match=r"\['alfa'\].*Permutation has \['alpha', 'whole"):
        rule_from_dict({"rule": "permutation", "alfa": 0.05})
    with pytest.raises(SettingError, match=r"Fixed cannot do without .*\['threshold'\]"):
        rule_from_dict({"rule": "fixed"})
    with pytest.raises(SettingError, match=r"alpha must be .* not '0\.05'"):
        rule_from_dict({"rule": "permutation", "alpha": "0.05"})


def test_reading_a_rule_leaves_what_was_read_alone():
    written = {"rule": "rate", "c": 1.5}
    rule_from_dict(written)
    assert written == {"rule": "rate", "c": 1.5}


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


def test_reading_a_rule_from_outside_imports_nothing():
    read = rule_from_dict({"rule": "no.such.module.Rule", "unit": "p", "alpha": 0.1})
    assert isinstance(read, RecordedRule)
    assert "no" not in sys.modules


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


@pytest.mark.parametrize("rule", [Fixed(0.005), ChiSquared(), Permutation(), Rate()], ids=repr)
def test_rules_cannot_be_changed(rule: Rule):
    parameter = next(iter(vars(rule)))
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(rule, parameter, 0.5)


def test_the_public_module_offers_every_rule_under_one_name():
    assert {getattr(tamis.rules, name) for name in tamis.rules.__all__} == {
        Rule,
        CallableTest,
        *RULES.values(),
    }


@pytest.mark.parametrize("kind", [*RULES.values(), CallableTest])
def test_every_rule_says_what_it_promises_and_where_it_does_not_hold(kind):
    assert "Promise: " in kind.__doc__
    assert "Does not hold: " in kind.__doc__
