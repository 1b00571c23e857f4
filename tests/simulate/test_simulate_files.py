"""What is written can be read back: rows, edges and network."""

from __future__ import annotations

import csv

import numpy as np
import polars as pl
import pytest

from tamis.errors import SettingError
from tamis.network import BayesianNetwork
from tamis.simulate import draw
from tamis.tables import read_table


def read_edges(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".pq"])
@pytest.mark.parametrize("model", ["mod", "add", "tables"])
def test_a_table_survives_the_way_through_a_file(tmp_path, model, ending):
    simulated = draw("er", model, d=12, edges=15, n=500, seed=3)
    place = str(tmp_path / f"rows{ending}")
    expected = (place, str(tmp_path / "rows.graph.csv"), str(tmp_path / "rows.network.bif"))
    assert simulated.write(place) == expected
    table, direct = read_table(place), read_table(simulated.data)
    assert table.names == direct.names
    assert table.levels == direct.levels
    assert all(type(label) is int for labels in table.levels for label in labels)
    assert (table.codes == direct.codes).all()


def test_the_truth_is_written_beside_the_rows(tmp_path):
    simulated = draw("tree", "mod", d=9, n=20, seed=3)
    simulated.write(tmp_path / "rows.csv")
    header, *edges = read_edges(tmp_path / "rows.graph.csv")
    assert header == ["parent", "child"]
    assert {tuple(edge) for edge in edges} == set(simulated.graph.edges)
    network = BayesianNetwork.read(tmp_path / "rows.network.bif")
    assert network.parents == simulated.network.parents
    for table, its in zip(network.tables, simulated.network.tables, strict=True):
        assert (table == its).all()


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_floats_keep_every_bit(tmp_path, ending):
    simulated = draw("tree", "gaussian", d=4, n=5000, seed=3)
    place = tmp_path / f"rows{ending}"
    assert len(simulated.write(place)) == 2
    read = pl.read_csv(place) if ending == ".csv" else pl.read_parquet(place)
    for name, column in simulated.data.items():
        assert (read[name].to_numpy() == column).all()


def test_the_network_the_rows_come_from_is_left_alone(tmp_path):
    source = tmp_path / "m1.network.bif"
    BayesianNetwork.example("m1").write(source)
    source.write_bytes(b"// mine\n" + source.read_bytes())
    before = source.read_bytes()
    written = draw(network=source, n=10, seed=1).write(tmp_path / "m1.csv")
    assert len(written) == 2
    assert source.read_bytes() == before


def test_the_network_of_an_earlier_draw_does_not_stay_beside_other_rows(tmp_path):
    draw(model="diamond", n=20, seed=1).write(tmp_path / "rows.csv")
    assert (tmp_path / "rows.network.bif").exists()
    draw("tree", "gaussian", d=4, n=20, seed=1).write(tmp_path / "rows.csv")
    assert not (tmp_path / "rows.network.bif").exists()


def test_text_survives_where_it_can(tmp_path):
    names, labels = ["a;b", 'say "x"', "line\nbreak"], ["no, never", "5 o'clock", "None"]
    network = BayesianNetwork(names, [labels] * 3, [(), (0,), ()], [
        [0.2, 0.3, 0.5], np.full((3, 3), 1 / 3), [0.2, 0.3, 0.5],
    ])  # fmt: skip
    simulated = draw(network=network, n=200, seed=1)
    # BIF cannot hold such names, and so there is no file of it.
    assert len(simulated.write(tmp_path / "rows.csv")) == 2
    table = read_table(tmp_path / "rows.csv")
    assert table.names == tuple(names)
    assert set(table.levels[0]) == set(labels)
    assert read_edges(tmp_path / "rows.graph.csv")[1:] == [["a;b", 'say "x"']]


@pytest.mark.parametrize(("name", "label"), [(" a", "x"), ("a", "x "), ("a", "NA"), ("a", "")])
def test_text_that_csv_would_lose_is_refused(tmp_path, name, label):
    network = BayesianNetwork([name], [[label, "other"]], [()], [[0.5, 0.5]])
    with pytest.raises(SettingError, match="CSV cannot hold"):
        draw(network=network, n=50, seed=1).write(tmp_path / "rows.csv")
    assert not list(tmp_path.iterdir())
