"""The report as a file: complete without scripts, closed to the network, names are only names."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256

import pytest
from hypothesis import given
from report_parsing import Parsed

import tamis
from drawing.drawn_results import Resampled, chain, layered
from formats.made_results import STRANGE, results
from tamis.report import write_report
from tamis.report.page import CONTENTS, page
from tamis.report.statistics import steps_of
from tamis.result import LOOKS, answer, direction_in_words, show

OPTIONAL = {"told-before", "confidence", "conditions", "searches"}


@pytest.fixture(scope="module")
def model(sprinkler):
    return sprinkler


@pytest.fixture(scope="module")
def recovery(model):
    return model.recovery_check(n_simulations=2)


@pytest.fixture(scope="module")
def strange():
    """Every strange name as a column, a level, a note and a part of the command."""
    names = (*STRANGE, "", "lone \ud800 surrogate", "</script><b>", "--><i>")
    result = chain(names)
    return replace(
        result, levels=dict.fromkeys(names, names), warnings=(names[8], "<img src=x onerror=y>")
    )


def sha(text):
    return "sha256-" + b64encode(sha256(text.encode()).digest()).decode()


def numbers(result):
    return {name: i for i, name in enumerate(result.names)}


def test_names_levels_notes_and_commands_stay_text(strange):
    parsed = Parsed(page(strange, command="tamis learn '<script>alert(1)</script>'"))
    assert [e.attributes.get("type") for e in parsed.named("script")] == ["application/json", None]
    assert not parsed.named("img")
    assert not parsed.named("b")
    assert not parsed.named("i")
    assert not any(k.startswith("on") for e in parsed.elements for k in e.attributes)
    shown = {element.text for element in parsed.named("bdi")}
    assert {show(name) or "(no name)" for name in strange.names} == shown
    assert "<img src=x onerror=y>" in parsed.by_id("summary").text
    assert "<script>alert(1)</script>" in parsed.by_id("reproduce").text


def test_the_data_come_back_and_hold_nothing_that_html_could_read(strange):
    text = page(strange)
    written = re.search(r'<script type="application/json" id="data">(.*?)</script>', text).group(1)
    assert written.isascii()
    assert not set("<>&") & set(written)
    data = json.loads(written)
    assert data["names"] == [show(name) or "(no name)" for name in strange.names]


def test_nothing_is_loaded_from_anywhere(strange):
    text = page(strange, confidence=Resampled(10, {}))
    parsed = Parsed(text)
    assert not {"link", "img", "iframe", "object", "embed", "base", "form"} & {
        element.name for element in parsed.elements
    }
    for element in parsed.elements:
        assert not {"src", "srcset", "style", "action", "xlink:href"} & element.attributes.keys()
        assert element.attributes.get("href", "#").startswith("#")
    (style,) = parsed.named("style")
    assert not re.search(r"url\(|@import|https?:|image-set", style.text)
    script = parsed.named("script")[1].text
    banned = r"innerHTML|outerHTML|insertAdjacent|document\.write|eval|Function\(|https?:|fetch\("
    assert not re.search(banned, script)


def test_the_policy_allows_this_style_and_this_script_only(strange):
    parsed = Parsed(page(strange))
    policy = next(
        e.attributes["content"]
        for e in parsed.named("meta")
        if e.attributes.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy.split("; ") == [
        "default-src 'none'",
        f"style-src '{sha(parsed.named('style')[0].text)}'",
        f"script-src '{sha(parsed.named('script')[1].text)}'",
        "base-uri 'none'",
        "form-action 'none'",
    ]


def arrows(parsed):
    """The arrows of the drawing, without the samples of the legend."""
    return [e for e in parsed.elements if "data-parent" in e.attributes]


@given(results())
def test_whatever_the_result_the_page_is_well_formed_and_complete(result):
    text = page(result)
    assert text == page(result)
    parsed = Parsed(text)
    assert len(parsed.named("script")) == 2
    ids = [e.attributes["id"] for e in parsed.elements if "id" in e.attributes]
    assert len(ids) == len(set(ids))
    targets = {e.attributes["href"][1:] for e in parsed.elements if "href" in e.attributes}
    assert targets <= set(ids)
    assert sum(e.attributes.get("class") == "node" for e in parsed.elements) == len(result.names)
    drawn = [e.attributes["class"] for e in arrows(parsed)]
    assert sorted(drawn) == sorted(f"edge {edge.warrant}" for edge in result.edges)
    json.loads(parsed.by_id("data").text)


def test_sections_without_scripts_tell_everything(model, recovery):
    result = model.result_
    shares = {(e.parent, e.child): 0.5 for e in result.edges}
    resampled = Resampled(30, shares | {("shoes", "season"): 0.2}, {"lawn": {3: 0.9, 2: 0.1}})
    parsed = Parsed(
        page(result, recovery=recovery, confidence=resampled, command="tamis learn x.csv")
    )
    for identity in set(CONTENTS) - {"told-before"}:
        assert parsed.has_id(identity), identity
    for said in answer(result, confidence=resampled):
        where = "sieve" if said.part == "steps" else "summary"
        assert str(said) in parsed.by_id(where).text
    rows = parsed.by_id("number-table").text
    for edge in result.edges:
        assert f"{edge.gain:.4f}" in rows
    for identity in ("number-table", "calls", "searches", "columns", "sieve", "reproduce"):
        assert parsed.by_id(identity).text in parsed.by_id("statistics").text
    for identity in ("summary", "picture", "edge-table", "weakest", "conditions"):
        assert parsed.by_id(identity).text not in parsed.by_id("statistics").text
    for name in result.names:
        story = parsed.by_id(f"column-{result.names.index(name)}").text
        for line in str(result.explain(name)).split("\n")[1:]:
            assert line.strip() in story
    calls = parsed.by_id("calls").text
    for verdict in result.closest_calls(10):
        assert str(verdict) in calls
    assert "layer 3 in 90%, layer 2 in 10%" in parsed.by_id("columns").text
    assert "30 times" in parsed.by_id("confidence").text
    assert "20%" in parsed.by_id("confidence").text
    assert recovery.check.answer in parsed.by_id("conditions").text
    for condition in recovery.check.conditions.values():
        assert condition.sentence in parsed.by_id("conditions").text
    told = parsed.by_id("reproduce").text
    for fact in ("tamis learn x.csv", "Python", "numpy", "2,000 rows", "score", "seed"):
        assert fact in told
    assert all(run.rests_on in parsed.by_id("searches").text for run in result.ranking)


def test_sections_without_content_are_left_out_and_not_linked():
    parsed = Parsed(page(chain("abc")))
    present = {identity for identity in CONTENTS if parsed.has_id(identity)}
    assert present == set(CONTENTS) - OPTIONAL
    links = {a.attributes["href"][1:] for a in parsed.named("a") if not a.attributes.get("class")}
    assert links == present


def cells(parsed, table, name):
    """The texts of a table's elements of this name."""
    start = parsed.elements.index(parsed.by_id(table))
    found = []
    for element in parsed.elements[start + 1 :]:
        if element.name == "table":
            break
        if element.name == name:
            found.append(element.text)
    return found


@pytest.mark.parametrize("warrant", LOOKS)
def test_what_a_direction_rests_on_is_told_everywhere(warrant):
    """Of the two arrows the first is the stronger and the less certain one."""
    result = chain("abc")
    first, second = result.edges
    first = replace(first, warrant=warrant, direction_probability=0.61, gain=0.3)
    parsed = Parsed(page(replace(result, edges=(first, second))))
    words = LOOKS[warrant].label
    drawn = [e for e in arrows(parsed) if e.attributes["class"] == f"edge {warrant}"]
    assert len(drawn) == (2 if warrant == "equivalence" else 1)
    assert all(f"direction {words}" in e.text for e in drawn)
    unsure = [e for e in parsed.named("tr") if e.attributes.get("class") == "unsure"]
    assert len(unsure) == (1 if warrant == "none" else 0)
    assert cells(parsed, "edge-table", "th") == ["parent", "child", "direction", "probability"]
    assert cells(parsed, "edge-table", "td")[2:4] == [f" {words}", "0.61"]
    (row,) = [e for e in parsed.named("tr") if e.text.startswith("ab ")]
    assert row.attributes["data-warrant"] == warrant
    summary = parsed.by_id("summary").text
    assert f"A direction that is marked “{words}”: {LOOKS[warrant].meaning}" in summary
    assert words in parsed.by_id("picture").text
    assert (words in parsed.by_id("weakest").text) == (warrant != "given")
    assert direction_in_words(first) in parsed.by_id(f"column-{result.names.index('b')}").text


@pytest.mark.parametrize("warrant", LOOKS)
def test_dashes_are_those_of_the_one_table_of_looks(warrant):
    result = chain("ab")
    edge = replace(result.edges[0], warrant=warrant)
    parsed = Parsed(page(replace(result, edges=(edge,))))
    lines = [e for e in parsed.named("path") if e.attributes["class"] == "line"]
    # The arrow, the legend's sample twice, on the page and in a saved picture, and the table's.
    assert len(lines) == 4
    for line in lines:
        dashes = [float(d) for d in line.attributes.get("stroke-dasharray", "").split()]
        assert len(dashes) == len(LOOKS[warrant].dash)
        if dashes:
            scale = sum(dashes) / sum(LOOKS[warrant].dash)
            assert dashes == pytest.approx([scale * d for d in LOOKS[warrant].dash], abs=0.11)


def test_columns_without_arrows_are_in_the_tray_and_lead_to_their_stories():
    result = layered([["a", "alone <b>", "apart"], ["b"]], [("a", "b")])
    parsed = Parsed(page(result))
    assert "No arrows: 2 columns" in parsed.by_id("tray").text
    nodes = [e for e in parsed.elements if e.attributes.get("class") == "node"]
    by_number = {int(e.attributes["data-node"]): e.text for e in nodes}
    assert len(nodes) == 4
    for name in ("alone <b>", "apart"):
        number = result.names.index(name)
        assert by_number[number] == name
        assert parsed.has_id(f"column-{number}")
    assert not Parsed(page(chain("ab"))).has_id("tray")


def test_what_was_told_is_listed_in_words():
    hostile = "<b>bold</b>"
    result = chain(["a", "b", "c", hostile])
    told = {
        "required": [["a", "b"]],
        "forbidden": [["c", hostile], ["b", hostile]],
        "tiers": [["a"], ["b", "c"]],
        "sources": ["a"],
        "sinks": [hostile],
    }
    first, *others = result.edges
    edges = (replace(first, warrant="given"), *others)
    known = replace(result, settings={**result.settings, "knowledge": told}, edges=edges)
    parsed = Parsed(page(known))
    said = parsed.by_id("told-before").text
    assert "Arrows that must be therea → b" in said
    assert f"Arrows that cannot be therec → {hostile}b → {hostile}" in said
    assert "earlier oneab and c" in said
    assert "Columns without parentsa" in said
    assert f"Columns without children{hostile}" in said
    assert "1 direction in the graph follows from it" in said
    none = {**told, "required": [], "sources": []}
    quiet = replace(result, settings={**result.settings, "knowledge": none})
    said = Parsed(page(quiet)).by_id("told-before").text
    assert "must be there" not in said
    assert "No direction in the graph follows from it." in said
    assert not Parsed(page(result)).has_id("told-before")


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("data/survey of 2020.csv", "survey of 2020.csv"),
        ("C:\\tables\\x.parquet", "x.parquet"),
        ("folder/parts/", "parts"),
        ("<i>.csv", "<i>.csv"),
        (None, "3 columns"),
    ],
)
def test_the_title_names_the_file(path, name):
    parsed = Parsed(page(replace(chain("abc"), read_from=path)))
    assert parsed.named("h1")[0].text == f"Bayesian network of {name}"
    assert parsed.named("title")[0].text == f"Bayesian network of {name}"
    assert "1,000 rows, 3 columns" in parsed.named("header")[0].text
    assert path is None or path in parsed.by_id("reproduce").text
    file = json.loads(parsed.by_id("data").text)["file"]
    assert re.fullmatch(r"[A-Za-z0-9_-]+", file)


def test_fewer_resamples_make_an_edge_fainter():
    parsed = Parsed(page(chain("abc"), confidence=Resampled(9, {("a", "b"): 1.0})))
    lines = [e for e in parsed.named("path") if e.attributes["class"] == "line"]
    faint = [float(e.attributes["opacity"]) for e in lines if "opacity" in e.attributes]
    assert sorted(faint) == [0.15, 1.0]


def test_a_graph_without_edges_is_said_to_have_none():
    alone = layered([("a", "b")], [])
    parsed = Parsed(page(alone))
    assert "no column was seen to depend on another" in parsed.by_id("summary").text
    assert not parsed.has_id("edge-table")


def test_each_step_masks_what_depends_on_the_column_just_admitted(model):
    steps = steps_of(tamis.TAM("node").fit(dict(_columns(model))).result_)
    told = [(s.admitted.name, [m.name for m in s.masked]) for s in steps]
    assert told == [
        ("season", ["sprinkler", "rain", "road", "lawn", "traffic", "shoes"]),
        ("sprinkler", ["lawn", "shoes"]),
        ("rain", ["road", "traffic"]),
        ("lawn", ["shoes"]),
        ("road", ["traffic"]),
        ("traffic", []),
        ("shoes", []),
    ]


def test_a_graph_of_the_order_search_is_told_to_be_one():
    result = chain("abc", search="sequential")
    run = tamis.result.Run("orders", "counts", -1.0, 2, "the likelihood", chosen=True)
    parsed = Parsed(page(replace(result, ranking=(run,))))
    told = parsed.by_id("sieve").text
    assert "The likelihood chose among classes of equivalent graphs" in told
    assert "No column is masked" in told


def test_the_file_is_the_page_and_the_same_every_time(tmp_path):
    path = tmp_path / "report.html"
    write_report(chain("abé"), path, command="x")
    assert path.read_text(encoding="utf-8") == page(chain("abé"), command="x")
    again = path.read_bytes()
    write_report(chain("abé"), str(path), command="x")
    assert path.read_bytes() == again
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


def _columns(model):
    table, _ = model._learned_from
    for name, levels, codes in zip(table.names, table.levels, table.codes, strict=True):
        yield name, [levels[code] for code in codes]
