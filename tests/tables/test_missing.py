"""Missing values: every reader sees the same ones, and each choice does what it says."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.errors import DataError, SettingError, TamisWarning
from tamis.tables import read_table, table_notes
from tamis.tables.assemble import MISSING
from tamis.tables.sources import LEVEL
from tamis.tables.table import Table

COLOUR = ["red", None, "blue", "red", "blue", "blue", None, "red"]
COUNT = [1, 2, None, 1, 2, 1, 2, 1]
WHOLE = [0, 1, 0, 1, 1, 0, 1, 0]
COLUMNS = {"colour": COLOUR, "count": COUNT, "whole": WHOLE}


def table_of(data: object, missing: str, **more: object) -> Table:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TamisWarning)
        return read_table(data, missing=missing, **more)


def refused(data: object, **how: object) -> str:
    with pytest.raises(DataError) as error:
        table_of(data, **how)
    return str(error.value)


def cells(table: Table) -> dict[str, list[object]]:
    """What each row says, None for a gap."""
    found = {}
    for k, (name, levels) in enumerate(zip(table.names, table.levels, strict=True)):
        gap = table.missing.get(k, np.zeros(table.n_rows, dtype=bool))
        found[name] = [
            None if absent else levels[code]
            for code, absent in zip(table.codes[k].tolist(), gap.tolist(), strict=True)
        ]
    return found


def same(a: Table, b: Table) -> bool:
    return a.names == b.names and a.levels == b.levels and cells(a) == cells(b)


def test_masked_cells_are_missing():
    masked = np.ma.masked_array(
        [[1, 0], [2, 1], [1, 0], [2, 0]], mask=[[0, 0], [1, 0], [0, 0], [0, 1]]
    )
    assert cells(table_of(masked, "pairwise")) == {"x0": [1, None, 1, 2], "x1": [0, 1, 0, None]}


def test_pairwise_keeps_missing_values():
    table = table_of(COLUMNS, "pairwise")
    assert cells(table) == COLUMNS
    assert table.levels == (("blue", "red"), (1, 2), (0, 1))
    assert sorted(table.missing) == [0, 1]


def test_level_is_the_last_and_all_labels_become_text():
    table = table_of(COLUMNS, "level")
    assert table.levels == (("blue", "red", LEVEL), ("1", "2", LEVEL), (0, 1))
    assert not table.missing
    assert cells(table)["count"] == ["1", "2", LEVEL, "1", "2", "1", "2", "1"]


@pytest.mark.parametrize("label", [LEVEL, f" {LEVEL}", f"{LEVEL}\t"])
def test_the_level_of_missing_values_never_meets_a_real_one(label):
    table = table_of({"a": [label, None, "x", label], "b": [0, 1, 0, 1]}, "level")
    assert table.levels[0][-1] == f"({LEVEL})"
    assert cells(table)["a"] == [label, f"({LEVEL})", "x", label]


def test_drop_leaves_out_rows_and_says_so():
    with pytest.warns(TamisWarning, match="left out 3 of 8 rows: column 'colour' is missing in 2"):
        table = read_table(COLUMNS, missing="drop")
    assert cells(table)["colour"] == ["red", "red", "blue", "blue", "red"]
    assert any("left out 3 of 8 rows" in note for note in table_notes(table))


def test_drop_forgets_levels_and_numbers_that_only_stood_in_rows_left_out():
    data = {"a": ["x", "y", "z", "x"], "b": [1.0, 2.0, 0.5, 1.0], "c": [1, 0, None, 1]}
    table = table_of(data, "drop")
    assert table.levels == (("x", "y"), (1, 2), (0, 1))


def test_drop_names_the_emptiest_columns_when_no_rows_are_left():
    data = {"a": [1, None, None, None], "b": [None, 1, 2, 1], "c": [0, 1, 0, 1]}
    message = refused(data, missing="drop")
    assert "leaves none of 4 rows" in message
    assert message.index("'a' is missing in 3") < message.index("'b' is missing in 1")


def test_numbers_stay_missing_and_are_nan():
    data = {"a": [0.5, None, 1.5, 2.5] * 2, "b": [0, 1, 0, None] * 2}
    assert table_of(data, "drop", continuous=True).numbers(0).tolist() == [0.5, 1.5] * 2
    both = table_of(data, "pairwise", continuous=True)
    np.testing.assert_array_equal(both.numbers(0), [0.5, np.nan, 1.5, 2.5] * 2)
    np.testing.assert_array_equal(both.numbers(1), [0, 1, 0, np.nan] * 2)
    assert sorted(both.missing) == [0, 1]
    assert not both.never_varies(0)
    levels = table_of(data, "level", continuous=True)
    assert sorted(levels.missing) == [0]
    assert levels.levels == ((), ("0", "1", LEVEL))
    assert "Numbers have no such level" in levels.notes[1]
    assert read_table(levels, missing="level", continuous=True) is levels


def test_whole_numbers_of_many_values_stay_missing_beside_levels():
    counts = [*range(30), None] * 3
    table = table_of({"a": counts, "b": ["x", None, "y"] * 31}, "level", continuous=True)
    assert table.kinds == ("number", "category")
    assert np.isnan(table.numbers(0)).sum() == 3
    assert table.levels[1] == ("x", "y", LEVEL)


def test_an_ordered_column_with_a_level_of_missing_values_has_no_order():
    grade = pd.Categorical(["low", "high", None, "low"] * 3, ["low", "high"], ordered=True)
    data = pd.DataFrame({"grade": grade, "b": [0, 1, 0, 1] * 3})
    assert table_of(data, "pairwise").kinds[0] == "ordinal"
    assert table_of(data, "level").kinds[0] == "category"


def test_drop_stops_where_less_than_half_of_the_rows_would_be_left():
    n = 40
    data = {
        "rare": [1, 2, *[None] * (n - 2)],
        "half": [None if i % 3 == 0 else i % 2 for i in range(n)],
        "whole": [i % 2 for i in range(n)],
    }
    message = refused(data, missing="drop")
    assert "leaves 1 of 40 rows: column 'rare' is missing in 38, column 'half'" in message
    assert "Leave out 'rare', without which 26 rows have everything" in message
    assert "types={'rare': 'ignore'}" in message
    assert "--drop 'rare'" in message
    assert "drop-anyway" not in message, "one row is too few anyway"
    ignored = table_of(data, "drop", types={"rare": "ignore"})
    assert ignored.n_rows == 26
    data["rare"][2] = data["rare"][4] = 1
    assert "missing='drop-anyway'" in refused(data, missing="drop")
    assert table_of(data, "drop-anyway").n_rows == 3
    assert "Too few rows have everything, 3 of 40, to 'drop'" in refused(data, missing="error")


def test_a_column_without_any_value_is_refused():
    data = {"a": [None] * 4, "b": [0, 1, 0, None]}
    for missing in ("level", "pairwise", "drop", "drop-anyway"):
        assert "Column 'a' is missing in all 4 rows" in refused(data, missing=missing)


def test_only_these_choices_are_known():
    with pytest.raises(SettingError, match="missing must be one of 'error', 'drop'"):
        read_table(COLUMNS, missing="ignore")
    with pytest.raises(SettingError, match="not None"):
        read_table(COLUMNS, missing=None)


def test_a_table_with_gaps_goes_only_where_gaps_are_welcome():
    table = table_of(COLUMNS, "pairwise")
    assert read_table(table, missing="pairwise") is table
    for missing in ("error", "drop", "level"):
        assert "'colour' is missing in 2 of 8 rows" in refused(table, missing=missing)


def test_gaps_follow_their_columns_and_rows():
    table = table_of(COLUMNS, "pairwise")
    turned = table.select([2, 0]).arrange(np.arange(7, -1, -1))
    assert cells(turned) == {"whole": WHOLE[::-1], "colour": COLOUR[::-1]}


@given(
    kind=st.sampled_from([[0, 1, 2, None], ["a", "<b>", '"', None], [True, False, None]]),
    other=st.sampled_from([[0, 1], ["x", "y", None]]),
    data=st.data(),
)
def test_drop_is_the_same_as_reading_the_complete_rows(kind, other, data):
    n = data.draw(st.integers(8, 24))
    a = data.draw(st.lists(st.sampled_from(kind), min_size=n, max_size=n))
    b = data.draw(st.lists(st.sampled_from(other), min_size=n, max_size=n))
    whole = [i for i in range(n) if a[i] is not None and b[i] is not None]
    if len(whole) < 2:
        assert "rows" in refused({"a": a, "b": b}, missing="drop-anyway")
        return
    complete = {"a": [a[i] for i in whole], "b": [b[i] for i in whole]}
    if 2 * len(set(complete["a"])) > len(whole) or 2 * len(set(complete["b"])) > len(whole):
        # Levels as in an identifier; how those are refused is another matter.
        return
    wanted = table_of(complete, "error")
    frame = pl.DataFrame({"a": a, "b": b}, strict=False)
    assert same(table_of(frame, "drop-anyway"), wanted)
    if 2 * len(whole) >= n:
        assert same(table_of(frame, "drop"), wanted)
    else:
        assert "'drop-anyway'" in refused(frame, missing="drop")


@given(st.integers(0, 2**32 - 1))
def test_without_missing_values_all_choices_are_the_same(seed):
    rng = np.random.default_rng(seed)
    data = {name: rng.integers(0, 3, 12) for name in "abc"}
    tables = [table_of(data, missing) for missing in MISSING]
    assert all(same(tables[0], other) and not other.notes for other in tables[1:])
