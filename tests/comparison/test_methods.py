"""All methods on one table: what each found, or the sentence that says why it found nothing."""

from __future__ import annotations

import re
from importlib.util import find_spec
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import tamis
from tamis.cli import app
from tamis.comparison.methods import METHODS, read
from tamis.comparison.peers import PEERS, obstacle, read_request, write_request
from tamis.errors import SettingError

CHAIN = {"a": [], "b": ["a"], "c": ["b"]}
OF_LEVELS = [name for name, peer in PEERS.items() if "levels" in peer.takes]
OF_NUMBERS = [name for name, peer in PEERS.items() if "numbers" in peer.takes]


def chain(n=400):
    rng = np.random.default_rng(7)
    a = rng.integers(0, 2, n)
    b = a ^ (rng.random(n) < 0.15)
    return pd.DataFrame({"a": a, "b": b, "c": b ^ (rng.random(n) < 0.15)})


def labelled(values):
    return np.where(values > 0, "yes", "no")


def mixed(n=200):
    x = np.random.default_rng(2).normal(size=n)
    return pd.DataFrame({"x": x, "g": labelled(x)})


def directed(name, data, **options):
    """The edges of a method as ordered pairs, an undirected one as both."""
    library = PEERS[name].module.partition(".")[0]
    if find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    entry = tamis.compare(data, methods=[name], **options).entry(name)
    assert entry.problem is None
    assert entry.seconds > 0
    return {*entry.arrows, *entry.undirected, *((b, a) for a, b in entry.undirected)}


@pytest.fixture
def flopsearch(tmp_path, monkeypatch):
    """A library of that name which does what a test tells it to."""

    def behaves(how):
        (tmp_path / "flopsearch.py").write_text(f"def flop(*_, **__):\n    {how}\n")
        monkeypatch.syspath_prepend(tmp_path)

    return behaves


# What methods find


def test_tamis_is_compared_by_what_its_model_learns():
    found = tamis.compare(chain(), methods=["tamis", "sequential"])
    for name, search in (("tamis", "auto"), ("sequential", "sequential")):
        expected = tamis.TAM(search).fit(chain()).graph_
        assert found.entry(name).arrows == set(expected.edges)
        assert found.entry(name).seconds > 0
    assert found.table == "400 rows, 3 columns"


@pytest.mark.parametrize("name", OF_LEVELS)
def test_peers_find_a_collider_of_levels_and_leave_constant_columns_alone(name):
    rng = np.random.default_rng(1)
    a, b, noise = rng.integers(0, 2, (3, 2000))
    c = a + b + (noise & rng.integers(0, 2, 2000))
    rows = {'b "2"': b, "same": np.zeros(2000, int), "c\nx": c, "a, 1": a}
    with pytest.warns(tamis.TamisWarning, match="Constant columns"):
        assert directed(name, rows) == {("a, 1", "c\nx"), ('b "2"', "c\nx")}


@pytest.mark.parametrize("name", OF_LEVELS)
def test_peers_leave_a_chain_of_levels_undirected(name):
    assert directed(name, chain(2000)) == {("a", "b"), ("b", "a"), ("b", "c"), ("c", "b")}


@pytest.mark.parametrize("name", OF_NUMBERS)
def test_peers_find_a_collider_of_numbers(name):
    rng = np.random.default_rng(5)
    a, b, c, d = rng.normal(size=(4, 1000))
    c += a + b
    rows = {"d": d + c, "a": a, "c": c, "b": b}
    assert directed(name, rows) == {("a", "c"), ("b", "c"), ("c", "d")}


def test_columns_that_never_vary_have_no_edges():
    with pytest.warns(tamis.TamisWarning, match="Constant columns"):
        found = tamis.compare({"a": [1] * 9, "b": [1] * 9}, methods=["miic", "tamis"])
    assert [entry.n_edges for entry in found.graphs] == [0] * len(found.graphs)


# What methods cannot take


def test_missing_values_go_to_the_methods_that_take_them():
    rng = np.random.default_rng(1)
    a = rng.integers(0, 2, 300)
    frame = pd.DataFrame({"a": labelled(a), "b": labelled(a ^ (rng.random(300) < 0.1))})
    frame.loc[:9, "b"] = None
    found = tamis.compare(frame, methods=["tamis", "tabu"], missing="pairwise")
    assert found.entry("tamis").n_edges == 1
    assert found.entry("tabu").problem == (
        "takes no missing values, and column 'b' has some: use missing='drop'"
    )
    with pytest.warns(tamis.TamisWarning, match="left out 10 of 300 rows"):
        dropped = tamis.compare(frame, methods=["tabu"], missing="drop")
    assert dropped.entry("tabu").n_edges == 1


def test_numbers_and_labels_go_to_the_methods_that_take_them():
    both = read(mixed(), None, "error")
    x = np.random.default_rng(2).normal(size=(2, 200))
    numbers = read({"x": x[0], "y": x[1]}, None, "error")
    assert obstacle("tabu", both).startswith("takes levels only, and column 'x' holds numbers")
    for name in ("pc", "ges"):
        assert obstacle(name, both).startswith("takes no numbers beside labels, and column 'x'")
        assert obstacle(name, numbers) is None
    assert obstacle("flop", both) == "takes numbers only, and column 'g' holds labels such as 'no'"
    assert obstacle("flop", numbers) is None


def test_a_missing_library_is_a_row_that_names_the_extra(monkeypatch):
    monkeypatch.setattr("tamis.comparison.peers.find_spec", lambda name: None)
    found = tamis.compare(chain(), methods=["pc", "sequential"])
    assert found.entry("pc").problem == (
        "needs causallearn, which is not installed: pip install 'tamis[peers]'"
    )
    assert found.entry("sequential").has_graph


# The other process


def test_a_table_comes_to_the_other_process_as_it_was(tmp_path):
    rng = np.random.default_rng(3)
    frame = mixed(50).assign(k=rng.integers(0, 3, 50))
    frame.loc[:4, "x"] = np.nan
    frame.loc[5:6, "g"] = None
    table = read(frame, {"k": "ordinal"}, "pairwise")
    write_request(tmp_path, table, {"method": "tamis", "limit": 3})
    again, request = read_request(tmp_path)
    assert (request["method"], request["limit"]) == ("tamis", 3)
    for name in ("names", "levels", "kinds", "told"):
        assert getattr(again, name) == getattr(table, name)
    assert np.array_equal(again.codes, table.codes)
    for name in ("continuous", "missing"):
        mine, theirs = getattr(table, name), getattr(again, name)
        assert mine.keys() == theirs.keys()
        assert all(np.array_equal(mine[k], theirs[k], equal_nan=True) for k in mine)


@pytest.mark.parametrize(
    ("how", "why"),
    [
        # The first sleeps in compiled code and holds the interpreter meanwhile.
        ("import ctypes; ctypes.PyDLL(None).sleep(60)", "stopped after 1.5 seconds, its limit"),
        ("while True: pass", "stopped after 1.5 seconds, its limit"),
        ("print('hm'); raise ArithmeticError('no way')", "failed: ArithmeticError: no way"),
        (
            "import os; print('bye'); os._exit(3)",
            "failed: its process ended with code 3; it last printed: bye",
        ),
    ],
)
def test_a_peer_that_hangs_fails_or_quits_is_a_row_that_says_so(
    flopsearch, how, why, tmp_path, monkeypatch
):
    flopsearch(how)
    (tmp_path / "places").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "places"))
    found = tamis.compare(chain(), methods=["flop"], limit=1.5)
    assert found.entry("flop").problem == why
    assert len(found.rows()) == 1
    assert not list((tmp_path / "places").iterdir())


def test_a_peer_runs_on_one_thread_and_its_files_go_with_it(flopsearch, tmp_path, monkeypatch):
    flopsearch(
        "import os, tempfile; open(tempfile.mkstemp()[1], 'w').write('left')\n"
        "    raise ArithmeticError(os.environ['OMP_NUM_THREADS'])"
    )
    (tmp_path / "places").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "places"))
    found = tamis.compare(chain(), methods=["flop"])
    assert found.entry("flop").problem == "failed: ArithmeticError: 1"
    assert not list((tmp_path / "places").iterdir())


def test_what_tamis_refuses_while_learning_is_said_in_its_words():
    found = tamis.compare({"a": [0, 1, 1, 0] * 9, "b": [0, 1, 0, 1] * 9}, methods=["ges"], limit=60)
    assert found.entry("ges").problem == (
        "failed: causal-learn's BDeu score has no prior for two columns"
    )


# What is asked for


def test_without_names_all_methods_are_run(monkeypatch):
    monkeypatch.setattr("tamis.comparison.methods.learned", _instead)
    monkeypatch.setattr("tamis.comparison.methods.obstacle", lambda *_: None)
    heard = []
    found = tamis.compare(chain(), progress=lambda *told: heard.append(told))
    assert [entry.name for entry in found.entries] == list(METHODS)
    assert set(METHODS) == {"tamis", "sequential", *PEERS}
    assert {entry.problem for entry in found.entries} == {"60.0"}
    assert heard == [(name, k, len(METHODS)) for k, name in enumerate(METHODS)]


def _instead(method, table, options, limit):
    return tamis.comparison.Compared(method, problem=f"{limit}")


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"methods": ["nope"]}, "there is no method 'nope'; there are tamis, sequential, hill"),
        ({"methods": [["pc"]]}, r"there is no method \['pc'\]"),
        ({"methods": []}, "name at least one method"),
        ({"methods": 3}, "methods must be a list of names"),
        ({"limit": 0}, "limit must be a number of seconds above 0"),
        ({"limit": 1e9}, "above 0 and up to 1,000,000"),
        ({"missing": "huh"}, "missing must be one of"),
        ({"progress": 3}, "progress"),
    ],
)
def test_what_cannot_be_run_is_refused(options, why):
    with pytest.raises(SettingError, match=why):
        tamis.compare(chain(), **{"methods": ["sequential"], **options})


def test_graphs_and_tables_are_told_apart():
    model = tamis.TAM("sequential").fit(chain())
    assert tamis.compare(model, truth=model).to_truth["TAM"].shd == 0
    with pytest.raises(SettingError, match="nothing to be compared with"):
        tamis.compare(model.result_)
    with pytest.raises(SettingError, match="needs a table, or graphs"):
        tamis.compare()
    with pytest.raises(SettingError, match="types is for methods that learn from one table"):
        tamis.compare(model, model, types={"a": "category"})


# The command


def test_the_help_names_every_method():
    shown = CliRunner().invoke(app, ["compare", "--help"], env={"COLUMNS": "100"}).stdout
    unbroken = re.sub(r"-\n\s+", "-", shown)
    assert set(METHODS) <= set(re.findall(r"[\w-]+", unbroken))


def test_methods_without_a_graph_are_not_counted_as_compared_and_share_their_reason(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    mixed().to_csv("t.csv", index=False)
    done = CliRunner().invoke(app, ["compare", "t.csv", "--methods", "sequential,tabu,miic"])
    assert done.exit_code == 0, done.stderr
    assert done.stdout.startswith("t.csv: 200 rows, 2 columns; 1 of 3 methods compared\n")
    why = "takes levels only, and column 'x' holds numbers: cut them with tamis.discretize"
    assert f"- tabu, miic: each {why}" in " ".join(done.stdout.split())


def test_the_command_compares_methods_with_the_truth_in_80_columns(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    chain().assign(free="z").to_csv("t.csv", index=False)
    (tmp_path / "truth.csv").write_text("parent,child\na,b\nb,c\n")
    arguments = ["t.csv", "--drop", "free", "--methods", "tabu,flop,sequential,pc"]
    arguments += ["--truth", "truth.csv", "--out", "c.json", "--plot", "c.svg"]
    done = CliRunner().invoke(app, ["compare", *arguments])
    assert done.exit_code == 0, done.stderr
    lines = done.stdout.split("\n")
    assert lines[0].startswith("t.csv: 400 rows, 3 columns; 4 methods compared with the truth,")
    assert max(map(len, lines)) <= 80
    assert {
        "Methods, nearest to the truth first",
        "Distances to each other, SHD between CPDAGs",
    } <= {*lines}
    assert (tmp_path / "c.svg").exists()


def test_distances_to_the_truth_are_those_of_the_metrics():
    found = tamis.compare(chain(), methods=["tabu", "miic"], truth=CHAIN)
    for one, other in permutations(found.graphs, 2):
        assert found.distances[one.name, other.name] == found.distances[other.name, one.name]
        assert found.to_truth[one.name].shd == tamis.metrics.shd(
            one.matrix(found.shared), found.truth.matrix(found.shared)
        )
