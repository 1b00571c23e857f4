"""The level that weak edges ask for."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import tamis
from tamis.constants import constants
from tamis.search.outcome import Boundary, Decision, Outcome
from tamis.search.weak_edges import alpha_for, deviate, meeting

STRENGTHS = st.lists(st.floats(0.5, 40), min_size=1, max_size=30)


def found(*strengths: float) -> Outcome:
    """An outcome with one edge of each strength."""
    outcome = Outcome()
    for k, z in enumerate(strengths, start=1):
        score = -(stats.norm.logsf(z) + math.log(2))
        decision = Decision(k, (0,), (), 0.1, score, 1.0, True)
        outcome.boundaries[k] = Boundary(k, (0,), 0.5, (decision,))
    return outcome


@given(st.floats(0.1, 36))
def test_a_strength_is_the_deviate_with_that_p_value(z):
    assert deviate(-(stats.norm.logsf(z) + math.log(2))) == pytest.approx(z, rel=1e-9)


@given(st.floats(0.05, 5), st.integers(20, 10**6))
def test_true_and_false_edges_are_equally_dense_where_they_meet(density, absent):
    z = meeting(density, absent)
    assert z == 0 or 2 * absent * stats.norm.pdf(z) == pytest.approx(density, rel=1e-9)


@given(STRENGTHS, st.integers(31, 200), st.floats(1e-6, 0.4))
def test_the_level_is_never_lowered_and_has_an_end(strengths, d, level):
    assert level <= alpha_for(found(*strengths), level, d) <= max(level, constants.highest_alpha)


@given(STRENGTHS, st.integers(31, 200))
def test_weaker_edges_never_ask_for_a_lower_level(strengths, d):
    stronger = [z + 1.0 for z in strengths]
    assert alpha_for(found(*strengths), 0.02, d) >= alpha_for(found(*stronger), 0.02, d)


def test_where_nothing_was_found_the_level_stays():
    assert alpha_for(found(), 0.02, 6) == 0.02


@pytest.mark.parametrize("d", [5, 20, 50])
def test_strong_edges_ask_for_nothing(d):
    pairs = d * (d - 1) / 2
    far = stats.norm.isf(0.01 / pairs) + constants.weak_reach + 0.1
    assert alpha_for(found(*[far] * (d - 1)), 0.02, d) == 0.02


def test_edges_close_to_the_level_ask_for_a_higher_one():
    # Two edges within three standard errors and one unseen: 1 a standard error; 187 pairs are
    # without an edge, so that 374 phi(z) = 1 at the meeting.
    z = math.sqrt(-2 * math.log(math.sqrt(2 * math.pi) / 374))
    expected = 190 * 2 * stats.norm.sf(z)
    assert 0.1 < expected < constants.highest_alpha
    assert alpha_for(found(4.5, 5.0, 12.0), 0.02, 20) == pytest.approx(expected)


@pytest.mark.parametrize("strengths", [(3.0,), (3.0, 3.5, 3.2)])
def test_where_no_edge_is_absent_there_is_nothing_to_raise_the_level_for(strengths):
    d = len(strengths) if len(strengths) > 1 else 2
    assert alpha_for(found(*strengths), 0.02, d) == 0.02


def weak_chain(rows: int, seed: int) -> dict[str, list[str]]:
    """Six columns, each a little like the one before it."""
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, 2, rows)]
    for _ in range(5):
        keep = rng.random(rows) < 0.56
        columns.append(np.where(keep, columns[-1], 1 - columns[-1]))
    return {f"c{k}": ["no" if one else "yes" for one in values] for k, values in enumerate(columns)}


def test_a_raised_level_is_recorded_and_told():
    told = [tamis.TAM().fit(weak_chain(1000, seed)).result_ for seed in range(4)]
    raised = [one for one in told if one.settings["boundary_rule"]["alpha"] > 0.02]
    assert raised
    for one in told:
        seed = told.index(one)
        kept = tamis.TAM(alpha=0.02).fit(weak_chain(1000, seed)).result_
        before, after = (
            {frozenset((edge.parent, edge.child)) for edge in result.edges}
            for result in (kept, one)
        )
        notes = [note for note in one.warnings if "weak" in note]
        if one in raised:
            # It only stands where it finds more and loses none.
            assert before < after
            (note,) = notes
            n_added = len(after) - len(before)
            assert f"which added {n_added} arrow{'s' * (n_added > 1)}. Of the" in note
        else:
            assert notes == []
            assert before == after


def test_a_level_that_was_asked_for_is_kept():
    for seed in range(4):
        kept = tamis.TAM(alpha=0.02).fit(weak_chain(1000, seed))
        assert kept.result_.settings["boundary_rule"]["alpha"] == 0.02
        assert not kept.result_.warnings


def test_a_raised_level_finds_more_of_a_weak_chain():
    truth = {frozenset((f"c{k}", f"c{k + 1}")) for k in range(5)}

    def right_less_wrong(alpha: float | None, seed: int) -> int:
        edges = tamis.TAM(alpha=alpha).fit(weak_chain(1000, seed)).graph_.edges
        skeleton = {frozenset(edge) for edge in edges}
        return len(skeleton & truth) - len(skeleton - truth)

    seeds = range(20)
    assert sum(right_less_wrong(None, s) for s in seeds) > sum(
        right_less_wrong(0.02, s) for s in seeds
    )


def test_resamples_go_by_the_raised_level(monkeypatch):
    from tamis import bootstrap

    seen = []
    real = bootstrap.found_in
    monkeypatch.setattr(
        bootstrap,
        "found_in",
        lambda table, plan, known: (
            seen.append(plan.boundary_rule.alpha) or real(table, plan, known)
        ),
    )
    model = next(
        one
        for one in (tamis.TAM(n_jobs=1).fit(weak_chain(1000, seed)) for seed in range(4))
        if one.result_.settings["boundary_rule"]["alpha"] > 0.02
    )
    model.bootstrap(n=2)
    assert seen == [model.result_.settings["boundary_rule"]["alpha"]] * 2
