"""What must hold for every table and every input, shown on generated ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from table_containers import NAMED, TEXT, UNNAMED, decode, read_quietly, typed

from tamis.errors import DataError, FileFormatError, TamisError
from tamis.tables import Table, require_levels
from tamis.tables.text import MISSING_MARKERS

fixed = settings(
    deadline=None,
    derandomize=True,
    max_examples=12,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

# NUL has no place in a text file, and numpy drops it at the end of a string.
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6)
NASTY = st.sampled_from(
    ['"', '""', ",", ";", "\t", "\n", "\r", "\r\n", "'", " ", "#", "\\", "é", "\ufeff"]
)
# A letter at either end keeps text from being a number or a marker of missing values.
WORDS = st.one_of(TEXTS, NASTY).flatmap(lambda s: st.sampled_from([f"{s}x", f"x{s}"]))
INTEGERS = st.one_of(st.integers(-3, 3), st.integers(-(2**63), 2**63 - 1))
BOOLEANS = st.booleans()


def trimmed(label: object) -> object:
    """What tells levels apart: labels that differ by blanks alone are refused."""
    return label.strip() if isinstance(label, str) else label


@st.composite
def columns(draw, *, labels=(WORDS, INTEGERS, BOOLEANS), names=None):
    """A table within the rules: few enough levels for its rows."""
    n_rows = draw(st.integers(2, 12))
    n_columns = draw(st.integers(2, 4))
    names = names or draw(
        st.lists(WORDS, min_size=n_columns, max_size=n_columns, unique_by=str.strip)
    )
    table = {}
    for name in names[:n_columns]:
        kind = draw(st.sampled_from(labels))
        levels = draw(st.lists(kind, min_size=1, max_size=max(2, n_rows // 2), unique_by=trimmed))
        table[name] = draw(st.lists(st.sampled_from(levels), min_size=n_rows, max_size=n_rows))
    return table


@pytest.mark.parametrize("engine", NAMED)
@fixed
@given(table=columns())
def test_every_label_survives_containers_with_names(engine, table, tmp_path):
    assert typed(decode(read_quietly(NAMED[engine](table, tmp_path)))) == typed(table)


@pytest.mark.parametrize("engine", UNNAMED)
@fixed
@given(table=columns(names=["x0", "x1", "x2", "x3"]))
def test_every_label_survives_containers_without_names(engine, table, tmp_path):
    assert typed(decode(read_quietly(UNNAMED[engine](table, tmp_path)))) == typed(table)


@pytest.mark.parametrize("engine", TEXT)
@fixed
@given(table=columns(labels=(WORDS, INTEGERS)))
def test_every_label_survives_text_files(engine, table, tmp_path):
    trimmed_names = {name.strip(): values for name, values in table.items()}
    assert typed(decode(read_quietly(TEXT[engine](table, tmp_path)))) == typed(trimmed_names)


def reads_or_refuses(data: object) -> None:
    """Anything may be refused, but only on purpose; measuring never takes levels away."""
    levelled, continuous = (read_or_none(data, continuous=mode) for mode in (False, True))
    if levelled is not None:
        assert not levelled.continuous
        assert continuous is not None
        assert continuous.levels == levelled.levels
        assert np.array_equal(continuous.codes, levelled.codes)
    elif continuous is not None:
        assert continuous.continuous
        with pytest.raises(DataError):
            require_levels(continuous)


def read_or_none(data: object, *, continuous: bool) -> Table | None:
    try:
        table = read_quietly(data, continuous=continuous)
    except TamisError:
        return None
    assert isinstance(table, Table)
    assert table.codes.shape == (len(table.names), table.n_rows)
    for k, (codes, levels) in enumerate(zip(table.codes, table.levels, strict=True)):
        assert table.is_continuous(k) == (not levels)
        assert codes.max() < max(len(levels), 1)
    for numbers in table.continuous.values():
        assert numbers.dtype == np.float64
        assert numbers.shape == (table.n_rows,)
        assert np.isfinite(numbers).all()
    return table


PIECES = [",", ";", "\t", "\n", "\r", '"', "a", "b", "1", "0.5", "-", "inf", " ", *MISSING_MARKERS]


@fixed
@given(pieces=st.lists(st.sampled_from(PIECES), max_size=30))
def test_any_text_made_of_csv_is_read_or_refused(pieces, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,b\n" * (len(pieces) % 2) + "".join(pieces), newline="")
    reads_or_refuses(path)


@fixed
@given(length=st.integers(0, 2000), noise=st.binary(max_size=40))
def test_any_cut_parquet_file_is_refused(length, noise, tmp_path):
    # Not damage in the middle: a few such files make polars end the process.
    path = NAMED["parquet"]({"a": ["x", "y"] * 20, "b": [1, 2] * 20}, tmp_path)
    content = path.read_bytes()
    path.write_bytes(content[: length % len(content)] + noise)
    with pytest.raises(FileFormatError):
        read_quietly(path)


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.complex_numbers(),
    st.text(max_size=3),
    st.binary(max_size=3),
    st.dates(),
    st.decimals(),
    st.fractions(),
    st.sampled_from([object(), int, np.float32(1.5), np.str_("a"), np.ma.masked, ...]),
)
OBJECTS = st.recursive(
    SCALARS,
    lambda children: st.one_of(
        st.lists(children, max_size=4),
        st.lists(children, max_size=4).map(tuple),
        st.lists(st.lists(children, min_size=2, max_size=2), max_size=4),
        st.dictionaries(st.one_of(st.text(max_size=2), st.integers()), children, max_size=4),
        st.dictionaries(st.text(max_size=2), st.lists(children, min_size=4, max_size=4)),
    ),
    max_leaves=12,
)


@fixed
@given(data=OBJECTS)
def test_any_object_is_read_or_refused(data):
    reads_or_refuses(data)


@fixed
@given(
    data=arrays.arrays(
        dtype=st.one_of(arrays.scalar_dtypes(), arrays.array_dtypes()),
        shape=arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
    )
)
def test_any_array_is_read_or_refused(data):
    reads_or_refuses(data)
