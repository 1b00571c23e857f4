"""Edges without a test have nan for a p-value, and are equal all the same."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import tamis
from tamis.result import Edge

EDGE = Edge("a", "b", 0.5, math.nan, 1, 0.5, 0.2, "entropy", 0.95)


def test_a_result_with_untested_edges_equals_its_saved_copy(tmp_path):
    rng = np.random.default_rng(3)
    x = rng.uniform(-1, 1, 300)
    table = {"x": x, "y": 3 * x**2 + rng.normal(0, 0.3, 300)}
    model = tamis.TAM(information="lipschitz").fit(table)
    assert [math.isnan(edge.p_value) for edge in model.result_.edges] == [True]
    model.save(str(tmp_path / "r.json"))
    assert tamis.load(tmp_path / "r.json") == model.result_


def test_edges_without_a_test_are_equal_whatever_the_nan():
    other = replace(EDGE, p_value=float("nan"))
    assert other == EDGE
    assert hash(other) == hash(EDGE)
    assert len({other, EDGE}) == 1


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("parent", "c"),
        ("child", "c"),
        ("gain", 0.4),
        ("p_value", 0.1),
        ("step", 2),
        ("gain_given_rest", 0.4),
        ("entropy_gap", 0.1),
        ("warrant", "none"),
        ("direction_probability", 0.9),
    ],
)
def test_edges_that_differ_in_any_field_are_not_equal(field, value):
    assert replace(EDGE, **{field: value}) != EDGE
    assert EDGE != "a → b"
