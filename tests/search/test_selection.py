"""The selector that remembers chooses as PPS and the backward phase do from nothing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_boundaries import RULES, made_interactions
from twin import grown, shrunk

from tables import rows, table_of
from tamis.information.counted import CountedInformation
from tamis.information.interface import Context
from tamis.information.wrappers import RememberedInformation
from tamis.knowledge import Constraints, as_bits
from tamis.rules import Permutation
from tamis.search.outcome import Boundary
from tamis.search.parents import ParentSelector
from tamis.search.pps import PPS
from tamis.search.selection import Selector


@pytest.mark.parametrize("rule", RULES, ids=repr)
@pytest.mark.parametrize("wide", [False, True], ids=["whole rows", "one test at a time"])
@settings(max_examples=10)
@given(data=st.data(), table=rows(columns=(4, 7), length=(20, 150), levels=3))
def test_the_parents_are_those_of_pps_and_the_backward_phase(rule, wide, data, table):
    d = table.shape[1]
    source = CountedInformation(table_of(table))
    if wide:  # beyond some width rows come without their tests
        whole = source.profiles
        source.profiles = lambda contexts: whole(contexts)._replace(stats=None)
        assert source.profiles([Context(0, ())]).stats is None
    sets = data.draw(st.none() | made_interactions(d))
    backward = data.draw(st.booleans())
    room = data.draw(st.sampled_from([None, 0, 1, 2]))
    pps = PPS(RememberedInformation(source), rule, sets, max_boundary=room)
    selector = Selector(pps, backward=backward)
    parents = ParentSelector(selector)
    for _ in range(6):
        target = data.draw(st.integers(0, d - 1))
        others = st.sampled_from([k for k in range(d) if k != target])
        candidates = sorted(data.draw(st.frozensets(others)))
        own = () if sets is None else sets[target]
        expected = grown(source, target, candidates, rule, max_boundary=room, interactions=own)
        if backward and len(expected.members) > 1:
            expected = shrunk(source, expected, rule, len(candidates))
        assert selector.boundary(target, candidates) == expected
        (found,) = parents.select_all([(target, as_bits(candidates))])
        assert found.members == tuple(sorted(expected.members))
        context = Context(target, tuple(sorted(found.members)))
        assert found.score == source.penalised_likelihoods([context])[0]


@pytest.mark.parametrize("together", [False, True], ids=["one at a time", "together"])
@given(data=st.data(), table=rows(columns=(4, 7), length=(20, 150), levels=3))
def test_the_backward_phase_takes_out_what_the_others_make_superfluous(together, data, table):
    d = table.shape[1]
    source, rule = CountedInformation(table_of(table)), Permutation(0.2)
    required = data.draw(st.sampled_from([(), (1,), (1, 2)]))
    constraints = Constraints({0: required} if required else {}, (0,) * d, (0,) * d)
    selector = Selector(PPS(source, rule, constraints=constraints))
    start = Boundary(0, tuple(data.draw(st.permutations(range(1, d)))), 0.0)
    expected = shrunk(source, start, rule, d - 1, together=together, required=required)
    assert selector.shrink([start], [d - 1], together=together) == [expected]
