"""JSON holds the whole result and nothing else is taken for one."""

from __future__ import annotations

import json
import math
import random
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_results import characters, results, rules

from tables import rows, table_of
from tamis.errors import FileFormatError, SettingError
from tamis.formats import json_file, load, save
from tamis.formats.consistency import first_contradiction
from tamis.formats.json_file import to_json
from tamis.learning import learn
from tamis.parameters import BOUNDARY, SEARCHES
from tamis.result import Edge, explain
from tamis.settings import Settings

FROZEN = Path(__file__).parent / "result_v4.json"


def refuse_constant(word):
    raise AssertionError(f"{word} is not JSON")


def document(result):
    return json.loads(json_file.render(result))


def dump(written):
    """The document, with the digest of what it says where it has one."""
    if json_file.DIGEST in written:
        with suppress(RecursionError):
            written[json_file.DIGEST] = json_file.digest_of(written)
    return json.dumps(written).encode()


@given(results())
@settings(deadline=None, max_examples=50)
def test_a_result_comes_back_field_for_field(result):
    assert json_file.parse(json_file.render(result)) == result


@given(results())
@settings(deadline=None, max_examples=40)
def test_other_readers_of_json_can_read_it(result):
    written = json.loads(json_file.render(result), parse_constant=refuse_constant)
    assert written["names"] == list(result.names)
    assert (written["format"], written["version"]) == ("tamis result", 4)


def test_a_file_comes_back_field_for_field(result, tmp_path):
    save(result, tmp_path / "r.json")
    assert load(tmp_path / "r.json") == result
    assert load(str(tmp_path / "r.json")) == result


def test_labels_keep_their_types(result):
    levels = json_file.parse(json_file.render(result)).levels
    assert [type(labels[0]) for labels in levels.values()] == [str, int, bool, str]


@pytest.mark.parametrize("value", [5e-324, 0.1 + 0.2, -0.0, 1e308])
def test_every_float_survives(result, value):
    edge = replace(result.edges[0], gain=value)
    loaded = json_file.parse(json_file.render(replace(result, edges=(edge, *result.edges[1:]))))
    assert repr(loaded.edges[0].gain) == repr(value)


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
@pytest.mark.parametrize("field", ["gain", "gain_given_rest", "entropy_gap"])
def test_an_edge_whose_numbers_are_not_finite_is_refused(result, field, value):
    edge = replace(result.edges[0], **{field: value})
    changed = replace(result, edges=(edge, *result.edges[1:]))
    complaint = f"the {field} of 'rain' → 'lawn' is {value!r}"
    with pytest.raises(SettingError, match=complaint):
        json_file.render(changed)
    with pytest.raises(FileFormatError, match=complaint):
        json_file.parse(dump({**document(result), **to_json(changed)}))


def test_a_setting_that_json_cannot_hold_is_refused(result):
    with pytest.raises(SettingError, match="cannot be written as JSON"):
        json_file.render(replace(result, settings={"search": "node", "odd": object()}))


GARDEN = {
    ("season", "sprinkler"), ("season", "rain"), ("sprinkler", "lawn"), ("rain", "lawn"),
    ("rain", "road"), ("lawn", "shoes"), ("road", "traffic"),
}  # fmt: skip


def test_a_file_comes_back_byte_for_byte():
    """Of the example, with knowledge that season comes before rain."""
    loaded = load(FROZEN)
    assert {(edge.parent, edge.child) for edge in loaded.edges} == GARDEN
    warrants = {(edge.parent, edge.child): edge.warrant for edge in loaded.edges}
    assert warrants["season", "rain"] == "given"
    assert {"given", "equivalence"} < set(warrants.values())
    assert FROZEN.read_bytes() == json_file.render(loaded)


@pytest.mark.parametrize("field", ["search", "information"])
def test_settings_that_lack_what_every_run_has_are_refused(field):
    written = json.loads(FROZEN.read_bytes())
    del written["settings"][field]
    with pytest.raises(FileFormatError, match="settings does not have the fields"):
        json_file.parse(dump(written))


def test_no_damage_of_a_byte_loads_with_other_numbers():
    content, loaded = FROZEN.read_bytes(), load(FROZEN)
    rng = random.Random(5)
    refused = 0
    for _ in range(300):
        place, byte = rng.randrange(len(content)), rng.randrange(256)
        try:
            found = json_file.parse(content[:place] + bytes([byte]) + content[place + 1 :])
        except FileFormatError:
            refused += 1
        else:
            assert found == loaded
    assert refused > 250


def test_a_result_that_could_not_be_read_again_is_not_saved(result, tmp_path):
    endless = replace(result, entropies={**result.entropies, "lawn": math.inf})
    with pytest.raises(SettingError, match=r"cannot be saved .* the entropy of 'lawn' is inf"):
        save(endless, tmp_path / "r.json")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("field", ["edge_price", "units"])
def test_some_settings_may_be_missing(field):
    written = json.loads(FROZEN.read_bytes())
    del written["settings"][field]
    loaded = load(FROZEN)
    settings = {key: value for key, value in loaded.settings.items() if key != field}
    assert json_file.parse(dump(written)) == replace(loaded, settings=settings)


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
        (b'{"format": "tamis result", "version": 5}', "install a newer tamis"),
        (b'{"format": "tamis result", "version": 0}', "its version is 0"),
        (b'{"format": "tamis result", "version": true}', "its version is True"),
        (b'{"format": "tamis result"}', "its version is None"),
        (b'{"format": "tamis result", "version": 3}', "its version is 3, .* learn again"),
        (b'{"format": "tamis result", "version": 4}', "does not have the digest"),
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


@pytest.mark.parametrize("path", [None, 3, b"r.json", ["r.json"]])
def test_only_a_path_can_be_loaded(path):
    with pytest.raises(SettingError, match="a path must be a string"):
        load(path)


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
    "entropy_gap": 0.1, "warrant": "equivalence", "direction_probability": 0.9}  # fmt: skip


ADMITTED = ("trace", "admissions", 0)
REFUSED = ("trace", "selections", 3, "refused")
TAKEN = ("trace", "selections", 3, "taken", 0)


def _nested(depth):
    return [] if depth == 0 else [_nested(depth - 1)]


NESTED = _nested(300)


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
        (_set("edges", 0, "warrant", "lead"), "the warrant of 'rain' → 'lawn' is 'lead'"),
        (_set("edges", 0, "warrant", True), r"edges\[0\].warrant must be a string, not True"),
        (_set("edges", 0, "direction_probability", 1.01), "direction_probability of .* is 1.01"),
        (_set("edges", 0, "direction_probability", -0.1), "direction_probability of .* is -0.1"),
        (_set("edges", 0, "direction_probability", "NaN"), "direction_probability of .* is nan"),
        (_set("edges", 0, "identified", True), "field 'identified' that no"),
        (_set("edges", 0, "warrant", KeyError), "lacks 'warrant'"),
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
        (_set("kinds", []), "kinds must be an object"),
        (_set("kinds", {"rain": "number"}), "kinds is not about the columns"),
        (_set("kinds", dict.fromkeys(["shoes", "lawn", "rain", "hail"], "odd")), "is 'odd'"),
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
        (_set("n_rows", 1), "n_rows is 1"),
        (_set("levels", "lawn", list(range(2001))), "more labels for 'lawn' than there are rows"),
        (_set("names", 0, ""), "names holds an empty name|levels is not about"),
        (_set("entropies", "rain", "NaN"), "the entropy of 'rain' is nan"),
        (_set("entropies", "rain", 0.39), "entropies and trace disagree about 'rain'"),
        (_set(*ADMITTED, "entropy", "Infinity"), "entropy of 'hail' in the trace is inf"),
        (_set(*ADMITTED, "runner_up_entropy", "NaN"), "runner_up_entropy of 'hail' is nan"),
        (_set(*ADMITTED, "runner_up", "hail"), "runner-up of 'hail' is the column itself"),
        (_set(*REFUSED, "gain", "NaN"), "the gain of a test of 'shoes' is nan"),
        (_set(*REFUSED, "value", "Infinity"), "the value of a test of 'shoes' is inf"),
        (_set(*REFUSED, "threshold", "NaN"), "the threshold of a test of 'shoes' is nan"),
        (_set(*REFUSED, "margin", "-Infinity"), "the margin of a test of 'shoes' is -inf"),
        (_set(*REFUSED, "value", 1.5), "no probability"),
        (_set(*REFUSED, "threshold", -0.1), "no probability"),
        (_set(*REFUSED, "unit", "bits"), "unknown unit 'bits'"),
        (_set(*REFUSED, "margin", 0.1), "speaks against what it found"),
        (_set(*TAKEN, "margin", -0.1), "speaks against what it found"),
        (_set(*REFUSED, "others", ["rain", "rain"]), "names another column twice"),
        (_set(*REFUSED, "given", ["lawn", "lawn"]), "names another column twice"),
        (_set(*REFUSED, "given", ["rain"]), "names another column twice"),
        (_set(*REFUSED, "others", ["shoes"]), "the column itself"),
        (_set(*REFUSED, "given", ["shoes"]), "the column itself"),
        (_set("settings", {}), "settings does not have the fields"),
        (_set("settings", "n_jobs", 2), "settings does not have the fields"),
        (_set("settings", "search", "best"), "search must be one of"),
        (_set("settings", "search", "\ud800"), "search must be one of"),
        (_set("settings", "boundary", "all"), "boundary must be one of"),
        (_set("settings", "backward", "twice"), "backward must be one of"),
        (_set("settings", "backward", True), "not in full what a run writes"),
        (_set("settings", "max_boundary", -1), "max_boundary must be"),
        (_set("settings", "max_boundary", True), "max_boundary must be"),
        (_set("settings", "edge_price", "much"), "edge_price must be"),
        (_set("settings", "units", "metres"), "units must be one of"),
        (_set("settings", "tamis", 1), "no version of tamis"),
        (_set("settings", "tamis", "\ud800"), "no version of tamis"),
        (_set("settings", "entropy", "plugin"), "not an entropy estimator"),
        (_set("settings", "entropy", {"estimator": "guess"}), "not an entropy estimator"),
        (_set("settings", "entropy", "base", 2), r"has no parameters \['base'\]"),
        (_set("settings", "entropy", {"estimator": "minimax"}), "not in full"),
        (_set("settings", "boundary_rule", None), "not a decision rule"),
        (_set("settings", "boundary_rule", {"rule": "guess"}), '"rule" must be one of'),
        (_set("settings", "boundary_rule", {"rule": "permutation"}), "not in full"),
        (_set("settings", "boundary_rule", {"rule": "permutation", "alpha": 2}), "alpha must be"),
        (_set("settings", "boundary_rule", "alpha", [[]]), "something in 'boundary_rule'"),
        (_set("settings", "masking_rule", {"rule": "bic"}), "not in full"),
        (_set("settings", "search", "node"), "not in full"),
        (_set("settings", "search", NESTED), "something in 'search'"),
        (_set("names", 0, NESTED), r"names\[0\] must be a string|nested too deeply"),
        (_set("warnings", [None]), r"warnings\[0\] must be a string"),
    ],
)
def test_a_damaged_result_is_refused_with_what_is_wrong(result, change, complaint):
    written = document(result)
    change(written)
    with pytest.raises(FileFormatError, match=complaint):
        json_file.parse(dump(written))


def test_a_name_of_nothing_but_space_is_refused(result):
    written = json.loads(json_file.render(result).replace(b'"hail"', b'" \\t"'))
    with pytest.raises(FileFormatError, match="names holds an empty name"):
        json_file.parse(dump(written))


def _two_parents(result):
    """shoes takes lawn, then rain."""
    selections = list(result.trace.selections)
    second = replace(selections[3].taken[0], others=("rain",), given=("lawn",))
    taken = (*selections[3].taken, second)
    selections[3] = replace(selections[3], taken=taken, refused=None)
    return replace(
        result,
        parents={**result.parents, "shoes": ("lawn", "rain")},
        edges=(*result.edges, Edge("rain", "shoes", 0.2, 1e-20, 2, 0.2, 0.29, "entropy", 0.95)),
        trace=replace(result.trace, selections=tuple(selections)),
    )


def test_a_column_with_two_parents_comes_back(result):
    grown = _two_parents(result)
    assert json_file.parse(json_file.render(grown)) == grown


def test_nothing_is_taken_twice(result):
    written = document(_two_parents(result))
    taken = written["trace"]["selections"][3]["taken"]
    taken.append(taken[1])
    with pytest.raises(FileFormatError, match="'shoes' took a parent twice"):
        json_file.parse(dump(written))


def test_nothing_is_taken_where_no_boundary_was_searched_for(result):
    without = Settings("sequential", boundary="none").to_dict()
    with pytest.raises(SettingError, match="took parents, though"):
        json_file.render(replace(result, settings=without))


def test_an_object_of_many_keys_is_read_in_no_time():
    keys = ", ".join(f'"k{i}": 0' for i in range(200_000))
    with pytest.raises(FileFormatError, match="'k199999' stands twice"):
        json_file.parse(f'{{{keys}, "k199999": 1}}'.encode())


@given(rows(), st.sampled_from(list(SEARCHES)), rules, rules, st.sampled_from(BOUNDARY))
@settings(deadline=None, max_examples=60)
def test_every_result_of_a_run_comes_back(table, search, boundary_rule, masking_rule, boundary):
    boundary = "pps" if search in ("auto", "reference") else boundary
    rules = () if search == "auto" else (boundary_rule, masking_rule)
    made = Settings(search, *rules, boundary=boundary)
    learned = learn(table_of(table), made)
    assert json_file.parse(json_file.render(learned)) == learned


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
@settings(deadline=None, max_examples=80)
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
