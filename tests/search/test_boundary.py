"""Out of how many candidates members of a boundary are judged."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tables import table_of
from tamis.decisions.rule import Rule
from tamis.information.counted import CountedInformation
from tamis.rules import Fixed
from tamis.search.boundary import Selection
from tamis.search.layered import run
from tamis.search.remembered import Remembered
from tamis.settings import Settings


@dataclass(frozen=True)
class Told(Rule):
    """Everything passes, and the threshold says out of how many candidates the best was judged."""

    name = "told"

    def strengths(self, tests):
        return tests.cmi

    def threshold_for(self, n_tests):
        return np.asarray(n_tests, dtype=float) - 100.0


def judged_among(decisions) -> list[int]:
    return [round(one.threshold + 100) for one in decisions]


def coins(d: int) -> CountedInformation:
    return CountedInformation(table_of(np.random.default_rng(1).integers(0, 2, (200, d))))


def test_pps_and_the_backward_phase_count_the_candidates_that_are_left():
    one = Selection(Remembered(coins(6), Told()), limit=3).boundary(0, [1, 2, 3, 4, 5])
    assert judged_among(one.taken) == [5, 4, 3]
    assert judged_among(one.retained) == [3, 3, 3]
    outcome = run(coins(5), Settings("sequential", Told(), Fixed(1.0), boundary="none"))
    kept = [judged_among(outcome.boundaries[k].retained) for (k,) in outcome.layers]
    assert kept == [[], [1], [2, 2], [3, 3, 3], [4, 4, 4, 4]]
