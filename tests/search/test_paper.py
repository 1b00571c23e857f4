"""The paper's algorithms as printed, against brute force, the searches and what is proven."""
# ruff: noqa: E741 -- I and l are the paper's own symbols

from __future__ import annotations

from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given

import naive
import tamis
from tables import rows, table_of, varying
from tamis.information.counted import CountedInformation
from tamis.information.exact import ExactInformation, JointInformation
from tamis.rules import Fixed
from tamis.search import paper
from tamis.search.layered import run
from tamis.settings import Settings

TINY = 1e-9
"""Exact information is 0 or above; anything above this is dependence."""
THRESHOLDS = [(0.005, 0.001), (0.02, 0.02), (0.01, 0.08), (0.08, 0.01)]
"""kappa and omega."""


class BruteForce:
    """A source from outside: two questions, answered by the definitions."""

    def __init__(self, table: np.ndarray) -> None:
        self.n_variables = table.shape[1]
        self.H, self.I = naive.from_rows(table.tolist())

    def entropies(self, contexts):
        return np.array([self.H(k, given_) for k, given_ in contexts])

    def cmi(self, contexts):
        return np.array([[self.one(k, l, S) for l in range(self.n_variables)] for k, S in contexts])

    def one(self, k: int, l: int, S: tuple[int, ...]) -> float:
        return 0.0 if l == k or l in S else self.I(k, (l,), S)


def random_tables(first: int, how_many: int, d: tuple[int, int] = (2, 5)):
    """Small tables of few rows, some columns noisy copies or sums of others; none is constant."""
    for seed in range(first, first + how_many):
        rng = np.random.default_rng(seed)
        columns, n = int(rng.integers(d[0], d[1] + 1)), int(rng.integers(8, 60))
        table = rng.integers(0, rng.integers(2, 4), (n, columns))
        for k in range(1, columns):
            kind = rng.integers(3)
            if kind == 1:
                table[:, k] = np.where(rng.random(n) < 0.2, table[:, k], table[:, k - 1])
            if kind == 2:
                one, other = rng.integers(k, size=2)
                table[:, k] = (table[:, one] + table[:, other] + (rng.random(n) < 0.1)) % 3
        table = varying(table)
        if table.size:
            yield table, THRESHOLDS[seed % len(THRESHOLDS)]


def as_naive(parents: paper.Parents) -> naive.Parents:
    return {k: tuple(sorted(m)) for k, m in parents.items()}


def sets(layers) -> list[set[int]]:
    return [set(layer) for layer in layers]


def backward(kappa: float) -> paper.MarkovBoundary:
    return lambda X, k, A: paper.iamb_backward(X, k, A, kappa)


def forward_and_backward(kappa: float) -> paper.MarkovBoundary:
    return lambda X, k, A: paper.iamb_backward(X, k, paper.pps(X, k, A, kappa)[1], kappa)


# --- brute force ---------------------------------------------------------------------------


def test_tam_is_that_of_brute_force_on_a_thousand_tables():
    for table, (kappa, omega) in random_tables(0, 1000):
        X = BruteForce(table)
        decide = naive.thresholds(X.I, kappa, omega)
        layers, parents = naive.tam(X.H, X.I, X.n_variables, decide)
        found, found_layers = paper.tam(X, omega, kappa)
        assert as_naive(found) == parents
        assert found_layers == sets(layers)


def test_algorithm_1_is_that_of_brute_force_on_a_thousand_tables():
    for table, (kappa, omega) in random_tables(1000, 1000):
        X = BruteForce(table)
        decide = naive.thresholds(X.I, kappa, omega)
        layers, parents = naive.tam(X.H, X.I, X.n_variables, decide, boundary="none")
        found, found_layers = paper.algorithm_1(X, omega, backward(kappa))
        assert as_naive(found) == parents
        assert found_layers == sets(layers)


def test_the_general_version_is_that_of_brute_force_on_a_thousand_tables():
    for table, (kappa, omega) in random_tables(2000, 1000):
        X = BruteForce(table)
        decide = naive.thresholds(X.I, kappa, omega)
        layers, _ = naive.tam(X.H, X.I, X.n_variables, decide, "general", boundary="none")
        assert paper.tam_general(X, omega) == sets(layers)


def test_boundaries_are_those_of_brute_force_on_a_thousand_tables():
    for table, (kappa, omega) in random_tables(3000, 1000):
        X = BruteForce(table)
        decide = naive.thresholds(X.I, kappa, omega)
        for k in range(X.n_variables):
            A = sorted(set(range(X.n_variables)) - {k})
            h, m = naive.pps(X.I, X.H, k, A, decide.grow)
            assert paper.pps(X, k, A, kappa) == (h, set(m))
            kept = naive.iamb_backward(X.I, k, A, decide.retain)
            assert paper.iamb_backward(X, k, A, kappa) == set(kept)


def test_another_boundary_search_takes_the_place_of_pps():
    for table, (kappa, omega) in random_tables(4000, 300):
        X = BruteForce(table)
        decide = naive.thresholds(X.I, kappa, omega)
        layers, parents = naive.tam(X.H, X.I, X.n_variables, decide, boundary="iamb")
        found, found_layers = paper.tam(X, omega, kappa, forward_and_backward(kappa))
        assert as_naive(found) == parents
        assert found_layers == sets(layers)


# --- the searches --------------------------------------------------------------------------


def searched(X, search: str, kappa: float, omega: float, **others) -> tuple[naive.Parents, list]:
    outcome = run(X, Settings(search, Fixed(kappa), Fixed(omega), **others))
    parents = {k: tuple(sorted(found.members)) for k, found in outcome.boundaries.items()}
    return parents, sets(outcome.layers)


def assert_searches_agree(X, kappa: float, omega: float) -> None:
    """All that the searches have in common with the paper, on one source."""
    found, layers = paper.tam(X, omega, kappa)
    assert searched(X, "node", kappa, omega, backward="none") == (as_naive(found), layers)
    pruned = {k: paper.iamb_backward(X, k, m, kappa) for k, m in found.items()}
    assert searched(X, "node", kappa, omega, backward="together") == (as_naive(pruned), layers)
    found, layers = paper.algorithm_1(X, omega, backward(kappa))
    assert searched(X, "node", kappa, omega, boundary="none", backward="together") == (
        as_naive(found),
        layers,
    )
    whole = searched(X, "layer", kappa, omega, boundary="none", backward="together")
    assert paper.tam_general(X, omega, ties=False) == whole[1]


@pytest.mark.parametrize("estimator", ["plugin", "grassberger", "miller-madow"])
def test_the_searches_agree_on_hundreds_of_counted_tables(estimator):
    for table, (kappa, omega) in random_tables(5000, 400, d=(2, 6)):
        assert_searches_agree(CountedInformation(table_of(table), estimator), kappa, omega)


@given(table=rows(columns=(2, 6), length=(5, 100), levels=4).map(varying).filter(np.size))
def test_the_searches_agree_on_any_table(table):
    for kappa, omega in THRESHOLDS:
        assert_searches_agree(CountedInformation(table_of(table), "plugin"), kappa, omega)


def test_tam_as_users_call_it_agrees():
    for table, (kappa, omega) in random_tables(6000, 60):
        if table.shape[1] < 2:
            continue
        model = tamis.TAM("node", entropy="plugin", boundary_rule=kappa, masking_rule=omega)
        model.set_params(backward="none", information="counts", n_jobs=1)
        model.fit({f"x{k}": column for k, column in enumerate(table.T.tolist())})
        found, layers = paper.tam(CountedInformation(table_of(table), "plugin"), omega, kappa)
        assert {k: set(m) for k, m in model.parents_.items()} == {
            f"x{k}": {f"x{l}" for l in m} for k, m in found.items()
        }
        assert sets(model.layers_) == [{f"x{k}" for k in layer} for layer in layers]


def test_the_boundary_of_one_column_agrees():
    for table, (kappa, _) in random_tables(7000, 100):
        if table.shape[1] < 2:
            continue
        X = CountedInformation(table_of(table), "plugin")
        data = {f"x{k}": column for k, column in enumerate(table.T.tolist())}
        A = range(1, table.shape[1])
        _, m = paper.pps(X, 0, A, kappa)
        for how, members in (("none", m), ("together", paper.iamb_backward(X, 0, m, kappa))):
            found = tamis.markov_boundary(data, "x0", rule=kappa, backward=how, estimator="plugin")
            assert set(found) == {f"x{l}" for l in members}


# --- exact sources -------------------------------------------------------------------------


def networks(first: int, how_many: int):
    for seed in range(first, first + how_many):
        rng = np.random.default_rng(seed)
        noise = (None, 0.1, 0.2)[seed % 3]
        parents, tables, joint = naive.random_network(
            rng, int(rng.integers(3, 6)), 2 + seed % 2, max_parents=2, noise=noise
        )
        names = [f"x{k}" for k in parents]
        order = sorted(parents)
        exact = ExactInformation(names, [parents[k] for k in order], [tables[k] for k in order])
        yield parents, joint, (JointInformation(names, joint), exact)


def test_the_true_dag_is_returned_wherever_the_conditions_hold():
    proven = {"tam": 0, "algorithm 1": 0, "general": 0}
    for parents, joint, sources in networks(0, 150):
        holds = naive.check_conditions(joint, parents, TINY)
        if not (holds.positive and holds.minimal):
            continue
        truth = {k: set(m) for k, m in parents.items()}
        layers = sets(naive.true_layers(parents))
        for X in sources:
            if holds.main and holds.pps:
                proven["tam"] += 1
                assert paper.tam(X, TINY, TINY) == (truth, layers)
            if holds.main and holds.backward:
                proven["algorithm 1"] += 1
                assert paper.algorithm_1(X, TINY, backward(TINY)) == (truth, layers)
            if holds.general:
                proven["general"] += 1
                assert paper.tam_general(X, TINY) == layers
    assert min(proven.values()) > 40


def test_the_searches_agree_on_exact_information():
    for _, _, sources in networks(1000, 60):
        for X in sources:
            assert_searches_agree(X, TINY, TINY)


def exhaustive(X, k: int, A) -> set[int]:
    """The smallest set given which the rest of A says nothing, all of them tried."""
    every = chain.from_iterable(combinations(sorted(A), size) for size in range(len(A) + 1))
    whole = paper.H(X, k, A)
    return next(set(m) for m in every if paper.H(X, k, m) - whole <= TINY)


def test_an_exhaustive_boundary_search_finds_the_parity_on_which_pps_cannot_start():
    joint = np.zeros((2, 2, 4))
    for a, b, flip, bit in np.ndindex(2, 2, 2, 2):
        joint[a, b, 2 * (a ^ b ^ flip) + bit] += 0.25 * (0.1 if flip else 0.9) * 0.5
    X = JointInformation(["a", "b", "c"], joint)
    assert paper.pps(X, 2, {0, 1}, TINY)[1] == set()
    assert exhaustive(X, 2, {0, 1}) == {0, 1}
    assert paper.tam_general(X, TINY) == [{0, 1}, {2}]
    # The short version asks one coin at a time, and is not told by the boundary either.
    assert paper.tam(X, TINY, TINY, exhaustive)[1] == [{0, 1, 2}]


# --- to the letter -------------------------------------------------------------------------


class Scripted:
    """Three variables; I(X_k ; X_l | S) is 1/2 between any two while S is empty, and then 0."""

    n_variables = 3

    def entropies(self, contexts):
        return np.array([[1.0, 2.0, 2.0][k] - 0.5 * min(len(S), 1) for k, S in contexts])

    def cmi(self, contexts):
        return np.array([[0.0 if S or l == k else 0.5 for l in range(3)] for k, S in contexts])


def test_what_equals_a_threshold_is_not_taken_but_masked_and_kept():
    X = Scripted()
    assert paper.pps(X, 2, {0, 1}, 0.5) == (2.0, set())
    assert paper.pps(X, 2, {0, 1}, 0.49) == (1.5, {0})  # of equals the first
    assert paper.tam(X, 0.5, 0.5)[1] == [{0}, {1}, {2}]
    assert paper.tam(X, 0.51, 0.5)[1] == [{0, 1, 2}]
    assert paper.iamb_backward(X, 2, {0}, 0.5) == {0}
    assert paper.iamb_backward(X, 2, {0}, 0.51) == set()


def test_all_that_tie_with_the_first_enter_in_the_general_version():
    """Appendix D: "If there are ties, include all the tied nodes"."""
    copied = JointInformation(["x", "y"], np.array([[0.45, 0.05], [0.05, 0.45]]))
    assert paper.tam_general(copied, TINY) == [{0, 1}]
    assert paper.tam_general(copied, TINY, ties=False) == [{0}, {1}]
    assert paper.tam(copied, TINY, TINY)[1] == [{0}, {1}]


def test_what_waits_comes_after_the_others_whatever_its_entropy():
    def first_1(left: set[int]) -> set[int]:
        return {0} if 1 in left else set()

    X = Scripted()
    assert paper.tam(X, 0.5, 0.4, waiting=first_1) == ({0: {1}, 1: set(), 2: {1}}, [{1}, {0, 2}])
    assert paper.tam_general(X, 0.5, waiting=first_1)[0] == {1, 2}


def test_members_that_stand_in_for_each_other_leave_together():
    assert paper.iamb_backward(Scripted(), 2, {0, 1}, 0.1) == set()
    assert paper.iamb_backward(Scripted(), 2, {0, 1}, 0.0) == {0, 1}
