"""A saved run does what the model did that it was learned by; the rows it asks for."""

from __future__ import annotations

import warnings
from importlib import import_module
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import tamis
from tamis.cli import app
from tamis.errors import DataError, SettingError

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "examples" / "sprinkler.csv"


@pytest.fixture(scope="module")
def model(sprinkler):
    return sprinkler


@pytest.fixture(scope="module")
def path(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "run.json"
    model.save(path)
    return path


@pytest.fixture
def result(path):
    return tamis.load(path)


@pytest.fixture(autouse=True)
def plain_surroundings(monkeypatch):
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "PY_COLORS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "80")


def run(*arguments):
    return CliRunner().invoke(app, [str(a) for a in arguments])


# What needs no rows


def test_a_saved_run_is_the_result_and_knows_the_path_of_its_table(model, result):
    assert result == model.result_
    assert result.read_from == str(EXAMPLE)


def test_a_saved_run_explains_plots_and_reports_as_the_model_does(model, result, tmp_path):
    plt = pytest.importorskip("matplotlib.pyplot")
    assert result.explain("lawn") == model.explain("lawn")
    axes = result.plot()
    assert {text.get_text() for text in axes.texts} >= set(result.names)
    plt.close("all")
    result.report(tmp_path / "saved.html")
    model.report(tmp_path / "model.html")
    assert (tmp_path / "saved.html").read_bytes() == (tmp_path / "model.html").read_bytes()


@pytest.mark.parametrize("ending", [".json", ".dot", ".graphml", ".csv", ".svg", ".png", ".pdf"])
def test_a_saved_run_writes_the_files_that_the_model_writes(model, result, tmp_path, ending):
    model.save(tmp_path / f"model{ending}")
    result.save(tmp_path / f"saved{ending}")
    saved = (tmp_path / f"saved{ending}").read_bytes()
    assert saved == (tmp_path / f"model{ending}").read_bytes()


def test_a_graph_of_pgmpy_needs_no_rows_and_its_tables_do(model, result):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        base = import_module("pgmpy.base")
    graph = result.to_pgmpy()
    assert isinstance(graph, base.DAG)
    assert (set(graph.nodes), set(graph.edges)) == (set(result.names), set(result.graph.edges))
    fitted, expected = result.to_pgmpy(EXAMPLE), model.to_pgmpy()
    for cpd in expected.get_cpds():
        assert np.array_equal(fitted.get_cpds(cpd.variable).values, cpd.values)


# What needs rows


def test_a_fitted_network_is_counted_from_the_table_that_is_given(model, result, tmp_path):
    result.save(tmp_path / "saved.bif", data=EXAMPLE)
    model.save(tmp_path / "model.bif")
    assert (tmp_path / "saved.bif").read_bytes() == (tmp_path / "model.bif").read_bytes()
    assert result.fitted_network(EXAMPLE) == tamis.BayesianNetwork.read(tmp_path / "model.bif")


def test_probabilities_without_a_table_are_refused_in_a_sentence_that_asks_for_it(result, tmp_path):
    for write in (result.save, lambda *paths: tamis.save(result, *paths)):
        with pytest.raises(SettingError, match="holds no rows to count them from: pass the table"):
            write(tmp_path / "r.json", tmp_path / "r.bif")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("search", ["auto", "node"])
def test_the_bootstrap_of_a_saved_run_is_that_of_the_model(search, tmp_path):
    rng = np.random.default_rng(3)
    a = rng.integers(0, 3, 300)
    b = (a + (rng.random(300) < 0.3)) % 3
    frame = pd.DataFrame({"a": a, "b": b, "c": (b + (rng.random(300) < 0.4)) % 2, "d": a[::-1]})
    model = tamis.TAM(search, n_jobs=1).fit(frame)
    model.save(tmp_path / "r.json")
    again = tamis.load(tmp_path / "r.json").bootstrap(frame, 12, seed=5, n_jobs=1)
    assert again == model.bootstrap(12, seed=5)
    assert again.edges


def test_the_bootstrap_refuses_another_table(result):
    frame = pd.read_csv(EXAMPLE)
    with pytest.raises(SettingError, match="1,999 rows and 7 columns, and not the 2,000 rows"):
        result.bootstrap(frame.iloc[1:], 2)
    with pytest.raises(SettingError, match="pass the table that the result was learned from"):
        result.bootstrap(frame.drop(columns="road"), 2)
    with pytest.raises(DataError):
        result.bootstrap(None, 2)


# The commands


def measured(rng):
    x = rng.normal(size=300)
    return {"x": x, "y": x + rng.normal(size=300), "z": rng.normal(size=300)}


def mixed(rng):
    x = rng.normal(size=300)
    group = np.where(x + rng.normal(size=300) > 0, "a", "b")
    return {"x": x, "group": group, "size": rng.choice(["s", "m", "l"], 300)}


def with_missing(rng):
    table = {name: np.where(column > 0, "y", "n") for name, column in measured(rng).items()}
    table["z"] = np.where(rng.random(300) < 0.1, "", table["z"])
    return table


@pytest.mark.parametrize(
    ("made", "options"),
    [
        (measured, []),
        (mixed, ["--type", "size=s<m<l", "--tier", "group", "--tier", "x,size"]),
        (with_missing, ["--missing", "pairwise", "--require", "x -> z"]),
        (with_missing, ["--missing", "level", "--only", "y,z", "--type", "y=n<y"]),
    ],
)
@pytest.mark.parametrize("details", [[], ["--details"]])
def test_show_prints_what_learn_printed(tmp_path, made, options, details):
    frame = pd.DataFrame(made(np.random.default_rng(1)))
    frame.to_csv(tmp_path / "t.csv", index=False)
    run_file = tmp_path / "r.json"
    learned = run("learn", tmp_path / "t.csv", *options, *details, "--out", run_file)
    if learned.exit_code:
        pytest.fail(learned.stderr)
    shown = run("show", run_file, *details).stdout
    assert shown
    assert learned.stdout.removeprefix(shown.rstrip("\n")).strip() == f"Wrote {run_file}"


def test_show_explains_as_learn_does(tmp_path):
    run_file, asked = tmp_path / "r.json", ["--explain", "lawn", "--explain", "road"]
    learned = run("learn", EXAMPLE, "--out", run_file, *asked).stdout
    assert learned.startswith(run("show", run_file, *asked).stdout.rstrip("\n"))
    assert "lawn" in learned


def test_learn_and_plot_write_the_same_picture(path, tmp_path):
    picture, again = tmp_path / "learned.svg", tmp_path / "plotted.svg"
    assert run("learn", EXAMPLE, "--quiet", "--out", picture).exit_code == 0
    assert run("plot", path, again).exit_code == 0
    assert picture.read_bytes() == again.read_bytes()


def test_report_writes_the_page_of_the_run(path, tmp_path):
    done = run("report", path, tmp_path / "p.html")
    assert (done.exit_code, done.stdout.strip()) == (0, f"Wrote {tmp_path / 'p.html'}")
    assert "sprinkler" in (tmp_path / "p.html").read_text()
    assert run("report", path, tmp_path / "q.html", "--quiet").stdout == ""


def test_without_matplotlib_learn_names_the_extra_before_it_learns(tmp_path, monkeypatch):
    monkeypatch.setattr("tamis.drawing.pictures.find_spec", lambda name: None)
    done = run("learn", EXAMPLE, "--out", tmp_path / "r.json", "--out", tmp_path / "g.svg")
    assert done.exit_code == 2
    assert "tamis[plot]" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("show", "nowhere.json"), "There is no file"),
        (("show", EXAMPLE), "is not a result of tamis"),
        (("show", "RUN", "--explain", "lwn"), "did you mean 'lawn'?"),
        (("plot", "RUN", "g.gif"), "must say the format: one of .svg, .png, .pdf"),
        (("plot", "RUN", "RUN"), "must say the format"),
        (("plot", EXAMPLE, "g.svg"), "is not a result of tamis"),
        (("report", "RUN", "page.pdf"), "must end in .html"),
        (("report", "cut.json", "page.html"), "is not a result of tamis"),
    ],
)
def test_what_is_no_run_or_no_place_ends_with_a_sentence(
    path, tmp_path, monkeypatch, arguments, why
):
    monkeypatch.chdir(tmp_path)
    Path("cut.json").write_bytes(path.read_bytes()[:300])
    done = run(*(path if argument == "RUN" else argument for argument in arguments))
    assert done.exit_code == 2
    assert why in done.stderr
    assert "Traceback" not in done.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["cut.json"]


def test_hostile_names_are_shown_and_drawn_as_text(tmp_path):
    names = ["<script>x</script>", "[red]", "$a$", "\x1b[31m"]
    rng = np.random.default_rng(2)
    first = rng.integers(0, 2, 200)
    frame = pd.DataFrame({name: (first + (rng.random(200) < 0.2)) % 2 for name in names})
    tamis.TAM("sequential").fit(frame).save(tmp_path / "r.json", tmp_path / "g.svg")
    assert "<script" not in (tmp_path / "g.svg").read_text()
    assert "$a$" in (tmp_path / "g.svg").read_text()
    shown = run("show", tmp_path / "r.json").stdout
    assert "\x1b" not in shown
    assert "[red]" in shown


def test_letters_that_the_font_lacks_are_told_once_and_kept_in_svg(tmp_path):
    frame = pd.DataFrame({"日本": [0, 1] * 50, "b": [0, 1, 1, 0] * 25})
    result = tamis.TAM("sequential").fit(frame).result_
    with pytest.warns(tamis.TamisWarning, match=r"lacks some characters.*\.png shows as boxes"):
        result.save(tmp_path / "g.png")
    result.save(tmp_path / "g.svg")
    assert "日本" in (tmp_path / "g.svg").read_text()


# Compare


def test_compare_tells_what_appeared_vanished_and_turned(tmp_path):
    (tmp_path / "one.csv").write_text("parent,child\na,b\nb,c\nc,d\n")
    nx.write_graphml(nx.DiGraph(["ab", "cb", "da"]), tmp_path / "two.graphml")
    done = run("compare", tmp_path / "one.csv", tmp_path / "two.graphml")
    assert done.exit_code == 0, done.stderr
    assert " - 1 appeared: d -> a" in done.stdout
    assert " - 1 vanished: c -> d" in done.stdout
    assert " - 1 turned, now: c -> b" in done.stdout


def test_compare_writes_what_it_shows_and_a_picture(path, tmp_path):
    out = [tmp_path / name for name in ("c.json", "c.csv", "c.svg")]
    arguments = ["--out", out[0], "--out", out[1], "--plot", out[2]]
    done = run("compare", path, path, *arguments)
    assert done.exit_code == 0, done.stderr
    assert "No difference, run.json and run.json (2) have the same edges" in done.stdout
    assert all(one.stat().st_size for one in out)
    assert run("compare", path, path, "--quiet").stdout == ""


def test_columns_that_graphs_do_not_share_are_named(tmp_path):
    nx.write_graphml(nx.DiGraph([("a", "b"), ("a", "only_here")]), tmp_path / "one.graphml")
    nx.write_graphml(nx.DiGraph(["ab"]), tmp_path / "two.graphml")
    shown = run("compare", tmp_path / "one.graphml", tmp_path / "two.graphml").stdout
    assert "Note: two.graphml has no column only_here." in shown
    assert "Distances are over the 2 columns that all have." in shown
    assert " - 1 between columns that only one has: a -> only_here" in shown


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("RUN",), "one graph has nothing to be compared with"),
        (("RUN", "cut.json"), "is not a result of tamis"),
        (("RUN", EXAMPLE), "is not a list of edges"),
        (("RUN", "RUN", "--methods", "pc"), "--methods is for methods that learn"),
        (("RUN", "RUN", "--out", "c.txt"), "must say the format"),
        (("RUN", "RUN", "--plot", "c.json"), "must say the format: one of .svg"),
        (("RUN", "RUN", "--out", "RUN"), "would overwrite what is compared"),
        ((EXAMPLE, "--methods", "nope"), "--methods: there is no method 'nope'"),
        ((EXAMPLE, "--limit", "0"), "--limit must be a number of seconds above 0"),
        ((EXAMPLE, "--truth", "nowhere.bif"), "There is no file"),
    ],
)
def test_what_cannot_be_compared_ends_with_a_sentence(path, tmp_path, monkeypatch, arguments, why):
    monkeypatch.chdir(tmp_path)
    Path("cut.json").write_bytes(path.read_bytes()[:300])
    done = run("compare", *(path if argument == "RUN" else argument for argument in arguments))
    assert done.exit_code == 2
    assert why in done.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["cut.json"]
