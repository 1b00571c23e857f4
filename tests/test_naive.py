"""The brute-force twins on cases small enough to work out by hand, and on the paper's own."""
# ruff: noqa: E741, E743, N802 -- I and H are the paper's own symbols

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

import naive

LN2 = math.log(2)
TINY = 1e-9
DIAMOND = {0: (), 1: (0,), 2: (0,), 3: (1, 2)}

NEEDS = {
    "node": ("main", "pps"),
    "layer": ("general", "pps"),
    "reference": ("general", "pps"),
    "sequential": ("greedy", "pps_everywhere"),
    "sieve": ("sieve", "pps_everywhere"),
}


def h(*p: float) -> float:
    """The entropy of a distribution, or of a coin when one probability is given."""
    p = (p[0], 1 - p[0]) if len(p) == 1 else p
    return -sum(q * math.log(q) for q in p)


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def coin(p: float) -> np.ndarray:
    return np.array([1 - p, p])


def learn(joint: np.ndarray, search: str, boundary: str = "pps", bar: float = TINY):
    H, I = naive.from_joint(joint)
    decide = naive.thresholds(I, kappa=bar, omega=bar, search=search)
    return naive.tam(H, I, joint.ndim, decide, search, boundary)


# --- counts and entropies ------------------------------------------------------------------

ROWS = [(0, 0), (0, 1), (1, 1), (1, 1)]


def test_counts_of_some_columns_of_one_and_of_none():
    assert naive.counts(ROWS, [0, 1]) == {(0, 0): 1, (0, 1): 1, (1, 1): 2}
    assert naive.counts(ROWS, [1]) == {(0,): 1, (1,): 3}
    assert naive.counts(ROWS, []) == {(): 4}


def test_plugin_entropies_of_four_rows():
    assert naive.entropy(ROWS, []) == 0
    assert naive.entropy(ROWS, [0]) == pytest.approx(LN2)
    assert naive.entropy(ROWS, [0, 1]) == pytest.approx(1.5 * LN2)
    H, I = naive.from_rows(ROWS)
    assert H(0, ()) == pytest.approx(LN2)
    assert H(1, (0,)) == pytest.approx(0.5 * LN2)
    assert I(1, (0,), ()) == pytest.approx(h(0.25) - 0.5 * LN2)


def test_miller_madow_adds_the_occupied_cells_less_one_over_twice_the_rows():
    assert naive.entropy(ROWS, [0, 1], naive.miller_madow) == pytest.approx(1.5 * LN2 + 2 / 8)
    # H(0 | 1) = H(0, 1) - H(1)
    expected = (1.5 * LN2 + 2 / 8) - (h(0.25) + 1 / 8)
    H, _ = naive.from_rows(ROWS, naive.miller_madow)
    assert H(0, (1,)) == pytest.approx(expected)


def test_entropies_of_rows_and_of_their_own_frequencies_agree():
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 3, size=(40, 3))
    joint = np.zeros((3, 3, 3))
    for row in rows:
        joint[tuple(row)] += 1 / 40
    H_rows, I_rows = naive.from_rows(rows)
    H_exact, I_exact = naive.from_joint(joint)
    assert H_rows(0, (1, 2)) == pytest.approx(H_exact(0, (1, 2)))
    assert I_rows(0, (1, 2), ()) == pytest.approx(I_exact(0, (1, 2), ()))
    assert I_rows(2, (0,), (1,)) == pytest.approx(I_exact(2, (0,), (1,)))


# --- tests of independence -----------------------------------------------------------------


def rows_of(*tables: list[list[int]]) -> list[tuple[int, int, int]]:
    """Rows (stratum, x, y) with these tables of x by y."""
    return [
        (z, x, y)
        for z, table in enumerate(tables)
        for x, line in enumerate(table)
        for y, count in enumerate(line)
        for _ in range(count)
    ]


def test_evidence_of_a_two_by_two_table():
    found = naive.strata_evidence(rows_of([[3, 1], [1, 3]]), 1, 2, ())
    assert found["pearson"] == pytest.approx(2.0)  # 8 (3*3 - 1*1)^2 / 4^4
    assert found["df"] == 1
    assert found["plugin"] == pytest.approx(LN2 - h(0.25))
    assert found["null_mean"] == pytest.approx(8 / 7)
    # n_11 is hypergeometric: 0..4 with weights 1, 16, 36, 16, 1 of 70; X2 = 2 (n_11 - 2)^2.
    assert found["null_variance"] == pytest.approx((2 * 64 + 32 * 4) / 70 - (8 / 7) ** 2)


def test_evidence_adds_over_strata_and_leaves_out_those_that_cannot_vary():
    first, second = [[3, 1], [1, 3]], [[2, 1, 0], [0, 1, 2]]
    one_level, as_many_levels_as_rows = [[4, 2]], [[1, 0], [0, 1]]
    single_against_even = [[1, 0], [1, 2]]
    found = naive.strata_evidence(
        rows_of(first, second, one_level, as_many_levels_as_rows, single_against_even), 1, 2, (0,)
    )
    alone = [naive.strata_evidence(rows_of(table), 1, 2, ()) for table in (first, second)]
    for key in ("pearson", "null_mean", "null_variance"):
        assert found[key] == pytest.approx(sum(part[key] for part in alone))
    assert found["df"] == 1 + 2 + 0 + 1 + 1
    single = 4 * (h(0.25) + LN2 - 1.5 * LN2)
    plugin = 8 * alone[0]["plugin"] + 6 * alone[1]["plugin"] + 2 * LN2 + single
    assert found["plugin"] == pytest.approx(plugin / 26)


def test_others_taken_as_one_variable():
    rng = np.random.default_rng(2)
    rows = rng.integers(0, 2, size=(60, 4))
    merged = np.column_stack([rows[:, 0], 2 * rows[:, 1] + rows[:, 2], rows[:, 3]])
    assert naive.strata_evidence(rows, 0, (1, 2), (3,)) == naive.strata_evidence(merged, 0, 1, (2,))


@pytest.mark.parametrize(
    "table",
    [
        [[2, 0], [0, 1]],
        [[2, 1], [1, 2]],
        [[1, 1, 0], [0, 1, 3]],
        [[3, 0], [0, 1], [1, 1]],
        [[1, 0, 0], [0, 1, 0], [0, 0, 4]],
        [[1, 0], [0, 1]],
        [[1, 0, 0], [0, 1, 1]],
        [[1, 0], [1, 2]],
        [[1, 1], [2, 0], [2, 0]],
        [[5, 1]],
    ],
)
def test_permutation_moments_agree_with_all_permutations(table: list[list[int]]):
    ref = naive.permutation_moments_by_enumeration(np.array(table))
    comp = [float(moment) for moment in naive.permutation_moments(np.array(table))]
    assert comp == pytest.approx(ref, abs=1e-12)


# --- Markov boundaries ---------------------------------------------------------------------


def always(*_: object) -> bool:
    return True


def test_pps_takes_the_largest_gain_first_and_stops_when_refused():
    # X_2 copies X_0 in 90 % and, of what is left, a little of X_1.
    table = np.array([[coin(0.1), coin(0.2)], [coin(0.8), coin(0.9)]])
    parents = {0: (), 1: (), 2: (0, 1)}
    joint = naive.joint_of([2, 2, 2], parents, {0: coin(0.5), 1: coin(0.5), 2: table})
    H, I = naive.from_joint(joint)
    asked = []

    def only_first(target, others, given, n_tests):
        asked.append((others, given, n_tests))
        return len(asked) == 1

    assert naive.pps(I, H, 2, [0, 1], only_first) == (H(2, (0,)), (0,))
    assert asked == [((0,), (), 2), ((1,), (0,), 1)]


def test_pps_breaks_ties_by_the_smallest_variable_or_by_the_order_given():
    rows = [(x, x, y, x) for x, y in product((0, 1), repeat=2)]
    H, I = naive.from_rows(rows)
    above = naive.thresholds(I, kappa=TINY, omega=TINY).grow
    assert naive.pps(I, H, 3, [2, 1, 0], above) == (0.0, (0,))
    assert naive.pps(I, H, 3, [2, 1, 0], above, order=list) == (0.0, (1,))


def test_pps_with_every_candidate_accepted_takes_all():
    H, I = naive.from_rows(ROWS)
    assert naive.pps(I, H, 0, [1], always)[1] == (1,)
    assert naive.pps(I, H, 0, [], always) == (H(0, ()), ())


def test_backward_phase_drops_duplicates_together_or_one_at_a_time():
    rows = [(x, x, y, x) for x, y in product((0, 1), repeat=2)]
    _, I = naive.from_rows(rows)
    retain = naive.thresholds(I, kappa=TINY, omega=TINY).retain
    assert naive.iamb_backward(I, 3, [0, 1, 2], retain) == ()
    assert naive.iamb_backward(I, 3, [0, 1, 2], retain, simultaneous=False) == (1,)


def test_backward_phase_one_at_a_time_drops_the_weakest_and_judges_the_rest_anew():
    gains = {(0, (1, 2)): 0.2, (1, (0, 2)): 0.1, (2, (0, 1)): 0.9}

    def I(target, others, given):
        return gains.get((others[0], given), 0.8)

    retain = naive.thresholds(I, kappa=0.5, omega=0.5).retain
    assert naive.iamb_backward(I, 3, [0, 1, 2], retain) == (2,)
    assert naive.iamb_backward(I, 3, [0, 1, 2], retain, simultaneous=False) == (0, 2)


def test_backward_phase_keeps_both_sides_of_a_parity():
    rows = [(x, y, z, x ^ y) for x, y, z in product((0, 1), repeat=3)]
    _, I = naive.from_rows(rows)
    retain = naive.thresholds(I, kappa=TINY, omega=TINY).retain
    for simultaneous in (True, False):
        assert naive.iamb_backward(I, 3, [0, 1, 2], retain, simultaneous) == (0, 1)


def test_thresholds_are_strict_as_in_the_paper_and_swapped_in_the_reference():
    _, I = naive.from_rows([(0, 0), (1, 1)])
    exact = I(0, (1,), ())
    paper = naive.thresholds(I, exact, exact)
    reference = naive.thresholds(I, exact, exact, "reference")
    test = (0, (1,), (), 1)
    assert (paper.grow(*test), paper.retain(*test), paper.mask(*test)) == (False, True, True)
    assert (reference.grow(*test), reference.mask(*test)) == (True, False)


# --- the searches --------------------------------------------------------------------------


def chain(d: int, flip: float = 0.2) -> tuple[naive.Parents, np.ndarray]:
    """X_{d-1} -> ... -> X_0, each the one before flipped; all own entropies are equal."""
    parents = {k: (k + 1,) if k < d - 1 else () for k in range(d)}
    tables = {k: np.array([coin(flip), coin(1 - flip)]) for k in range(d - 1)}
    return parents, naive.joint_of([2] * d, parents, tables | {d - 1: coin(flip)})


@pytest.mark.parametrize("boundary", ["pps", "iamb", "none"])
@pytest.mark.parametrize("search", NEEDS)
def test_a_markov_chain_is_learned_by_every_search(search: str, boundary: str):
    parents, joint = chain(4)
    layers, learned = learn(joint, search, boundary)
    assert learned == parents
    assert layers == [[3], [2], [1], [0]]


def test_a_masking_node_takes_part_only_when_admitted():
    # Scripted dependence: 1 hides behind 0, and 2 depends on 1 alone.
    linked = {(1, 0), (2, 1)}

    def mask(k, others, given, n_tests):
        return any((k, l) in linked for l in others)

    none = dict.fromkeys(range(3), ())
    assert naive.by_node([0, 1, 2], none, mask) == [0, 2]
    assert naive.by_layer([0, 1, 2], none, mask) == [0, 2]
    assert naive.by_sieve([0, 1, 2], none, mask) == [0]
    assert naive.by_entropy([0, 1, 2], none, mask) == [0]


def test_masking_by_node_and_by_layer_ask_about_what_the_paper_says():
    asked: dict[str, list] = {"node": [], "layer": [], "sieve": []}
    for search, tests in asked.items():

        def mask(k, others, given, n_tests, tests=tests):
            tests.append((k, others, n_tests))
            return False

        naive.NEXT_LAYER[search]([2, 0, 1], dict.fromkeys(range(3), ()), mask)
    assert asked["node"] == [(0, (2,), 1), (1, (2,), 1), (1, (0,), 1)]
    assert asked["layer"] == [(0, (2,), 1), (1, (2,), 1), (1, (0, 2), 1)]
    assert asked["sieve"] == [(0, (2,), 1), (1, (2,), 2), (1, (0,), 2)]


def test_equal_entropies_are_taken_in_the_order_of_the_columns():
    rows = list(product((0, 1), repeat=3))
    H, I = naive.from_rows(rows)
    layers, parents = naive.tam(H, I, 3, naive.thresholds(I, TINY, TINY))
    assert layers == [[0, 1, 2]]
    assert parents == {0: (), 1: (), 2: ()}


def test_the_reference_breaks_ties_in_pps_by_admission_and_the_paper_by_variable():
    # Scripted: 1 is admitted before 0, and 2 gains as much from either and no more from both.
    def H(k, given):
        return (2.0, 1.0, 9.0)[k]

    def I(k, others, given):
        return 1.0 if k == 2 and not given else 0.0

    for search, parent in [("node", 0), ("layer", 0), ("reference", 1)]:
        bars = naive.thresholds(I, TINY, TINY, search)
        assert naive.tam(H, I, 3, bars, search) == ([[1, 0], [2]], {0: (), 1: (), 2: (parent,)})


def test_the_backward_phase_removes_what_pps_took_on_the_way():
    # X_2 nearly spells out X_0 and X_1, so it tells X_3 more than either of its parents.
    spelled = np.full((2, 2, 4), 0.01)
    child = np.zeros((2, 2, 2))
    for x, y in product((0, 1), repeat=2):
        spelled[x, y, 2 * x + y] = 0.97
        child[x, y] = coin(0.1 + 0.4 * (x + y))
    parents = {0: (), 1: (), 2: (0, 1), 3: (0, 1)}
    tables = {0: coin(0.5), 1: coin(0.5), 2: spelled, 3: child}
    _, I = naive.from_joint(naive.joint_of([2, 2, 4, 2], parents, tables))
    bars = naive.thresholds(I, TINY, TINY)

    def in_order(k, given):
        return float(k)

    learned = {
        boundary: naive.tam(in_order, I, 4, bars, "sequential", boundary)[1][3]
        for boundary in ("pps", "iamb", "none")
    }
    assert learned == {"pps": (0, 1, 2), "iamb": (0, 1), "none": (0, 1)}


def test_parents_can_be_pruned_after_pps():
    # PPS that accepts everything, then a backward phase that knows better.
    parents, joint = chain(3)
    H, I = naive.from_joint(joint)
    bars = naive.thresholds(I, TINY, TINY)
    greedy = naive.Decide(grow=always, retain=bars.retain, mask=bars.mask)
    assert naive.tam(H, I, 3, greedy, "sequential")[1][0] == (1, 2)
    assert naive.tam(H, I, 3, greedy, "sequential", prune=True)[1] == parents


# --- the paper's examples ------------------------------------------------------------------


def example(fourth, lowest: int) -> np.ndarray:
    """Example eg:uneq: ``fourth(x2, x3)`` lists the values of X4 with their probabilities."""
    joint = np.zeros((2, 3, 3, 4))
    for z1, z2, z3 in product((0, 1), repeat=3):
        p = coin(0.2)[z1] * coin(0.1)[z2] * coin(0.2)[z3]
        x2, x3 = -z1 + z2, z1 + z3
        for x4, q in fourth(x2, x3):
            joint[z1, x2 + 1, x3, x4 - lowest] += p * q
    return joint


def model_1() -> np.ndarray:
    def fourth(x2, x3):
        p = sigmoid(0.01 * x3 + math.log(0.1 / 0.9))
        return [(x2, 1 - p), (x2 + 1, p)]

    return example(fourth, lowest=-1)


def model_2() -> np.ndarray:
    return example(lambda x2, x3: [(x2 + x3, 0.9), (x2 + x3 + 1, 0.1)], lowest=0)


def test_the_printed_numbers_of_model_1():
    H, I = naive.from_joint(model_1())
    assert H(0, ()) == pytest.approx(0.500, abs=5e-4)
    assert H(1, ()) == pytest.approx(0.733, abs=1e-3)
    assert H(2, ()) == pytest.approx(0.778, abs=1e-3)
    assert H(3, ()) == pytest.approx(0.87, abs=5e-3)
    assert H(1, (0,)) == pytest.approx(h(0.1))
    assert H(2, (0,)) == pytest.approx(h(0.2))
    assert H(3, (0,)) == pytest.approx(0.525, abs=1e-3)
    assert H(3, (0, 1)) == pytest.approx(h(0.1), abs=1e-3)
    assert H(3, (0, 1)) < H(2, (0, 1)) < H(3, (0,))
    assert I(3, (2,), (1,)) > 1e-7


def test_model_1_meets_the_main_condition_and_not_the_unequal_entropy_one():
    joint = model_1()
    verdict = naive.check_conditions(joint, DIAMOND)
    assert (verdict.main, verdict.general) == (True, True)
    assert (verdict.uneq1, verdict.greedy, verdict.equal) == (False, False, False)
    assert not verdict.positive
    for search in ("node", "layer", "reference"):
        assert learn(joint, search) == ([[0], [1, 2], [3]], DIAMOND)
    order = [layer[0] for layer in learn(joint, "sequential")[0]]
    assert order == [0, 1, 3, 2]  # "the order between X3 and X4 is flipped"


def test_model_2_meets_the_unequal_entropy_condition_and_not_the_main_one():
    joint = model_2()
    _, I = naive.from_joint(joint)
    assert I(3, (0,), ()) == pytest.approx(0, abs=1e-12)
    verdict = naive.check_conditions(joint, DIAMOND)
    assert (verdict.main, verdict.general) == (False, False)
    assert (verdict.uneq1, verdict.greedy, verdict.equal) == (True, True, False)
    assert learn(joint, "sequential")[1] == DIAMOND
    # "... and will incorporate X4 into the first layer"
    assert learn(joint, "node")[0][0] == [0, 3]
    # The sieve is not deceived: X2 and X3 come before X4 and it depends on them.
    assert verdict.sieve
    assert learn(joint, "sieve") == ([[0], [1, 2], [3]], DIAMOND)


def logistic_diamond() -> np.ndarray:
    """Appendix C.4: Z moves X_1 and X_2 by opposite amounts, so Y does not feel it."""
    a1, a2, a0, b0 = 1.0, -1.0, -1.5, 2.0
    b1, b2 = a2 - a1, a1 - a2
    tables = {
        0: coin(0.4),
        1: np.array([coin(sigmoid(a1)), coin(sigmoid(b1 + a1))]),
        2: np.array([coin(sigmoid(a2)), coin(sigmoid(b2 + a2))]),
        3: np.array([[coin(sigmoid(b0 * (x + y) + a0)) for y in (0, 1)] for x in (0, 1)]),
    }
    return naive.joint_of([2] * 4, DIAMOND, tables)


def test_the_logistic_diamond_meets_the_pps_condition_although_no_polyforest():
    joint = logistic_diamond()
    H, I = naive.from_joint(joint)
    assert I(3, (0,), ()) == pytest.approx(0, abs=1e-12)
    verdict = naive.check_conditions(joint, DIAMOND)
    assert verdict.pps_as_printed
    assert verdict.pps
    assert verdict.positive
    grow = naive.thresholds(I, TINY, TINY).grow
    assert naive.pps(I, H, 3, [0, 1, 2], grow)[1] == (1, 2)


def test_the_logistic_diamond_violates_condition_2_and_masking_misplaces_its_sink():
    verdict = naive.check_conditions(logistic_diamond(), DIAMOND)
    assert not verdict.main
    assert learn(logistic_diamond(), "node")[0][0] == [0, 3]


# --- what the paper's conditions leave open ------------------------------------------------


def test_parity_meets_the_printed_pps_condition_emptily_and_pps_cannot_start():
    # X_2 is the parity of two fair coins, mostly, with a third coin beside it: four levels.
    parity = np.zeros((2, 2, 4))
    for x, y, flip, beside in product((0, 1), repeat=4):
        parity[x, y, 2 * (x ^ y ^ flip) + beside] += coin(0.1)[flip] / 2
    parents = {0: (), 1: (), 2: (0, 1)}
    joint = naive.joint_of([2, 2, 4], parents, {0: coin(0.5), 1: coin(0.5), 2: parity})
    verdict = naive.check_conditions(joint, parents)
    assert (verdict.pps_as_printed, verdict.pps) == (True, False)
    # No single coin tells anything, both together do: U2 holds where C2 fails.
    assert (verdict.main, verdict.general) == (False, True)
    assert learn(joint, "node", "none")[0] == [[0, 1, 2]]
    assert learn(joint, "layer", "none") == ([[0, 1], [2]], parents)
    assert learn(joint, "layer", "pps") == ([[0, 1], [2]], {0: (), 1: (), 2: ()})


def test_a_tie_that_the_unequal_entropy_condition_allows_can_mislead_the_greedy_order():
    # Two sources of equal entropy; their child copies the first and hardly feels the second.
    child = np.array([[coin(0.05), coin(0.07)], [coin(0.93), coin(0.95)]])
    parents = {0: (), 1: (), 2: (0, 1)}
    joint = naive.joint_of([2, 2, 2], parents, {0: coin(0.2), 1: coin(0.2), 2: child})
    verdict = naive.check_conditions(joint, parents)
    assert verdict.positive
    assert verdict.minimal
    assert verdict.uneq1  # by the order 1, 0, 2
    assert not verdict.greedy  # the tie may be broken as 0, then 2
    assert learn(joint, "sequential")[0] == [[0], [2], [1]]
    assert learn(joint, "node") == ([[0, 1], [2]], parents)


def test_entropies_that_differ_by_less_than_the_tolerance_prove_nothing():
    # A coin a hair from fair: its copy has more entropy by 1e-12 nats, which is no margin.
    flip = np.array([coin(0.2), coin(0.8)])
    parents = {0: (), 1: (0,)}
    joint = naive.joint_of([2, 2], parents, {0: coin(0.5 - 1e-6), 1: flip})
    verdict = naive.check_conditions(joint, parents, tolerance=1e-9)
    assert (verdict.positive, verdict.minimal, verdict.pps) == (True, True, True)
    assert not any((verdict.main, verdict.general, verdict.greedy, verdict.sieve, verdict.uneq1))


def test_equal_entropy_does_not_imply_the_printed_unequal_entropy_condition():
    # Two arrows side by side: once 0 is taken, 1 and 2 tie although their layers differ.
    flip = np.array([coin(0.2), coin(0.8)])
    parents = {0: (), 1: (0,), 2: (), 3: (2,)}
    joint = naive.joint_of([2] * 4, parents, {0: coin(0.2), 1: flip, 2: coin(0.2), 3: flip})
    verdict = naive.check_conditions(joint, parents)
    assert verdict.equal
    assert verdict.main
    assert verdict.greedy
    assert not verdict.uneq1


# --- graphs, networks and the theorems -----------------------------------------------------


def test_the_graph_of_the_diamond():
    assert naive.true_layers(DIAMOND) == [[0], [1, 2], [3]]
    assert naive.ancestors(DIAMOND, 3) == {0, 1, 2}
    assert naive.sources(DIAMOND, {0, 2}) == {1}
    assert naive.canonical_sets(DIAMOND) == [(), (0,), (0, 1, 2)]
    assert naive.ancestral_sets(DIAMOND) == [
        (),
        (0,),
        (0, 1),
        (0, 2),
        (0, 1, 2),
        (0, 1, 2, 3),
    ]
    assert list(naive.topological_orders(DIAMOND)) == [(0, 1, 2, 3), (0, 2, 1, 3)]


@pytest.mark.parametrize("noise", [None, 0.3])
@pytest.mark.parametrize("seed", range(5))
def test_random_networks_are_distributions_that_obey_their_graph(seed, noise):
    rng = np.random.default_rng(seed)
    parents, tables, joint = naive.random_network(rng, 5, max_arity=3, noise=noise)
    H, I = naive.from_joint(joint)
    assert joint.sum() == pytest.approx(1)
    assert joint.min() > 0
    for k, table in tables.items():
        assert table.shape == tuple(joint.shape[l] for l in (*parents[k], k))
        earlier = {l for l in parents if k not in naive.ancestors(parents, l)} - {k}
        rest = naive.ordered(earlier - set(parents[k]))
        assert I(k, rest, parents[k]) == pytest.approx(0, abs=1e-12)
        if noise is not None:
            assert H(k, parents[k]) == pytest.approx(h(0.7, 0.15, 0.15))


def random_networks(count: int):
    """Networks of both kinds and several sizes, always the same ones."""
    settings = [(4, 2, None), (5, 3, None), (5, 2, 0.2), (4, 3, 0.3)]
    for seed in range(count):
        d, max_arity, noise = settings[seed % len(settings)]
        rng = np.random.default_rng(seed)
        parents, _, joint = naive.random_network(rng, d, max_arity, noise=noise)
        yield parents, joint, naive.check_conditions(joint, parents, tolerance=1e-6)


@pytest.mark.parametrize("search", NEEDS)
def test_each_search_is_right_where_its_conditions_hold(search: str):
    own, pps = NEEDS[search]
    proven = 0
    for parents, joint, verdict in random_networks(120):
        if not (verdict.positive and verdict.minimal and getattr(verdict, own)):
            continue
        proven += 1
        if getattr(verdict, pps):
            assert learn(joint, search, "pps", 1e-6)[1] == parents
            assert learn(joint, search, "iamb", 1e-6)[1] == parents
        if verdict.backward:
            layers, learned = learn(joint, search, "none", 1e-6)
            assert learned == parents
            if search in ("node", "layer", "reference"):
                assert [sorted(layer) for layer in layers] == naive.true_layers(parents)
    assert proven >= 30


def test_conditions_imply_each_other_as_the_paper_says():
    for _, _, verdict in random_networks(120):
        assert verdict.general or not verdict.main
        assert verdict.nondegenerate or not (verdict.positive and verdict.minimal)
        assert verdict.greedy or not (verdict.equal and verdict.nondegenerate)
        assert verdict.pps or not verdict.pps_everywhere
        assert verdict.pps_as_printed or not verdict.pps


def test_trees_meet_the_pps_condition():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        parents, _, joint = naive.random_network(rng, 5, max_arity=2, max_parents=1, density=0.9)
        assert naive.check_conditions(joint, parents, tolerance=1e-12).pps
