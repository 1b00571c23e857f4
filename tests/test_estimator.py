"""The front door: scikit-learn's conventions, the fitted attributes, and invariance."""

from __future__ import annotations

import math
import pickle
import warnings
from collections import Counter
from threading import Event, Thread
from time import sleep

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import validate_data

import tamis
from tables import rows, table_of
from tamis.constants import varied
from tamis.counting import sharing
from tamis.information.counted import CountedInformation
from tamis.information.interface import Context
from tamis.rules import BIC, ChiSquared, Fixed, Permutation, Rate

SEARCHES = ["node", "layer", "sequential", "reference"]

# scikit-learn feeds its checks tables of continuous numbers, which tamis refuses by design, and
# expects its own words where tamis names the column.
WORDING = "expects scikit-learn's words; ours name the column and the cure"
NOT_APPLICABLE = {
    "check_dtype_object": "feeds numbers as objects, which are refused",
    **dict.fromkeys(
        [
            "check_complex_data",
            "check_estimator_sparse_array",
            "check_estimator_sparse_matrix",
            "check_estimators_empty_data_messages",
            "check_estimators_nan_inf",
            "check_fit2d_1sample",
            "check_sample_weight_equivalence_on_sparse_data",  # asked by scikit-learn 1.6 alone
        ],
        WORDING,
    ),
    "check_fit2d_1feature": "a table of one column has no structure and is refused",
}


class Binned(tamis.TAM):
    """TAM behind scikit-learn's own validation and a cut at each median, so that its checks of
    everything else (idempotence, parameters, state, pickling) do apply."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags

    def fit(self, X, y=None):
        numbers = validate_data(self, X, ensure_min_samples=2, ensure_min_features=2)
        names = vars(self).pop("feature_names_in_", None)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", tamis.TamisWarning)
            super().fit((numbers > np.median(numbers, axis=0)).astype(int))
        del self.feature_names_in_
        if names is not None:
            self.feature_names_in_ = names
        return self


@parametrize_with_checks([tamis.TAM()], expected_failed_checks=lambda estimator: NOT_APPLICABLE)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@parametrize_with_checks([Binned()])
def test_scikit_learn_conventions_on_binned_columns(estimator, check):
    check(estimator)


def chain(n: int = 3000, seed: int = 0) -> pd.DataFrame:
    """a -> b -> c, each a noisy copy; a is the least uncertain."""
    rng = np.random.default_rng(seed)
    a = rng.random(n) < 0.15
    b = a ^ (rng.random(n) < 0.15)
    c = b ^ (rng.random(n) < 0.15)
    label = np.array(["no", "yes"])
    return pd.DataFrame({"c": label[c.astype(int)], "a": a, "b": b.astype(int)})


@pytest.mark.parametrize("search", SEARCHES)
def test_a_chain_is_learned_with_its_names(search):
    model = tamis.TAM(search).fit(chain())
    assert list(model.graph_.edges) == [("a", "b"), ("b", "c")]
    assert isinstance(model.graph_, nx.DiGraph)
    assert repr(model.graph_) == "<DiGraph with 3 nodes and 2 edges>"
    assert repr(model.cpdag_).startswith("<DiGraph with 3 nodes and ")
    assert model.layers_ == [["a"], ["b"], ["c"]]
    assert model.parents_ == {"c": ["b"], "a": [], "b": ["a"]}
    assert model.adjacency_.tolist() == [[0, 0, 0], [0, 0, 1], [1, 0, 0]]
    assert list(model.feature_names_in_) == ["c", "a", "b"]
    assert list(model.graph_) == ["c", "a", "b"]
    assert model.order_ == ["a", "b", "c"]
    assert model.entropies_["a"] == pytest.approx(tamis.entropy(chain(), "a"), abs=2e-3)


def test_every_edge_carries_the_information_it_stands_for():
    table = chain()
    edge = tamis.TAM().fit(table).graph_.edges["b", "c"]
    expected = tamis.conditional_mutual_information(table, "b", "c", estimator="grassberger")
    assert edge["gain"] == pytest.approx(expected)
    assert edge["gain_given_rest"] == pytest.approx(expected)
    assert 0 <= edge["p_value"] < 1e-9
    assert edge["step"] == 1


def test_a_constant_column_is_isolated_and_warned_of():
    table = chain().assign(k="same")
    with pytest.warns(tamis.TamisWarning, match="'k'") as caught:
        model = tamis.TAM().fit(table)
    assert caught[0].filename == __file__
    assert model.parents_["k"] == []
    assert "'k'" in model.result_.warnings[0]
    assert model.graph_.degree["k"] == 0
    assert nx.is_isomorphic(model.graph_.subgraph("abc"), nx.path_graph(3, nx.DiGraph))


def test_every_edge_says_how_far_its_parent_was_ahead():
    # Between a and c in uncertainty stands b, which has nothing to do with either.
    rng = np.random.default_rng(0)
    a = rng.random(4000) < 0.30
    table = pd.DataFrame({"a": a, "b": rng.random(4000) < 0.31, "c": a ^ (rng.random(4000) < 0.03)})
    result = tamis.TAM().fit(table).result_
    (edge,) = result.closest_directions()
    assert (edge.parent, edge.child) == ("a", "c")
    ahead = tamis.entropy(table, "c") - tamis.entropy(table, "a")
    assert edge.entropy_gap == pytest.approx(ahead, abs=1e-3)


def test_refitting_forgets_the_first_table():
    model = tamis.TAM().fit(chain())
    model.fit(chain()[["c", "b"]].rename(columns={"c": "z"}))
    fresh = tamis.TAM().fit(chain()[["c", "b"]].rename(columns={"c": "z"}))
    assert set(model.graph_) == {"z", "b"}
    assert model.result_ == fresh.result_


def test_parameters_survive_get_and_clone():
    model = tamis.TAM("node", entropy="plugin", boundary_rule=BIC(), max_boundary=2)
    twin = clone(model)
    assert twin.get_params() == model.get_params()
    assert twin.fit(chain()).result_.settings["search"] == "node"


@pytest.mark.parametrize(
    "rule", [0.01, Fixed(0.01), ChiSquared(0.001), Permutation(0.001), BIC(), Rate(0.01)], ids=repr
)
@pytest.mark.parametrize("estimator", ["plugin", "miller-madow", "jackknife", "grassberger"])
def test_every_rule_and_estimator_learns_the_chain(rule, estimator):
    model = tamis.TAM("node", entropy=estimator, boundary_rule=rule, masking_rule=rule)
    assert set(model.fit(chain()).graph_.edges) == {("a", "b"), ("b", "c")}


@pytest.mark.parametrize("backward", ["one", "together"])
def test_the_whole_ancestral_set_can_stand_for_the_boundary(backward):
    model = tamis.TAM("node", boundary="none", backward=backward).fit(chain())
    assert set(model.graph_.edges) == {("a", "b"), ("b", "c")}


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"search": "magic"}, "search must be one of 'auto'"),
        ({"entropy": "guess"}, "guess"),
        ({"search": "node", "boundary_rule": -1.0}, "boundary_rule"),
        ({"search": "node", "masking_rule": "often"}, "masking_rule"),
        ({"alpha": 0.1}, "search='auto' chooses parents by a score, without tests"),
        ({"boundary_rule": 0.1}, "use edge_price in place of alpha and rules"),
        ({"backward": "none"}, "search='auto' removes parents one at a time"),
        ({"search": "node", "edge_price": 2}, "edge_price belongs to the score"),
        ({"search": "sequential", "alpha": 0.1, "edge_price": 2}, "edge_price belongs"),
        ({"backward": "maybe"}, "backward"),
        ({"boundary": "all"}, "boundary must be one of"),
        ({"max_boundary": -1}, "max_boundary"),
        ({"max_boundary": 1.5}, "max_boundary"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"search": "reference", "backward": "one"}, "reference"),
        ({"search": "reference", "boundary": "none"}, "reference"),
        ({"boundary": "none", "backward": "none"}, "backward"),
        ({"boundary": "none", "max_boundary": 3}, "max_boundary"),
    ],
)
def test_senseless_parameters_are_refused_by_name(parameters, said):
    with pytest.raises(tamis.SettingError, match=said):
        tamis.TAM(**parameters).fit(chain())


def test_max_boundary_limits_the_number_of_parents():
    rng = np.random.default_rng(0)
    parts = rng.random((4000, 3)) < 0.2
    table = np.column_stack([parts, parts.sum(axis=1) + (rng.random(4000) < 0.2)]).astype(int)
    for asked in ({}, {"search": "node", "boundary_rule": 0.01}):
        free = tamis.TAM(**asked).fit(table)
        held = tamis.TAM(**asked, max_boundary=1).fit(table)
        assert len(free.parents_["x3"]) == 3
        assert max(map(len, held.parents_.values())) == 1
    assert "stopped at max_boundary=1" in held.explain("x3")


@pytest.mark.parametrize("search", ["node", "layer", "sequential"])
@given(table=rows(columns=(3, 6), length=(10, 120), levels=3), seed=st.integers(0, 2**32 - 1))
@pytest.mark.filterwarnings("ignore::tamis.TamisWarning")
def test_nothing_depends_on_the_order_of_columns_or_rows_or_on_labels(search, table, seed):
    rng = np.random.default_rng(seed)
    names = [f"v{k}" for k in range(table.shape[1])]
    frame = pd.DataFrame(table, columns=names)
    shuffled = frame.iloc[rng.permutation(len(frame)), rng.permutation(len(names))].copy()
    for name in names:
        values = np.unique(table[:, names.index(name)])
        relabel = dict(zip(values, rng.permutation([f"L{v}" for v in values]), strict=True))
        shuffled[name] = shuffled[name].map(relabel)
    model = tamis.TAM(search, boundary_rule=Permutation(0.2), masking_rule=Permutation(0.2))
    first, second = clone(model).fit(frame), clone(model).fit(shuffled)
    assert first.layers_ == second.layers_
    assert set(first.graph_.edges) == set(second.graph_.edges)
    assert first.entropies_ == second.entropies_


FACTORIAL = [[i, j, i] for i in range(3) for j in range(2) for _ in range(40)]
"""x2 copies x0; x1 is exactly independent of both, which rounds to just below nothing."""


@pytest.mark.parametrize("search", SEARCHES)
def test_exact_independence_is_judged_like_any_other(search, tmp_path):
    model = tamis.TAM(search).fit(FACTORIAL)
    assert set(model.graph_.edges) == {("x0", "x2")}
    for verdict in model.trace_.verdicts():
        assert np.isfinite([verdict.gain, verdict.value, verdict.threshold, verdict.margin]).all()
    model.save(str(tmp_path / "run.json"))
    assert tamis.load(tmp_path / "run.json") == model.result_


def test_relabelling_cannot_tip_a_gain_that_equals_the_penalty():
    first = [[2, 2], [1, 2], [0, 0], [1, 0], [2, 2], [2, 2], [0, 0], [2, 1]]
    second = [[4, 1], [3, 1], [0, 2], [3, 2], [4, 1], [4, 1], [0, 2], [4, 4]]
    model = tamis.TAM("node", boundary_rule=BIC(), masking_rule=BIC())
    assert clone(model).fit(first).parents_ == clone(model).fit(second).parents_


@pytest.mark.parametrize(("levels", "columns"), [(3, 42), (20, 17)])
def test_the_whole_ancestral_set_may_have_more_cells_than_can_be_numbered(levels, columns):
    assert levels ** (columns - 1) > 2**63
    table = np.random.default_rng(0).integers(0, levels, (60, columns))
    model = tamis.TAM("sequential", boundary="none", boundary_rule=0.01).fit(table)
    assert nx.is_directed_acyclic_graph(model.graph_)


def test_entropies_given_more_cells_of_two_levels_than_can_be_numbered():
    table = np.zeros((60, 70), dtype=int)
    # Contexts differ in the first columns only, which a number of 64 bits would lose.
    table[:, [0, 1, 2, 69]] = np.random.default_rng(0).integers(0, 2, (60, 4))
    table[:30, 3:69] = 1
    information = CountedInformation(table_of(table), "plugin")
    own, given = table[:, 69].tolist(), [tuple(row[:69]) for row in table.tolist()]
    rows = Counter(zip(given, own, strict=True))
    states = Counter(given)
    expected = -sum(n / 60 * math.log(n / states[state]) for (state, _), n in rows.items())
    assert len(states) == 16
    found = information.entropies([Context(69, tuple(range(69)))])
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("n_jobs", [1, 2, -1, None])
def test_the_number_of_threads_changes_nothing(n_jobs, monkeypatch):
    rng = np.random.default_rng(2)
    table = (rng.random((2000, 12)) < 0.3).astype(int)
    table[:, 1:] ^= table[:, :-1]
    expected = tamis.TAM(n_jobs=1).fit(table).result_
    # No work is too small to be shared.
    monkeypatch.setattr(sharing, "THREAD_WORDS", 0)
    assert tamis.TAM(n_jobs=n_jobs).fit(table).result_ == expected


def test_the_explanation_tells_who_masked_and_what_was_taken_and_refused():
    text = tamis.TAM("node").fit(chain()).explain("c")
    assert "masked in layer 1 by a" in text
    assert "masked in layer 2 by b (given a)" in text
    assert "took b (given nothing)" in text
    assert "refused a (given b)" in text
    assert "parents: b" in text
    assert repr(text) == str(text)


def test_the_closest_calls_come_nearest_first_whatever_the_rule():
    for rule in (Fixed(0.001), BIC(), Permutation(0.01)):
        model = tamis.TAM("node", boundary_rule=rule, masking_rule=rule).fit(chain())
        distances = [verdict.distance for verdict in model.result_.closest_calls(100)]
        asked = {
            (frozenset((v.target, *v.others)), frozenset(v.given)) for v in model.trace_.verdicts()
        }
        assert len(distances) == len(asked)
        assert distances == sorted(distances)


def triangle():
    """Three columns that all depend on each other."""
    rng = np.random.default_rng(3)
    x = rng.integers(0, 2, 2000)
    y = np.where(rng.random(2000) < 0.2, 1 - x, x)
    z = (rng.random(2000) < 0.1 + 0.35 * x + 0.45 * y).astype(int)
    return pd.DataFrame({"x": x, "y": y, "z": z})


@pytest.mark.parametrize("search", ["auto", "sequential"])
def test_what_waits_to_be_read_is_what_a_copy_that_was_made_before_has(search):
    first, second = (tamis.TAM(search).fit(triangle()).result_ for _ in range(2))
    assert not {"edges", "trace"} & vars(first).keys()
    copy = pickle.loads(pickle.dumps(first))  # noqa: S301 - our own
    assert {"edges", "trace"} <= vars(copy).keys()
    assert copy == first == second
    assert len(copy.edges) == first.adjacency.sum() == 3


def test_what_waits_to_be_read_goes_by_the_constants_of_the_fit():
    with varied(most_members=1):
        here, later = (tamis.TAM("sequential").fit(triangle()).result_ for _ in range(2))
        edges = here.edges
    assert later.edges == edges
    assert later.edges != tamis.TAM("sequential").fit(triangle()).result_.edges


def test_whoever_varies_constants_and_whoever_reads_results_do_not_wait_for_each_other():
    usual = tamis.TAM("sequential").fit(triangle()).result_
    varies, read = Event(), []

    def vary():
        with varied(most_members=1):
            own = tamis.TAM("sequential").fit(triangle()).result_
            varies.set()
            sleep(0.2)  # the other comes to wait for the constants
            read.append(len(own.edges))

    def look():
        varies.wait()
        read.append(len(usual.edges))

    both = [Thread(target=one, daemon=True) for one in (vary, look)]
    for one in both:
        one.start()
    for one in both:
        one.join(30)
    assert read == [3, 3]


def test_a_loaded_result_can_explain_and_its_verdicts_are_sentences(tmp_path):
    model = tamis.TAM().fit(chain())
    model.save(str(tmp_path / "run.json"))
    loaded = tamis.load(tmp_path / "run.json")
    assert loaded.explain("c") == model.explain("c")
    taken = next(s for s in loaded.trace.selections if s.name == "c").taken[0]
    assert str(taken).startswith("c depends on b: gain ")


def test_an_unfitted_model_says_so():
    with pytest.raises(Exception, match="not fitted"):
        tamis.TAM().explain("a")
