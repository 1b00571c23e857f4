"""What notebooks show: answers as HTML, short texts, bars while one waits."""

from __future__ import annotations

import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest
import sklearn
from hypothesis import given
from report_parsing import Parsed

import tamis
import tamis.progress
from drawing.drawn_results import chain, layered
from formats.made_results import STRANGE, results
from tamis.bootstrap import Confidence
from tamis.identifiability.conditions import Condition, Violation
from tamis.progress import NotebookBar, in_notebook, showing
from tamis.result import LOOKS, answer

SPRINKLER = "examples/sprinkler.csv"
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def model(sprinkler):
    return sprinkler


@pytest.fixture(scope="module")
def recovery(model):
    return model.recovery_check(2)


@pytest.fixture(scope="module")
def checked():
    return tamis.check(tamis.BayesianNetwork.example("m2"))


def shares(result):
    """A bootstrap in which the arrows of a result came, each more rarely than the one before."""
    edges = {(e.parent, e.child): 1 / (1 + i / 4) for i, e in enumerate(result.edges)}
    names = tuple(result.names)
    return Confidence(names, 8, 1, "node", "half", edges, {name: {1: 1.0} for name in names})


def quiet(html):
    """The page taken apart, if it holds nothing that runs, loads or can be mixed up."""
    parsed = Parsed(f"<html>{html}</html>")
    assert not {"script", "style", "link", "img", "a", "iframe"} & {e.name for e in parsed.elements}
    for element in parsed.elements:
        assert not any(key.startswith("on") for key in element.attributes)
        assert not {"id", "href", "src"} & element.attributes.keys()
    return parsed


@given(results())
def test_whatever_the_result_its_html_is_well_formed_and_has_graph_and_answer(result):
    parsed = quiet(result._repr_html_())
    text = parsed.elements[0].text
    for said in answer(result, "found", "told", "directions"):
        assert str(said) in text
    drawn = [e for e in parsed.elements if e.attributes.get("class", "").startswith("edge ")]
    seen = {edge.warrant for edge in result.edges}
    # Every arrow, and a sample of each kind in the legend.
    assert len(drawn) == len(result.edges) + len(seen)
    assert sum(e.attributes.get("class") == "box" for e in parsed.elements) == len(result.names)
    assert all(LOOKS[one].label in text for one in seen)
    assert len(repr(result)) < 1000


def test_names_stay_text_in_all_html(checked):
    result = replace(chain(STRANGE), warnings=(HOSTILE,))
    assert HOSTILE in quiet(result._repr_html_()).elements[0].text
    assert HOSTILE in quiet(shares(result)._repr_html_()).elements[0].text
    broken = Condition(
        "C1", "C1", False, -1.0, HOSTILE, violations=(Violation(HOSTILE, (HOSTILE,)),)
    )
    hostile = replace(checked, conditions={**checked.conditions, "C1": broken})
    assert HOSTILE in quiet(hostile._repr_html_()).elements[0].text
    plan = tamis.inspect({HOSTILE: ["<b>", "<i>"] * 20, "other": ["x", "y"] * 20})
    assert HOSTILE in quiet(plan._repr_html_()).elements[0].text


def test_a_model_shows_its_answer_once_it_has_one(model):
    before = tamis.TAM(alpha=0.01)._repr_mimebundle_()
    assert "sk-container" in before["text/html"]
    after = model._repr_mimebundle_()
    assert after["text/html"] == model.result_._repr_html_() == model._repr_html_()
    assert "tamis found 7 arrows" in quiet(after["text/html"]).elements[0].text
    assert len(after["text/html"]) < 10_000
    with sklearn.config_context(display="text"):
        assert "text/html" not in model._repr_mimebundle_()
        assert not hasattr(model, "_repr_html_")


def test_a_bootstrap_draws_the_arrows_of_half_of_the_resamples_and_lists_the_surest():
    result = layered(
        [["a", "alone"], [f"b{k:02}" for k in range(20)]], [("a", f"b{k:02}") for k in range(20)]
    )
    parsed = quiet(shares(result)._repr_html_())
    text = parsed.elements[0].text
    assert "resampled 8 times" in text
    drawn = [e for e in parsed.elements if e.attributes.get("class", "").startswith("edge ")]
    # 1 / (1 + i / 4) is at least a half for i up to 4.
    assert len(drawn) == 5
    assert len(parsed.named("tr")) == 1 + 12
    assert "a → b00100%100%" in text
    assert "and 8 more arrows." in text
    nothing = Confidence(("a", "b"), 3, 1, "node", "half", {}, {"a": {1: 1.0}, "b": {1: 1.0}})
    assert not quiet(nothing._repr_html_()).named("table")


def test_a_recovery_check_says_how_often_and_which_arrows_come_back_least(recovery):
    parsed = quiet(recovery._repr_html_())
    text = parsed.elements[0].text
    assert f"came back from {recovery.recovered:.0%} of 2 tables of 2,000 rows" in text
    assert len(parsed.named("tr")) == 1 + len(recovery.edges)
    assert recovery.check.answer in text
    many = {(f"p{k}", f"c{k}"): k / 40 for k in range(40)}
    wide = replace(recovery, edges=many, turned=dict.fromkeys(many, 0.0), check=None)
    text = quiet(wide._repr_html_()).elements[0].text
    assert "p0 → c00%0%" in text
    assert "p39" not in text
    assert "and 28 more." in text


def test_a_check_shows_its_answer_and_every_condition(checked):
    text = quiet(checked._repr_html_()).elements[0].text
    assert text.startswith(checked.answer)
    for condition in checked.conditions.values():
        assert condition.title in text
        assert condition.sentence in text
    assert "Guaranteed from exact information: sequential." in text


def test_no_repr_is_long(model, recovery, checked):
    wide = layered([[f"column number {k}" for k in range(300)]], [])
    names = [f"column number {k}" for k in range(300)]
    levels = [f"level number {k}" for k in range(90)] * 20
    plan = tamis.inspect({"many levels": levels, "x" * 500: levels})
    objects = [
        model,
        tamis.TAM(knowledge=tamis.Knowledge(tiers=[names])),
        wide,
        wide.trace,
        model.result_.edges[0],
        model.ranking_,
        recovery,
        checked,
        *checked.conditions.values(),
        checked.gaps,
        shares(wide),
        plan,
        *plan,
        tamis.Knowledge(tiers=[names, ["z"]], required=[("a", "b")]),
        model.forecast({"a": [0, 1] * 50, "b": [0, 1, 1, 0] * 25}),
        tamis.simulate.draw("tree", "mod", n=50, seed=1, d=300),
    ]
    for one in objects:
        assert 0 < len(repr(one)) < 1000, type(one)
        assert " object at 0x" not in repr(one)
    assert repr(objects[-3]) == "<Knowledge: 1 required, 2 tiers>"
    short = tamis.Knowledge(forbidden=["a -> b"])
    assert repr(short) == "Knowledge(forbidden=(('a', 'b'),))"


class Place:
    """What IPython gives for a display that can be changed."""

    def __init__(self, shown):
        self._shown = shown

    def update(self, bundle, *, raw):
        assert raw
        self._shown.append(bundle)


@pytest.fixture
def kernel(monkeypatch):
    """A notebook's kernel, and everything that was shown there."""
    shown = []

    def display(bundle, *, raw, display_id):
        assert raw
        assert display_id
        shown.append(bundle)
        return Place(shown)

    shell = SimpleNamespace(kernel=object())
    ipython = SimpleNamespace(get_ipython=lambda: shell)
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=display))
    monkeypatch.setattr(tamis.progress, "PATIENCE", 0.0)
    monkeypatch.setattr(tamis.progress, "PAUSE", 0.0)
    return shown


def test_elsewhere_there_is_no_bar(monkeypatch):
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    assert not in_notebook()
    with showing("nothing", None) as heard:
        assert heard is None
    terminal = SimpleNamespace(get_ipython=lambda: SimpleNamespace())
    monkeypatch.setitem(sys.modules, "IPython", terminal)
    assert not in_notebook()


def test_in_a_notebook_a_bar_shows_how_far_the_work_is_and_goes_with_it(kernel):
    with showing("learning <b>", None) as heard:
        heard(1, 4)
        heard(4, 4)
    first, last, gone = kernel
    assert "1/4" in first["text/plain"]
    assert "4/4" in last["text/plain"]
    parsed = Parsed(f"<html>{first['text/html']}</html>")
    assert "learning <b>" in parsed.elements[0].text
    assert gone == {"text/html": "", "text/plain": ""}


def test_the_callers_own_progress_comes_first(kernel):
    told = []
    with showing("learning", lambda done, of: told.append((done, of))) as heard:
        heard(1, 2)
    assert told == [(1, 2)]
    assert not kernel


def test_short_work_has_no_bar(kernel, monkeypatch):
    monkeypatch.setattr(tamis.progress, "PATIENCE", 600.0)
    bar = NotebookBar("learning")
    bar.step(1, 2)
    bar.close()
    assert not kernel


def test_fit_bootstrap_and_recovery_check_show_bars_in_a_notebook(kernel):
    table = {"a": [0, 1] * 60, "b": [0, 1, 1, 0] * 30, "c": [0, 0, 1] * 40}
    model = tamis.TAM("sequential").fit(table)
    assert any("3/3" in one["text/plain"] for one in kernel)
    kernel.clear()
    model.bootstrap(4)
    assert "4/4" in kernel[-2]["text/plain"]
    kernel.clear()
    model.recovery_check(2)
    assert "2/2" in kernel[-2]["text/plain"]
    assert kernel[-1]["text/html"] == ""


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_real_notebook_shows_answers_pictures_and_no_stray_lines(request, tmp_path):
    client = pytest.importorskip("nbclient", reason="nbclient is not installed")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    exporters = pytest.importorskip("nbconvert.exporters", reason="nbconvert is not installed")
    from nbformat.v4 import new_code_cell, new_notebook

    cells = [
        "import tamis, tamis.progress\ntamis.progress.PATIENCE = tamis.progress.PAUSE = 0.0",
        f"model = tamis.TAM('node').fit({SPRINKLER!r})",
        "model",
        "axes = model.plot()\naxes",
        "axes",
        "tamis.inspect({'a': [0, 1] * 50, 'b': [1, 1, 0, 0] * 25})",
    ]
    notebook = new_notebook(cells=[new_code_cell(cell) for cell in cells])
    where = {"metadata": {"path": str(request.config.rootpath)}}
    client.NotebookClient(notebook, timeout=300, resources=where).execute()
    outputs = [cell.outputs for cell in notebook.cells]
    assert outputs[0] == []
    # The bar of fit is gone.
    assert [one["data"] for one in outputs[1]] == [{"text/html": "", "text/plain": ""}]
    (shown,) = outputs[2]
    assert "tamis found 7 arrows" in shown["data"]["text/html"]
    assert "<svg" in shown["data"]["text/html"]
    # One picture, and no "<Axes: >" beside it; the same when the axes are asked for again.
    for (picture,) in outputs[3:5]:
        assert picture["output_type"] == "display_data"
        assert "image/png" in picture["data"]
    (plan,) = outputs[5]
    assert "<table>" in plan["data"]["text/html"]
    page, _ = exporters.HTMLExporter().from_notebook_node(notebook)
    assert page.count("tamis found 7 arrows") == 1
