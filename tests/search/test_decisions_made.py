"""How each search decides: which comparison at the threshold, out of how many candidates."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

import tamis
from tables import rows, table_of, varying
from tamis.counting.memory import MemoryCounts
from tamis.decisions.rule import Rule
from tamis.information.counted import CountedInformation
from tamis.information.interface import Query
from tamis.rules import Fixed, Permutation
from tamis.search.pps import PPS
from tamis.search.selection import Selector
from tamis.search.tam import run
from tamis.settings import Settings


@dataclass(frozen=True)
class Recorder(Rule):
    """A fixed threshold that remembers out of how many candidates it was asked to judge."""

    threshold: float
    asked: list[int] = field(default_factory=list)
    name = "recorder"
    unit = "nats"

    def strengths(self, evidence):
        return evidence.cmi

    def threshold_for(self, tests):
        self.asked.extend(np.atleast_1d(tests).tolist())
        return np.asarray(self.threshold) + 0.0 * np.asarray(tests)


def pair(n: int = 400) -> pd.DataFrame:
    """a -> b, with a the less uncertain; levels of two."""
    rng = np.random.default_rng(6)
    a = rng.random(n) < 0.2
    return pd.DataFrame({"a": a, "b": a ^ (rng.random(n) < 0.25)})


def gain_of_pair() -> float:
    information = CountedInformation(table_of(pair().to_numpy()), "plugin")
    return float(information.tests([Query(1, (), np.array([0]))]).cmi[0])


@pytest.mark.parametrize(("search", "layers"), [("node", 2), ("layer", 2), ("reference", 1)])
def test_a_gain_at_the_masking_threshold_masks_but_not_in_the_reference(search, layers):
    model = tamis.TAM(search, entropy="plugin", boundary_rule=1.0, masking_rule=gain_of_pair())
    assert len(model.fit(pair()).layers_) == layers


@pytest.mark.parametrize(("search", "edges"), [("node", 0), ("sequential", 0), ("reference", 1)])
def test_a_gain_at_the_boundary_threshold_is_refused_but_not_in_the_reference(search, edges):
    model = tamis.TAM(search, entropy="plugin", boundary_rule=gain_of_pair(), masking_rule=0.001)
    assert model.fit(pair()).graph_.number_of_edges() == edges


def test_a_gain_at_the_threshold_is_kept_by_the_backward_phase():
    rule = gain_of_pair()
    model = tamis.TAM("node", entropy="plugin", boundary="none", boundary_rule=rule)
    assert model.fit(pair()).graph_.number_of_edges() == 1


def columns(d: int) -> CountedInformation:
    rng = np.random.default_rng(1)
    return CountedInformation(table_of(rng.integers(0, 2, (200, d))))


@dataclass(frozen=True)
class Told(Recorder):
    """Everything passes, and the threshold tells out of how many candidates the best was judged."""

    threshold: float = -100.0

    def threshold_for(self, tests):
        return self.threshold + np.asarray(tests, dtype=float)


def judged_among(decisions) -> list[int]:
    return [round(one.threshold - Told().threshold) for one in decisions]


def test_pps_and_the_backward_phase_count_the_candidates_that_are_left():
    selector = Selector(PPS(columns(6), Told(), max_boundary=3), backward=False)
    found = selector.boundary(0, [1, 2, 3, 4, 5])
    assert judged_among(found.taken) == [5, 4, 3]
    (out,) = selector.shrink([found], [5])
    assert judged_among(out.retained) == [3, 3, 3]
    (out,) = selector.shrink([found], [3], grown=False)
    assert judged_among(out.retained) == [3, 3, 3]


@given(table=rows(columns=(4, 6), length=(30, 100), levels=2).map(varying).filter(np.size))
def test_the_last_member_taken_is_not_removed_by_the_very_test_that_took_it(table):
    chosen = Settings("sequential", Permutation(0.2), Permutation(0.2), backward="together")
    for boundary in run(CountedInformation(table_of(table)), chosen).boundaries.values():
        if len(boundary.taken) > 1:
            assert boundary.taken[-1].others[0] in boundary.members


def test_a_run_judges_the_way_out_by_the_number_of_ancestors():
    found = run(columns(5), Settings("sequential", Told(), Fixed(1.0), max_boundary=2))
    ways_out = [judged_among(found.boundaries[k].retained) for (k,) in found.layers]
    assert ways_out == [[], [], [1, 1], [2, 2], [3, 3]]


def test_the_sieve_counts_the_less_uncertain_nodes_and_masking_counts_one():
    sieve, node = Recorder(1.0), Recorder(1.0)
    run(columns(5), Settings("sieve", Fixed(1.0), sieve))
    assert set(sieve.asked) == {1, 2, 3, 4}
    run(columns(5), Settings("node", Fixed(1.0), node))
    assert set(node.asked) == {1}


def test_the_boundary_of_a_table_counts_all_its_candidates():
    # At 0.2 divided by six candidates this gain is noise; taken alone it would pass.
    rng = np.random.default_rng(11)
    table = pd.DataFrame(rng.integers(0, 2, (300, 7)), columns=list("abcdefg"))
    best = min(float(np.exp(-Permutation().strengths(_evidence(table, k))[0])) for k in range(1, 7))
    assert tamis.markov_boundary(table, "a", rule=Permutation(min(best * 3, 0.9))) == []
    assert tamis.markov_boundary(table, "a", rule=Permutation(min(best * 8, 0.9))) != []


def _evidence(table: pd.DataFrame, k: int):
    information = CountedInformation(table_of(table.to_numpy()))
    return information.tests([Query(0, (), np.array([k]))])


def test_the_closest_call_of_an_admission_is_the_one_nearest_to_masking():
    model = tamis.TAM("node").fit(pd.DataFrame(np.random.default_rng(3).integers(0, 2, (300, 6))))
    assert len(model.layers_) == 1
    order = model.order_
    for place, admission in enumerate(model.trace_.admissions[1:], start=1):
        tested = [
            float(np.exp(-Permutation().strengths(_test(model, admission.name, other))[0]))
            for other in order[:place]
        ]
        assert admission.closest is not None
        assert admission.closest.value == pytest.approx(min(tested))


def _test(model, target: str, other: str):
    table = np.random.default_rng(3).integers(0, 2, (300, 6))
    information = CountedInformation(table_of(table))
    return information.tests([Query(int(target), (), np.array([int(other)]))])


@pytest.mark.parametrize("search", ["node", "sieve", "sequential"])
@given(table=rows(columns=(4, 7), length=(30, 150), levels=3).map(varying).filter(np.size))
def test_testing_whole_rows_ahead_changes_nothing(search, table):
    outcomes = []
    for whole_rows in (128, 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(MemoryCounts, "whole_rows", whole_rows)
            chosen = Settings(search, Permutation(0.1), Permutation(0.1))
            outcomes.append(run(CountedInformation(table_of(table)), chosen))
    assert outcomes[0].layers == outcomes[1].layers
    assert outcomes[0].boundaries == outcomes[1].boundaries
