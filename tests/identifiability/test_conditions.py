"""The conditions on known networks, against their definitions by brute force."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from known_networks import (
    coarse_network,
    different_ancestors,
    linear_network,
    ordering_across_layers,
    parity_and_a_third,
    parity_polytree,
    random_network,
    superfluous_edge,
    two_arrows,
)

import naive
import tamis
from tamis.identifiability import pps_condition
from tamis.identifiability.known import Known

smooth = st.builds(
    random_network,
    seed=st.integers(0, 10**6),
    d=st.integers(2, 5),
    max_arity=st.sampled_from([2, 3]),
    density=st.sampled_from([0.3, 0.6, 0.9]),
    floor=st.sampled_from([0.02, 0.1]),
    noise=st.sampled_from([None, None, 0.2]),
)


coarse = st.builds(coarse_network, seed=st.integers(0, 10**6), d=st.integers(2, 4))
networks = smooth | coarse


@given(networks)
def test_every_verdict_is_that_of_the_definition(made):
    network, parents, joint = made
    expected = naive.check_conditions(joint, parents)
    found = tamis.check(network).conditions
    assert found["main"].holds == expected.main
    assert found["general"].holds == expected.general
    assert found["C3"].holds == expected.equal
    assert found["unequal"].holds == expected.uneq1
    assert found["positivity"].holds == expected.positive
    assert found["nondegeneracy"].holds == expected.nondegenerate
    assert found["minimal"].holds == expected.minimal
    if expected.positive:
        assert found["PPS"].holds == expected.pps
        assert found["PPS"].details["as_printed"] == expected.pps_as_printed


@given(networks)
def test_c1_c2_u1_and_u2_are_those_of_the_definition_one_by_one(made):
    network, parents, joint = made
    H, I = naive.from_joint(joint)  # noqa: E741
    layers = naive.true_layers(parents)
    slacks = {"C1": [], "C2": [], "U2": []}
    for j, A in enumerate(naive.canonical_sets(parents)):
        for k in naive.ordered(*layers[j + 1 :]):
            above = naive.ancestors(parents, k) & set(layers[j])
            slacks["C1"].append(max(H(k, A) - H(i, A) for i in above))
            slacks["C2"].append(max(I(k, (i,), A) for i in above))
            slacks["U2"].append(I(k, naive.ordered(above), A))
    found = tamis.check(network).conditions
    for key, values in slacks.items():
        if values:
            assert found[key].margin == pytest.approx(min(values), abs=1e-9)
            assert found[key].holds == (min(values) > 1e-9)
        else:
            assert found[key].holds
            assert found[key].margin is None
    assert found["U1"].margin == found["C1"].margin


@given(networks)
def test_where_c1_fails_the_witness_is_one(made):
    network, parents, joint = made
    H, _ = naive.from_joint(joint)
    layers = naive.true_layers(parents)
    condition = tamis.check(network).conditions["C1"]
    assume(condition.violations)
    for violation in condition.violations:
        k, nearest = (network.names.index(name) for name in violation.names)
        j = int(violation.numbers["layer"]) - 1
        A = naive.canonical_sets(parents)[j]
        above = naive.ancestors(parents, k) & set(layers[j])
        assert nearest in above
        assert all(H(i, A) >= H(k, A) - 1e-9 for i in above)
        assert H(k, A) - H(nearest, A) == pytest.approx(violation.numbers["lead"], abs=1e-9)


@given(networks)
def test_what_is_guaranteed_is_recovered_from_exact_information(made):
    network, _, _ = made
    found = tamis.check(network)
    for group in (found.searches, found.without_pps, found.printed):
        for verdict in group.values():
            assert verdict.recovers or not verdict.guaranteed, verdict


@given(networks)
def test_guarantees_follow_from_the_conditions_by_brute_force(made):
    network, parents, joint = made
    expected = naive.check_conditions(joint, parents)
    assume(expected.positive and expected.minimal)
    found = tamis.check(network).searches
    # Not the other way round: see thm:main in docs/departures.md.
    assert (expected.main and expected.pps) or not found["node"].guaranteed
    assert (expected.general and expected.pps) or not found["layer"].guaranteed
    without = tamis.check(network).without_pps
    assert without["node"].guaranteed == (expected.main and expected.backward)
    assert without["layer"].guaranteed == (expected.general and expected.backward)
    if expected.pps_everywhere:
        assert found["sequential"].guaranteed == expected.greedy
        # The twin gives up at every tie of dependent nodes, even where a third masks both.


def test_many_random_networks_are_guaranteed_so_that_the_tests_above_say_something():
    guaranteed = [
        tamis.check(random_network(seed, 4, noise=0.2)[0]).guaranteed for seed in range(20)
    ]
    assert sum("node" in names for names in guaranteed) >= 5
    assert sum("sequential" in names for names in guaranteed) >= 5


@pytest.mark.parametrize(
    ("name", "holds"),
    [("earthquake", True), ("cancer", False), ("survey", False), ("asia", False), ("sachs", False)],
)
def test_published_networks_get_the_verdict_computed_independently(name, holds, published):
    assert tamis.check(published(name)).conditions["main"].holds is holds


def test_m1_satisfies_condition_1_and_not_the_unequal_entropy_condition():
    found = tamis.check(tamis.BayesianNetwork.example("m1"))
    assert found.conditions["main"].holds
    assert found.conditions["unequal"].holds is False
    assert found.conditions["C3"].holds is False
    assert "node" in found.guaranteed
    assert "sequential" not in found.recovering


def test_m2_satisfies_the_unequal_entropy_condition_and_not_c2():
    found = tamis.check(tamis.BayesianNetwork.example("m2"))
    assert found.conditions["C1"].holds
    assert found.conditions["C2"].holds is False
    assert found.conditions["C2"].violations[0].names == ("X4", "X1")
    assert found.conditions["unequal"].holds
    assert found.conditions["unequal"].details["ordering"] == ["X1", "X2", "X3", "X4"]
    assert "sequential" in found.guaranteed
    assert "node" not in found.recovering


def test_the_logistic_diamond_satisfies_the_pps_condition_with_several_paths():
    found = tamis.check(tamis.BayesianNetwork.example("diamond"))
    assert found.conditions["PPS"].holds
    assert found.conditions["polyforest"].holds is False
    assert found.conditions["C2"].holds is False
    assert found.conditions["faithful"].holds is False
    assert (found.paths.most, found.paths.ends) == (2, ("Z", "Y"))


def test_the_network_made_to_satisfy_everything_does():
    found = tamis.check(tamis.BayesianNetwork.example("orchard"))
    failing = {key for key, one in found.conditions.items() if not one.holds}
    assert failing == {"C3", "polyforest"}
    assert set(found.guaranteed) == set(found.searches) == set(found.recovering)


def test_the_important_ancestors_are_named_for_every_node_and_layer():
    found = tamis.check(tamis.BayesianNetwork.example("m1")).conditions["main"]
    important = {
        (one["node"], one["layer"]): one["ancestors"] for one in found.details["ancestors"]
    }
    assert important == {
        ("X2", 1): ["X1"],
        ("X3", 1): ["X1"],
        ("X4", 1): ["X1"],
        ("X4", 2): ["X2", "X3"],
    }


def test_parity_breaks_the_pps_condition_even_on_a_polytree():
    # Against the letter of Theorem thm:poly: no parent of x4 informs about it alone.
    found = tamis.check(parity_polytree())
    assert found.conditions["polyforest"].holds
    assert found.conditions["positivity"].holds
    assert found.conditions["nondegeneracy"].holds
    assert found.conditions["PPS"].holds is False
    assert "x4" in found.conditions["PPS"].violations[0].names


def test_equal_entropies_in_different_layers_tie_and_are_harmless():
    found = tamis.check(two_arrows())
    assert found.conditions["C3"].holds
    assert found.conditions["C3"].margin == 0.0
    assert found.conditions["unequal"].holds is False
    assert "tie across layers" in found.conditions["unequal"].violations[0].text
    assert "sequential" in found.guaranteed


@pytest.mark.parametrize("chained", [True, False])
def test_a_superfluous_edge_is_named(chained):
    found = tamis.check(superfluous_edge(chained))
    assert [violation.names for violation in found.conditions["minimal"].violations] == [
        ("x0", "x2")
    ]
    assert not found.guaranteed
    # The last parent of x2 is x1 in both, but only without x0 -> x1 can it come before x0.
    assert found.conditions["nondegeneracy"].holds is chained


def test_a_zero_is_named_with_its_level_and_configuration():
    found = tamis.check(tamis.BayesianNetwork.example("m1")).conditions["positivity"]
    assert found.holds is False
    assert found.violations[0].text.startswith("P(X2=")
    assert "X1=" in found.violations[0].text


@given(networks)
def test_unfaithful_independences_are_those_of_the_definition(made):
    network, parents, joint = made
    _, I = naive.from_joint(joint)  # noqa: E741
    graph = network.graph
    import networkx as nx

    d = len(parents)
    unfaithful = [
        (x, y, S)
        for x in range(d)
        for y in range(x + 1, d)
        for S in naive.subsets([k for k in range(d) if k not in (x, y)])
        if I(x, (y,), S) <= 1e-9
        and not nx.is_d_separator(graph, {f"x{x}"}, {f"x{y}"}, {f"x{k}" for k in S})
    ]
    condition = tamis.check(network).conditions["faithful"]
    assert condition.holds == (not unfaithful)
    assert len(condition.violations) == len(unfaithful)


def test_a_network_too_large_for_faithfulness_is_left_undecided_with_the_number():
    chain = random_network(3, 4)[0]
    names = tuple(f"y{k}" for k in range(16))
    wide = tamis.BayesianNetwork(
        (*chain.names, *names),
        (*chain.levels, *([("a", "b")] * 16)),
        (*chain.parents, *([()] * 16)),
        (*chain.tables, *([np.array([0.3, 0.7])] * 16)),
    )
    condition = tamis.check(wide).conditions["faithful"]
    assert condition.holds is None
    assert "conditional independences" in condition.undecided[0]
    assert condition.word == "undecided"


@given(networks)
def test_the_gaps_are_those_of_the_definition(made):
    network, parents, joint = made
    H, I = naive.from_joint(joint)  # noqa: E741
    assume(naive.check_conditions(joint, parents).positive)
    layers = naive.true_layers(parents)
    edges = [
        I(k, (p,), naive.ordered(set(A) - {p}))
        for j, A in enumerate(naive.canonical_sets(parents))
        for k in layers[j]
        for p in parents[k]
    ]
    leads, weakest = [], []
    for j, A in enumerate(naive.canonical_sets(parents)):
        if j:
            for k in naive.ordered(*layers[j:]):
                boundary = naive.markov_boundary(I, k, A, 1e-9)
                for m in naive.subsets(boundary):
                    if len(m) < len(boundary):
                        missing = [I(k, (c,), m) for c in boundary if c not in m]
                        outside = [I(k, (o,), m) for o in A if o not in boundary]
                        leads.append(max(missing) - max([0.0, *outside]))
                        weakest.append(min(missing) / 2)
    best = []
    for j, A in enumerate(naive.canonical_sets(parents)):
        for k in naive.ordered(*layers[j + 1 :]):
            above = naive.ancestors(parents, k) & set(layers[j])
            pairs = [(H(k, A) - H(i, A), I(k, (i,), A)) for i in sorted(above)]
            best.append(max(pairs, key=min))
    gaps = tamis.check(network).gaps
    assert min(gaps.Delta, gaps.eta) == pytest.approx(
        min((min(pair) for pair in best), default=np.inf), abs=1e-9
    )
    for value, expected in ((gaps.Delta_I, edges), (gaps.Delta_tilde, leads), (gaps.xi, weakest)):
        assert value == pytest.approx(min(expected, default=np.inf), abs=1e-9)


def test_delta_and_eta_are_the_papers_numbers_for_m1():
    gaps = tamis.check(tamis.BayesianNetwork.example("m1")).gaps
    # H(X2) - H(X1), H(X3) - H(X1), H(X4) - H(X1), H(X4|X1) - H(X2|X1): the last is the least.
    assert gaps.Delta == pytest.approx(0.526 - 0.325, abs=2e-3)


def test_the_rows_of_the_theorems_are_their_formulas_with_constant_one():
    found = tamis.check(tamis.BayesianNetwork.example("orchard"), epsilon=0.1)
    gaps = found.gaps
    star = min(gaps.Delta / 2, gaps.eta / 2, gaps.Delta_tilde / 2, gaps.xi)
    d, r, levels = 6, 5, 3
    first = d**2 * r * np.log(d) ** 3 * np.log(levels) ** 2 / (star**2 * 0.1)
    second = d ** (1 + np.log(levels)) / (star * np.log(levels)) * np.sqrt(r / (0.1 * np.log(d)))
    rows = {one.theorem: one for one in found.rows}
    assert rows["thm:discrete"].rows == pytest.approx(max(first, second))
    assert rows["thm:discrete"].magnitude == pytest.approx(np.log10(max(first, second)))
    assert rows["thm:main"].rows is None
    assert "binary" in rows["thm:main"].why


def gaussian_chain() -> tamis.GaussianNetwork:
    """a -> b -> c, and a -> c, with one variance of noise for all."""
    weights = {"c": {"b": 0.8, "a": 0.5}, "a": {}, "b": {"a": 0.9}}
    return linear_network(weights, {"c": 1.0, "a": 1.0, "b": 1.0})


def test_the_gaps_of_a_linear_gaussian_network_are_those_of_its_covariance():
    found = tamis.check(gaussian_chain())
    # By hand: a, b = 0.9 a + e, c = 0.5 a + 0.8 b + f, all noise of variance 1.
    var_a, var_b, cov_ab = 1.0, 1.81, 0.9
    cov_ac, cov_bc = 0.5 + 0.8 * cov_ab, 0.5 * cov_ab + 0.8 * var_b
    var_c = 0.5 * cov_ac + 0.8 * cov_bc + 1.0
    c_given_a, c_given_b = var_c - cov_ac**2 / var_a, var_c - cov_bc**2 / var_b
    assert found.gaps.Delta == pytest.approx(np.log(min(var_b, var_c, c_given_a)) / 2)
    gains = {
        "b; a": np.log(var_b) / 2,
        "c; a": np.log(var_c / c_given_a) / 2,
        "c; b": np.log(var_c / c_given_b) / 2,
        "c; b | a": np.log(c_given_a) / 2,
        "c; a | b": np.log(c_given_b) / 2,
    }
    assert found.gaps.eta == pytest.approx(min(gains[i] for i in ("b; a", "c; a", "c; b | a")))
    assert found.gaps.xi == pytest.approx(min(gains.values()) / 2)
    assert found.gaps.Delta_I == pytest.approx(
        min(gains[i] for i in ("b; a", "c; b | a", "c; a | b"))
    )
    assert found.conditions["C3"].holds
    assert set(found.guaranteed) == set(found.searches) == set(found.recovering)


def test_the_rows_of_the_continuous_theorem_are_its_formula_with_both_errors_small():
    found = tamis.check(gaussian_chain(), epsilon=0.1)
    gaps = found.gaps
    star = min(gaps.Delta / 2, gaps.eta / 2, gaps.Delta_tilde / 2, gaps.xi)
    d, r, s = 3, 3, 2.0
    bound = d**2 * r * np.log(d) / (star**2 * 0.1)
    rows = {one.theorem: one for one in found.rows}
    n = rows["thm:cts"].rows
    assert min((n * np.log(n)) ** (2 * s / (s + np.log(d))), n) == pytest.approx(bound)
    assert "smoothness 2" in rows["thm:cts"].why
    for theorem in ("thm:main", "thm:discrete", "thm:nopps"):
        assert rows[theorem].rows is None
        assert "stated for" in rows[theorem].why


@given(seed=st.integers(0, 10**6), d=st.integers(1, 5))
def test_a_linear_gaussian_network_is_checked_by_its_covariance(seed, d):
    rng = np.random.default_rng(seed)
    names = [f"x{k}" for k in rng.permutation(d)]
    weights = {
        name: {p: float(rng.normal()) for p in names[:k] if rng.random() < 0.6}
        for k, name in enumerate(names)
    }
    network = linear_network(weights, {name: float(rng.uniform(0.5, 2)) for name in names})
    found = tamis.check(network)
    B = np.array([[weights[k].get(p, 0.0) for p in network.names] for k in network.names])
    mixing = np.linalg.inv(np.eye(d) - B)
    noise = [one.regressions[0].scale ** 2 for one in network.laws]
    H, I = naive.from_covariance(mixing @ np.diag(noise) @ mixing.T)  # noqa: E741
    parents = dict(enumerate(network.parents))
    slack = [
        max(H(k, A) - H(i, A) for i in naive.ancestors(parents, k) & set(layer))
        for layer, A in zip(naive.true_layers(parents), naive.canonical_sets(parents), strict=True)
        for k in parents
        if k not in set(A) | set(layer)
    ]
    assert found.conditions["C1"].holds == all(value > 1e-9 for value in slack)
    assert found.conditions["minimal"].margin == pytest.approx(
        min(
            (I(k, (p,), naive.ordered(set(parents[k]) - {p})) for k in parents for p in parents[k]),
            default=None,
        ),
        abs=1e-9,
    )
    json.dumps(found.to_dict(), allow_nan=False)


def test_a_network_of_levels_beside_numbers_is_refused():
    rows = {"x": [0.5, 1.0, 2.0, 3.5] * 5, "kind": ["a", "b"] * 10}
    network = tamis.GaussianNetwork.fit({"x": ["kind"], "kind": []}, rows)
    with pytest.raises(tamis.SettingError, match="'kind' has levels beside numbers"):
        tamis.check(network)


def test_a_number_without_noise_is_refused():
    network = linear_network({"a": {}, "b": {"a": 1.0}}, {"a": 1.0, "b": 0.0})
    with pytest.raises(tamis.SettingError, match="'b' has noise of variance 0"):
        tamis.check(network)


def test_for_binary_networks_all_three_theorems_speak():
    found = tamis.check(random_network(5, 3, noise=0.2)[0], epsilon=0.05)
    assert found.guaranteed
    gaps = found.gaps
    least = min(gaps.Delta, gaps.eta, gaps.Delta_I) / 2
    d, r = 3, len(found.layers)
    w = max(map(len, found.layers))
    rows = {one.theorem: one.rows for one in found.rows}
    expected = max(
        2**d * np.sqrt(w * r / d) / (least * np.sqrt(0.05)), d**3 * w * r / (least**2 * 0.05)
    )
    assert rows["thm:nopps"] == pytest.approx(expected)
    star = min(gaps.Delta / 2, gaps.eta / 2, gaps.Delta_tilde / 2, gaps.xi)
    assert rows["thm:main"] == pytest.approx(d**2 * r * np.log(d) ** 3 / (star**2 * 0.05))


@pytest.mark.parametrize("seed", range(5))
def test_the_order_in_which_nodes_are_listed_plays_no_part(seed):
    network = coarse_network(seed, 4)[0]
    shuffled = network.in_order(network.names[::-1])
    assert tamis.check(network).to_dict() == tamis.check(shuffled).to_dict()


def test_a_node_of_one_level_breaks_faithfulness_like_one_of_two_that_never_varies():
    for levels, row in ((("a",), [1.0]), (("a", "b"), [1.0, 0.0])):
        tables = ([0.5, 0.5], [row] * 2, [[0.5, 0.5]] * len(levels))
        network = tamis.BayesianNetwork(
            ("x", "c", "z"), (("0", "1"), levels, ("0", "1")), ((), (0,), (1,)), tables
        )
        assert tamis.check(network).conditions["faithful"].holds is False


@pytest.mark.parametrize("seed", range(6))
def test_gains_over_all_subsets_are_those_asked_one_by_one(seed, monkeypatch):
    known = Known(random_network(seed, 6, max_arity=3, density=0.6)[0])
    node, other, *members = known.network.order[::-1]
    together = pps_condition.gains(known, node, other, members)
    left = pps_condition.uncertainties(known, node, members)
    monkeypatch.setattr(pps_condition, "MOST_CELLS", 0)
    assert together == pytest.approx(pps_condition.gains(known, node, other, members), abs=1e-12)
    assert left == pytest.approx(pps_condition.uncertainties(known, node, members), abs=1e-12)
    assert (together > 0).any()


def test_the_coarse_networks_break_what_the_smooth_ones_never_do():
    found = [tamis.check(coarse_network(seed, 4)[0]).conditions for seed in range(40)]
    for key in ("positivity", "minimal", "nondegeneracy", "PPS", "main", "unequal"):
        verdicts = {conditions[key].holds for conditions in found}
        assert {True, False} <= verdicts, key


def test_where_only_the_pps_condition_fails_the_graph_is_identified_without_pps():
    found = tamis.check(parity_and_a_third())
    assert found.conditions["main"].holds
    assert found.conditions["PPS"].holds is False
    assert found.guaranteed == ()
    assert found.without_pps["node"].guaranteed
    assert found.answer.startswith("Identified, but only without PPS")
    assert [one.recovers for one in found.printed.values()] == [False, True]
    assert tamis.check(parity_and_a_third(), quick=True).answer.startswith("Identified by theorem")


def test_as_printed_nothing_is_removed_that_pps_has_taken_in_excess():
    network = random_network(3, 8, noise=0.2)[0]
    found = tamis.check(network)
    with_pps, without = found.printed["alg:uneq:withpps"], found.printed["alg:uneq:short"]
    assert with_pps.distance == found.searches["node"].distance + 1
    assert without.distance == found.without_pps["node"].distance
    assert with_pps.rests_on == found.searches["node"].rests_on
    quick = tamis.check(network, quick=True).printed
    assert [one.recovers for one in quick.values()] == [None, None]


def test_unequal_entropy_does_not_imply_condition_1():
    found = tamis.check(ordering_across_layers())
    for key in ("unequal", "C2", "PPS", "positivity", "minimal", "nondegeneracy"):
        assert found.conditions[key].holds, key
    assert found.conditions["C1"].holds is False
    assert found.guaranteed == ("sequential",)


def test_c1_and_c2_by_different_ancestors_are_not_condition_1():
    found = tamis.check(different_ancestors()).conditions
    assert found["C1"].holds
    assert found["C2"].holds
    assert found["main"].holds is False
    assert found["main"].violations


def test_a_superfluous_edge_leaves_nothing_identified_and_no_rows():
    found = tamis.check(superfluous_edge(chained=True))
    assert found.identified is False
    assert all(one.rows is None for one in found.rows)
    assert "minimal" in found.rows[0].why


def test_ties_are_not_taken_for_recovery():
    turn = [[0.8, 0.2], [0.2, 0.8]]
    for names in (("a", "z"), ("z", "a")):
        network = tamis.BayesianNetwork(names, (("0", "1"),) * 2, ((), (0,)), ([0.5, 0.5], turn))
        assert tamis.check(network).recovering == ()


def test_the_conditions_of_alarm_are_found(published):
    found = tamis.check(published("alarm"), quick=True)
    assert found.conditions["C1"].holds is False
    assert found.conditions["C2"].holds is True
    assert found.conditions["nondegeneracy"].holds is True
    assert found.conditions["positivity"].holds is False
