"""Moments taken from files, one after the other, are those of the table in memory."""

from __future__ import annotations

import pickle
from decimal import Decimal
from functools import reduce
from itertools import pairwise

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import tamis
from tamis.cli import app
from tamis.counting import opening as blocks_opening
from tamis.counting.elsewhere import MomentTable, PackedTable
from tamis.counting.opening import open_blocks, table_of_moments
from tamis.errors import DataError, FileFormatError, SettingError
from tamis.information.gaussian import GaussianInformation, correlation_of, open_moments
from tamis.tables import first_pass, growing, read_table
from tamis.tables.first_pass import Seen, look, look_at_parts, open_stream, products_in, reading_of
from tamis.tables.moments import Moments
from tamis.tables.packed_file import PackedFile, pack
from tamis.tables.table import with_rows

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


def outcome(make):
    """A table, or the words of its refusal."""
    try:
        return make()
    except DataError as error:
        return str(error)


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


def test_whole_numbers_and_fractions_of_the_same_column_may_be_in_different_files(tmp_path):
    rng = np.random.default_rng(7)
    x, y = rng.normal(size=(2, 200))
    x[:90] = np.round(x[:90] * 4)
    pq.write_table(pa.table({"x": x[:90].astype(np.int32), "y": y[:90]}), tmp_path / "0.parquet")
    # Another order of the columns, and another width of their numbers.
    late = pa.table({"y": y[90:], "x": x[90:].astype(np.float32)})
    pq.write_table(late, tmp_path / "1.parquet")
    x[90:] = x[90:].astype(np.float32)
    expected = tamis.TAM().fit({"x": x, "y": y}).result_
    same(tamis.TAM().fit(tmp_path).result_, expected)
    assert expected.levels == {"x": (), "y": ()}


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
def test_whole_numbers_beyond_counting_are_measured_and_the_result_says_so(
    tmp_path, kind, monkeypatch
):
    monkeypatch.setattr(growing, "MOST_LEVELS", 20)
    monkeypatch.setattr(first_pass, "MOST_LEVELS", 20)
    rng = np.random.default_rng(9)
    table = pl.DataFrame({"x": rng.integers(0, 30, 600), "y": rng.normal(size=600)})
    pattern = split(table, tmp_path, kind, [10, 300])
    result = tamis.TAM().fit(pattern).result_
    assert result.levels == {"x": (), "y": ()}
    assert result.warnings[0].startswith("Taken as continuous, having more than")
    assert "'x'" in result.warnings[0]
    few = table[:40]
    assert tamis.TAM().fit(split(few, tmp_path, kind, [10])).result_.warnings == ()


def test_gaussian_by_name_takes_levels_and_truth_values(tmp_path):
    rng = np.random.default_rng(10)
    table = pl.DataFrame({"x": rng.integers(0, 5, 300), "y": rng.random(300) < 0.4})
    table = table.with_columns(z=pl.col("x") + pl.col("y"))
    pattern = split(table, tmp_path, "parquet", [100])
    model = tamis.TAM(information="gaussian", source={"shrinkage": 0.1}).fit(pattern)
    expected = tamis.TAM(information="gaussian", source={"shrinkage": 0.1}).fit(table).result_
    same(model.result_, expected)
    assert model.result_.levels["y"] == (False, True)
    write(table, tmp_path / "one.csv", "csv")
    with pytest.raises(DataError, match="Column 'y' holds labels such as 'false'"):
        tamis.TAM(information="gaussian", memory="1GB").fit(tmp_path / "one.csv")


def test_decimals_are_numbers_if_they_are_measured(tmp_path):
    values = [Decimal(k) / 4 for k in range(60)]
    y = np.random.default_rng(11).normal(size=60)
    table = pa.table({"x": pa.array(values, pa.decimal128(9, 2)), "y": y})
    pq.write_table(table, tmp_path / "0.parquet")
    same(tamis.TAM().fit(tmp_path).result_, tamis.TAM().fit(table).result_)
    whole = pa.array([Decimal(k % 3) for k in range(60)], pa.decimal128(9, 2))
    pq.write_table(table.set_column(0, "x", whole), tmp_path / "0.parquet")
    with pytest.raises(DataError, match="Column 'x' holds values of type Decimal"):
        tamis.TAM().fit(tmp_path)


NUMBER_CELLS = {
    "plain": ["1.5", "2", "-3e2", "7", "2", "-.5"],
    "blanks": [" 1.5", "2 ", "3", "4", "2", "3"],
    "codes beside fractions": ["007", "1.5", "3", "4", "3", "4"],
    "codes": ["007", "008", "007", "008", "007", "008"],
    "many codes": ["001", "002", "003", "004", "005", "006"],
    "exponents": ["1e30", "2e30", "3e30", "+4", "5e30", "6"],
    "few exponents": ["1e30", "2e30", "1e30", "2e30", "1e30", "2e30"],
    "long digits": ["1" * 25, "2", "3", "4", "5", "6"],
    "long digits beside fractions": ["1" * 25, "2.5", "3", "4", "5", "6"],
    "endless digits": ["9" * 400, "1", "1", "1", "1", "1"],
    "too large": ["1e400", "2", "3", "4", "5", "6"],
    "endless digits beside fractions": ["9" * 400, "1.5", "1", "1", "1", "1"],
    "infinite": ["inf", "1.5", "2", "3", "4", "5"],
    "infinite beside whole numbers": ["1", "2", "1", "-Infinity", "2", "1"],
    "nothing but infinite": ["inf", "-inf", "inf", "-inf", "inf", "inf"],
    "late label": ["1.5", "1.5", "1.5", "x", "x", "x"],
    "underscores": ["1_0", "2.5", "1_0", "2.5", "1_0", "2.5"],
    "other digits": ["٣", "2.5", "٣", "2.5", "٣", "2.5"],
    "missing": ["1.5", "", "NA", "4", "5", "6"],
    "the same whole numbers": ["1", "1.0", "2", "2.", "1", "2"],
}


@pytest.mark.parametrize("cells", NUMBER_CELLS.values(), ids=NUMBER_CELLS.keys())
@pytest.mark.parametrize("cut", [0, 1, 3])
def test_cells_of_text_mean_what_they_mean_in_memory(tmp_path, cells, cut):
    others = ["0.5", "1.5", "0.25", "9.5", "3.75", "1"]
    for name, rows in (("0.csv", slice(0, cut)), ("1.csv", slice(cut, 6)), ("w", slice(0, 6))):
        lines = ["x,y", *(f"{a},{b}" for a, b in zip(cells[rows], others[rows], strict=True))]
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    (tmp_path / "w").rename(tmp_path / "whole.txt")
    seen = look_at_parts(open_stream(str(tmp_path / "*.csv")), moments=True)
    expected = outcome(lambda: read_table(tmp_path / "whole.txt", continuous=True))
    if isinstance(expected, str):
        refused = outcome(lambda: seen.settle(("x", "y"), {}, continuous=True))
        assert refused.split()[:4] == expected.split()[:4]
        return
    found = seen.settle(("x", "y"), {}, continuous=True)
    assert tuple(column.levels for column in found.values()) == expected.levels
    assert tuple(column.kind for column in found.values()) == expected.kinds
    if expected.levels[0] and isinstance(expected.levels[0][0], str):
        if "x" in cells:
            assert seen.moments is None
        return
    assert np.array_equal(seen.moments.low, [expected.numbers(k).min() for k in (0, 1)])
    assert np.array_equal(seen.moments.high, [expected.numbers(k).max() for k in (0, 1)])


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


@pytest.mark.parametrize("kind", FORMATS)
def test_named_kinds_are_the_same_in_blocks(tmp_path, kind):
    rng = np.random.default_rng(18)
    table = pl.DataFrame(
        {
            "id": range(300),
            "half": rng.integers(0, 3, 300) / 2,
            "grade": rng.integers(0, 40, 300),
            "flag": rng.integers(0, 2, 300),
        }
    ).with_columns(also=pl.col("flag"))
    types = {"id": "ignore", "half": "category", "grade": "ordinal"}
    pattern = split(table, tmp_path, kind, [100, 101])
    model = tamis.TAM(types=types).fit(pattern)
    assert not isinstance(model._learned_from[0], PackedTable)
    assert model.result_ == tamis.TAM(types=types).fit(table).result_
    counted = types | {"grade": "category"}
    model = tamis.TAM(types=counted).fit(pattern)
    assert isinstance(model._learned_from[0], PackedTable)
    expected = tamis.TAM(types=counted, information="counts").fit(table).result_
    assert model.result_.levels == expected.levels
    assert model.result_.levels["half"] == ("0", "0.5", "1")
    assert model.result_.parents == expected.parents
    for wrong, seen in (({"half": "ordinal", "none": "number"}, "no column 'none'"),):
        with pytest.raises(DataError, match=seen):
            tamis.TAM(types=wrong).fit(pattern)
    pack(pattern, tmp_path / "t.tamis", types=types)
    assert PackedFile(tmp_path / "t.tamis").header.names == ("half", "grade", "flag", "also")
    left = tamis.TAM(types={"also": "ignore"}).fit(tmp_path / "t.tamis").result_
    assert left.names == ("half", "grade", "flag")
    with pytest.raises(SettingError, match="'flag' of a packed file is counted"):
        tamis.TAM(types={"flag": "number"}).fit(tmp_path / "t.tamis")


def test_what_memory_refuses_is_refused_with_its_place(tmp_path):
    table = frame(13).with_columns(a=pl.Series([None] * 2 + [1.5] * 398, dtype=pl.Float64))
    table[302, "c"] = float("nan")
    seen = r"'a' is missing in 2 of 400 rows \(first at row 0.*'c' is missing in 1 .*at row 302,"
    with pytest.raises(DataError, match=seen):
        tamis.TAM().fit(split(table, tmp_path, "parquet", [100, 101]))
    with pytest.raises(DataError, match=r"'a' is missing in 2 .*on line 2 of '.*000\.csv'"):
        tamis.TAM().fit(split(table, tmp_path, "csv", [100, 101]))
    table = frame(13)
    table[250, "b"] = float("-inf")
    with pytest.raises(DataError, match=r"'b' holds an infinite value \(at row 250, counting"):
        tamis.TAM().fit(split(table, tmp_path, "parquet", [100, 101]))
    table[250, "b"] = -1e200
    with pytest.raises(DataError, match=r"Column 'b' holds numbers of the size 1e\+200"):
        tamis.TAM().fit(split(table, tmp_path, "parquet", [100, 101]))
    double = frame(13).with_columns(z=2 * pl.col("a") + pl.col("b"))
    with pytest.raises(DataError, match="is a linear function of"):
        tamis.TAM().fit(split(double, tmp_path, "csv", [100, 101]))
    with pytest.raises(DataError, match="needs at least 2 rows, but has 1"):
        tamis.TAM().fit(split(frame(13)[:1], tmp_path, "parquet", [0]))


def test_a_constant_column_is_noted(tmp_path):
    table = frame(14).with_columns(k=pl.lit(0.1))
    with pytest.warns(tamis.TamisWarning, match="Constant columns"):
        expected = tamis.TAM().fit(table).result_
    found = tamis.TAM().fit(split(table, tmp_path, "parquet", [9])).result_
    same(found, expected)
    assert found.warnings == expected.warnings


def test_files_that_disagree_are_refused(tmp_path):
    write(frame(15)[:200], tmp_path / "0.parquet", "parquet")
    texts = frame(15)[200:].with_columns(pl.col("a").cast(pl.String))
    write(texts, tmp_path / "1.parquet", "parquet")
    with pytest.raises(DataError, match="'a' has values of several types between its files"):
        tamis.TAM().fit(str(tmp_path / "*.parquet"))
    write(frame(15)[:200], tmp_path / "0.csv", "csv")
    write(texts[:, 1:], tmp_path / "1.csv", "csv")
    with pytest.raises(FileFormatError, match=r"1\.csv' begins with another header than .*0\.csv'"):
        tamis.TAM().fit(str(tmp_path / "*.csv"))


def test_what_needs_rows_is_refused(tmp_path):
    pattern = split(frame(16), tmp_path, "parquet", [5])
    model = tamis.TAM("sequential").fit(pattern)
    for needs_rows in (model.recovery_check, model.bootstrap, model.to_pgmpy):
        with pytest.raises(SettingError, match="rows are never held in memory"):
            needs_rows()
    with pytest.raises(SettingError, match="tables of probabilities, and numbers have none"):
        model.save(str(tmp_path / "n.bif"))
    table = model._learned_from[0]
    assert table.rows == "moments"
    assert not hasattr(table, "codes")
    with pytest.raises(SettingError, match="rows are never held in memory"):
        with_rows(table)
    for information in ("copula", "neighbours", "conditional-gaussian"):
        with pytest.raises(SettingError, match=f"information='{information}' needs the rows"):
            tamis.TAM(information=information, memory="1GB").fit(pattern)
    small = tamis.TAM("node", information="conditional-gaussian").fit(pattern)
    assert small.n_features_in_ == len(model.result_.names)
    with pytest.raises(DataError, match="columns have levels"):
        tamis.TAM(information="counts").fit(pattern)
    with pytest.raises(DataError, match="Weights belong to rows"):
        tamis.TAM().fit(pattern, sample_weight=[1] * 400)


def test_a_limit_that_is_too_low_for_the_columns_is_refused(tmp_path):
    wide = pl.DataFrame({f"x{k}": [0.5, 1.5, 0.1] for k in range(200)})
    pattern = split(wide, tmp_path, "parquet", [])
    with pytest.raises(SettingError, match=r"memory must be 1037MB or more .* 200 columns"):
        tamis.TAM(memory="900MB").fit(pattern)


def test_the_command_learns_and_forecasts_from_files_of_numbers(tmp_path):
    run = CliRunner().invoke
    table = frame(17)
    pattern = split(table, tmp_path, "csv", [150])
    write(table, tmp_path / "whole.txt", "csv")
    first, second = (str(tmp_path / name) for name in ("1.json", "2.json"))
    learned = run(app, ["learn", pattern, "-q", "--out", first])
    assert learned.exit_code == 0, learned.output
    whole = ["learn", str(tmp_path / "whole.txt")]
    assert run(app, [*whole, "-q", "--out", second]).exit_code == 0
    same(tamis.load(first), tamis.load(second))
    told = run(app, ["learn", pattern, "--dry-run"])
    assert told.exit_code == 0, told.output
    assert "400 rows, 5 columns: 4 continuous" in " ".join(told.output.split())
    for options, message in (
        (["--bootstrap", "3"], "--bootstrap needs the rows in memory"),
        (["--out", str(tmp_path / "n.bif")], "would need the rows in memory"),
        (
            ["--information", "copula", "--memory", "1GB"],
            "--information copula needs the rows in memory",
        ),
    ):
        found = run(app, ["learn", pattern, *options])
        assert found.exit_code != 0
        assert message in " ".join(str(found.output).split())
    refused = run(app, ["pack", pattern, str(tmp_path / "p.tamis")])
    assert "columns have levels" in " ".join(str(refused.output).split())
