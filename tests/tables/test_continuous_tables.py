"""What a table with continuous columns offers, and how it is refused where levels are needed."""

from __future__ import annotations

import numpy as np
import pytest

from tamis.errors import DataError, TamisWarning
from tamis.tables import Table, read_table, require_levels, table_notes

COLUMNS = {
    "colour": ["red", "blue", "red", "blue"],
    "height": [0.5, 1.5, 2.5, 0.5],
    "age": [30, 40, 30, 40],
    "smokes": [True, False, False, True],
    "income": [1000, 2000, 3000, 4000],
}


@pytest.fixture
def table() -> Table:
    return read_table(COLUMNS, continuous=True)


def test_measured_columns_are_told_from_the_others(table):
    assert [table.is_continuous(k) for k in range(5)] == [False, True, False, False, True]
    assert table.arities.tolist() == [2, 0, 2, 2, 0]
    assert table.n_rows == 4


def test_levels_that_are_numbers_are_numbers_by_their_value(table):
    for k, name in enumerate(COLUMNS):
        if name != "colour":
            numbers = table.numbers(k)
            assert numbers.dtype == np.float64
            assert numbers.tolist() == COLUMNS[name]


def test_columns_are_counted_from_the_end_too(table):
    assert table.is_continuous(-1)
    assert not table.is_continuous(-2)
    assert table.numbers(-1).tolist() == COLUMNS["income"]
    assert table.select([-1]).numbers(0).tolist() == COLUMNS["income"]
    with pytest.raises(IndexError):
        table.is_continuous(5)


def test_selected_columns_stay_measured(table):
    part = table.select([4, 2, 1])
    assert part.names == ("income", "age", "height")
    assert sorted(part.continuous) == [0, 2]
    assert [part.numbers(k).tolist() for k in range(3)] == [COLUMNS[name] for name in part.names]
    assert not table.select([0, 2, 3]).continuous


def test_a_measured_table_passes_only_where_it_is_asked_for(table):
    assert read_table(table, continuous=True) is table
    with pytest.raises(DataError, match="Column 'height' holds numbers that are not integers"):
        read_table(table)


def test_integers_that_fall_together_as_floats_are_refused_as_levels():
    stamps = [2**60 + 100 * k for k in range(16)]
    table = read_table({"stamp": stamps, "good": [0, 1] * 8}, continuous=True)
    assert len(np.unique(table.numbers(0))) < 8
    with pytest.raises(DataError, match="Column 'stamp' holds continuous numbers, such as"):
        require_levels(table)


def test_constant_measured_columns_are_noted_like_the_others():
    with pytest.warns(TamisWarning, match="'half', 'seven'"):
        table = read_table(
            {"half": [0.5] * 4, "seven": [7] * 4, "height": [0.5, 1, 1, 1]}, continuous=True
        )
    assert table.is_continuous(0)
    assert table_notes(table.select([1, 2]))
    assert not table_notes(table.select([2, 2]))
