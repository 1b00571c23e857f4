"""Queries of DuckDB and ibis, and sheets of Excel, where these are installed."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tamis
from tamis.errors import DataError
from tamis.tables import read_table

N = 120


def frame() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    found = pd.DataFrame(
        {
            "grade": rng.integers(0, 3, N),
            "sex": rng.choice(["f", "m"], N),
            "length": rng.normal(size=N).round(3),
            "flag": rng.random(N) < 0.5,
            "visits": pd.array(rng.integers(0, 4, N), dtype="Int64"),
        }
    )
    found.loc[:4, "visits"] = pd.NA
    return found


def read(data, **options):
    return read_table(data, continuous=True, missing="pairwise", **options)


def same(one, other):
    assert (one.names, one.kinds, one.levels) == (other.names, other.kinds, other.levels)
    assert one.missing.keys() == other.missing.keys()
    for k in range(one.n_variables):
        present = one.present(k)
        np.testing.assert_array_equal(present, other.present(k))
        values = [
            table.numbers(k) if table.is_continuous(k) else table.codes[k] for table in (one, other)
        ]
        np.testing.assert_array_equal(values[0][present], values[1][present])


@pytest.fixture
def connection():
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as opened:
        opened.register("frame", frame())
        yield opened


def test_relations_and_tables_of_duckdb_are_what_their_rows_are(connection):
    expected = read(frame())
    same(read(connection.sql("SELECT * FROM frame")), expected)
    connection.execute("CREATE TABLE kept AS SELECT * FROM frame")
    same(read(connection.table("kept")), expected)
    plan = tamis.inspect(connection.table("kept"))
    assert plan.to_dict() == tamis.inspect(frame()).to_dict()
    model = tamis.TAM(missing="pairwise").fit(connection.table("kept"))
    assert model.result_ == tamis.TAM(missing="pairwise").fit(frame()).result_


def test_sums_of_duckdb_are_whole_numbers(connection):
    query = "SELECT grade, sum(grade) OVER (PARTITION BY sex, flag, grade) % 5 AS total FROM frame"
    assert all(type(label) is int for label in read(connection.sql(query)).levels[1])


def test_a_connection_is_refused_with_the_way_to_a_table(connection):
    with pytest.raises(DataError, match="connection, not a table: pass a relation"):
        read(connection)


def test_expressions_of_ibis_are_run():
    ibis = pytest.importorskip("ibis")
    pytest.importorskip("duckdb")
    table = ibis.memtable(pa.Table.from_pandas(frame(), preserve_index=False))
    same(read(table), read(frame()))
    same(read(table.select("grade", "sex")), read(frame()[["grade", "sex"]]))


def test_the_first_sheet_of_an_excel_file_is_read(tmp_path):
    pytest.importorskip("openpyxl")
    path = tmp_path / "table.xlsx"
    days = [datetime.date(2024, 1, 1 + k % 3) for k in range(N)]
    frame().assign(day=days).to_excel(path, index=False)
    told = {"day": "category"}
    same(read(path, types={"day": "ignore"}), read(frame()))
    assert read(path, types=told).levels[-1] == ("2024-01-01", "2024-01-02", "2024-01-03")
    assert tamis.inspect(path).types == {"day": "ignore"}
    path.write_bytes(path.read_bytes()[:2000])
    with pytest.raises(tamis.TamisError, match="is damaged or not Excel"):
        read(path)


@pytest.mark.parametrize("kind", [pa.decimal128(38, 0), pa.decimal256(50, 0)])
def test_decimals_without_a_place_after_the_point_are_integers(tmp_path, kind):
    rng = np.random.default_rng(6)
    few, many = rng.integers(0, 3, N), rng.integers(0, 100, N)
    expected = pa.table({"few": few, "many": many})
    table = pa.table({"few": pa.array(few).cast(kind), "many": pa.array(many).cast(kind)})
    same(read(table), read(expected))
    pq.write_table(table, tmp_path / "t.parquet")
    same(read(tmp_path / "t.parquet"), read(expected))
    large = pa.array([10**30, 1] * (N // 2), pa.decimal128(38, 0))
    with pytest.raises(DataError, match="holds values of type Decimal"):
        read(pa.table({"few": few, "large": large}))
