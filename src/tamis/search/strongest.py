"""Which of many tests is the strongest, without the strength of each."""

from __future__ import annotations

import numpy as np

from tamis.decisions.rule import Rule
from tamis.information.interface import Floats, Ints, Tests

MANY = 2**16
"""From so many tests on ceilings pay."""


def strongest(rule: Rule, evidence: Tests, lengths: Ints) -> tuple[Ints, Floats]:
    """The place and the strength of the strongest test of each run of so many; of equals the
    first."""
    if len(evidence) < MANY:
        strengths = rule.strengths(evidence)
    else:
        # Whose ceiling is below the strength of another cannot be the strongest.
        ceilings = rule.ceilings(evidence)
        floors = rule.strengths(evidence.at(_first_largest(ceilings, lengths)))
        rivals = np.flatnonzero(ceilings >= np.repeat(floors, lengths))
        strengths = np.full(len(evidence), -np.inf)
        strengths[rivals] = rule.strengths(evidence.at(rivals))
    tops = _first_largest(strengths, lengths)
    return tops, strengths[tops]


def _first_largest(values: Floats, lengths: Ints) -> Ints:
    ends = np.cumsum(lengths)
    return np.array(
        [
            start + int(values[start:end].argmax())
            for start, end in zip((ends - lengths).tolist(), ends.tolist(), strict=True)
        ],
        dtype=np.int64,
    )
