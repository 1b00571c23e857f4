"""The steps of `tamis simulate`: what is written, what is said, what is refused."""

from __future__ import annotations

import pytest

from tamis.cli.simulating import run
from tamis.errors import SettingError
from tamis.simulate import draw
from tamis.tables import read_table


@pytest.fixture(autouse=True)
def plain_surroundings(monkeypatch, tmp_path):
    for name in ("FORCE_COLOR", "COLUMNS", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.chdir(tmp_path)


def simulate(graph=None, *more, **wishes):
    options = {name: wishes.pop(name) for name in ("d", "edges", "p", "flip") if name in wishes}
    asked = {"network": None, "rows": 100, "seed": 1, "replicate": 0, "quiet": False}
    model = wishes.pop("model", None)
    run(graph, model, options=options, more=more, **{**asked, "out": "rows.csv", **wishes})


def test_the_summary_says_what_was_written(capsys):
    simulate("er", d=20, edges=40, p=0.3, rows=1000)
    assert capsys.readouterr().out.splitlines() == [
        "rows.csv: 1,000 rows of 20 nodes, 43 edges, 10 layers",
        " graph  er, d 20, edges 40",
        " model  mod, p 0.3, no flip",
        " seed   1",
        "rows.graph.csv: the true edges",
        "rows.network.bif: the exact network",
    ]


def test_the_file_is_what_the_library_draws(capsys):
    simulate("tree", d=6, flip=True, seed=4, replicate=2, quiet=True)
    assert capsys.readouterr().out == ""
    expected = draw("tree", "mod", d=6, flip=True, n=100, seed=4, replicate=2)
    assert (read_table("rows.csv").codes == read_table(expected.data).codes).all()


def test_further_options_are_set_by_name(capsys):
    simulate(
        "layered", "widths=2,3,2", "extra=0.5", "entropy=0.2,0.4", "arity=3",
        model="tables", replicate=3,
    )  # fmt: skip
    out = capsys.readouterr().out
    assert "layered, widths 2,3,2, extra 0.5" in out
    assert "tables, entropy 0.2,0.4, arity 3" in out
    assert "1, replicate 3" in out


def test_examples_and_networks_need_no_graph(capsys):
    simulate(model="diamond")
    assert "model  diamond, paths 2, length 1" in capsys.readouterr().out
    simulate(network="orchard")
    assert "network  orchard" in capsys.readouterr().out
    simulate(network="rows.network.bif")
    assert "the exact network" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("graph", "more", "wishes", "message"),
    [
        (None, (), {}, "GRAPH must be given: one of tree"),
        ("trees", (), {}, "GRAPH must be one of .* did you mean 'tree'"),
        ("tree", (), {}, "--nodes must be given for tree"),
        ("tree", (), {"d": 5, "model": "mode"}, "--model must be one of"),
        ("er", (), {"d": 5, "edges": 20.0}, "--edges must be a number from 0 to 10, not 20.0"),
        ("tree", (), {"d": 5, "p": 1.5}, "--p must be a number above 0 and below 1, not 1.5"),
        ("sf", ("m=0",), {"d": 5}, "--set m must be a whole number from 1 on, not 0"),
        ("tree", ("m=2",), {"d": 5}, "there is no option 'm' here"),
        ("tree", ("m",), {"d": 5}, "--set 'm' must be NAME=VALUE, such as entropy=0.3"),
        ("sf", ("m=two",), {"d": 5}, "--set m must be a whole number from 1 on, not 'two'"),
        ("tree", ("directions=west",), {"d": 5}, "--set directions must be .* not 'west'"),
        ("tree", ("directions=a b",), {"d": 5}, "--set 'directions=a b' must have a number, numb"),
        ("tree", ("m=",), {"d": 5}, "--set 'm=' must have a number"),
        ("tree", ('m="2"',), {"d": 5}, "must have a number, numbers with commas, true"),
        ("sf", ("m=2", "m=3"), {"d": 5}, "--set gives m twice"),
        ("tree", ("d=5",), {}, "--set d is written --nodes"),
        ("tree", ("p=0.1",), {"d": 5}, "--set p is written --p"),
        ("tree", (), {"network": "m1", "d": 5}, "leave out GRAPH, --nodes"),
        (None, ("m=2",), {"network": "m1", "model": "add"}, "leave out --model, --set m"),
        ("tree", (), {"model": "diamond"}, "GRAPH must be left out: diamond has its own"),
        ("tree", (), {"d": 5, "out": "rows.xls"}, "the ending of 'rows.xls' must be one of"),
        ("tree", (), {"d": 5, "out": "no/rows.csv"}, "there is no directory"),
    ],
)
def test_refusals_name_the_option_and_come_before_any_file(tmp_path, graph, more, wishes, message):
    with pytest.raises(SettingError, match=message):
        simulate(graph, *more, **wishes)
    assert not list(tmp_path.iterdir())
