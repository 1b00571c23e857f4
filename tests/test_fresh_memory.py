"""No answer may rest on memory that nobody has written.

Compiled loops take fresh memory as it is, with what was there before. Here the loops are run by
Python, where fresh memory can be filled with what does the most harm, and the answers must be those
that it has when filled with zeros.
"""

import numpy as np
import pandas as pd
import pytest

from tamis import TAM
from tamis.counting.compiled import LazyLoop, interpreted, uncompiled

EMPTY = np.empty


def mixed_table() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    n = 120
    colour, size = rng.integers(0, 3, n), rng.integers(0, 4, n)
    length = colour + rng.normal(size=n)
    weight = 2 * length + (size == 1) + rng.normal(size=n)
    width = np.where(colour == 2, 3 * rng.normal(size=n), length)
    return pd.DataFrame(
        {
            "colour": np.array(["red", "green", "blue"])[colour],
            "size": np.array(list("smlx"))[size],
            "length": length,
            "weight": weight,
            "heavy": np.where(weight > 1, "yes", "no"),
            "width": width,
        }
    )


def with_missing(table: pd.DataFrame) -> pd.DataFrame:
    table = table.copy()
    table.loc[::7, "length"] = np.nan
    table.loc[3::9, "colour"] = None
    return table


LEVELS, NUMBERS = ["colour", "size", "heavy"], ["length", "weight", "width"]
CASES = {
    "mixed": (mixed_table(), {}),
    "levels": (mixed_table()[LEVELS], {}),
    "numbers": (mixed_table()[NUMBERS], {}),
    "sequential": (mixed_table(), {"search": "sequential"}),
    "node": (mixed_table()[LEVELS], {"search": "node"}),
    "layer": (mixed_table()[LEVELS], {"search": "layer"}),
    "ranks": (mixed_table()[NUMBERS], {"information": "copula"}),
    "neighbours": (mixed_table()[NUMBERS][:60], {"information": "neighbours"}),
    "missing levels": (with_missing(mixed_table())[LEVELS], {"missing": "pairwise"}),
    "missing numbers": (with_missing(mixed_table())[NUMBERS], {"missing": "pairwise"}),
    "missing mixed": (with_missing(mixed_table()), {"missing": "pairwise"}),
}


def filled(with_zeros: bool):
    """Fills fresh memory with zeros, or with what is never right."""

    def fill(found: np.ndarray) -> np.ndarray:
        worst = {"f": np.nan, "i": -(2**6) - 3, "u": 201, "b": True}
        found.fill(0 if with_zeros else worst.get(found.dtype.kind, 0))
        return found

    return fill


@pytest.mark.parametrize("case", CASES)
def test_an_answer_does_not_rest_on_memory_that_nobody_has_written(case, monkeypatch):
    table, settings = CASES[case]
    monkeypatch.setattr(LazyLoop, "__call__", lambda self, *values: interpreted(self)(*values))
    monkeypatch.setattr(uncompiled, "allows", lambda *_: True)
    answers = []
    for with_zeros in (True, False):
        fill = filled(with_zeros)
        with monkeypatch.context() as patched:
            patched.setattr(np, "empty", lambda *a, _fill=fill, **k: _fill(EMPTY(*a, **k)))
            result = TAM(**settings).fit(table).result_
            answers.append((result.edges, result.entropies, result.layers))
    assert answers[0] == answers[1]
