"""Moments taken from files, one after the other, are those of the table in memory."""

from __future__ import annotations

import pickle
from functools import reduce
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tamis
from tamis.counting import opening as blocks_opening
from tamis.counting.elsewhere import MomentTable, PackedTable
from tamis.counting.opening import open_blocks, table_of_moments
from tamis.errors import DataError, SettingError
from tamis.information.gaussian import GaussianInformation, correlation_of, open_moments
from tamis.tables import first_pass, read_table
from tamis.tables.first_pass import Seen, look, open_stream, products_in, reading_of
from tamis.tables.moments import Moments

FORMATS = ["parquet", "csv"]
CLOSE = {"rtol": 1e-9, "atol": 1e-12}


def frame(seed: int = 1, n: int = 400, offset: float = 0.0) -> pl.DataFrame:
    """A chain of four measured columns in other order than that of their names, and a count."""
    rng = np.random.default_rng(seed)
    columns = [rng.normal(size=n)]
    for _ in range(3):
        columns.append(0.9 * columns[-1] + rng.normal(size=n))
    names = ("d", "a", "c", "b")
    measured = {name: x + offset for name, x in zip(names, columns, strict=True)}
    return pl.DataFrame({**measured, "e": rng.integers(1, 60, n)})


def write(table: pl.DataFrame, path, kind: str) -> None:
    table.write_parquet(path) if kind == "parquet" else table.write_csv(path)


def split(table: pl.DataFrame, folder, kind: str, cuts: list[int]) -> str:
    """The rows in several files; the pattern that finds them."""
    edges = [0, *sorted(min(cut, len(table)) for cut in cuts), len(table)]
    for old in folder.glob(f"*.{kind}"):
        old.unlink()
    for i, (start, stop) in enumerate(pairwise(edges)):
        write(table[start:stop], folder / f"{i:03}.{kind}", kind)
    return str(folder / f"*.{kind}")


def same(found, expected) -> None:
    """The same decisions; numbers to rounding."""
    for name in ("names", "levels", "n_rows", "layers", "order", "parents", "search"):
        assert getattr(found, name) == getattr(expected, name), name
    assert found.settings == expected.settings
    for name, entropy in expected.entropies.items():
        assert found.entropies[name] == pytest.approx(entropy, rel=1e-9, abs=1e-9)


def correlations(moments: Moments) -> np.ndarray:
    return correlation_of(moments.covariance)


@pytest.mark.parametrize("kind", FORMATS)
@settings(max_examples=12)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(30, 300),
    cuts=st.lists(st.integers(0, 300), max_size=4),
    offset=st.sampled_from([0.0, -1e3, 1e6]),
)
def test_files_of_any_sizes_are_learned_as_the_whole_table(
    kind, seed, n, cuts, offset, tmp_path_factory
):
    # The cuts may leave files without rows, at the ends and in between.
    table = frame(seed, n, offset)
    pattern = split(table, tmp_path_factory.mktemp("parts"), kind, cuts)
    model = tamis.TAM(n_jobs=1).fit(pattern)
    found = model._learned_from[0]
    assert isinstance(found, MomentTable)
    same(model.result_, tamis.TAM(n_jobs=1).fit(table).result_)
    whole = Moments.of_table(read_table(table, continuous=True))
    np.testing.assert_allclose(correlations(found.moments), correlations(whole), **CLOSE)
    np.testing.assert_allclose(found.moments.mean, whole.mean, rtol=1e-12, atol=1e-14)
    assert np.array_equal(found.moments.low, whole.low)
    assert np.array_equal(found.moments.high, whole.high)


@pytest.mark.parametrize("kind", FORMATS)
def test_the_same_files_give_the_same_bits_whatever_the_order_of_their_columns(tmp_path, kind):
    table = frame(2, 900)
    first = tamis.TAM().fit(split(table, tmp_path, kind, [1, 300])).result_
    again = tamis.TAM(memory="1GB").fit(str(tmp_path / f"*.{kind}")).result_
    assert again == first
    other = tamis.TAM().fit(split(table[:, ::-1], tmp_path, kind, [1, 300])).result_
    assert other.parents == first.parents
    assert other.entropies == first.entropies


@pytest.mark.parametrize("kind", FORMATS)
def test_blocks_and_single_rows_change_rounding_only(tmp_path, kind, monkeypatch):
    table = frame(3, 500)
    pattern = split(table, tmp_path, kind, [1, 1, 2, 499])
    whole = Moments.of_table(read_table(table, continuous=True))
    for cells, rows in ((50, 7), (10**6, 1), (1, 1)):
        monkeypatch.setattr(first_pass, "BLOCK_CELLS", cells)
        monkeypatch.setattr(first_pass, "BLOCK_ROWS", rows)
        found = open_blocks(pattern).moments
        assert found.count == 500
        np.testing.assert_allclose(correlations(found), correlations(whole), **CLOSE)


@pytest.mark.parametrize("kind", FORMATS)
def test_parts_looked_at_elsewhere_make_the_same_table(tmp_path, kind):
    pattern = split(frame(4), tmp_path, kind, [100, 101, 250])
    stream = open_stream(pattern)
    parts = stream.parts()
    sent = [pickle.loads(pickle.dumps(look(part, moments=True))) for part in parts]  # noqa: S301

    def again(names, moments):
        each = [products_in(part, names, moments) for part in parts]
        return sum(n for n, _ in each), sum(products for _, products in each)

    def made(seen, again=None):
        columns = seen.settle(stream.names, {}, continuous=True)
        assert reading_of(columns, {}, "auto") == "moments"
        return table_of_moments(seen, columns, again=again)

    table = made(reduce(Seen.merge, sent), again)
    expected = open_blocks(pattern)
    assert table.names == expected.names == ("d", "a", "c", "b", "e")
    assert table.levels == expected.levels
    assert np.array_equal(table.moments.products, expected.moments.products)
    auto = {"shrinkage": "auto"}
    found, wanted = (open_moments(one, "gaussian", auto) for one in (table, expected))
    assert wanted.shrinkage > 0
    assert found.shrinkage == pytest.approx(wanted.shrinkage, rel=1e-12)
    # Grouped otherwise, the facts are the same and the sums are so to rounding.
    grouped = made(sent[0].merge(sent[1]).merge(sent[2].merge(sent[3])))
    assert grouped.levels == expected.levels
    np.testing.assert_allclose(
        correlations(grouped.moments), correlations(expected.moments), **CLOSE
    )
    with pytest.raises(SettingError, match="another pass over the rows"):
        open_moments(grouped, "gaussian", auto)


@pytest.mark.parametrize("shrinkage", [0.3, "auto"])
def test_shrinkage_is_that_of_the_rows(tmp_path, shrinkage):
    table = frame(5, 60)
    pattern = split(table, tmp_path, "parquet", [7, 8])
    source = {"shrinkage": shrinkage}
    model = tamis.TAM(information="gaussian", source=source).fit(pattern)
    same(model.result_, tamis.TAM(information="gaussian", source=source).fit(table).result_)
    read = read_table(table, continuous=True)
    expected = GaussianInformation.from_table(read, shrinkage=shrinkage).shrinkage
    found = open_moments(model._learned_from[0], "gaussian", source).shrinkage
    assert found == pytest.approx(expected, rel=1e-9)


def test_rows_that_changed_before_another_pass_are_noticed(tmp_path):
    pattern = split(frame(6), tmp_path, "csv", [200])
    table = open_blocks(pattern)
    write(frame(6)[:100], tmp_path / "001.csv", "csv")
    with pytest.raises(DataError, match="changed while it was read"):
        open_moments(table, "gaussian", {"shrinkage": "auto"})


@pytest.mark.parametrize("kind", FORMATS)
def test_a_fraction_among_the_last_rows_is_seen(tmp_path, kind):
    rng = np.random.default_rng(8)
    table = pl.DataFrame({"x": rng.integers(0, 5, 3000) * 1.0, "y": rng.integers(0, 5, 3000)})
    table[2999, "x"] = 0.5
    pattern = split(table, tmp_path, kind, [1500])
    # A number beside a category, which needs the rows.
    same(tamis.TAM().fit(pattern).result_, tamis.TAM().fit(table).result_)
    types = {"y": "number"}
    model = tamis.TAM(types=types).fit(pattern)
    assert isinstance(model._learned_from[0], MomentTable)
    same(model.result_, tamis.TAM(types=types).fit(table).result_)
    assert model.result_.levels == {"x": (), "y": (0, 1, 2, 3, 4)}


@pytest.mark.parametrize("kind", FORMATS)
def test_whole_numbers_are_measured_as_in_memory(tmp_path, kind):
    """More levels than half the rows are measured; levels alone are counted."""
    die = pl.Series("die", np.arange(40) % 9)
    for values in (np.arange(40) * 1000, (np.arange(40) // 2) * 1000):
        table = pl.DataFrame({"x": values, "die": die})
        found = open_blocks(split(table, tmp_path, kind, [11]))
        expected = read_table(table, continuous=True)
        assert expected.kinds == ("number", "number")
        assert found.levels == expected.levels
        assert isinstance(found, MomentTable if expected.continuous else PackedTable)
        assert {k for k in range(2) if found.is_continuous(k)} == set(expected.continuous)


@pytest.mark.parametrize("kind", FORMATS)
def test_numbers_beside_categories_are_read_into_memory_if_they_fit(tmp_path, kind, monkeypatch):
    labels = pl.Series(["u", "v"] * 200)
    table = frame(12).with_columns(s=labels, t=pl.Series(["1", "0", "1", "1"] * 100).cast(pl.Int8))
    pattern = split(table, tmp_path, kind, [3])
    model = tamis.TAM().fit(pattern)
    same(model.result_, tamis.TAM().fit(table).result_)
    assert model.result_.settings["information"] == "conditional-gaussian"
    with pytest.raises(DataError, match=r"Column 's' holds labels such as 'u'; numbers are needed"):
        tamis.TAM(information="gaussian").fit(pattern)
    monkeypatch.setattr(blocks_opening, "CELL_BYTES", 10**9)
    message = r"Numbers \('d', 'a', .*\) stand beside categories \('s', 't'\).*'ignore'"
    with pytest.raises(DataError, match=message):
        tamis.TAM().fit(pattern)
    types = {"s": "ignore"}
    with pytest.raises(DataError, match=r"\('t'\).* with types={'t': 'number'}"):
        tamis.TAM(types=types).fit(pattern)
    types |= {"t": "number"}
    model = tamis.TAM(types=types).fit(pattern)
    assert isinstance(model._learned_from[0], MomentTable)
    same(model.result_, tamis.TAM(types=types).fit(table).result_)
