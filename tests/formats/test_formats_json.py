"""JSON holds the whole result and nothing else is taken for one."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_results import characters, results

from tamis.errors import FileFormatError, SettingError
from tamis.formats import json_file, load, save
from tamis.formats.consistency import first_contradiction
from tamis.result import explain

FROZEN = Path(__file__).parent / "result_v1.json"


def refuse_constant(word):
    raise AssertionError(f"{word} is not JSON")


def document(result):
    return json.loads(json_file.render(result))


def dump(written):
    return json.dumps(written).encode()


@given(results())
@settings(deadline=None, max_examples=80)
def test_a_result_comes_back_field_for_field(result):
    assert json_file.parse(json_file.render(result)) == result


@given(results())
@settings(deadline=None, max_examples=40)
def test_other_readers_of_json_can_read_it(result):
    written = json.loads(json_file.render(result), parse_constant=refuse_constant)
    assert written["names"] == list(result.names)
    assert (written["format"], written["version"]) == ("tamis result", 1)


def test_a_file_comes_back_field_for_field(result, tmp_path):
    save(result, tmp_path / "r.json")
    assert load(tmp_path / "r.json") == result
    assert load(str(tmp_path / "r.json")) == result


def test_labels_keep_their_types(result):
    levels = json_file.parse(json_file.render(result)).levels
    assert [type(labels[0]) for labels in levels.values()] == [str, int, bool, str]


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan, 5e-324, 0.1 + 0.2, -0.0])
def test_every_float_survives(result, value):
    entropies = {**result.entropies, "rain": value}
    loaded = json_file.parse(json_file.render(replace(result, entropies=entropies)))
    assert repr(loaded.entropies["rain"]) == repr(value)


def test_a_setting_that_json_cannot_hold_is_refused(result):
    with pytest.raises(SettingError, match="cannot be written as JSON"):
        json_file.render(replace(result, settings={"search": "node", "odd": object()}))


def test_files_of_version_1_can_be_read():
    loaded = load(FROZEN)
    assert {(edge.parent, edge.child) for edge in loaded.edges} == {
        ("season", "sprinkler"), ("season", "rain"), ("sprinkler", "lawn"), ("rain", "lawn"),
        ("rain", "road"), ("lawn", "shoes"), ("road", "traffic"),
    }  # fmt: skip
    assert FROZEN.read_bytes() == json_file.render(loaded)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "not JSON"),
        (b"not json", "not JSON"),
        (b"\xff\xfe", "not UTF-8, at byte 0"),
        (b"[1, 2]", "does not say"),
        (b"{}", "does not say"),
        (b'{"format": "tamis result", "version": 1, "version": 1}', "'version' stands twice"),
        (b'{"format": "tamis result", "version": NaN}', "NaN is not a number"),
        (b'{"format": "tamis result", "version": 1e999}', "too large"),
        (b'{"format": "tamis result", "version": ' + b"9" * 5000 + b"}", "not JSON"),
        (b'{"format": "tamis result", "version": 2}', "install a newer tamis"),
        (b'{"format": "tamis result", "version": 0}', "its version is 0"),
        (b'{"format": "tamis result", "version": true}', "its version is True"),
        (b'{"format": "tamis result"}', "its version is None"),
        (b'{"format": "tamis result", "version": 1}', "lacks 'names', 'levels'"),
        (b"[" * 100_000, "nested too deeply"),
        (b"\x80\x04\x95\x05\x00\x00\x00\x00\x00\x00\x00K\x01.", "not UTF-8"),
    ],
)
def test_what_is_not_a_result_is_refused(content, complaint, tmp_path):
    path = tmp_path / "r.json"
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=complaint) as caught:
        load(path)
    assert str(path) in str(caught.value)


def test_missing_files_and_directories_are_refused(tmp_path):
    with pytest.raises(FileFormatError, match="There is no file"):
        load(tmp_path / "nothing.json")
    with pytest.raises(FileFormatError, match="cannot be read"):
        load(tmp_path)
    with pytest.raises(FileFormatError, match="cannot be read"):
        load("nul\0.json")


def _set(*path_and_value):
    *path, last, value = path_and_value

    def change(written):
        place = written
        for step in path:
            place = place[step]
        if value is KeyError:
            del place[last]
        else:
            place[last] = value

    return change


EDGE = {
    "parent": "rain", "child": "shoes", "gain": 0.1, "p_value": 0.1, "step": 1,
    "gain_given_rest": 0.1,
    "lead": 0.1,
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (_set("names", KeyError), "lacks 'names'"),
        (_set("extra", 1), "field 'extra' that no result has"),
        (_set("names", "shoes"), "names must be a list, not 'shoes'"),
        (_set("names", 0, 7), r"names\[0\] must be a string, not 7"),
        (_set("names", 0, "\ud800"), r"names\[0\] holds a lone surrogate"),
        (_set("levels", "rain", 0, "\ud800"), r"levels\['rain'\]\[0\] holds a lone surrogate"),
        (_set("levels", "rain", 0, 1.5), "must be a string or a whole number or true or false"),
        (_set("levels", []), "levels must be an object"),
        (_set("n_rows", 2000.0), "n_rows must be a whole number, not 2000.0"),
        (_set("n_rows", True), "n_rows must be a whole number, not True"),
        (_set("n_rows", 0), "n_rows is 0"),
        (_set("entropies", "rain", "much"), r"entropies\['rain'\] must be a number"),
        (_set("entropies", "rain", True), r"entropies\['rain'\] must be a number"),
        (_set("entropies", "rain", 10**400), "too large for a number"),
        (_set("edges", 0, "gain", None), r"edges\[0\].gain must be a number, not None"),
        (_set("edges", 0, []), r"edges\[0\] must be an object"),
        (_set("edges", 0, "p_value", 1.5), "p_value of 'rain' → 'lawn' is 1.5"),
        (_set("edges", 0, "p_value", "NaN"), "p_value of 'rain' → 'lawn' is nan"),
        (_set("edges", 0, "step", 2), "edges and trace disagree about when"),
        (_set("edges", 0, EDGE), "edges and parents disagree"),
        (_set("edges", 1, {**EDGE, "child": "lawn"}), "edges holds an edge twice"),
        (_set("edges", []), "edges and parents disagree"),
        (_set("trace", "selections", 2, "taken", 0, "dependent", 1), "must be true or false"),
        (_set("trace", "admissions", 0, "closest", 3), "closest must be an object"),
        (_set("names", 1, "shoes"), "names holds a name twice"),
        (_set("names", []), "names is empty"),
        (_set("names", 0, "boots"), "levels is not about the columns"),
        (_set("levels", "boots", ["a"]), "levels is not about the columns"),
        (_set("levels", "rain", []), "no labels for 'rain'"),
        (_set("levels", "rain", [0, True]), "labels of several types for 'rain'"),
        (_set("levels", "rain", ["a", "a"]), "a label twice for 'rain'"),
        (_set("order", ["hail", "rain", "lawn"]), "order is not an order"),
        (_set("order", ["hail", "lawn", "rain", "shoes"]), "order puts 'lawn' before its parent"),
        (_set("layers", [["hail"], ["lawn"], ["shoes"]]), "layers do not hold each"),
        (_set("layers", [["hail", "rain"], [], ["lawn"], ["shoes"]]), "an empty layer"),
        (_set("layers", [["hail", "rain", "lawn"], ["shoes"]]), "no later than its parent"),
        (_set("parents", "hail", KeyError), "parents is not about the columns"),
        (_set("parents", "hail", ["wind"]), "names 'wind', which is not a column"),
        (_set("parents", "lawn", ["rain", "rain"]), "a parent of 'lawn' is named twice"),
        (_set("parents", "rain", ["shoes"]), "parents has a cycle"),
        (_set("parents", "rain", ["rain"]), "parents has a cycle"),
        (_set("parents", "shoes", ["rain"]), "edges and parents disagree"),
        (_set("trace", "admissions", []), "admissions does not follow order"),
        (_set("trace", "selections", 0, KeyError), "selections does not follow order"),
        (_set("trace", "selections", 3, "refused", "given", ["wind"]), "names 'wind'"),
        (_set("trace", "selections", 3, "taken", []), "selections and parents disagree"),
        (_set("trace", "selections", 3, "refused", "dependent", True), "the opposite"),
        (_set("trace", "selections", 3, "refused", "target", "lawn"), "stands in the trace of"),
        (_set("trace", "selections", 3, "refused", "others", []), "names nothing"),
        (_set("trace", "admissions", 0, "runner_up", None), "lacks its name or its entropy"),
        (_set("trace", "admissions", 0, "runner_up", "wind"), "a runner-up names 'wind'"),
        (_set("trace", "admissions", 0, "round", 9), "puts 'hail' in round 9"),
        (_set("settings", {}), "which search was run"),
        (_set("warnings", [None]), r"warnings\[0\] must be a string"),
    ],
)
def test_a_damaged_result_is_refused_with_what_is_wrong(result, change, complaint):
    written = document(result)
    change(written)
    with pytest.raises(FileFormatError, match=complaint):
        json_file.parse(dump(written))


anything = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 5) | st.floats() | st.text(characters, max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=3,
)


def places(value, path=()):
    if path:
        yield path
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(item, (*path, key))


@given(results(), st.data())
@settings(deadline=None, max_examples=150)
def test_whatever_is_changed_the_answer_is_a_refusal_or_a_consistent_result(result, data):
    written = document(result)
    path = data.draw(st.sampled_from(list(places(written))))
    known = st.sampled_from(result.names)
    _set(*path, data.draw(anything | known | st.just(KeyError)))(written)
    try:
        loaded = json_file.parse(dump(written))
    except FileFormatError:
        return
    assert first_contradiction(loaded) is None
    assert repr(json_file.parse(json_file.render(loaded))) == repr(loaded)
    assert all(explain(loaded, name) for name in loaded.names)
