"""The constants that decide results can be listed and varied."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import tamis
from tamis.constants import Constants, changed, constants, listed, varied

SOURCE = Path(tamis.__file__).parent


def chain(n: int) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    x = rng.random((4, n)) < 0.2
    for k in range(1, 4):
        x[k] ^= x[k - 1]
    return pd.DataFrame(x.T.astype(str), columns=list("abcd"))


def test_each_says_what_it_does_and_how_it_was_chosen():
    assert len(listed()) > 25
    for one in listed():
        assert one.what, one.name
        assert one.chosen, one.name
        assert one.value == getattr(Constants(), one.name)


def test_each_is_used():
    code = "\n".join(p.read_text() for p in SOURCE.rglob("*.py") if p.name != "constants.py")
    for one in listed():
        assert re.search(rf"\b(constants|now)\.{one.name}\b", code), one.name


def test_varied_ones_are_in_force_within_the_block_alone():
    with varied(alike=0.5, largest_set=5):
        assert (constants.alike, constants.largest_set) == (0.5, 5)
        assert changed() == {"largest_set": 5, "alike": 0.5}
        with varied(largest_set=4):
            assert constants.largest_set == 4
        assert constants.largest_set == 5
    assert changed() == {}


def test_a_model_keeps_to_the_constants_it_was_fitted_with():
    with varied(nats_per_doubt=1000.0):
        model = tamis.TAM(n_jobs=2).fit(chain(200))
        inside = model.bootstrap(n=4)
    assert model.bootstrap(n=4).edges == inside.edges
    assert changed() == {}


def test_a_varied_constant_changes_what_is_said():
    rng = np.random.default_rng(1)
    a, b, noise = (rng.random((3, 2000)) < 0.3) | (rng.random((3, 2000)) < 0.2)
    table = pd.DataFrame({"a": a, "b": b, "c": (a | b) ^ noise}).astype(str)

    def probability() -> float:
        return min(one.direction_probability for one in tamis.TAM().fit(table).result_.edges)

    with tamis.constants.varied(nats_per_doubt=1000.0):
        assert probability() < 0.6
    assert probability() > 0.6


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"claim": 0.5}, "there is no constant 'claim'"),
        ({"largest_set": 2.5}, "largest_set must be a whole number"),
        ({"alike": -1.0}, "alike must be a number from 1e-06 to 1e.12, not -1.0"),
        ({"nats_per_doubt": 0.0}, "not 0.0"),
        ({"alike": 10**400}, "alike must be a number"),
        ({"alike": float("nan")}, "not nan"),
        ({"alike": True}, "not True"),
        ({"alike": "3"}, "not '3'"),
    ],
)
def test_what_is_no_constant_or_no_value_is_refused(values, told):
    with pytest.raises(tamis.SettingError, match=told), varied(**values):
        pass
    assert changed() == {}
