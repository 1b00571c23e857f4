"""Tests that a researcher brings: functions of a pair, and the tests of other libraries."""

from __future__ import annotations

import math
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from causallearn.utils.cit import CIT

import tamis
from tamis import adapters
from tamis.decisions.specification import as_rule, attached
from tamis.information.interface import Group, Query
from tamis.rules import CallableTest, ChiSquared, Permutation

with warnings.catch_warnings():
    warnings.simplefilter("ignore", FutureWarning)  # of modules beside the one that is wanted
    from pgmpy.ci_tests import Pearsonr
    from pgmpy.estimators.CITests import chi_square, pearsonr

pytestmark = pytest.mark.filterwarnings("ignore:.* is deprecated:FutureWarning")

ASKED: list[tuple[int, int, tuple[int, ...]]] = []


def levels(n: int = 400) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    a = rng.integers(0, 3, n)
    b = (a + (rng.random(n) < 0.3)) % 3
    c = (b + (rng.random(n) < 0.3)) % 3
    return pd.DataFrame({"c": c, "a": a, "b": b})


def numbers(n: int = 200) -> pd.DataFrame:
    steps = np.random.default_rng(4).normal(size=(n, 3))
    return pd.DataFrame(steps.cumsum(axis=1), columns=list("xyz"))


def as_the_source_does(source, x, y, given) -> float:
    """The p-value of the source's own test, asked for one by one."""
    ASKED.append((x, y, given))
    return float(np.exp(source.tests([Query(x, given, np.array([y]))]).log_p[0]))


@pytest.mark.parametrize("search", ["node", "sieve", "sequential"])
def test_a_function_in_place_of_the_sources_own_test_changes_nothing(search: str):
    ASKED.clear()
    ours = tamis.TAM(search).fit(levels()).result_
    theirs = tamis.TAM(
        search, boundary_rule=as_the_source_does, masking_rule=as_the_source_does
    ).fit(levels())
    assert (theirs.result_.trace, theirs.result_.edges) == (ours.trace, ours.edges)
    assert len(set(ASKED)) == len(ASKED)


def test_what_judged_is_recorded_and_read_back(tmp_path):
    model = tamis.TAM("node", boundary_rule=as_the_source_does).fit(levels())
    assert model.result_.settings["boundary_rule"] == {
        "rule": f"{__name__}.as_the_source_does",
        "alpha": 0.001,
        "unit": "p",
    }
    model.save(tmp_path / "run.json")
    assert tamis.load(tmp_path / "run.json") == model.result_
    assert "as_the_source_does" in str(model.result_.settings)


def test_auto_refines_with_a_function_too():
    found = tamis.TAM(boundary_rule=as_the_source_does, masking_rule=as_the_source_does)
    plain = tamis.TAM(boundary_rule=Permutation(0.02, whole_graph=True), look_ahead=1)
    assert found.fit(levels()).result_.parents == plain.fit(levels()).result_.parents


def source():
    from tamis.information.counted import CountedInformation
    from tamis.tables import read_table

    return CountedInformation(read_table(levels()))


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (math.nan, "returned nan"),
        (1.5, r"returned 1\.5; a p-value is a number from 0 to 1"),
        (-0.1, "returned -0.1"),
        (True, "returned True"),
        ("0.5", "returned '0.5'"),
        (None, "returned None"),
        (np.array([0.5]), r"returned array\(\[0.5\]\)"),
    ],
)
def test_what_is_no_p_value_is_refused_with_the_function_and_the_pair(answer, message):
    def wrong(source, x, y, given):
        return answer

    rule = as_rule(wrong)
    tests = attached(source(), rule).tests([Query(0, (1,), np.array([2]))])
    with pytest.raises(tamis.PluginError, match=message) as refused:
        rule.strengths(tests)
    assert "wrong of 'c' and 'b' given ['a']" in str(refused.value)


def test_an_exception_inside_a_function_is_named_and_kept():
    def broken(source, x, y, given):
        raise ZeroDivisionError("no rows")

    with pytest.raises(
        tamis.PluginError, match=r"broken .* failed with ZeroDivisionError"
    ) as error:
        tamis.TAM("node", boundary_rule=broken).fit(levels())
    assert isinstance(error.value.__cause__, ZeroDivisionError)


def test_a_function_of_pairs_does_not_judge_groups():
    rule = as_rule(as_the_source_does)
    tests = attached(source(), rule).joint_tests([Group(0, (), (1, 2))])
    assert Permutation().strengths(tests) > 10
    with pytest.raises(tamis.SettingError, match="one column with one other, and here 2"):
        rule.strengths(tests)
    with pytest.raises(tamis.SettingError, match="search='layer' tests a node with a whole layer"):
        tamis.TAM("layer", masking_rule=as_the_source_does).fit(levels())
    with pytest.raises(tamis.SettingError, match="look_ahead=2 needs look-ahead"):
        tamis.TAM("node", boundary_rule=as_the_source_does, look_ahead=2).fit(levels())


def test_two_functions_of_one_name_stay_apart():
    one, other = (as_rule(lambda source, x, y, given, p=p: p) for p in (0.5, 0.25))
    both = attached(source(), one, other, one)
    tests = both.tests([Query(0, (), np.array([1, 2]))]).at(np.array([1]))
    tests = tests.followed_by([both.tests([Query(1, (0,), np.array([2]))])])
    assert one.p_values(tests) == pytest.approx([0.5, 0.5])
    assert other.p_values(tests) == pytest.approx([0.25, 0.25])
    assert len(both.test_names) == 4


def test_a_class_is_no_function():
    with pytest.raises(tamis.SettingError, match="CallableTest: function must be callable"):
        CallableTest(function=dict)


# --- the tests of other libraries ----------------------------------------------------------


@pytest.mark.parametrize("method", ["gsq", "chisq"])
def test_levels_have_the_p_values_of_causal_learn(method: str):
    rule, test = adapters.from_causal_learn(method, levels()), CIT(levels().to_numpy(), method)
    for x, y, given in [(0, 1, ()), (0, 1, (2,)), (1, 2, (0,))]:
        tests = attached(source(), rule).tests([Query(x, given, np.array([y]))])
        assert rule.p_values(tests)[0] == pytest.approx(max(test(x, y, list(given)), 1e-300))


def test_the_g_test_of_causal_learn_and_pgmpy_is_ours_where_all_cells_are_filled():
    query = [Query(0, (), np.array([1, 2])), Query(0, (2,), np.array([1]))]
    ours = ChiSquared().p_values(source().tests(query))
    for rule in (
        adapters.from_causal_learn("gsq", levels()),
        adapters.from_pgmpy("g_sq", levels()),
    ):
        theirs = rule.p_values(attached(source(), rule).tests(query))
        assert theirs[:2] == pytest.approx(ours[:2], rel=1e-6, abs=1e-12)


def test_a_function_of_pgmpy_has_its_own_p_value():
    rule = adapters.from_pgmpy(chi_square, levels())
    found = rule.p_values(attached(source(), rule).tests([Query(0, (2,), np.array([1]))]))
    assert found[0] == pytest.approx(chi_square("c", "a", ["b"], levels(), boolean=False)[1])


@pytest.mark.parametrize("columns", [["x", "y", "z"], ["z", "x", "y"]])
def test_columns_are_found_by_name_whatever_their_order(columns):
    data = numbers()[columns]
    by_object = Pearsonr(numbers()).run_test("z", "x", ["y"])[1]
    by_function = pearsonr("z", "x", ["y"], numbers(), boolean=False)[1]
    for test, by_hand in (("pearsonr", by_object), (pearsonr, by_function)):
        rule = adapters.from_pgmpy(test, data)
        found = tamis.TAM("node", boundary_rule=rule, masking_rule=rule).fit(numbers())
        judged = {(v.target, v.others, v.given): v.value for v in found.result_.trace.verdicts()}
        assert judged["z", ("x",), ("y",)] == pytest.approx(by_hand)
        assert found.result_.parents == {"x": (), "y": ("x",), "z": ("y",)}


def test_a_test_that_was_made_already_is_used_as_it_is(tmp_path):
    made = CIT(numbers().to_numpy(), "kci")
    rule = adapters.from_causal_learn(made, numbers(), alpha=0.01)
    model = tamis.TAM("sequential", boundary_rule=rule).fit(numbers())
    assert model.result_.parents == {"x": (), "y": ("x",), "z": ("y",)}
    assert model.result_.settings["boundary_rule"] == {
        "rule": "causallearn.utils.cit.KCI",
        "method": "kci",
        "alpha": 0.01,
        "unit": "p",
    }
    model.save(tmp_path / "run.json")
    assert tamis.load(tmp_path / "run.json") == model.result_


def test_a_test_of_another_library_is_bound_to_its_rows_and_a_function_is_not():
    assert adapters.from_pgmpy("pearsonr", numbers()).knows_rows
    assert not as_rule(as_the_source_does).knows_rows


REVERSED = numbers()[::-1].reset_index(drop=True)


@pytest.mark.parametrize(
    "make",
    [
        lambda: adapters.from_causal_learn(CIT(REVERSED.to_numpy(), "fisherz"), numbers()),
        lambda: adapters.from_causal_learn(CIT(levels()[::-1].to_numpy(), "gsq"), levels()),
        lambda: adapters.from_causal_learn(CIT(numbers().to_numpy()[:, :2]), numbers()),
        lambda: adapters.from_pgmpy(Pearsonr(REVERSED), numbers()),
        lambda: tamis.TAM(
            "node", boundary_rule=adapters.from_causal_learn("fisherz", REVERSED)
        ).fit(numbers()),
        lambda: tamis.TAM(
            "node", boundary_rule=adapters.from_pgmpy("chi_square", levels()[["c", "a", "b"]][::-1])
        ).fit(levels()),
    ],
)
def test_a_test_of_other_rows_is_refused_though_they_are_as_many(make):
    with pytest.raises(tamis.SettingError, match="make the test of the table that is fitted"):
        make()


def test_labels_and_the_order_of_columns_do_not_make_other_rows():
    named = levels().astype(str).map("level {}".format)
    for frame in (named, named[["b", "a", "c"]], named.astype("category")):
        rule = adapters.from_pgmpy("chi_square", frame)
        assert tamis.TAM("sequential", boundary_rule=rule).fit(named).order_


@pytest.mark.parametrize(
    ("make", "test", "options", "said"),
    [
        (adapters.from_causal_learn, "kci", {"kernelQ": "Linear"}, "KCI has no option 'kernelQ'"),
        (adapters.from_causal_learn, "fisherz", {"kernelX": "Linear"}, "FisherZ has no option"),
        (adapters.from_causal_learn, CIT(numbers().to_numpy()), {"a": 1}, "where the test is made"),
        (adapters.from_causal_learn, "nonsense", {}, "causal-learn's nonsense failed"),
        (adapters.from_pgmpy, "g_sq", {"lambda_": "neyman"}, "GSq has no option 'lambda_'"),
        (adapters.from_pgmpy, pearsonr, {"seed": 1}, "pearsonr has no option 'seed'"),
        (adapters.from_pgmpy, min, {"seed": 1}, "builtins.min has no option 'seed'"),
        (adapters.from_pgmpy, "nonsense", {}, "pgmpy's nonsense failed"),
    ],
)
def test_options_that_no_test_reads_are_refused(make, test, options, said):
    with pytest.raises(tamis.SettingError, match=said):
        make(test, numbers(), **options)


def test_options_that_a_test_reads_are_recorded():
    rule = adapters.from_causal_learn("kci", numbers(), est_width="median")
    assert rule.recorded()["est_width"] == "median"
    rule = adapters.from_pgmpy("power_divergence", levels(), lambda_="pearson")
    assert rule.recorded()["lambda_"] == "pearson"
    plain = adapters.from_pgmpy("chi_square", levels())
    query = [Query(0, (2,), np.array([1]))]
    both = [one.p_values(attached(source(), one).tests(query)) for one in (rule, plain)]
    assert both[0] == pytest.approx(both[1])


def test_a_column_that_the_test_does_not_know_is_named():
    rule = adapters.from_causal_learn("fisherz", numbers()[["x", "y"]])
    with pytest.raises(tamis.SettingError, match=r"column 'z' is not among .* 'x', 'y'"):
        tamis.TAM("node", boundary_rule=rule, masking_rule=rule).fit(numbers())


@pytest.mark.parametrize(
    ("make", "module", "package"),
    [
        (adapters.from_causal_learn, "causallearn.utils.cit", "causal-learn"),
        (adapters.from_pgmpy, "pgmpy.ci_tests", "pgmpy"),
    ],
)
def test_a_library_that_is_not_there_is_named(monkeypatch, make, module, package):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(tamis.SettingError, match=f"pip install {package}"):
        make("anything", numbers())
