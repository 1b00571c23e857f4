"""TAM with what a researcher brings, from the front door to the file.

What single plug-ins answer is looked at in tests/outside; here they are learned with, recorded,
read back, explained and reported, and bad ones lose nothing.
"""

from __future__ import annotations

import copy
import json
import math
from dataclasses import dataclass
from functools import partial
from html import escape
from itertools import combinations, count

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import entr
from sklearn.base import clone

import tamis
from tamis.formats.json_file import DIGEST, digest_of
from tamis.information.counted import CountedInformation
from tamis.rules import PValue, Rule
from tamis.search import paper
from tamis.tables import read_table

mpl.use("Agg")

HERE = __name__


def chain(n: int = 1500, seed: int = 0) -> pd.DataFrame:
    """a -> b -> c and a -> d, each a noisy copy; a is the least uncertain."""
    rng = np.random.default_rng(seed)
    a = rng.random(n) < 0.15
    b = a ^ (rng.random(n) < 0.15)
    c = b ^ (rng.random(n) < 0.15)
    d = a ^ (rng.random(n) < 0.2)
    return pd.DataFrame({"c": c, "a": a, "d": d, "b": b}).astype(int)


TRUTH = {("a", "b"), ("b", "c"), ("a", "d")}


# --- what is plugged in ----------------------------------------------------------------------


def chao_shen(counts) -> float:
    """Chao and Shen (2003): Horvitz and Thompson's correction of the covered share."""
    n, singles = counts.sum(), np.count_nonzero(counts == 1)
    covered = 1 - min(singles, n - 1) / n
    p = covered * counts / n
    return float((entr(p) / (1 - (1 - p) ** n)).sum())


def forward(source, target, candidates, threshold=0.01):
    """PPS, written from outside on single questions."""
    members = []
    while left := [one for one in candidates if one not in members]:
        row = source.cmi([tamis.Context(target, tuple(sorted(members)))])[0]
        best = max(left, key=lambda one: row[one])
        if not row[best] > threshold:
            break
        members.append(best)
    return members


def best_scored(source, target, candidates):
    """The set of up to two candidates with the largest score."""
    sets = [s for size in range(3) for s in combinations(candidates, size)]
    scores = source.penalised_likelihoods([tamis.Context(target, s) for s in sets])
    return sets[int(np.argmax(scores))]


def own_test(source, x, y, given):
    """The p-value of the source's own test."""
    return float(np.exp(source.tests([tamis.Query(x, given, np.array([y]))]).log_p[0]))


@dataclass(frozen=True)
class Rising(Rule):
    """A threshold that rises with the number of candidates."""

    least: float = 0.005

    def strengths(self, tests):
        return tests.cmi

    def threshold_for(self, n_tests):
        return self.least * np.sqrt(np.maximum(n_tests, 1))


class Plugin(tamis.Source):
    """Plug-in entropies of a table, the slow way; no test."""

    def __init__(self, table: tamis.TableView) -> None:
        self.names, self.n_rows = table.names, table.n_rows
        self._rows = np.column_stack([table.codes(name) for name in table.names])

    def entropies(self, contexts):
        return np.array([self._of([k, *s]) - self._of(list(s)) for k, s in contexts])

    def _of(self, members) -> float:
        if not members:
            return 0.0
        counts = np.unique(self._rows[:, members], axis=0, return_counts=True)[1]
        return float(entr(counts / counts.sum()).sum())


class Ratio(Plugin):
    """The same with a test: the likelihood ratio of binary columns."""

    test_names = ("ratio",)

    def tests(self, queries):
        cmi = super().tests(queries).cmi
        p = [math.erfc(math.sqrt(max(self.n_rows * one, 0.0))) for one in cmi]
        return tamis.Tests(cmi, np.log(np.maximum(p, 1e-300)), n_rows=self.n_rows)


class Known(tamis.Source):
    """A law that is known: u -> v -> w, noisy copies."""

    names, n_rows = ("w", "u", "v"), math.inf

    def __init__(self, flip: float = 0.15) -> None:
        self.flip = flip

    def entropies(self, contexts):
        return np.array([self._of({k, *s}) - self._of({*s}) for k, s in contexts])

    def _of(self, members) -> float:
        copy = np.array([[1 - self.flip, self.flip], [self.flip, 1 - self.flip]])
        law = np.einsum("u,uv,vw->wuv", np.array([0.9, 0.1]), copy, copy)
        return float(entr(law.sum(axis=tuple({0, 1, 2} - members))).sum())


PLUGINS = {
    "entropy": {"entropy": chao_shen},
    "boundary": {"boundary": forward},
    "boundary with parameters": {"boundary": partial(forward, threshold=0.02)},
    "boundary by score": {"boundary": best_scored, "search": "sequential"},
    "test": {"boundary_rule": own_test, "masking_rule": own_test, "search": "node"},
    "rule": {"boundary_rule": Rising(0.01), "masking_rule": Rising(), "search": "node"},
    "function of a table": {"information": lambda t: Ratio(t)},
    "untested": {"information": lambda t: Plugin(t), "boundary_rule": 0.01},
}


@pytest.fixture(scope="module", params=PLUGINS.values(), ids=PLUGINS)
def plugged(request) -> tamis.TAM:
    """A model that learned the chain with each plug-in, once for all tests."""
    return tamis.TAM(**request.param).fit(chain())


@pytest.fixture(scope="module")
def plain() -> tamis.TAM:
    return tamis.TAM("node").fit(chain())


# --- what comes out --------------------------------------------------------------------------


def test_the_chain_is_learned_with_every_plug_in(plugged):
    assert set(plugged.graph_.edges) == TRUTH


def test_a_result_is_saved_read_explained_drawn_and_reported(plugged, tmp_path):
    model = plugged
    model.save(str(tmp_path / "run.json"), str(tmp_path / "net.bif"), str(tmp_path / "g.graphml"))
    loaded = tamis.load(tmp_path / "run.json")
    assert repr(loaded) == repr(model.result_)
    assert loaded.settings == model.result_.settings
    for name in "abcd":
        assert loaded.explain(name) == model.explain(name)
    assert model.plot() is not None
    model.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    for name in named_in(model.result_.settings):
        assert escape(name) in page


def named_in(recorded) -> list[str]:
    """The qualified names of what is from here."""
    found = json.dumps(recorded).split('"')
    return [one for one in found if one.startswith(HERE)]


@pytest.mark.parametrize(
    ("parameters", "field", "written"),
    [
        ({"entropy": chao_shen}, "entropy", {"estimator": f"{HERE}.chao_shen"}),
        ({"boundary": forward}, "boundary", {"boundary": f"{HERE}.forward"}),
        (
            {"boundary": partial(forward, threshold=0.02)},
            "boundary",
            {"boundary": f"{HERE}.forward", "threshold": 0.02},
        ),
        (
            {"boundary_rule": own_test, "search": "node"},
            "boundary_rule",
            {"rule": f"{HERE}.own_test", "alpha": 0.001, "unit": "p"},
        ),
        (
            {"boundary_rule": Rising(0.01), "search": "node"},
            "boundary_rule",
            {"rule": f"{HERE}.Rising", "least": 0.01, "unit": "nats"},
        ),
        ({"information": lambda t: Ratio(t)}, "information", f"{HERE}.<lambda>"),
    ],
)
def test_what_was_used_is_recorded_by_its_name_and_parameters(parameters, field, written):
    assert tamis.TAM(**parameters).fit(chain()).result_.settings[field] == written


def test_models_with_plug_ins_are_cloned_shown_and_set(plugged):
    twin = clone(plugged)
    assert repr(twin).startswith("TAM(")
    fresh = tamis.TAM().set_params(**twin.get_params())
    assert fresh.fit(chain()).result_ == plugged.result_


def test_a_file_with_plug_ins_can_be_read_where_they_are_not(tmp_path):
    path = tmp_path / "run.json"
    tamis.TAM("node", entropy=chao_shen, boundary=forward).fit(chain()).save(str(path))
    written = json.loads(path.read_text().replace(HERE, "somewhere.else"))
    path.write_text(json.dumps({**written, DIGEST: digest_of(written)}))
    loaded = tamis.load(path)
    assert loaded.settings["entropy"] == {"estimator": "somewhere.else.chao_shen"}
    assert loaded.settings["boundary"] == {"boundary": "somewhere.else.forward"}
    assert "found by somewhere.else.forward" in loaded.explain("b")


def judging(
    strengths=lambda self, tests: tests.cmi, threshold_for=lambda self, n_tests: 0.01, **others
):
    """A rule with these methods."""
    methods = {"strengths": strengths, "threshold_for": threshold_for, "__module__": HERE}
    return type("Judging", (Rule,), methods | others)()


class Ambiguous:
    """What is equal to everything and to nothing."""

    __hash__ = object.__hash__

    def __eq__(self, other):
        return np.array([True, False])

    def __repr__(self):
        raise ValueError("no words")


def judge_pair(strange, source, x, y, given, rule=0, alpha=0, unit=0):
    return own_test(source, x, y, given)


def called(name, module=HERE):
    """A search of this name."""

    def search(source, target, candidates):
        return forward(source, target, candidates)

    search.__qualname__, search.__module__ = name, module
    return search


def kept(**attributes):
    """A rule that has these attributes."""
    rule = judging()
    vars(rule).update(attributes)
    return rule


RECORDS = {
    "parameters called like fields": (
        {"boundary_rule": partial(judge_pair, None, rule=1, alpha=2, unit=3)},
        {"rule_": 1, "alpha_": 2, "unit_": 3, "strange": None, "rule": f"{HERE}.judge_pair"},
    ),
    "things": (
        {"boundary_rule": kept(thing=object(), tools=[forward], bad=Ambiguous())},
        {"thing": "<object object>", "tools": "[<function forward>]", "bad": f"<{HERE}.Ambiguous>"},
    ),
    "what no file holds": (
        {"boundary_rule": kept(huge=10**9999, lone="\ud800", data=np.zeros(999), no=math.nan)},
        {"huge": "<builtins.int>", "no": "nan", "unit": "nats"},
    ),
    "an odd name": ({"boundary": called('a b"\ud800..')}, {"boundary": f"{HERE}.a?b??.?.?"}),
}


@pytest.mark.parametrize(("parameters", "told"), RECORDS.values(), ids=RECORDS)
def test_whatever_is_recorded_is_read_back_and_holds_no_address(parameters, told, tmp_path):
    model = tamis.TAM("node", **parameters).fit(chain())
    written = model.result_.settings[next(iter(parameters))]
    assert told.items() <= written.items()
    assert "0x" not in str(written)
    assert not {"cache_parameters", "data", "lone"} & written.keys()
    model.save(str(tmp_path / "run.json"))
    assert tamis.load(tmp_path / "run.json").settings == model.result_.settings


# --- against brute force ---------------------------------------------------------------------


tables = st.tuples(st.integers(0, 10**6), st.integers(30, 120), st.integers(2, 3)).map(
    lambda drawn: dependent_rows(*drawn)
)


def dependent_rows(seed: int, n: int, arity: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, arity, n)]
    for _ in range(4):
        kept = rng.random(n) < 0.6
        columns.append(
            np.where(kept, columns[rng.integers(len(columns))], rng.integers(0, arity, n))
        )
    rows = np.column_stack(columns)
    return rows[:, [len(np.unique(column)) > 1 for column in rows.T]]


@pytest.mark.parametrize("search", ["node", "sequential", "layer"])
@given(rows=tables)
def test_pps_from_outside_gives_what_the_built_in_gives(search, rows):
    rule = {"masking_rule": 0.02} if search != "sequential" else {}
    ours = tamis.TAM(search, boundary=partial(forward, threshold=0.02), **rule).fit(rows)
    built_in = tamis.TAM(search, boundary_rule=0.02, backward=False, **rule).fit(rows)
    assert ours.layers_ == built_in.layers_
    assert ours.order_ == built_in.order_
    assert {k: set(v) for k, v in ours.parents_.items()} == {
        k: set(v) for k, v in built_in.parents_.items()
    }
    assert ours.trace_.maskings == built_in.trace_.maskings


@given(rows=tables)
def test_a_boundary_search_from_outside_runs_in_the_loop_that_the_paper_prints(rows):
    names = [f"x{k}" for k in range(rows.shape[1])]
    model = tamis.TAM("node", boundary=forward, masking_rule=0.02, entropy="plugin")
    model.fit(pd.DataFrame(rows, columns=names))
    counts = CountedInformation(read_table(pd.DataFrame(rows, columns=names)), "plugin")
    graph, layers = paper.tam(counts, 0.02, 0.0, forward)
    assert [{names.index(one) for one in layer} for layer in model.layers_] == layers
    assert {names.index(k): {names.index(p) for p in v} for k, v in model.parents_.items()} == graph


def test_a_boundary_search_is_asked_for_all_that_remain_after_every_layer():
    asked = []

    def listening(source, target, candidates):
        asked.append((source.names[target], tuple(source.names[c] for c in candidates)))
        return forward(source, target, candidates)

    model = tamis.TAM("node", boundary=listening).fit(chain())
    assert model.layers_ == [["a"], ["b", "d"], ["c"]]
    assert asked == [("b", ("a",)), ("c", ("a",)), ("d", ("a",)), ("c", ("a", "b", "d"))]


def test_knowledge_limits_the_candidates_of_a_boundary_search():
    asked = []

    def listening(source, target, candidates):
        asked.append((source.names[target], {source.names[c] for c in candidates}))
        return ()

    knowledge = {"forbidden": ["a -> c"], "required": ["a -> d"]}
    model = tamis.TAM("node", boundary=listening, knowledge=knowledge).fit(chain())
    assert not any(name == "c" and "a" in candidates for name, candidates in asked)
    assert set(model.graph_.edges) == {("a", "d")}


# --- sources ---------------------------------------------------------------------------------


def test_a_known_law_is_learned_from_without_a_table(tmp_path):
    model = tamis.TAM(information=Known(0.2)).fit()
    assert set(model.graph_.edges) == {("u", "v"), ("v", "w")}
    assert model.result_.n_rows is None
    assert "a known law" in repr(model.result_)
    assert model.result_.settings["information"] == f"{HERE}.Known"
    assert model.result_.settings["source"] == {"flip": 0.2}
    assert all(math.isnan(edge.p_value) for edge in model.result_.edges)
    model.save(str(tmp_path / "run.json"))
    loaded = tamis.load(tmp_path / "run.json")
    assert repr(loaded) == repr(model.result_)
    assert loaded.explain("w") == model.explain("w")
    model.report(tmp_path / "page.html")
    assert "a known law" in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize("search", ["node", "layer", "sequential"])
def test_every_search_runs_on_a_source(search):
    model = tamis.TAM(search, information=Known()).fit()
    assert set(model.graph_.edges) == {("u", "v"), ("v", "w")}


def test_a_table_beside_a_source_gives_labels_and_the_answers_are_the_sources(tmp_path):
    table = pd.DataFrame(np.random.default_rng(0).integers(0, 2, (50, 3)), columns=list("vuw"))
    model = tamis.TAM(information=Known()).fit(table)
    assert set(model.graph_.edges) == {("u", "v"), ("v", "w")}
    assert model.result_.names == ("v", "u", "w")
    assert model.result_.levels["u"] == (0, 1)
    model.save(str(tmp_path / "net.bif"))


def test_what_needs_rows_says_so_without_any():
    model = tamis.TAM(information=Known()).fit()
    for ask in (model.bootstrap, model.recovery_check, model.to_pgmpy):
        with pytest.raises(tamis.SettingError, match=r"learned from .*Known and not from rows"):
            ask()


def test_a_source_without_a_test_asks_for_a_threshold_where_the_law_is_not_known():
    with pytest.raises(tamis.SettingError, match=r"boundary_rule: .*<lambda> has no test.*in nats"):
        tamis.TAM(information=lambda t: Plugin(t)).fit(chain())
    with pytest.raises(tamis.SettingError, match=r"masking_rule: .*<lambda> has no test"):
        tamis.TAM("node", information=lambda t: Plugin(t), boundary_rule=0.01).fit(chain())


def test_a_source_is_judged_by_its_own_test():
    model = tamis.TAM("node", information=lambda t: Ratio(t)).fit(chain())
    assert model.result_.settings["boundary_rule"] == {"rule": "p-value", "alpha": 0.001}
    assert all(0 <= edge.p_value < 1e-6 for edge in model.result_.edges)
    rule = PValue(0.05)
    again = tamis.TAM("node", information=lambda t: Ratio(t), boundary_rule=rule).fit(chain())
    assert again.result_.settings["boundary_rule"]["alpha"] == 0.05


def test_a_function_of_a_table_sees_names_levels_codes_numbers_and_a_frame():
    seen = []

    def look(table):
        seen.append(table)
        return Plugin(table)

    frame = pd.DataFrame({"z": ["no", "yes"] * 20, "y": [3, 1, 2, 2] * 10})
    tamis.TAM(information=look, boundary_rule=0.01).fit(frame)
    (table,) = seen
    assert (table.names, table.n_rows, table.weights) == (("y", "z"), 40, None)
    assert table.levels == {"y": (1, 2, 3), "z": ("no", "yes")}
    assert table.codes("z")[:4].tolist() == [0, 1, 0, 1]
    assert table.numbers("y")[:4].tolist() == [3.0, 1.0, 2.0, 2.0]
    assert table.matrix()[:2].tolist() == [[3.0, 0.0], [1.0, 1.0]]
    pd.testing.assert_frame_equal(table.to_pandas(), frame[["y", "z"]])
    with pytest.raises(tamis.DataError, match="'z' holds labels"):
        table.numbers("z")
    with pytest.raises(tamis.SettingError, match="no column 'q'"):
        table.codes("q")


def test_a_function_of_a_table_sees_continuous_columns_and_missing_values():
    seen = []

    def look(table):
        seen.append(table)
        raise RuntimeError("seen enough")

    frame = pd.DataFrame({"x": [0.5, 1.25, 2.0] * 9, "k": ["a", None, "b"] * 9})
    for columns, missing in ((["x", "x"], "error"), (["k", "k"], "pairwise")):
        both = frame[columns].set_axis(["p", "q"], axis=1)
        with pytest.raises(tamis.PluginError, match="look failed with RuntimeError: seen enough"):
            tamis.TAM(information=look, missing=missing).fit(both)
    numbers, gapped = seen
    assert numbers.levels["p"] == ()
    assert numbers.numbers("p")[:3].tolist() == [0.5, 1.25, 2.0]
    with pytest.raises(tamis.DataError, match="'p' is continuous"):
        numbers.codes("p")
    assert gapped.codes("p")[:3].tolist() == [0, -1, 1]
    assert gapped.to_pandas()["p"].isna().tolist()[:3] == [False, True, False]


# --- what goes on from there -----------------------------------------------------------------


def test_resamples_are_learned_with_every_plug_in(plugged):
    confidence = plugged.bootstrap(3)
    assert confidence.edges["a", "b"] == 1.0


@pytest.mark.parametrize("name", ["entropy", "boundary", "test", "function of a table"])
def test_drawn_tables_are_learned_with_plug_ins(name):
    model = tamis.TAM(**PLUGINS[name]).fit(chain())
    assert model.recovery_check(2, conditions=False).edges["a", "b"] == 1.0


def test_what_was_made_of_one_table_is_not_used_on_others():
    frame = chain()

    class Held:
        knows_rows = True

        def __call__(self, source, x, y, given):
            return 0.5

    model = tamis.TAM("sequential", boundary_rule=Held()).fit(frame)
    for ask in (model.bootstrap, model.recovery_check):
        with pytest.raises(tamis.SettingError, match=r"learns from other rows, and .*was made of"):
            ask(2)
    bound = tamis.TAM(information=Known()).fit(
        pd.DataFrame(np.random.default_rng(0).integers(0, 2, (50, 3)), columns=list("uvw"))
    )
    with pytest.raises(tamis.SettingError, match=r"bootstrap learns from other rows, and .*Known"):
        bound.bootstrap(2)


# --- bad plug-ins ----------------------------------------------------------------------------


def returns(value):
    return lambda *_: value


class Unnamed(Plugin):
    def __init__(self, table):
        super().__init__(table)
        self.names = tuple(reversed(table.names))


def summing(terms=lambda counts: counts * 0.0, **others):
    """An additive estimator with these terms."""
    methods = {"terms": lambda self, counts, n_rows, support: terms(counts), "__module__": HERE}
    return type("Summing", (tamis.EntropyEstimator,), {"name": "summing", **methods, **others})()


FALLING = count(1.0, -0.3)

BAD = {
    "a term of nan": (
        {"entropy": summing(lambda counts: counts * math.nan)},
        "Summing.terms returned .*nan.* finite",
    ),
    "a broken estimator": (
        {"entropy": summing(lambda counts: 1 / 0)},
        "Summing.terms failed with ZeroDivisionError",
    ),
    "a strength of nan": (
        {"boundary_rule": judging(lambda self, tests: tests.cmi * math.nan)},
        r"Judging.strengths returned array\(.*nan.*finite",
    ),
    "a threshold that falls": (
        {"boundary_rule": judging(threshold_for=lambda self, n_tests: 1 / np.maximum(n_tests, 1))},
        "Judging.threshold_for of .* must not fall",
    ),
    "a rule that is bound to nothing": (
        {"boundary_rule": judging(bind=lambda self, n_rows, n_variables: None)},
        "Judging.bind returned None; it must be a tamis.rules.Rule",
    ),
    "a negative entropy": ({"entropy": returns(-0.1)}, "<lambda> of the table .*returned -0.1"),
    "a number as a function": ({"entropy": 3}, "no entropy estimator 3"),
    "a boundary outside": ({"boundary": returns([99])}, "<lambda>, asked .*'b'.* 99 is not among"),
    "the target itself": ({"boundary": lambda s, k, c: [k]}, "the target . itself is in it"),
    "no search": ({"boundary": "iamb"}, "boundary must be one of 'pps', 'none', or a function"),
    "a p-value above 1": ({"boundary_rule": returns(1.5)}, "returned 1.5; a p-value"),
    "a class as information": ({"information": Plugin}, "Plugin is a class: pass what it makes"),
    "no source": ({"information": returns({})}, "<lambda> returned {}; it must return a tamis.Sou"),
    "other names": ({"information": lambda t: Unnamed(t)}, "Unnamed with the names .*'d', 'c'"),
    "a false record": (
        {"boundary_rule": judging(recorded=lambda self: {"rule": "fixed", "threshold": 1.0})},
        "Judging.recorded returned {'rule': 'fixed'.* a dict with a qualified name",
    ),
    "another answer every time": (
        {"masking_rule": judging(threshold_for=lambda self, n_tests: next(FALLING))},
        "masking_rule=.*Judging: a test of '.' was decided otherwise before",
    ),
    "a broken search": ({"boundary": lambda s, k, c: c[7]}, "failed with IndexError"),
}


@pytest.mark.parametrize(("parameters", "said"), BAD.values(), ids=BAD)
def test_a_bad_plug_in_is_named_with_what_it_returned_and_nothing_is_lost(plain, parameters, said):
    model = copy.copy(plain)
    before = model.result_
    with pytest.raises(tamis.SettingError, match=said):
        model.set_params(**parameters).fit(chain())
    assert model.result_ is before
    assert set(model.graph_.edges) == TRUTH
    assert model.explain("c")


@pytest.mark.parametrize("parameter", ["entropy", "boundary", "boundary_rule", "information"])
def test_a_plug_in_that_calls_fit_of_the_same_model_is_named(parameter):
    model = tamis.TAM("node").fit(chain())
    before = model.result_

    def again(*_):
        return model.fit(chain())

    with pytest.raises(tamis.PluginError, match=rf"fit was called by .*{parameter}={HERE}.*again"):
        model.set_params(**{parameter: again}).fit(chain())
    assert model.result_ is before
    model.set_params(entropy=None, boundary="pps", boundary_rule=None, information="auto")
    assert model.fit(chain()).result_ == before


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"boundary": forward, "boundary_rule": 0.1}, "so does boundary=.*forward"),
        ({"boundary": forward, "backward": "one"}, "none is removed again"),
        ({"boundary": forward, "max_boundary": 2}, "max_boundary limits PPS; boundary=.*forward"),
        ({"boundary": forward, "look_ahead": 2}, "look_ahead belongs to PPS; boundary=.*forward"),
        ({"boundary": forward, "search": "reference"}, "'reference' always selects"),
        ({"information": Known(), "entropy": chao_shen}, "Known' has no such choice"),
        ({"information": Known(), "source": {"k": 1}}, "Known' has no settings"),
        ({"information": Known(), "search": "reference"}, "'reference' does not go with"),
        ({"information": Known(), "alpha": 0.1}, "alpha is that of tests"),
    ],
)
def test_what_does_not_go_together_is_refused_before_the_work(parameters, said):
    with pytest.raises(tamis.SettingError, match=said):
        tamis.TAM(**parameters).fit()


def test_alpha_is_the_level_of_a_test_from_outside():
    model = tamis.TAM("node", alpha=0.1, boundary_rule=own_test).fit(chain())
    assert model.result_.settings["boundary_rule"] == {
        "rule": f"{HERE}.own_test", "alpha": 0.1, "whole_graph": True, "unit": "p",
    }  # fmt: skip
    assert model.result_.settings["masking_rule"] == {"rule": "p-value", "alpha": 0.1}
