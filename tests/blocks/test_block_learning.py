"""Learned from blocks, a DAG is the one learned from memory, with every number."""

from __future__ import annotations

import gc
import json
import os
import tempfile
from dataclasses import replace
from operator import mul

import numpy as np
import polars as pl
import pytest
from packed_tables import packed
from typer.testing import CliRunner

import tamis
from engines import WHOLE_NUMBERS, assert_same_numbers, frame_of, wide_table
from tables import table_of
from tamis import opening
from tamis.cli import app
from tamis.counting import elsewhere
from tamis.counting.elsewhere import DEFAULT_MEMORY, PackedTable
from tamis.counting.opening import open_blocks
from tamis.errors import FileFormatError, SettingError
from tamis.information.lattice import whole_products
from tamis.learning import learn
from tamis.settings import Settings
from tamis.tables import read_table
from tamis.tables.packed_file import pack, pack_table

SEARCHES = ["auto", "sequential", "node", "layer", "reference"]


def chain(n: int = 700, seed: int = 1) -> np.ndarray:
    """A noisy chain of six binary columns and the parity of two of them."""
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, 2, n)]
    for _ in range(4):
        columns.append(columns[-1] ^ (rng.random(n) < 0.15))
    columns.append(columns[0] ^ columns[4] ^ (rng.random(n) < 0.02))
    return np.stack(columns, axis=1).astype(int)


@pytest.fixture
def folder(tmp_path):
    """Three Parquet files of one table, which is in memory too."""
    rows = chain()
    names = [f"x{k}" for k in range(rows.shape[1])]
    for i, part in enumerate(np.array_split(rows, 3)):
        pl.DataFrame(part, schema=names).write_parquet(tmp_path / f"{i}.parquet")
    return tmp_path


def without_notes(result):
    return replace(result, warnings=())


@pytest.mark.parametrize("search", SEARCHES)
def test_every_search_finds_the_same_in_blocks(search):
    settings = Settings(search=search, information="counts", n_jobs=2)
    for table in (table_of(chain()), wide_table(5)):
        expected = learn(table, settings)
        with packed(table) as blocks:
            assert learn(blocks, settings) == expected


def test_looking_ahead_finds_the_same_in_blocks():
    rng = np.random.default_rng(3)
    rows = rng.integers(0, 2, (600, 5))
    rows[:, 4] = rows[:, 0] ^ rows[:, 1] ^ rows[:, 2] ^ (rng.random(600) < 0.05)
    settings = Settings(search="sequential", look_ahead=3)
    expected = learn(table_of(rows), settings)
    with packed(table_of(rows)) as blocks:
        found = learn(blocks, settings)
    assert found == expected
    assert max(map(len, found.parents.values())) == 3


def test_fit_takes_patterns_folders_packed_files_and_files_under_a_limit(folder):
    rows = chain()
    expected = tamis.TAM().fit(rows).result_
    pack(folder, folder / "planes.tamis", block_rows=64)
    pl.read_parquet(folder / "*.parquet").write_csv(folder / "one.csv")
    sources = [str(folder / "*.parquet"), folder / "planes.tamis"]
    for source in sources:
        model = tamis.TAM().fit(source)
        assert without_notes(model.result_) == expected
        assert model._learned_from[0].memory == DEFAULT_MEMORY
    for source in (folder / "one.csv", folder / "0.parquet"):
        assert tamis.TAM(memory="1GB").fit(source)._learned_from[0].memory == 10**9
        assert not isinstance(tamis.TAM().fit(source)._learned_from[0], PackedTable)
    assert without_notes(tamis.TAM(memory="1GB").fit(folder / "one.csv").result_) == expected


def test_a_temporary_packed_file_goes_with_its_table(folder, monkeypatch):
    (folder / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder / "temporary"))
    table = open_blocks(folder)
    assert "packed into a temporary file" in table.notes[0]
    kept = table.select([1, 0, 2])
    del table
    gc.collect()
    if os.name == "posix":
        assert list((folder / "temporary").iterdir()) == []
    assert learn(kept, Settings()).n_rows == 700
    del kept
    gc.collect()
    assert list((folder / "temporary").iterdir()) == []


def test_what_needs_rows_is_refused(tmp_path):
    pack_table(wide_table(1), tmp_path / "t.tamis", block_rows=64)
    model = tamis.TAM("sequential").fit(tmp_path / "t.tamis")
    for needs_rows in (
        model.recovery_check,
        model.bootstrap,
        lambda: model.save(str(tmp_path / "n.bif")),
    ):
        with pytest.raises(SettingError, match=r"rows of 't.tamis' are counted in blocks"):
            needs_rows()
    with pytest.raises(SettingError, match="shrinkage='auto' needs the rows in memory"):
        tamis.TAM(information="gaussian", source={"shrinkage": "auto"}).fit(tmp_path / "t.tamis")
    pack_table(
        read_table(pl.DataFrame({"a": ["x", "y"] * 9, "b": [1, 2] * 9})), tmp_path / "l.tamis"
    )
    with pytest.raises(SettingError, match="information='gaussian' needs the rows in memory"):
        tamis.TAM(information="gaussian").fit(tmp_path / "l.tamis")
    with pytest.raises(SettingError, match="missing='drop' is for tables in memory"):
        tamis.TAM(missing="drop").fit(tmp_path / "t.tamis")
    with pytest.raises(SettingError, match="memory limits the counting of files"):
        tamis.TAM(memory="2GB").fit(chain())
    with pytest.raises(FileFormatError, match="cannot be read: No such file"):
        tamis.TAM().fit(tmp_path / "none.tamis")


@pytest.mark.parametrize("units", ["unknown", "same"])
@pytest.mark.parametrize("rows", WHOLE_NUMBERS)
def test_whole_numbers_are_read_as_numbers_too(rows, units):
    table = frame_of(WHOLE_NUMBERS[rows])
    settings = Settings(units=units)
    expected = learn(table, settings)
    read = {run.information for run in expected.ranking}
    assert read == ({"counts"} if "linear" in rows else {"counts", "gaussian"})
    with packed(table, 128) as blocks:
        assert_same_numbers(learn(blocks, settings), expected)


def test_whole_numbers_have_their_exact_moments():
    rng = np.random.default_rng(3)
    values = [rng.choice(rng.integers(0, 2**top, 9), 500) for top in (3, 16, 31, 50)]
    table = table_of(np.stack(values, axis=1))
    numbers = [np.array(levels) for levels in table.levels]
    columns = [own[codes].tolist() for own, codes in zip(numbers, table.codes, strict=True)]
    with packed(table) as blocks:
        middle, gram = whole_products(blocks, numbers)
        alone, of_first = whole_products(blocks.select([0]), numbers[:1])
    lines = [[1] * 500] + [[x - m for x in own] for own, m in zip(columns, middle, strict=True)]
    assert gram.tolist() == [[sum(map(mul, a, b)) for b in lines] for a in lines]
    assert (of_first.dtype, alone[0], of_first[1, 1]) == (np.int64, middle[0], gram[1, 1])


def test_the_command_packs_and_learns_the_same(folder):
    run = CliRunner().invoke
    planes, first, second = (str(folder / name) for name in ("p.tamis", "1.json", "2.json"))
    packed_run = run(app, ["pack", str(folder / "*.parquet"), planes])
    assert packed_run.exit_code == 0, packed_run.output
    assert "700 rows, 6 columns with 12 levels" in packed_run.output
    learned = run(app, ["learn", planes, "--memory", "600MB", "-q", "--out", first])
    assert learned.exit_code == 0, learned.output
    pl.read_parquet(folder / "*.parquet").write_parquet(folder / "whole.pq")
    assert run(app, ["learn", str(folder / "whole.pq"), "-q", "--out", second]).exit_code == 0
    with open(first) as a, open(second) as b:
        in_blocks, in_memory = json.load(a), json.load(b)
        engine = in_blocks.pop("engine")
        assert in_blocks.pop("sha256") != in_memory.pop("sha256")
        assert (in_blocks.pop("read_from"), in_memory.pop("read_from")) == (
            planes,
            str(folder / "whole.pq"),
        )
        assert in_blocks == in_memory
    assert (engine["name"], engine["partitions"]) == ("blocks", 1)
    assert engine["rounds"] > 5


@pytest.mark.parametrize("search", ["auto", "reference"])
def test_a_long_table_in_memory_is_counted_in_blocks_and_gives_the_same(monkeypatch, search):
    table = wide_table(11, 900)
    model = tamis.TAM(search=search)
    expected = model.fit(table).result_
    monkeypatch.setattr(elsewhere, "LONG", 800)
    monkeypatch.setattr(elsewhere, "ROWS_A_COLUMN", 100)
    opened = []
    way = elsewhere.LongTable
    monkeypatch.setattr(opening, "LongTable", lambda one: opened.append(one) or way(one))
    found = model.fit(table)
    assert len(opened) == 1
    assert found.result_ == expected
    assert found.result_.engine is None
    assert found.recovery_check(2, conditions=False).n_simulations == 2
    # Neither short ones nor those whose rows are not alike.
    for other in (wide_table(11, 700), replace(table, weights=np.full(900, 0.5))):
        assert not elsewhere.is_long(other)


def test_a_full_disk_names_the_packed_file_and_leaves_nothing(tmp_path, monkeypatch):
    (tmp_path / "rows.csv").write_text("a,b\n0,1\n1,0\n")

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left on device: '.*rows\.tamis'"):
        pack(tmp_path / "rows.csv", tmp_path / "rows.tamis")
    assert [path.name for path in tmp_path.iterdir()] == ["rows.csv"]
