"""Which of many tests speaks loudest, without the score of each."""

from __future__ import annotations

import numpy as np

from tamis.decisions.rule import Rule
from tamis.information.interface import Floats, Ints, Tests

MANY = 2**16
"""From so many tests on ceilings pay."""


def strongest(rule: Rule, evidence: Tests, lengths: Ints) -> tuple[Ints, Floats]:
    """The place and the score of the strongest test of each run of so many, the first of equals."""
    if len(evidence) < MANY:
        scores = rule.scores(evidence)
    else:
        # Whose ceiling is below the score of another cannot be the strongest.
        ceilings = rule.ceilings(evidence)
        floors = rule.scores(evidence.at(_first_largest(ceilings, lengths)))
        rivals = np.flatnonzero(ceilings >= np.repeat(floors, lengths))
        scores = np.full(len(evidence), -np.inf)
        scores[rivals] = rule.scores(evidence.at(rivals))
    tops = _first_largest(scores, lengths)
    return tops, scores[tops]


def _first_largest(values: Floats, lengths: Ints) -> Ints:
    ends = np.cumsum(lengths)
    return np.array(
        [
            start + int(values[start:end].argmax())
            for start, end in zip((ends - lengths).tolist(), ends.tolist(), strict=True)
        ],
        dtype=np.int64,
    )
