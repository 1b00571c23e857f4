"""The selector that remembers chooses as PPS and the backward phase do from nothing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_boundaries import RULES, made_interactions

from tables import rows, table_of
from tamis.information.counted import CountedInformation
from tamis.information.interface import Context
from tamis.information.remembered import RememberedInformation
from tamis.search.pps import as_bits
from tamis.search.selection import Selector


@pytest.mark.parametrize("rule", RULES, ids=repr)
@pytest.mark.parametrize("wide", [False, True], ids=["whole rows", "one test at a time"])
@settings(max_examples=10, deadline=None)
@given(data=st.data(), table=rows(columns=(4, 7), length=(20, 150), levels=3))
def test_the_parents_are_those_of_pps_and_the_backward_phase(rule, wide, data, table):
    d = table.shape[1]
    source = CountedInformation(table_of(table))
    if wide:  # beyond some width rows come without their tests
        source.rows = lambda contexts: CountedInformation.rows(source, contexts)._replace(
            stats=None
        )
    selector = Selector(
        RememberedInformation(source),
        rule,
        data.draw(st.none() | made_interactions(d)),
        backward=data.draw(st.booleans()),
        max_boundary=data.draw(st.sampled_from([None, 0, 1, 2])),
    )
    for _ in range(6):
        target = data.draw(st.integers(0, d - 1))
        others = st.sampled_from([k for k in range(d) if k != target])
        candidates = data.draw(st.frozensets(others))
        found = selector.select(target, as_bits(candidates))
        expected = selector.boundary(target, sorted(candidates))
        assert found.members == expected.members
        context = Context(target, tuple(sorted(found.members)))
        assert found.score == source.penalised_likelihoods([context])[0]
