"""The searches by layers: the paper's algorithms with tests for thresholds, and their story."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from twin import grown, or_equal, shrunk, strictly

import tamis
from tables import rows, table_of, varying
from tamis.information.counted import CountedInformation
from tamis.information.interface import Query
from tamis.knowledge import Constraints, as_bits
from tamis.rules import BIC, ChiSquared, Fixed, Permutation
from tamis.search import paper
from tamis.search.layered import run
from tamis.search.outcome import Outcome
from tamis.settings import Settings
from tamis.simulate import draw

RULES = [Fixed(0.0), Fixed(0.02), ChiSquared(0.2), Permutation(0.3), BIC()]
SEARCHES = ["node", "layer", "reference", "sequential"]
small = rows(columns=(4, 7), length=(20, 150), levels=3)


def counted(table: np.ndarray, estimator: str = "plugin") -> CountedInformation:
    return CountedInformation(table_of(table), estimator, n_jobs=1)


def found(outcome: Outcome) -> tuple[list[list[int]], dict[int, tuple[int, ...]]]:
    return outcome.layers, {k: one.members for k, one in sorted(outcome.found.items())}


# --- what is compared with a threshold -----------------------------------------------------


def pair() -> CountedInformation:
    """x0 -> x1, with x0 the less uncertain; levels of two."""
    rng = np.random.default_rng(6)
    a = rng.random(400) < 0.2
    return counted(np.stack([a, a ^ (rng.random(400) < 0.25)], axis=1).astype(int))


@pytest.mark.parametrize("search", ["node", "layer", "reference"])
def test_what_equals_a_threshold_masks_and_is_not_taken_but_in_the_reference(search):
    here, gain = search != "reference", paper.I(pair(), 1, ())[0]
    assert len(run(pair(), Settings(search, Fixed(1.0), Fixed(gain))).layers) == 1 + here
    outcome = run(pair(), Settings(search, Fixed(gain), Fixed(0.001)))
    assert outcome.boundaries[1].members == (() if here else (0,))


def test_what_equals_the_threshold_is_kept_by_the_backward_phase():
    chosen = Settings("node", Fixed(paper.I(pair(), 1, ())[0]), Fixed(0.001), boundary="none")
    assert found(run(pair(), chosen)) == ([[0], [1]], {0: (), 1: (0,)})


def coins(d: int) -> CountedInformation:
    return counted(np.random.default_rng(1).integers(0, 2, (200, d)))


def test_masking_counts_one_test_and_tells_the_closest():
    outcome = run(coins(6), Settings("node", Fixed(1.0), Permutation(1e-6)))
    (order,) = outcome.layers
    for place, admission in enumerate(outcome.rounds.admissions[1:], start=1):
        k, tested = admission.node, order[:place]
        tests = coins(6).tests([Query(k, (), np.array(tested))])
        assert admission.closest is not None
        assert admission.closest.strength == Permutation().strengths(tests).max()
        assert admission.closest.threshold == float(Permutation(1e-6).threshold_for(1))


# --- the story -----------------------------------------------------------------------------


@st.composite
def knowledge(draw: st.DrawFn, d: int) -> Constraints:
    """Parents that are required or ruled out, along some order; children wait for them."""
    order = draw(st.permutations(range(d)))
    required, blocked, waits = {}, [0] * d, [0] * d
    for i, k in enumerate(order):
        own = draw(st.frozensets(st.sampled_from(order[:i]), max_size=2)) if i else frozenset()
        others = st.frozensets(st.integers(0, d - 1), max_size=3)
        blocked[k] = as_bits(draw(others) - own)
        if own:
            required[k] = tuple(sorted(own))
            waits[k] = as_bits(own)
    return Constraints(required, tuple(blocked), tuple(waits))


@pytest.mark.parametrize("rule", RULES, ids=repr)
@pytest.mark.parametrize("search", SEARCHES)
@settings(max_examples=10, deadline=None)
@given(data=st.data(), table=small.map(varying).filter(lambda table: table.shape[1] > 1))
def test_each_boundary_is_that_of_pps_and_the_backward_phase_from_nothing(
    search, rule, data, table
):
    d, source = table.shape[1], counted(table, "grassberger")
    constraints = data.draw(st.none() | knowledge(d))
    backward = data.draw(st.sampled_from(["one", "together", "none"]))
    room = data.draw(st.sampled_from([None, 2]))
    chosen = Settings(search, rule, Fixed(0.02)).filled_in(
        backward=backward, max_boundary=room, constraints=constraints
    )
    outcome = run(source, chosen)
    before: list[int] = []
    for layer in outcome.layers:
        for k in layer:
            required = () if constraints is None else constraints.required.get(k, ())
            blocked = 0 if constraints is None else constraints.blocked[k]
            one = grown(
                source, k, before if search == "reference" else sorted(before), rule,
                passes=or_equal if search == "reference" else strictly, max_boundary=room,
                required=required, blocked=[p for p in range(d) if blocked >> p & 1],
            )  # fmt: skip
            if backward != "none" and len(one.members) > 1:
                together = backward == "together"
                n = len(before)
                one = shrunk(source, one, rule, n, together=together, required=required)
            told = outcome.boundaries[k]
            assert {*told.retained} == {*one.retained}
            assert {*told.removed} == {*one.removed}
            assert (told.members, told.entropy) == (one.members, one.entropy)
            assert (told.taken, told.refused) == (one.taken, one.refused)
            assert {*required} <= {*before}
        before += layer


def test_columns_that_never_vary_stand_by():
    table = np.insert(np.random.default_rng(2).integers(0, 3, (300, 3)), [0, 2], 1, axis=1)
    for search in SEARCHES:
        outcome = run(counted(table), Settings(search, Fixed(0.5), Fixed(0.5), backward="none"))
        assert outcome.layers[0][:2] == [0, 3]
        assert {k for layer in outcome.layers for k in layer} == {0, 1, 2, 3, 4}
        assert outcome.boundaries[0].members == ()
        assert not any(m.node in (0, 3) or {0, 3} & {*m.decision.others} for m in outcome.maskings)


# --- how it runs ---------------------------------------------------------------------------


def tree(d: int, estimator: str = "plugin") -> CountedInformation:
    drawn = draw("tree", "mod", d=d, n=500, seed=1).data
    return counted(np.array([*drawn.values()]).T, estimator)


class Batches(tamis.Source):
    """Another source, with the questions of each batch."""

    def __init__(self, source: CountedInformation) -> None:
        self.source, self.names, self.n_rows = source, source.names, source.n_rows
        self.test_names = source.test_names
        self.batches: list[list[str]] = []

    def _of(self, ask, questions):
        self.batches.append([f"{ask.__name__} {one}" for one in questions])
        return ask(questions)

    def entropies(self, contexts):
        return self._of(self.source.entropies, contexts)

    def cmi(self, contexts):
        return self._of(self.source.cmi, contexts)

    def tests(self, queries):
        return self._of(self.source.tests, queries)


def test_questions_come_in_batches_and_once():
    X, chosen = Batches(tree(40)), Settings("node", Permutation(0.001), Permutation(0.01))
    outcome = run(X, chosen)
    assert found(outcome) == found(run(tree(40), chosen))
    longest = 1 + max(len(one.taken) for one in outcome.boundaries.values())
    pruned = sum(len(one.taken) > 1 for one in outcome.boundaries.values())
    # Each step of PPS asks for cmi and a test; then come entropies, maskings, backward phases.
    assert len(X.batches) <= len(outcome.layers) * (2 * longest + 1) + 40 + 2 * pruned
    asked = [one for batch in X.batches for one in batch]
    # PPS asks again what masking has asked: these tests are not kept.
    assert len(asked) < 1.05 * len(set(asked))


def test_the_papers_experiment_is_algorithm_3():
    X = tree(10, "minimax")
    chosen = Settings("node", Fixed(0.005), Fixed(0.001), backward="none")
    G, L = paper.tam(X, omega=0.001, kappa=0.005)
    outcome = run(X, chosen.filled_in(search="paper"))
    assert [{*layer} for layer in outcome.layers] == L
    assert {k: {*members} for k, members in found(outcome)[1].items()} == G


def test_progress_is_told_after_each_layer_and_may_interrupt():
    told: list[tuple[int, int]] = []
    chosen = Settings("node", Permutation(0.001), Permutation(0.01))
    outcome = run(tree(20), chosen, lambda done, total: told.append((done, total)))
    sizes = np.cumsum([len(layer) for layer in outcome.layers]).tolist()
    assert told == [(n, 20) for n in sizes]

    with pytest.raises(ZeroDivisionError):
        run(tree(20), chosen, lambda done, total: divmod(done, 0))
