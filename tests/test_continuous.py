"""Measured columns from the front door: what is chosen, recorded, refused and found."""

from __future__ import annotations

import csv
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import tamis
from tamis import simulate
from tamis.cli import app
from tamis.errors import DataError, FileFormatError, SettingError
from tamis.formats.consistency import wrong_settings
from tamis.formats.json_file import DIGEST, digest_of
from tamis.information.counted import CountedInformation
from tamis.information.gaussian import GaussianInformation
from tamis.information.interface import Query
from tamis.information.lipschitz import LipschitzInformation
from tamis.information.neighbours import NeighbourInformation
from tamis.learning import readings
from tamis.parameters import KINDS
from tamis.rules import BIC, ChiSquared, Fixed, FTest, LocalPermutation, Permutation, Rate
from tamis.settings import Settings
from tamis.tables import read_table

UNSCORED = ("neighbours", "mixed", "lipschitz")
QUICK = {"neighbours": {"k": 5, "shuffles": 8}, "mixed": {"k": 5, "shuffles": 8}}
"""Fewer shuffles than the defaults: these tests are about what comes of the settings."""


def curve(n: int = 150, seed: int = 3) -> dict[str, np.ndarray]:
    """x, and y that depends on it without any correlation; and z apart."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, n)
    return {"x": x, "y": 3 * x**2 + rng.normal(0, 0.3, n), "z": rng.normal(0, 2, n)}


def with_labels(n: int = 150) -> dict[str, object]:
    table = curve(n)
    return {**table, "side": np.where(table["x"] > 0, "right", "left").tolist()}


def links(model: tamis.TAM) -> set[frozenset[str]]:
    return {frozenset(edge) for edge in model.graph_.edges}


# What is chosen

FLOATS, INTEGERS, BOOLEANS, LABELS = (
    [0.5, 1.5, 2.5, 0.1] * 3,
    [1, 2, 3] * 4,
    [True, False] * 6,
    [
        "a",
        "b",
    ]
    * 6,
)


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ([FLOATS, FLOATS], ["gaussian"]),
        ([FLOATS, INTEGERS], ["conditional-gaussian"]),
        ([FLOATS, LABELS], ["conditional-gaussian"]),
        ([FLOATS, BOOLEANS, INTEGERS], ["conditional-gaussian"]),
        ([LABELS, BOOLEANS], ["counts"]),
        ([INTEGERS, LABELS], ["counts"]),
        ([INTEGERS, INTEGERS], ["counts", "gaussian"]),
    ],
)
def test_the_types_of_the_columns_choose_the_information(columns, expected):
    table = read_table({f"c{k}": c for k, c in enumerate(columns)}, continuous=True)
    assert readings(table, Settings()) == expected
    assert readings(table, Settings(information="copula")) == ["copula"]


def test_floats_beside_labels_are_learned_out_of_the_box():
    model = tamis.TAM().fit(with_labels())
    assert model.result_.settings["information"] == "conditional-gaussian"
    assert frozenset(("x", "side")) in links(model)


@pytest.mark.parametrize("information", UNSCORED)
def test_without_a_likelihood_auto_is_sequential_and_the_record_says_so(information):
    chosen = Settings(information=information)
    assert (chosen.search, chosen.look_ahead) == ("sequential", 1)
    assert Settings(information="copula").search == "auto"


def test_each_source_has_the_rules_that_can_judge_it():
    def rules(information: str, search: str) -> tuple[object, object]:
        chosen = Settings(search, information=information)
        return chosen.boundary_rule, chosen.masking_rule

    assert rules("copula", "node") == rules("gaussian", "node") == (FTest(0.001), FTest(0.01))
    for information in ("neighbours", "mixed"):
        assert rules(information, "auto")[0] == LocalPermutation(0.001)
        assert rules(information, "layer") == (LocalPermutation(0.001), LocalPermutation(0.01))
    assert rules("conditional-gaussian", "node") == (ChiSquared(0.001), ChiSquared(0.01))
    assert rules("lipschitz", "node") == (Fixed(0.04), Fixed(0.04))
    asked = Settings("sequential", information="neighbours", alpha=0.2)
    assert asked.boundary_rule == LocalPermutation(0.2, whole_graph=True)


# What is seen


@pytest.mark.parametrize(
    ("information", "seen"),
    [("gaussian", False), ("copula", False), ("neighbours", True), ("lipschitz", True)],
)
def test_only_neighbours_and_densities_see_a_parabola(information, seen):
    model = tamis.TAM(information=information, source=QUICK.get(information)).fit(curve(300))
    assert links(model) == ({frozenset("xy")} if seen else set())


def test_the_unfaithful_example_is_recovered_by_the_paper_s_search():
    """App. C.7: W and Z are the parents of X, whose effect on Y that of Z hides."""
    found = 0
    for seed in range(20):
        drawn = simulate.draw(model="unfaithful", n=5000, seed=seed)
        model = tamis.TAM("node", information="gaussian").fit(drawn.data)
        found += set(model.graph_.edges) == set(drawn.graph.edges)
    assert found >= 19


@pytest.mark.parametrize("information", ["gaussian", "copula", "conditional-gaussian", *UNSCORED])
@settings(max_examples=3)
@given(order=st.permutations(["x", "y", "z"]))
def test_the_order_of_the_columns_plays_no_part(information, order):
    table = curve(60)
    one, other = (
        tamis.TAM(information=information, source=QUICK.get(information)).fit(
            {name: table[name] for name in names}
        )
        for names in (table, order)
    )
    assert one.entropies_ == other.entropies_
    assert set(one.graph_.edges) == set(other.graph_.edges)


# What is recorded


@pytest.mark.parametrize("information", KINDS)
def test_the_settings_of_every_search_can_be_read_back(information):
    for search in KINDS[information].searches:
        written = Settings(search, information=information).to_dict()
        assert list(wrong_settings(written)) == []


def test_the_settings_of_a_source_are_recorded_in_full():
    recorded = {name: Settings(information=name).to_dict()["source"] for name in KINDS}
    assert recorded.pop("lipschitz")["constant"] == 0.7
    assert recorded == {
        "counts": None,
        "gaussian": None,
        "copula": {"shrinkage": 0.0, "seed": 0},
        "neighbours": {"k": 20, "shuffles": 50, "seed": 0},
        "mixed": {"k": 7, "shuffles": 50, "seed": 0},
        "conditional-gaussian": {"thin": 10},
    }
    given = Settings(information="mixed", source={"k": np.int64(9)}).source
    assert given == {"k": 9, "shuffles": 50, "seed": 0}


@pytest.mark.parametrize("information", ["gaussian", "copula", *UNSCORED])
def test_a_result_comes_back_from_its_file_and_can_be_run_again(information, tmp_path):
    model = tamis.TAM(information=information, source=QUICK.get(information)).fit(curve(80))
    model.save(str(tmp_path / "r.json"))
    loaded = tamis.load(tmp_path / "r.json")
    assert loaded.settings == model.result_.settings
    again = tamis.TAM(
        loaded.settings["search"], information=information, source=loaded.settings["source"]
    )
    if loaded.settings["search"] != "auto":
        again.set_params(boundary_rule=Settings(information=information).boundary_rule)
    assert again.fit(curve(80)).result_.entropies == loaded.entropies


def test_an_edge_without_a_test_has_no_p_value_and_only_there(tmp_path):
    path = tmp_path / "r.json"
    model = tamis.TAM(information="lipschitz").fit(curve(300))
    model.save(str(path))
    assert [math.isnan(edge.p_value) for edge in tamis.load(path).edges] == [True]
    tamis.TAM(information="neighbours", source=QUICK["neighbours"]).fit(curve(300)).save(str(path))
    written = json.loads(path.read_text())
    written["edges"][0]["p_value"] = "NaN"
    path.write_text(json.dumps({**written, DIGEST: digest_of(written)}))
    with pytest.raises(FileFormatError, match=r"the p_value of .* is nan"):
        tamis.load(path)


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ({"k": 0}, "source: k must be a whole number from 1 on, not 0"),
        ({"k": 2.5}, "k must be a whole number"),
        ({"shuffles": 1}, "shuffles must be a whole number from 2 to 100000"),
        ({"seed": -1}, "seed must be"),
        ({"K": 3}, "has no setting 'K'; it has k, shuffles, seed"),
        ("k", "source must be a mapping"),
        ([("k", 3)], "source must be a mapping"),
    ],
)
def test_settings_that_a_source_does_not_have_are_refused(source, complaint):
    with pytest.raises(SettingError, match=complaint):
        tamis.TAM(information="neighbours", source=source).fit(curve(60))
    written = Settings(information="neighbours").to_dict()
    assert list(wrong_settings({**written, "source": source})) != []


@pytest.mark.parametrize(
    ("information", "source", "complaint"),
    [
        ("auto", {"k": 5}, "name it, as in information='neighbours'"),
        ("gaussian", {"k": 5}, "information='gaussian' has no setting 'k'; it has shrinkage"),
        ("counts", {"seed": 5}, "information='counts' has no settings"),
        ("copula", {"shrinkage": 2}, "shrinkage must be a number from 0 to 1, not 2"),
        ("copula", {"shrinkage": math.nan}, "shrinkage must be"),
        ("lipschitz", {"constant": 0}, "source: constant must be a number above 0, not 0"),
        ("lipschitz", {"constant": 10**400}, "too large"),
    ],
)
def test_settings_of_another_source_are_refused(information, source, complaint):
    with pytest.raises(SettingError, match=complaint):
        Settings(information=information, source=source)


# What is refused

QUERY = [Query(0, (), np.array([1]))]


def evidence_of(kind: str):
    table = read_table(curve(60), continuous=True)
    if kind == "neighbours":
        return NeighbourInformation.from_table(table, **QUICK["neighbours"]).tests(QUERY)
    if kind == "lipschitz":
        return LipschitzInformation.from_table(table).tests(QUERY)
    if kind == "gaussian":
        return GaussianInformation.from_table(table).tests(QUERY)
    return CountedInformation(read_table({"a": LABELS, "b": BOOLEANS})).tests(QUERY)


@pytest.mark.parametrize("rule", [Permutation(), ChiSquared(), BIC(), FTest()], ids=repr)
def test_rules_do_not_judge_evidence_whose_law_they_do_not_know(rule):
    with pytest.raises(SettingError, match=f"(?i){rule.name}.*choose 'local-permutation'"):
        rule.strengths(evidence_of("neighbours"))
    with pytest.raises(SettingError, match=r"choose a threshold in nats, such as Fixed"):
        rule.strengths(evidence_of("lipschitz"))


def test_shuffles_do_not_judge_densities_and_thresholds_judge_everything():
    with pytest.raises(SettingError, match=r"no p-values: choose .*Fixed"):
        LocalPermutation().strengths(evidence_of("lipschitz"))
    for kind in ("neighbours", "lipschitz", "gaussian", "counts"):
        evidence = evidence_of(kind)
        for rule in (Fixed(0.1), Rate()):
            np.testing.assert_array_equal(rule.strengths(evidence), evidence.cmi)


def test_the_rules_for_counts_and_moments_still_judge_them():
    for rule in (Permutation(), ChiSquared(), BIC()):
        assert np.isfinite(rule.strengths(evidence_of("counts"))).all()
    for rule in (FTest(), BIC()):
        assert np.isfinite(rule.strengths(evidence_of("gaussian"))).all()


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"search": "layer", "information": "lipschitz"}, "'layer' does not go with .*'node', 's"),
        ({"search": "reference", "information": "neighbours"}, "'reference' does not go with"),
        ({"information": "lipschitz", "boundary": "none"}, "conditions on all nodes before"),
        ({"information": "lipschitz", "max_boundary": 3}, "at most 2 .* not 3"),
        ({"information": "lipschitz", "alpha": 0.1}, "information='lipschitz' compares gains"),
        ({"information": "mixed", "entropy": "plugin"}, "has no such choice"),
        ({"information": "moments"}, "must be one of 'auto', 'counts', 'gaussian', 'copula'"),
    ],
)
def test_what_a_source_cannot_do_is_refused_before_the_work(given, complaint):
    with pytest.raises(SettingError, match=complaint):
        Settings(**given)


def test_smoothed_densities_judge_at_most_two_parents():
    rng = np.random.default_rng(1)
    table = {f"p{k}": rng.normal(size=200) for k in range(4)}
    table["child"] = 3 * sum(table.values()) + rng.normal(size=200)
    model = tamis.TAM(information="lipschitz").fit(table)
    assert max(map(len, model.parents_.values())) == 2


# From measurements to levels


def test_discretised_columns_can_be_counted():
    levels, record = tamis.discretize(curve(400), bins=3)
    assert isinstance(record, tamis.Discretization)
    model = tamis.TAM().fit(levels)
    assert model.result_.settings["information"] == "counts"
    assert links(model) == {frozenset("xy")}
    with pytest.raises(DataError, match=r"tamis\.discretize"):
        tamis.TAM(information="counts").fit(curve(60))


# On the command line


def written(path, table: dict[str, object]) -> str:
    with open(path, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(table)
        out.writerows(zip(*(list(column) for column in table.values()), strict=True))
    return str(path)


def learn(*arguments: str) -> str:
    shown = CliRunner().invoke(app, ["learn", *arguments], env={"COLUMNS": "300"})
    assert shown.exit_code == 0, shown.stderr
    return shown.stdout


def edges_in(path) -> list[set[str]]:
    with open(path, newline="") as file:
        return [{edge["parent"], edge["child"]} for edge in csv.DictReader(file)]


def refused(*arguments: str) -> str:
    shown = CliRunner().invoke(app, ["learn", *arguments])
    assert (shown.exit_code, shown.stdout) == (2, "")
    assert shown.stderr.startswith("Error: ")
    assert "Traceback" not in shown.stderr
    return shown.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["copula"], "moments of the columns' ranks: monotone dependence (shrinkage 0.0, seed 0)"),
        (["neighbours", "--source", "k=5", "--source", "shuffles=8"], "(k 5, shuffles 8, seed 0)"),
        (["lipschitz"], "smoothed densities: any dependence, no tests and so no p-values"),
        (["lipschitz", "--search", "node", "--source", "split=true"], "split True"),
    ],
)
def test_the_command_takes_every_source_with_its_settings(options, words, tmp_path):
    shown = learn(written(tmp_path / "t.csv", curve(100)), "--details", "--information", *options)
    assert words in shown
    assert ("no test" in shown) == ("lipschitz" in options)


def test_a_column_twice_is_one_strong_edge_to_smoothed_densities(tmp_path):
    table = curve(60)
    path = written(tmp_path / "t.csv", {**table, "twin": table["x"]})
    out = tmp_path / "edges.csv"
    learn(path, "--information", "lipschitz", "--out", str(out))
    assert {"twin", "x"} in edges_in(out)


@pytest.mark.parametrize("seed", range(4))
def test_whole_numbers_may_be_counted_in_any_unit(seed):
    rng = np.random.default_rng(seed)
    first = rng.poisson(3, 600)
    second = rng.poisson(1 + 0.6 * first)
    third = rng.poisson(0.5 + 0.5 * second)
    counts = np.column_stack([first, second, third])
    plain, scaled = (
        tamis.TAM(n_jobs=1).fit(table) for table in (counts, counts * [12, 1, 1000] + [5, 0, 7])
    )
    assert scaled.parents_ == plain.parents_
    assert scaled.entropies_ == plain.entropies_
