"""What the default tells of itself: scores, losses, every step of every node, and a file of it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tamis
from tables import table_of
from tamis.information.counted import CountedInformation
from tamis.search.default import DefaultSearch, score_of
from tamis.settings import Settings
from tamis.simulate import draw

pytestmark = pytest.mark.filterwarnings("ignore::tamis.TamisWarning")


def searched(seed: int, model: str, n: int = 400) -> DefaultSearch:
    made = draw("er", model, d=7, n=n, seed=seed, edges=9)
    source = CountedInformation(table_of(np.column_stack(list(made.data.values()))), n_jobs=1)
    return DefaultSearch(source, Settings().bound(source))


def test_one_column_alone_is_a_graph():
    source = CountedInformation(table_of(np.array([[0], [1]] * 25)), n_jobs=1)
    found = DefaultSearch(source, Settings().bound(source))
    for one in (found.first, *found.candidates):
        assert (one.order, one.parents) == ((0,), {0: frozenset()})
        assert one.score == pytest.approx(score_of(source, one.parents))


def test_sequential_is_the_first_dag_alone():
    for seed in range(6):
        found, made = searched(seed, "tables"), draw("er", "tables", d=7, n=400, seed=seed, edges=9)
        model = tamis.TAM("sequential", n_jobs=1).fit(made.data)
        names = list(made.data)
        edges = {(names[p], names[k]) for k, own in found.first.parents.items() for p in own}
        assert set(model.graph_.edges) == edges
        assert model.ranking_ == []


@given(seed=st.integers(0, 10**6), model=st.sampled_from(["tables", "logistic", "mod"]))
def test_every_direction_of_the_class_has_a_loss_of_every_candidate_too(seed, model):
    found = searched(seed, model)
    for one in found.candidates:
        losses = found.losses(one)
        assert losses.keys() == (one.directions.compelled if one.directions else set())
        assert all(lost >= 0 for lost in losses.values())
        total = math.fsum(found._family(k, own)[0] for k, own in one.parents.items())
        assert one.score == pytest.approx(total)


@given(seed=st.integers(0, 10**6), model=st.sampled_from(["tables", "logistic", "mod"]))
def test_the_story_of_a_node_sums_up_to_its_score(seed, model):
    found = searched(seed, model)
    for one in (found.first, found.best):
        for k, told in found.outcome(one).boundaries.items():
            rise = found._family(k, one.parents[k])[0] - found._family(k, ())[0]
            if told.taken or one is found.first:  # else they came with the directions of the class
                assert {p for step in told.taken for p in step.others} == one.parents[k]
                total = math.fsum(step.strength for step in told.taken)
                assert total == pytest.approx(rise, abs=1e-6)
            assert all(step.strength > 0 and step.dependent for step in told.taken)
            if told.refused is not None:
                assert told.refused.strength <= 1e-6
                assert not {*told.refused.others} & one.parents[k]
            assert [step.others for step in told.retained] == [(p,) for p in told.members]
            assert all(step.strength > 0 for step in told.retained)


@given(
    seed=st.integers(0, 10**6),
    search=st.sampled_from(["auto", "sequential"]),
    limit=st.sampled_from([None, 1]),
)
def test_what_was_found_is_saved_with_its_story_and_read_back(
    tmp_path_factory, seed, search, limit
):
    made = draw("er", ("tables", "mod")[seed % 2], d=6, n=200, seed=seed, edges=8)
    a, b, c, *rest = np.random.default_rng(seed).permutation(list(made.data)).tolist()
    told = ({}, {"required": [(a, b)], "forbidden": [(c, b)]}, {"tiers": [[a, b], [c, *rest]]})
    model = tamis.TAM(search, max_boundary=limit, knowledge=told[seed % 3], n_jobs=1)
    model.fit(made.data)
    path = tmp_path_factory.mktemp("run") / "run.json"
    model.save(path)
    assert tamis.load(path) == model.result_
    assert (
        limit is None
        or model.result_.search != "sequential"
        or max(map(len, model.parents_.values())) <= 1
    )
