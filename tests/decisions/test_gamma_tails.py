"""Ceilings of scores: never below the score, and close enough to be of use."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammaincc

from tables import rows, table_of
from tamis.information.counted import CountedInformation
from tamis.information.interface import Query
from tamis.information.null_laws import ceilings
from tamis.rules import BIC, ChiSquared, Fixed, Permutation

POSITIVE = st.floats(0.0, 1e6)


@given(shape=POSITIVE | st.floats(0.05, 50), at=POSITIVE | st.floats(0, 100))
def test_no_tail_is_above_its_ceiling(shape, at):
    tail = gammaincc(shape, at) if shape > 0 else 0.0
    assert ceilings(np.array([shape]), np.array([at]))[0] >= -np.log(max(tail, 1e-300))


def test_ceilings_are_close():
    grid = np.meshgrid(np.linspace(0.3, 8, 60), np.linspace(0, 30, 60))
    shape, at = (one.ravel() for one in grid)
    above = ceilings(shape, at) + np.log(gammaincc(shape, at))
    assert above.min() >= 0.0
    assert above.max() < 1.0
    assert np.median(above) < 0.3


def test_what_is_beyond_the_table_has_no_ceiling():
    strange = np.array([1e-9, 1e9, 1.0, 1.0])
    assert np.isinf(ceilings(strange, np.array([1.0, 1.0, 1e9, np.nan]))).all()


@pytest.mark.parametrize("rule", [Permutation(0.05), ChiSquared(0.05), Fixed(0.1), BIC()], ids=repr)
@given(table=rows(columns=(3, 5), length=(2, 80)))
def test_no_score_is_above_its_ceiling(rule, table):
    information = CountedInformation(table_of(table), n_jobs=1)
    d = table.shape[1]
    bound = rule.bind(len(table), d)
    evidence = information.tests([Query(k, (), np.arange(d)) for k in range(d)])
    assert (bound.ceilings(evidence) >= bound.strengths(evidence)).all()
