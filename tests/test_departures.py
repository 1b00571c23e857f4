"""Every row of docs/departures.md is evaluated: each has a test here, under the name of its place.

A test returns what the decimal numbers of its row should be, in their order; they are compared to
the digit that the page prints. Counterexamples are looked at by brute force, from the joint table
(``naive``), and by the algorithms as printed. Of the other sections, each point with a decimal
number has a test of its own.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from decimal import Decimal, localcontext
from importlib import resources
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from scipy.optimize import brentq

import naive
import tamis
from identifiability.known_networks import (
    against_the_main_theorem,
    copied_parent,
    mod_diamond,
    noisy_xor,
    ordering_across_layers,
    parity_polytree,
    random_network,
    silent_chain,
    superfluous_edge,
    two_arrows,
    unfaithful_gaussian,
)
from tamis.identifiability import gaps
from tamis.identifiability.known import Known
from tamis.information.estimators import Minimax, minimax
from tamis.information.exact import JointInformation
from tamis.information.lipschitz import MOST_DIMENSIONS
from tamis.information.smoothed_entropy import Smoothing
from tamis.parameters import KINDS
from tamis.result.facts import OFTEN
from tamis.rules import Fixed, Rate
from tamis.search import paper
from tamis.simulate.models import diamond

PAGE = (Path(__file__).parent.parent / "docs" / "departures.md").read_text(encoding="utf-8")
DECIMAL = re.compile(r"(?<![\w.])-?\d*\.\d+")
NOTHING = 1e-9
"""Less information than this is rounding."""


class Row(NamedTuple):
    place: str
    printed: str
    here: str


def section(title: str) -> str:
    """What the page says under a heading that begins so."""
    return re.split(r"^## ", PAGE.split(f"## {title}")[1], flags=re.MULTILINE)[0]


def table_rows() -> list[Row]:
    lines = [line for line in section("Where the text slips").splitlines() if line.startswith("|")]
    cells = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines[2:]]
    return [Row(*(cell.strip() for cell in row)) for row in cells]


def points(title: str) -> list[str]:
    """The points of a list, each on one line."""
    return [" ".join(one.split()) for one in re.split(r"^- ", section(title), flags=re.MULTILINE)][
        1:
    ]


ROWS = table_rows()
POINTS = [one for one in points("What is done differently") if DECIMAL.search(one)]
PROGRAM = points("Where the authors' program differs")
CHECKS: dict[str, Callable[[Row], list[float] | None]] = {}
"""From the place of a row to its test."""


def about(place: str) -> Callable:
    def keep(check: Callable) -> Callable:
        assert place not in CHECKS, place
        CHECKS[place] = check
        return check

    return keep


def agree(text: str, values: list[float]) -> None:
    """The decimal numbers of a text are these, to the last digit printed."""
    found = DECIMAL.findall(text)
    assert len(found) == len(values), (found, values)
    for number, value in zip(found, values, strict=True):
        assert float(number) == pytest.approx(round(value, len(number.split(".")[1]))), number


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.place)
def test_each_row_says_what_can_be_computed(row):
    assert row.place in CHECKS, f"{row.place!r} has no test in {Path(__file__).name}"
    agree(row.here, CHECKS[row.place](row) or [])


def test_each_check_is_of_a_row_of_the_page():
    assert set(CHECKS) == {row.place for row in ROWS}
    assert len(ROWS) == len(CHECKS)


# --- helpers -------------------------------------------------------------------------------


def joint_of(network):
    """The joint table, the parents and H and I by brute force."""
    parents = dict(enumerate(network.parents))
    tables = {k: np.asarray(table) for k, table in enumerate(network.tables)}
    joint = naive.joint_of([len(levels) for levels in network.levels], parents, tables)
    return joint, parents, *naive.from_joint(joint)


def conditions_of(network):
    joint, parents, _, _ = joint_of(network)
    return naive.check_conditions(joint, parents)


def entropy(*probabilities: float) -> float:
    return -sum(p * math.log(p) for p in probabilities if p)


def source_of(network) -> JointInformation:
    return JointInformation(network.names, joint_of(network)[0])


# --- the algorithms ------------------------------------------------------------------------


@about("Alg. `alg:pps`, step (b)")
def pps_takes_from_a(row):
    # Outside A is a node that informs more: the copy that x1 holds of x0.
    source = source_of(copied_parent())
    _, m = paper.pps(source, 0, {2}, NOTHING)
    assert m == {2}
    assert paper.I(source, 0, ())[1] > paper.I(source, 0, ())[2]


@about("Alg. `alg:uneq`, step 2")
def the_general_version_ends(row):
    network = parity_polytree()
    layers = paper.tam_general(source_of(network), NOTHING)
    assert sorted(k for layer in layers for k in layer) == list(range(5))


# --- example eg:uneq -----------------------------------------------------------------------


@about("Example `eg:uneq`, β₀")
def beta_0(row):
    printed = DECIMAL.findall(row.printed)[-1]
    assert round(math.log(0.1 / 0.9), 3) != float(printed)
    return [math.log(0.1 / 0.9)]


@about("Example `eg:uneq`, entropies")
def the_entropies(row):
    x1 = entropy(0.2, 0.8)
    x2 = entropy(0.2 * 0.9, 0.8 * 0.9 + 0.2 * 0.1, 0.8 * 0.1)
    x3 = entropy(0.8 * 0.8, 2 * 0.2 * 0.8, 0.2 * 0.2)
    x2_given_x1, x3_given_x1 = entropy(0.1, 0.9), entropy(0.2, 0.8)
    x4_given_x1 = entropy(0.81, 0.18, 0.01)
    x4 = entropy(0.2 * 0.81, 0.8 * 0.81 + 0.2 * 0.18, 0.8 * 0.18 + 0.2 * 0.01, 0.8 * 0.01)
    for value, printed in zip((x2, x3), DECIMAL.findall(row.printed), strict=True):
        assert math.floor(value * 1000) / 1000 == float(printed) != round(value, 3)
    right = {x1: 0.500, x2_given_x1: 0.325, x3_given_x1: 0.500, x4_given_x1: 0.525}
    assert all(round(value, 3) == printed for value, printed in right.items())
    assert round(x4, 2) == 0.87
    # eps = 0.01 keeps sigma within the range that the paper states, and the order of entropies.
    sigma = [1 / (1 + math.exp(-(0.01 * x - math.log(9)))) for x in (0, 1, 2)]
    assert pytest.approx(0.1) == sigma[0] < sigma[2] < 0.102
    assert x2_given_x1 < x3_given_x1 < x4_given_x1 < x4
    _, _, H, _ = joint_of(tamis.BayesianNetwork.example("m1"))
    assert [H(1, ()), H(2, ())] == pytest.approx([x2, x3])
    assert H(3, (0, 1)) < H(2, (0, 1)) < H(3, (0,))
    return [x2, x3, x1, x2_given_x1, 0.1, x4_given_x1, x4]


@about("Example `eg:uneq`, last remark")
def the_remark(row):
    (_, _, _, I1), (_, _, _, I2) = (
        joint_of(tamis.BayesianNetwork.example(name)) for name in ("m1", "m2")
    )
    assert I2(3, (0,), ()) <= NOTHING
    return [I1(3, (0,), ())]


# --- the other examples --------------------------------------------------------------------


@about("App. C.7")
def both_readings(row):
    for variance in (1 / 2, 1 / 4):
        network = unfaithful_gaussian(variance)
        assert tamis.check(network).conditions["main"].holds
        known = Known(network)
        y, z = known.names.index("Y"), known.names.index("Z")
        assert known.information.gain(y, [z]) == 0.0
        # By hand: Y is W and the noise of X and of Y; Z cancels.
        left = known.information.conditional_entropy(y)
        assert left == pytest.approx(math.log(2 * math.pi * math.e * (2 * variance + 1)) / 2)


def diamond_gap(alpha, beta, beta_0=2.0, alpha_0=-1.0) -> float:
    """P(Y = 1 | Z = 1) - P(Y = 1 | Z = 0), over all values of the nodes in the middle."""

    def sigma(x: float) -> float:
        return 1 / (1 + math.exp(-x))

    def given(z: int) -> float:
        total = 0.0
        for xs in np.ndindex(*(2,) * len(alpha)):
            p = sigma(beta_0 * sum(xs) + alpha_0)
            for x, a, b in zip(xs, alpha, beta, strict=True):
                p *= sigma(a + b * z) if x else 1 - sigma(a + b * z)
            total += p
        return total

    return given(1) - given(0)


@about("App. C.4, n paths")
def sums_of_beta(row):
    assert abs(diamond_gap((0, 0), (1, -1))) > 1e-3
    root = brentq(lambda b: diamond_gap((0, 0), (1, b)), -2, 0, xtol=1e-14)
    assert diamond_gap((0, 0), (1, root)) == pytest.approx(0, abs=1e-12)
    for paths in (2, 3, 4):
        rng = np.random.default_rng(paths)
        alpha = rng.normal(size=paths)
        assert diamond_gap(alpha, rng.permutation(alpha) - alpha) == pytest.approx(0, abs=1e-12)
        beta = rng.normal(size=paths)
        assert abs(diamond_gap(alpha, beta - beta.mean())) > 1e-3
        made = diamond(paths=paths)
        own = np.array(made.alpha[1 : paths + 1])
        moved = own + np.array([one[0] for one in made.beta[1 : paths + 1]])
        assert moved == pytest.approx(np.roll(own, -1))
        assert diamond_gap(own, moved - own, 2.0, made.alpha[-1]) == pytest.approx(0, abs=1e-12)
    return [root]


@about("App. C.4, the diamond")
def the_diamond(row):
    network = tamis.BayesianNetwork.example("diamond")
    z, y = network.names.index("Z"), network.names.index("Y")
    _, _, _, I = joint_of(network)  # noqa: E741
    assert I(y, (z,), ()) <= NOTHING
    assert not conditions_of(network).main
    assert conditions_of(network).pps
    for _, layers in (
        paper.tam(source_of(network), NOTHING, NOTHING),
        paper.algorithm_1(source_of(network), NOTHING, lambda X, k, A: A),
    ):
        assert {z, y} <= layers[0]


# --- theorems about rows -------------------------------------------------------------------


@about("Thm `thm:tuning`")
def the_rate(row):
    d, gap = 10, 0.1
    M = math.log(d)

    def proof(n: float) -> float:
        return (d**3 * M) ** 0.25 * ((2**M / (n * M)) ** 2 + M**2 / n) ** 0.25

    printed = Rate(c=1.0).threshold
    by_hand = (d**3 * M) ** 0.25 * ((d / (1e6 * M)) ** 2 + M / 1e3) ** 0.25
    assert printed(1e6, d) == pytest.approx(by_hand)
    # The sample size of the theorem brings the proof's threshold to the gap, not the printed one.
    n = d**3 * M**3 / gap**4
    assert proof(n) == pytest.approx(gap, rel=0.01)
    assert printed(n, d) > 5 * gap
    assert proof(1e24) / proof(1e16) == pytest.approx(1e8**-0.25, rel=1e-6)
    assert printed(1e24, d) / printed(1e16, d) == pytest.approx(1e8**-0.125, rel=1e-6)


@about("Thm `thm:cts`")
def both_errors(row):
    d, r, gap, epsilon, s = 20, 4, 0.05, 0.1, 1.5
    bound = d**2 * r * math.log(d) / (gap**2 * epsilon)

    def terms(n: float) -> tuple[float, float]:
        return (n * math.log(n)) ** (2 * s / (s + math.log(d))), n

    n = math.exp(gaps._continuous(d, r, gap, epsilon, s))
    assert min(terms(n)) == pytest.approx(bound)
    assert sum(1 / one for one in terms(n)) <= 2 / bound
    # As printed n = bound would do, where the first error is far from small enough.
    assert max(terms(bound)) == pytest.approx(bound)
    assert 1 / terms(bound)[0] > 10 / bound
    # Where the first error is the smaller one, n alone counts.
    assert gaps._continuous(2, 2, gap, epsilon, 2.0) == pytest.approx(
        math.log(4 * 2 * math.log(2) / (gap**2 * epsilon))
    )


# --- conditions ----------------------------------------------------------------------------


@about("Cond. `cond:pps`")
def empty_where_nobody_is_outside(row):
    found = conditions_of(noisy_xor())
    assert found.pps_as_printed
    assert not found.pps
    _, m = paper.pps(source_of(noisy_xor()), 2, {0, 1}, NOTHING)
    assert m == set()
    checked = tamis.check(noisy_xor()).conditions["PPS"]
    assert checked.holds is False
    assert "stricter than printed" in checked.title
    assert "letter of the condition holds" in checked.sentence
    assert checked.details["as_printed"] is True


@about('"PPS will always return a valid Markov blanket"')
def no_blanket(row):
    _, _, _, I = joint_of(noisy_xor())  # noqa: E741
    _, m = paper.pps(source_of(noisy_xor()), 2, {0, 1}, NOTHING)
    assert I(2, tuple({0, 1} - m), tuple(m)) > 0.1


@about('"C3 implies Condition 1" (Section 6)')
def equal_entropy_without_c2(row):
    network = mod_diamond()
    _, _, H, I = joint_of(network)  # noqa: E741
    assert conditions_of(network).equal
    assert [H(k, network.parents[k]) for k in range(4)] == pytest.approx([entropy(0.2, 0.8)] * 4)
    assert I(3, (0,), ()) <= NOTHING
    assert not conditions_of(network).main


@about('"C3 implies Cond. `cond:uneq1`"')
def ties_across_layers(row):
    found = conditions_of(two_arrows())
    assert found.equal
    assert found.positive
    assert found.minimal
    assert found.uneq1 is False
    assert found.greedy


@about("Lemma `lem:uneq2main`")
def a_later_layer_first(row):
    found = conditions_of(ordering_across_layers())
    assert found.uneq1
    assert not found.main
    checked = tamis.check(ordering_across_layers()).conditions
    assert checked["C2"].holds
    assert checked["C1"].holds is False


@about("Thm `thm:poly`")
def parity_on_a_polytree(row):
    found = conditions_of(parity_polytree())
    assert found.positive
    assert found.minimal
    assert not found.pps_as_printed
    assert tamis.check(parity_polytree()).conditions["polyforest"].holds
    # Without another node the letter of the condition asks nothing.
    assert conditions_of(noisy_xor()).pps_as_printed


@about("Lemma `lem:poly`")
def polytrees_without_c2(row):
    for network, ancestors in ((noisy_xor(), (0, 1)), (silent_chain(), (0,))):
        found = conditions_of(network)
        _, parents, _, I = joint_of(network)  # noqa: E741
        assert found.positive
        assert found.minimal
        assert max(I(2, (one,), ()) for one in ancestors) <= NOTHING
        checked = tamis.check(network).conditions
        assert checked["polyforest"].holds
        assert checked["C2"].holds is False
    _, parents, _, I = joint_of(silent_chain())  # noqa: E741
    assert all(I(k, (p,), ()) > 0.001 for k in parents for p in parents[k])


@about("Proof of Thm `thm:main`")
def only_at_least(row):
    _, parents, _, I = joint_of(against_the_main_theorem())  # noqa: E741
    assert naive.markov_boundary(I, 4, (0, 1), NOTHING) == (1,)
    assert I(4, (2,), (0, 1)) > 0.004
    assert I(4, (2,), (1,)) <= NOTHING
    for seed in range(20):
        _, parents, joint = random_network(seed, 4)
        _, I = naive.from_joint(joint)  # noqa: E741
        for j, A in enumerate(naive.canonical_sets(parents)):
            for i in naive.true_layers(parents)[j]:
                for k in sorted(set(parents) - set(A) - {i}):
                    m = naive.markov_boundary(I, k, A, NOTHING)
                    assert I(k, (i,), A) >= I(k, (i,), m) - NOTHING
    verdict = tamis.check(against_the_main_theorem()).searches["node"]
    assert verdict.guaranteed is False


@about("Thm `thm:main`")
def the_main_theorem(row):
    network = against_the_main_theorem()
    found = conditions_of(network)
    assert all((found.positive, found.minimal, found.nondegenerate, found.main, found.pps))
    assert found.pps_as_printed
    assert {len(levels) for levels in network.levels} == {2}
    graph, layers = paper.tam(source_of(network), NOTHING, NOTHING)
    assert layers == [{0, 1}, {2, 4}, {3}]
    assert graph[4] == {1}
    checked = tamis.check(network)
    rows = {one.theorem: one for one in checked.rows}
    assert rows["thm:main"].rows is None
    assert "not what the algorithm needs" in rows["thm:main"].why
    # Without PPS the conditions are enough, as thm:ident:unequal2:short says.
    assert rows["thm:nopps"].rows is not None
    right, _ = paper.algorithm_1(
        source_of(network), NOTHING, lambda X, k, A: paper.iamb_backward(X, k, A, NOTHING)
    )
    assert {k: set(given) for k, given in enumerate(network.parents)} == right
    xi, lead = pps_gaps(network)
    Delta, eta = main_gaps(network)
    return [Delta, eta, lead, xi]


def pps_gaps(network) -> tuple[float, float]:
    """xi as printed and Delta~, by brute force over the canonical ancestral sets."""
    _, parents, _, I = joint_of(network)  # noqa: E741
    weakest, leads = [], []
    for A in naive.canonical_sets(parents)[1:]:
        for k in sorted(set(parents) - set(A)):
            boundary = naive.markov_boundary(I, k, A, NOTHING)
            for m in naive.subsets(boundary):
                if len(m) < len(boundary):
                    missing = [I(k, (c,), m) for c in boundary if c not in m]
                    outside = [I(k, (o,), m) for o in A if o not in boundary]
                    weakest.append(min(missing) / 2)
                    leads.append(max(missing) - max([0.0, *outside]))
    return min(weakest), min(leads)


def main_gaps(network) -> tuple[float, float]:
    """Delta and eta of the ancestors whose weaker side is strongest, by brute force."""
    _, parents, H, I = joint_of(network)  # noqa: E741
    layers = naive.true_layers(parents)
    best = []
    for j, A in enumerate(naive.canonical_sets(parents)):
        for k in naive.ordered(*layers[j + 1 :]):
            above = sorted(naive.ancestors(parents, k) & set(layers[j]))
            best.append(max(((H(k, A) - H(i, A), I(k, (i,), A)) for i in above), key=min))
    return min(lead for lead, _ in best), min(gain for _, gain in best)


@about("eq. `defn:ppsgap`, ξ")
def the_weakest_member(row):
    found = tamis.check(unfaithful_gaussian())
    assert found.conditions["PPS"].holds
    assert found.gaps.xi == 0.0
    assert found.gaps.xi_greedy > 0.01
    assert found.printed["alg:uneq:withpps"].recovers
    rows = {one.theorem: one for one in found.rows}
    assert rows["thm:cts"].rows is None
    assert rows["thm:cts"].why == "2 xi is not positive"


@about("Cond. `cond:mi`")
def not_enough(row):
    found = conditions_of(superfluous_edge(chained=True))
    assert found.nondegenerate
    assert not found.minimal
    network = copied_parent()
    found = conditions_of(network)
    assert all((found.nondegenerate, found.minimal, found.main))
    _, _, _, I = joint_of(network)  # noqa: E741
    assert I(3, (0,), (1, 2)) <= NOTHING
    assert I(3, (1,), (0, 2)) <= NOTHING
    assert tamis.check(network).gaps.Delta_I == 0.0
    assert paper.iamb_backward(source_of(network), 3, {0, 1, 2}, NOTHING) == {2}
    # The one set of an edge, against all ancestral sets.
    for seed in range(10):
        network = random_network(seed, 4, floor=0.0)[0]
        checked = tamis.check(network, quick=True).conditions["nondegeneracy"]
        assert checked.holds == conditions_of(network).nondegenerate


@about("Δ, η")
def the_strongest_weaker_side(row):
    for network in (against_the_main_theorem(), tamis.BayesianNetwork.example("orchard")):
        found = tamis.check(network).gaps
        assert (found.Delta, found.eta) == pytest.approx(main_gaps(network))


# --- what is done differently --------------------------------------------------------------


def default_rule(text):
    rules = KINDS["counts"].searches
    assert rules["reference"].boundary_rule == Fixed(0.005)
    assert rules["reference"].masking_rule == Fixed(0.001)
    assert rules["node"].boundary_rule.alpha == 0.001
    agree(
        text,
        [
            0.005,
            0.001,
            rules["node"].boundary_rule.alpha,
            rules["node"].masking_rule.alpha,
        ],
    )


def order_search(text):
    agree(text, [OFTEN])


def lipschitz(text):
    settings = Smoothing()
    rule = KINDS["lipschitz"].searches["sequential"].boundary_rule
    agree(text, [settings.constant, rule.threshold])
    assert f"{settings.shifts} shifted grids" in text
    assert settings.split is False
    assert settings.bandwidth == "shared"
    assert MOST_DIMENSIONS == 4 and "at most four columns" in text  # noqa: PT018
    assert KINDS["lipschitz"].largest_boundary == 2 and "at most two parents" in text  # noqa: PT018


DONE = {
    "**`Permutation` in `node` and `layer`.**": default_rule,
    "**Default search: `auto`**": order_search,
    "**Differential entropy (App. C.6)**": lipschitz,
}


@pytest.mark.parametrize("text", POINTS, ids=lambda text: text.split("**")[1])
def test_each_point_with_a_decimal_number_has_that_number(text):
    (check,) = [check for title, check in DONE.items() if text.startswith(title)]
    check(text)


def test_the_terms_of_the_minimax_estimator_cancel_as_the_page_says():
    text = next(one for one in points("What is done") if one.startswith("**Minimax coeff"))
    shipped = resources.files("tamis.information.estimators").joinpath(minimax.FILE_NAME)
    kept = json.loads(shipped.read_text(encoding="ascii"))
    assert f"{minimax.WORKING_DIGITS}-digit arithmetic" in text
    assert "160 digits" in text
    assert "160 digits" in kept["made_with"]
    lost = []
    for degree, support in ((18, 10**5), (33, 10**9)):
        with localcontext() as context:
            context.prec = 80
            M = Decimal("3.5") * Decimal(support).ln()
            terms, falling = [], Decimal(1)
            for m, a in enumerate(kept["coefficients"][str(degree)]):
                terms.append(Decimal(a) * falling / M**m)
                falling *= degree - m
            lost.append(int(math.log10(max(map(abs, terms)) / abs(sum(terms)))))
    assert f"loses {lost[0]} digits at degree 18 and {lost[1]} at degree 33" in text


def test_networks_like_m1_are_for_node_and_not_for_sequential():
    found = conditions_of(tamis.BayesianNetwork.example("m1"))
    assert found.main
    assert not found.uneq1
    recovering = tamis.check(tamis.BayesianNetwork.example("m1")).recovering
    assert "node" in recovering
    assert "sequential" not in recovering


# --- the authors' program ------------------------------------------------------------------


def test_the_reference_masks_with_the_whole_layer():
    assert PROGRAM[0].startswith("It masks with the whole layer so far")
    # The parity of two coins, and a third source: one coin alone masks nothing.
    rng = np.random.default_rng(3)
    a, b = rng.random(4000) < 0.4, rng.random(4000) < 0.4
    rows = {"a": a, "b": b, "c": (a ^ b) ^ (rng.random(4000) < 0.02)}
    layers = [set(layer) for layer in tamis.TAM("reference").fit(rows).layers_]
    assert layers[0] == {"a", "b"}


def test_the_reference_takes_a_gain_at_the_threshold_and_masks_above_it():
    assert "at least κ (text: above κ)" in PROGRAM[1]
    assert "above ω (text: at least ω)" in PROGRAM[1]
    rng = np.random.default_rng(5)
    a = rng.random(300) < 0.2
    rows = {"a": a, "b": a ^ (rng.random(300) < 0.25)}
    counts = np.array([[np.sum((a == i) & (rows["b"] == j)) for j in (0, 1)] for i in (0, 1)]) / 300
    gain = entropy(*counts.sum(0)) + entropy(*counts.sum(1)) - entropy(*counts.ravel())
    for factor, edges, layers in ((1 - 1e-6, 1, 2), (1 + 1e-6, 0, 1)):
        at = {"entropy": "plugin", "boundary_rule": factor * gain, "masking_rule": 0.0}
        assert tamis.TAM("reference", **at).fit(rows).graph_.number_of_edges() == edges
        at = {"entropy": "plugin", "boundary_rule": 1.0, "masking_rule": factor * gain}
        assert len(tamis.TAM("reference", **at).fit(rows).layers_) == layers


def test_the_support_is_the_product_of_the_arities_with_a_cap():
    assert "at most 100 000" in PROGRAM[2]
    assert Minimax().support == "product"
    assert Minimax().support_size(12.0, 5) == 12
    assert Minimax().support_size(1e7, 5) == 100_000


def test_the_paper_expects_a_number_of_edges_and_turns_edges_at_random():
    assert "trees point from the larger label to the smaller (text: at random)" in PROGRAM[3]
    from tamis.simulate.graphs import er, tree
    from tamis.simulate.models import mod

    counts = {er(10, edges=10, seed=seed).n_edges for seed in range(20)}
    assert len(counts) > 3
    flipped = mod(tree(30, seed=1), flip=True, seed=1).p
    assert set(np.round(flipped, 12)) == {0.2, 0.8}
    sides = [start < end for seed in range(5) for start, end in tree(20, seed=seed).edges]
    assert 20 < sum(sides) < 75
