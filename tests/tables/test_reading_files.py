"""CSV and Parquet files: what is read, and what is refused with its line."""

from __future__ import annotations

import gzip
import os
import threading
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from table_containers import decode

import tamis
from tamis.errors import DataError, FileFormatError, TamisError, TamisWarning
from tamis.tables import read_table
from tamis.tables.csv_file import CsvFile
from tamis.tables.first_pass import open_stream
from tamis.tables.text import MISSING_MARKERS

PARQUET = pl.DataFrame({"a": ["x", "y", "x"], "b": [1, 2, 2]})


@pytest.fixture
def csv_with(tmp_path):
    def write(content: str | bytes, name: str = "table.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def refused(path: object, error: type[TamisError] = FileFormatError) -> str:
    with pytest.raises(error) as caught:
        read_table(path)
    return str(caught.value)


def second_column(path: Path) -> list[object]:
    return list(decode(read_table(path)).values())[1]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1", "-20", "-20", "1"], [1, -20, -20, 1]),
        (["01", "1", "01", "1"], ["01", "1", "01", "1"]),
        (["+1", "2", "+1", "2"], ["+1", "2", "+1", "2"]),
        (["-0", "2", "-0", "2"], ["-0", "2", "-0", "2"]),
        ([" 1", "2", " 1", "2"], [" 1", "2", " 1", "2"]),
        (["1.0", "2", "1", "2.00"], [1, 2, 1, 2]),
        (["1.", "-0.0", "0", "1."], [1, 0, 0, 1]),
        (["1e3", "2e3", "1e3", "2e3"], ["1e3", "2e3", "1e3", "2e3"]),
        (["1_0", "2", "1_0", "2"], ["1_0", "2", "1_0", "2"]),
        (["1.5", "x", "1.5", "x"], ["1.5", "x", "1.5", "x"]),
        (["1", "a", "1", "a"], ["1", "a", "1", "a"]),
        (["inf", "-inf", "inf", "-inf"], ["inf", "-inf", "inf", "-inf"]),
        (["None", "x", "None", "x"], ["None", "x", "None", "x"]),
        (["True", "False", "True", "False"], ["True", "False", "True", "False"]),
        (["٣", "٤", "٣", "٤"], ["٣", "٤", "٣", "٤"]),
        ([str(2**64 - 1), str(-(2**63))] * 2, [2**64 - 1, -(2**63)] * 2),
        ([str(2**64), "1"] * 2, [str(2**64), "1"] * 2),
        (["9" * 5000, "1"] * 2, ["9" * 5000, "1"] * 2),
    ],
)
def test_cells_become_integers_only_if_nothing_is_lost(csv_with, cells, expected):
    path = csv_with("a,b\n" + "".join(f"{k % 2},{cell}\n" for k, cell in enumerate(cells)))
    column = second_column(path)
    assert column == expected
    assert [type(value) for value in column] == [type(value) for value in expected]


@pytest.mark.parametrize("marker", MISSING_MARKERS)
def test_missing_markers_are_counted_and_placed(csv_with, marker):
    message = refused(csv_with(f'a,b\n"two\nlines",x\nz,{marker}\nz,x\nz,{marker}\n'), DataError)
    reads = f"reads {marker!r}" if marker else "is empty"
    assert (
        f"Column 'b' is missing in 2 of 4 rows (first on line 4, where the cell {reads})" in message
    )
    assert "fill them in" in message


@pytest.mark.parametrize("cell", [" ", " NA", "nan ", "\u00a0null"])
def test_missing_markers_are_seen_through_blanks(csv_with, cell):
    message = refused(csv_with(f"a,b\n0,x\n1,{cell}\n0,x\n"), DataError)
    assert (
        f"Column 'b' is missing in 1 of 3 rows (first on line 3, where the cell reads {cell!r})"
        in message
    )


def test_names_are_trimmed_and_labels_are_not(csv_with):
    table = read_table(csv_with("a , b,c\n0, x,y\n1, z,y z\n"))
    assert table.names == ("a", "b", "c")
    assert table.levels == ((0, 1), (" x", " z"), ("y", "y z"))


def test_quotes_separators_and_line_breaks_inside_cells_are_kept(csv_with):
    path = csv_with('a,b\r\n1,"x, ""y""\r\nz"\r\n2,w\r\n1,w\r\n')
    assert second_column(path) == ['x, "y"\r\nz', "w", "w"]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_every_line_end_is_read(csv_with, newline):
    assert second_column(csv_with(newline.join(["a,b", "0,x", "1,y"]))) == ["x", "y"]


def test_a_byte_order_mark_is_not_part_of_a_name(csv_with):
    assert read_table(csv_with("\ufeffa,b\n0,x\n1,y\n")).names == ("a", "b")


@pytest.mark.parametrize(
    ("header", "name", "names"),
    [
        ("a;b", "t.csv", ("a", "b")),
        ("a\tb", "t.csv", ("a", "b")),
        ("a\tb", "t.TXT", ("a", "b")),
        ("a\tb", "t.tsv", ("a", "b")),
        ("a,x\tb", "t.tsv", ("a,x", "b")),
        ('"a,x";b', "t.csv", ("a,x", "b")),
        ('"a\n,x";b', "t.csv", ("a\n,x", "b")),
        ("a;x,b", "t.csv", ("a;x", "b")),
    ],
)
def test_the_header_tells_the_separator(csv_with, header, name, names):
    separator = next(mark for mark in header[::-1] if mark in ",;\t")
    path = csv_with(f"{header}\n0{separator}1\n1{separator}0\n", name)
    assert read_table(path).names == names


def test_blank_lines_at_the_end_are_ignored(csv_with):
    assert read_table(csv_with("a,b\n0,x\n1,y\n\n  \n\n")).n_rows == 2


def test_blank_lines_between_rows_are_refused(csv_with):
    assert "Line 3 of" in refused(csv_with("a,b\n0,x\n\n1,y\n"))


def test_quotes_lines_and_blocks_are_told_apart_wherever_they_fall(tmp_path):
    rng = np.random.default_rng(4)
    texts = ["x", 'say ""yes""', "two\nlines", "a,b", "", "\r\n\r\n", "y" * 300]
    cells = [texts[k] for k in rng.integers(0, len(texts), 60_000)]
    rows = [f'"{cell}",{k % 7},"{k % 3}"' for k, cell in enumerate(cells)]
    path = tmp_path / "t.csv"
    path.write_bytes("\n".join(["a,b,c", *rows, ""]).encode())
    assert path.stat().st_size > 3 * 2**20
    quick, slow = CsvFile(str(path)), CsvFile(str(path))
    read = [cell.as_py() for batch in quick.batches() for cell in batch[0]]
    assert read == [cell.replace('""', '"') for cell in cells]
    assert read == [cell.as_py() for batch in slow._slow(0) for cell in batch[0]]
    assert None not in list(quick._quick())
    assert quick.line_of(59_999) == path.read_bytes().replace(b"\r\n", b"\n").count(b"\n")


MARKS = st.sampled_from(
    [*list('a1,";\n\r \t\x00é'), '""', ',"', '",', "\r\n", "\n\n", "NA", "\ufeff"]
)


@settings(derandomize=True)
@given(marks=st.lists(MARKS, max_size=25), quoted=st.booleans())
def test_the_quick_reader_and_the_slow_one_agree(tmp_path_factory, marks, quoted):
    path = tmp_path_factory.mktemp("t") / "t.csv"
    path.write_text(('"a","b"' if quoted else "a,b") + "\n" + "".join(marks), newline="")

    def rows(batches):
        try:
            return [
                row
                for batch in batches
                for row in zip(*map(pa.Array.to_pylist, batch), strict=True)
            ]
        except FileFormatError as error:
            return str(error)

    file = CsvFile(str(path))
    assert rows(file.batches()) == rows(file._slow(0))
    assert rows(file.batches()) == rows(file.batches())


@pytest.mark.parametrize(("codec", "ending"), [("gzip", "gz"), ("zstd", "zst"), ("bz2", "bz2")])
@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.txt"])
def test_compressed_files_are_read_as_the_text_within(tmp_path, csv_with, codec, ending, name):
    mark = "\t" if name.endswith(".tsv") else ","
    content = "".join(f"{a}{mark}{b}\n" for a, b in [("x", "y"), (0, "u"), (1, "é"), (0, "u")])
    path = tmp_path / f"{name}.{ending}"
    with pa.output_stream(path, compression=codec) as file:
        file.write(content.encode())
    assert decode(read_table(path)) == decode(read_table(csv_with(content, name)))
    with pa.output_stream(path, compression=codec) as file:
        file.write(content.replace("u", "NA").encode())
    assert "'y' is missing in 2 of 3 rows (first on line 2, where the cell reads 'NA')" in refused(
        path, DataError
    )
    misnamed = tmp_path / f"misnamed-{name}"
    misnamed.write_bytes(path.read_bytes())
    assert "reads 'NA'" in refused(misnamed, DataError)
    misnamed.write_bytes(path.read_bytes()[:12])
    assert "is damaged or not compressed" in refused(misnamed) or "is empty" in refused(misnamed)
    path.write_bytes(path.read_bytes()[:12])
    assert "is damaged or not compressed" in refused(path) or "is empty" in refused(path)
    path.write_bytes(b"not compressed at all")
    assert "is damaged or not compressed" in refused(path)


@pytest.mark.parametrize(("row", "fields"), [("1", 1), ("1,2,3", 3), (",,,,", 5)])
def test_ragged_rows_are_refused_with_line_and_fields(csv_with, row, fields):
    message = refused(csv_with(f'a,b\n"two\nlines",x\n{row}\n'))
    assert "Line 4 of" in message
    assert f"has {fields} fields where the header has 2" in message
    assert "quote cells" in message


@pytest.mark.parametrize(
    ("content", "line"),
    [('a,b\n0,"x\n1,y\n', 3), ('a,b\n0,"x"y\n', 2), ('a,"b\n' + "x\n" * 500, 501)],
)
def test_broken_quotes_are_refused_with_their_line(csv_with, content, line):
    message = refused(csv_with(content))
    assert f"is not CSV at line {line}" in message
    assert "Close every quote" in message


@pytest.mark.parametrize("content", ["", "\ufeff", "\n", "\n\n  \n", "  \na,b\n0,1\n"])
def test_files_without_a_header_are_refused(csv_with, content):
    assert "empty" in refused(csv_with(content))


def test_a_header_without_rows_is_refused(csv_with):
    assert "needs at least 2 rows, but has none" in refused(csv_with("a,b\n"), DataError)


@pytest.mark.parametrize("write", ["write_csv", "write_parquet", "write_ipc"])
def test_a_column_that_is_left_out_may_have_any_name(tmp_path, write):
    frame = PARQUET.with_columns(pl.Series("", range(3)))
    path = tmp_path / f"t.{ {'write_csv': 'csv', 'write_ipc': 'arrow'}.get(write, 'parquet') }"
    getattr(frame, write)(path)
    assert decode(read_table(path, types={"": "ignore"})) == PARQUET.to_dict(as_series=False)
    stream = open_stream(str(path), {"": "ignore"})
    assert stream.chosen == ("a", "b")
    with pytest.raises(DataError, match="The name of column 3 of 3 is empty"):
        open_stream(str(path))


def test_a_single_column_is_refused_with_what_was_read(csv_with):
    assert "only 'a|b'" in refused(csv_with("a|b\n0|1\n1|0\n"), DataError)


def test_other_encodings_are_refused_with_their_place(csv_with):
    message = refused(csv_with("a,b\n0,x\n1,é\n".encode("latin-1")))
    assert "not UTF-8 at line 3, byte 10 of the file" in message
    assert "Save it as CSV in UTF-8" in message
    assert "not UTF-8 at line 1, byte 0" in refused(csv_with("a,b\n0,1\n".encode("utf-16")))


def test_nul_bytes_are_refused_with_their_line(csv_with):
    assert "Line 2 of" in refused(csv_with("a,b\n0,\0\n"))


def test_one_cell_of_unreasonable_size_is_refused(csv_with):
    message = refused(csv_with(f"a,b\n{'x' * 200_000},1\n"))
    assert "Line 2 of" in message
    assert "holds a cell that is too long, of more than 131072 characters. Shorten it" in message


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
@pytest.mark.parametrize("name", ["pipe.csv", "pipe.csv.gz"])
def test_the_rows_of_a_pipe_are_read(tmp_path, name):
    path = tmp_path / name
    os.mkfifo(path)
    text = b"a,b\n" + b"0,x\n1,y\n" * 4
    written = gzip.compress(text) if name.endswith(".gz") else text
    writer = threading.Thread(target=path.write_bytes, args=(written,), daemon=True)
    writer.start()
    table = read_table(path)
    writer.join()
    assert decode(table) == {"a": [0, 1] * 4, "b": ["x", "y"] * 4}


@pytest.mark.parametrize("name", ["table.parquet", "table.PQ", "year=2024.pq"])
def test_parquet_is_read(tmp_path, name):
    PARQUET.write_parquet(tmp_path / name)
    assert decode(read_table(tmp_path / name)) == PARQUET.to_dict(as_series=False)


@pytest.mark.parametrize("name", ["t.feather", "t.arrow", "t.ipc"])
@pytest.mark.parametrize("write", [pl.DataFrame.write_ipc, pl.DataFrame.write_ipc_stream])
def test_files_of_arrow_are_read_in_both_forms(tmp_path, name, write):
    write(PARQUET, tmp_path / name)
    assert decode(read_table(tmp_path / name)) == PARQUET.to_dict(as_series=False)


@pytest.mark.parametrize(("name", "kind"), [("t.parquet", "Parquet"), ("t.arrow", "Feather")])
def test_damaged_files_are_refused(tmp_path, name, kind):
    path = tmp_path / name
    (PARQUET.write_parquet if kind == "Parquet" else PARQUET.write_ipc)(path)
    whole = path.read_bytes()
    for damaged in (b"PAR1", b"a,b\n0,1\n", whole[:-20], whole[: len(whole) // 2], whole[40:]):
        path.write_bytes(damaged)
        assert f"is damaged or not {kind}" in refused(path)


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow"])
def test_the_files_of_a_folder_are_one_table(tmp_path, ending):
    write = {"csv": "write_csv", "parquet": "write_parquet", "arrow": "write_ipc"}[ending]
    for k in range(3):
        getattr(PARQUET, write)(tmp_path / f"{k}.{ending}")
    whole = pl.concat([PARQUET] * 3).to_dict(as_series=False)
    for path in (tmp_path, tmp_path / f"*.{ending}"):
        assert decode(read_table(path)) == whole
    getattr(PARQUET.select("b", "a"), write)(tmp_path / f"2.{ending}")
    if ending == "csv":
        assert "2.csv' begins with another header" in refused(tmp_path)
    else:
        assert decode(read_table(tmp_path)) == whole
    getattr(PARQUET.rename({"b": "c"}), write)(tmp_path / f"1.{ending}")
    assert "The files differ in their columns" in refused(tmp_path)


def test_files_of_a_folder_may_differ_in_the_width_of_numbers(tmp_path):
    for k, kind in enumerate((pl.Int8, pl.Float32, pl.Int64)):
        PARQUET.with_columns(pl.col("b").cast(kind)).write_parquet(tmp_path / f"{k}.parquet")
    assert decode(read_table(tmp_path))["b"] == [1, 2, 2] * 3
    PARQUET.with_columns(pl.col("b").cast(pl.String)).write_parquet(tmp_path / "3.parquet")
    assert "Column 'b' has values of several types between its files" in refused(
        tmp_path, DataError
    )


@pytest.mark.parametrize("name", ["table.csv", "table.parquet"])
def test_files_that_cannot_be_opened_are_refused(tmp_path, monkeypatch, name):
    path = tmp_path / name
    path.write_text("a,b\n0,1\n1,0\n")

    def forbid(*_args, **_kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", forbid)
    message = refused(path)
    assert "cannot be read: Permission denied" in message
    assert "you may read it" in message


@pytest.mark.parametrize("name", ["absent.csv", "absent.parquet", "x" * 5000 + ".csv"])
def test_absent_files_are_refused(tmp_path, name):
    assert "There is no file" in refused(tmp_path / name)


@pytest.mark.parametrize("name", ["table.csv", "table.parquet"])
def test_empty_files_are_refused(tmp_path, name):
    (tmp_path / name).touch()
    assert "is empty" in refused(tmp_path / name)


def test_directories_without_tables_are_refused(tmp_path):
    (tmp_path / "folder.csv").mkdir()
    assert "is a directory without a file that ends in" in refused(tmp_path)
    assert "is a directory without a file that ends in" in refused(tmp_path / "folder.csv")


def test_unknown_endings_are_refused_with_the_known_ones(tmp_path):
    path = tmp_path / "table.ods"
    path.write_text("x")
    for unknown in (path, "absent.ods", "table.parquet.gz"):
        assert ".csv, .csv.gz, .csv.zst, .tsv, .txt, .parquet, .pq" in refused(unknown)
    (tmp_path / "table").write_text("a,b\n0,1\n1,0\n")
    assert "has the ending ''" in refused(tmp_path / "table")


@pytest.mark.parametrize("text", ["", "  ", "hello", "a,b\n0,1\n", "a\0.csv", "\ud800"])
def test_strings_that_are_no_paths_are_refused(text):
    assert "A string is taken for the path of a file" in refused(text, DataError)


def test_paths_may_be_of_any_kind(csv_with):
    path = csv_with("a,b\n0,x\n1,y\n", "odd name é.csv")

    class Bytes:
        def __fspath__(self):
            return os.fsencode(path)

    for same in (path, str(path), Bytes()):
        assert read_table(same).names == ("a", "b")


@pytest.mark.parametrize(
    "cells",
    [
        ["1.5", "-2e3", ".5", "+7"],
        ["1E-3", "007", "2.", "-0"],
        [" 0.1", "1 ", "9" * 30, "1e-400"],
        ["4.9e-324", "1.7976931348623157e308", "0", "1"],
        ["0.5", "1.5", "0.5", "1.5"],
        ["1.5", "1.50", "15e-1", "1.5"],
        # No fraction, but as many levels as rows.
        ["1", "2", "3", "4"],
        ["1.0", "2", "-3.", "4.00"],
        ["1.989e30", "1e+16", "-2e3", "+7"],
        [" 8", " 9", "10", "11"],
    ],
)
def test_cells_that_all_read_as_numbers_can_be_measured(csv_with, cells):
    path = csv_with("a,b\n" + "".join(f"{k % 2},{cell}\n" for k, cell in enumerate(cells)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TamisWarning)
        table = read_table(path, continuous=True)
    assert table.is_continuous(1)
    assert table.numbers(1).tolist() == [float(cell) for cell in cells]


@pytest.mark.parametrize("cell", ["1,5", "0x10", "1_000", "1.5.", "1e", "٣", "1.5x", "--1", "None"])
def test_one_cell_that_is_no_number_makes_labels_of_all(csv_with, cell):
    path = csv_with(f"a;b\n0;2.5\n1;{cell}\n0;2.5\n1;{cell}\n")
    table = read_table(path, continuous=True)
    assert set(table.levels[1]) == {"2.5", cell}


@pytest.mark.parametrize(
    "cells", [["007", "008", "009"], ["+01", "1", "2"], ["1" * 25, "2" * 25, "3"], ["a1", "2", "3"]]
)
def test_codes_made_of_digits_are_refused_and_not_measured(csv_with, cells):
    path = csv_with("a,b\n" + "".join(f"{k % 2},{cell}\n" for k, cell in enumerate(cells)))
    with pytest.raises(DataError, match=r"Column 'b' has 3 levels in 3 rows.*identifier"):
        read_table(path, continuous=True)


@pytest.mark.parametrize(
    ("cell", "seen"),
    [
        ("nan", "is missing in 1 of 3 rows (first on line 3, where the cell reads 'nan')"),
        ("", "is missing in 1 of 3 rows (first on line 3, where the cell is empty)"),
        ("inf", "holds an infinite value"),
        ("1e999", "holds an infinite value"),
    ],
)
def test_missing_and_infinite_cells_are_refused_among_measured_ones(csv_with, cell, seen):
    for other in ("0.5", "1"):
        path = csv_with(f"a,b\n0,{other}\n1,{cell}\n0,{other}\n")
        with pytest.raises(DataError) as caught:
            read_table(path, continuous=True)
        assert f"Column 'b' {seen}" in str(caught.value)


def _two_files(folder: Path, first: object, second: object) -> Path:
    for name, column in (("a", first), ("b", second)):
        pq.write_table(pa.table({"x": [0, 1], "y": column}), folder / f"{name}.parquet")
    return folder


def test_orders_that_differ_between_files_are_refused(tmp_path):
    low, high = pa.array(["lo", "hi"]), pa.array(["hi", "lo"])
    parts = [pa.DictionaryArray.from_arrays([0, 1], one, ordered=True) for one in (low, high)]
    message = refused(_two_files(tmp_path, *parts), DataError)
    assert "Column 'y' has ordered categories that are not the same in all its files" in message


def test_categories_in_one_file_and_text_in_another_are_the_same_levels(tmp_path):
    text = pa.array(["p", "q"])
    table = read_table(_two_files(tmp_path, text, text.dictionary_encode()))
    assert decode(table)["y"] == ["p", "q", "p", "q"]


def test_an_order_that_parquet_does_not_hold_is_not_made_up(tmp_path):
    sizes = pd.Categorical(["high", "low", "mid", "low"] * 10, ["low", "mid", "high"], ordered=True)
    table = pa.Table.from_pandas(pd.DataFrame({"size": sizes, "b": [0, 1] * 20}))
    path = tmp_path / "t.parquet"
    pq.write_table(table, path)
    assert (read_table(path).kinds[0], read_table(path).levels[0]) == (
        "ordinal", ("low", "mid", "high"),
    )  # fmt: skip
    pq.write_table(table, path, use_dictionary=False)
    with pytest.warns(tamis.TamisWarning, match="order of the categories of 'size' was not"):
        read = read_table(path)
    assert (read.kinds[0], read.levels[0]) == ("category", ("high", "low", "mid"))
