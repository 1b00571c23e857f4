"""Packed files hold what a table read at once holds, appear whole, and notice damage."""

from __future__ import annotations

import struct
import warnings

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from packed_tables import decoded

from engines import wide_table
from tamis.counting.elsewhere import PackedTable
from tamis.errors import DataError, FileFormatError, TamisWarning
from tamis.tables import packed_file, read_table
from tamis.tables.packed_file import PackedFile, pack, pack_table
from tamis.tables.streams import ParquetStream

HOSTILE = [
    '<script>alert("1")</script>',
    "line\nbreak",
    "ünïcode\N{SNOWMAN}",
    "a,b;c\td'\"",
    "%s{}",
]


def opened(path) -> PackedTable:
    return PackedTable(PackedFile(path))


def assert_same_table(path, source) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TamisWarning)  # of constant columns
        expected = read_table(source)
    found = opened(path)
    assert found.names == expected.names
    assert found.levels == expected.levels
    assert [[type(x) for x in column] for column in found.levels] == [
        [type(x) for x in column] for column in expected.levels
    ]
    assert found.n_rows == expected.n_rows
    np.testing.assert_array_equal(decoded(found), expected.codes)


def columns(n: int):
    """Columns of every kind that has levels."""
    kinds = [
        st.integers(-3, 3),
        st.booleans(),
        st.sampled_from(["b", "a", "Ω", " x", "1", "x y"]),
        st.integers(0, 2).map(float),
        st.sampled_from([0, 2**63, 2**64 - 1]),
    ]
    return st.tuples(*(st.lists(kind, min_size=n, max_size=n) for kind in kinds))


@given(st.integers(20, 150).flatmap(columns), st.sampled_from([64, 128]))
def test_a_packed_parquet_file_is_the_table_read_at_once(tmp_path_factory, cells, block_rows):
    folder = tmp_path_factory.mktemp("packed")
    frame = pl.DataFrame(
        dict(zip(HOSTILE, cells, strict=True)),
        schema=dict(
            zip(HOSTILE, (pl.Int32, pl.Boolean, pl.String, pl.Float64, pl.UInt64), strict=True)
        ),
    )
    frame.write_parquet(folder / "t.parquet", row_group_size=50)
    pack(folder / "t.parquet", folder / "t.tamis", block_rows=block_rows)
    assert_same_table(folder / "t.tamis", folder / "t.parquet")


TEXTS = ["0", "1", "2.0", "007", "x", " y", "-0", "1e3", "12345678901234567890123"]


@given(st.lists(st.lists(st.sampled_from(TEXTS), min_size=2, max_size=2), min_size=20, max_size=90))
def test_a_packed_csv_file_is_the_table_read_at_once(tmp_path_factory, cells):
    folder = tmp_path_factory.mktemp("packed")
    lines = ["p,q", *(",".join(row) for row in cells)]
    (folder / "t.csv").write_text("\n".join(lines))
    pack(folder / "t.csv", folder / "t.tamis", block_rows=64)
    assert_same_table(folder / "t.tamis", folder / "t.csv")


@pytest.mark.parametrize("source", ["parts", "parts/*.parquet", "parts/**/*.parquet"])
def test_folders_and_patterns_are_one_table(tmp_path, monkeypatch, source):
    monkeypatch.chdir(tmp_path)
    whole = pl.DataFrame({"a": [0, 1] * 150, "b": ["u", "v", "w"] * 100})
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "_SUCCESS").write_text("")
    for i in range(3):
        part = whole[100 * i : 100 * (i + 1)]
        part.select(["a", "b"] if i else ["b", "a"]).write_parquet(f"parts/{i}.parquet")
    pack(source, "t.tamis", block_rows=64)
    assert_same_table("t.tamis", whole.select(["b", "a"]))


def test_files_with_other_columns_or_of_other_kinds_are_refused(tmp_path):
    pl.DataFrame({"a": [0, 1], "b": [0, 1]}).write_parquet(tmp_path / "1.parquet")
    pl.DataFrame({"a": [0, 1], "c": [0, 1]}).write_parquet(tmp_path / "2.parquet")
    with pytest.raises(FileFormatError, match=r"2\.parquet.*do not share 'b'"):
        pack(tmp_path, tmp_path / "t.tamis")
    (tmp_path / "2.csv").write_text("a,b\n0,0\n")
    with pytest.raises(FileFormatError, match="several kinds"):
        pack(tmp_path, tmp_path / "t.tamis")
    (tmp_path / "1.csv").write_text("a,c\n0,0\n")
    with pytest.raises(FileFormatError, match=r"2\.csv.*another header"):
        pack(tmp_path / "*.csv", tmp_path / "t.tamis")
    with pytest.raises(FileFormatError, match="leads to no file"):
        pack(tmp_path / "*.pq", tmp_path / "t.tamis")
    assert not (tmp_path / "t.tamis").exists()


REFUSED = {
    "missing numbers": (
        [1, None, 2, None],
        "'a' is missing in 2 of 40 rows .*row 1,.*or drop",
    ),
    "missing text": (["x", None, "y", "y"], "'a' is missing in 1 of 40 rows"),
    "fractions": ([0.5, 1.5, 2.5, 1.0], "'a' holds numbers that are not integers.*discretize"),
    "infinite": ([1.0, float("inf"), 2.0, 1.0], "'a' holds an infinite value"),
    "dates": ([pa.scalar(0, pa.date32()).as_py()] * 4, "'a' holds values of type Date"),
}


@pytest.mark.parametrize("why", REFUSED)
def test_what_has_no_levels_is_refused_by_name(tmp_path, why):
    cells, message = REFUSED[why]
    usual = [cells[0]] * 36
    pl.DataFrame({"a": cells + usual, "b": [0, 1] * 20}).write_parquet(tmp_path / "t.parquet")
    with pytest.raises(DataError, match=message):
        pack(tmp_path / "t.parquet", tmp_path / "t.tamis")
    assert not (tmp_path / "t.tamis").exists()


def test_ordered_categories_keep_their_order_and_must_agree(tmp_path):
    def part(name, order):
        codes = pa.array([0, 1, 2] * 10, pa.int8())
        column = pa.DictionaryArray.from_arrays(codes, pa.array(order), ordered=True)
        pq.write_table(pa.table({"a": column, "b": [0, 1] * 15}), tmp_path / name)

    part("1.parquet", ["low", "mid", "high"])
    part("2.parquet", ["low", "mid", "high"])
    pack(tmp_path, tmp_path / "t.tamis")
    assert opened(tmp_path / "t.tamis").levels[0] == ("low", "mid", "high")
    part("2.parquet", ["low", "high", "mid"])
    with pytest.raises(DataError, match="'a' has ordered categories"):
        pack(tmp_path, tmp_path / "t.tamis")


def test_an_interrupted_packing_leaves_what_was_there(tmp_path, monkeypatch):
    pl.DataFrame({"a": [0, 1] * 20, "b": [0, 1] * 20}).write_parquet(tmp_path / "t.parquet")
    pack_table(wide_table(1), tmp_path / "t.tamis")
    before = (tmp_path / "t.tamis").read_bytes()

    def interrupted(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(packed_file.BlockWriter, "finish", interrupted)
    with pytest.raises(KeyboardInterrupt):
        pack(tmp_path / "t.parquet", tmp_path / "t.tamis")
    assert (tmp_path / "t.tamis").read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["t.parquet", "t.tamis"]


def test_a_table_that_changes_between_the_passes_is_refused(tmp_path, monkeypatch):
    rows = {"a": [0, 1] * 20, "b": [0, 1] * 20}
    for later in ({**rows, "a": [0, 2] * 20}, {"a": [0] * 10, "b": [1] * 10}):
        pl.DataFrame(rows).write_parquet(tmp_path / "t.parquet")
        batches = ParquetStream.batches

        def changing(self, later=later, batches=batches):
            yield from batches(self)
            pl.DataFrame(later).write_parquet(tmp_path / "t.parquet")

        monkeypatch.setattr(ParquetStream, "batches", changing)
        with pytest.raises(DataError, match="changed while it was read"):
            pack(tmp_path / "t.parquet", tmp_path / "t.tamis")
        monkeypatch.setattr(ParquetStream, "batches", batches)


def used(path) -> None:
    """Open a file and read all of it."""
    decoded(opened(path))


def test_every_byte_that_matters_is_watched(tmp_path):
    path = tmp_path / "t.tamis"
    pack_table(wide_table(1), path, block_rows=64)
    whole = path.read_bytes()
    layout = PackedFile(path).layout
    places = [0, 17, 30, 50, 70, layout.header_end - 2, layout.digests_start, len(whole) - 1]
    places += [place for block in range(8) for part in layout.parts(block) for place in part[:1]]
    for place in places:
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        if 20 <= place < 24:
            continue
        with pytest.raises(FileFormatError, match=r"damaged|no packed file|version"):
            used(path)
    path.write_bytes(whole)
    used(path)


def test_damage_within_a_block_names_the_block(tmp_path):
    path = tmp_path / "t.tamis"
    pack_table(wide_table(1), path, block_rows=64)
    start, _ = PackedFile(path).layout.parts(3)[0]
    content = bytearray(path.read_bytes())
    content[start + 5] ^= 4
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match="block 3 of 8, which begins with row 192"):
        used(path)


@pytest.mark.parametrize("size", [0, 10, 64, 100, 5000, -16, -1])
def test_a_file_that_was_cut_off_is_refused_when_it_is_opened(tmp_path, size):
    path = tmp_path / "t.tamis"
    pack_table(wide_table(1), path, block_rows=64)
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(FileFormatError, match=r"damaged|no packed file"):
        PackedFile(path)


def test_another_version_is_refused_by_its_number(tmp_path):
    path = tmp_path / "t.tamis"
    pack_table(wide_table(1), path)
    content = bytearray(path.read_bytes())
    content[16:20] = struct.pack("<I", 7)
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=r"version 7 .* version 1 is read"):
        PackedFile(path)
