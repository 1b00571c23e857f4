"""Whether one test on record is a test that a run could have made."""

from __future__ import annotations

import math
from collections.abc import Iterator

from tamis.decisions.rule import UNITS
from tamis.result import Verdict


def wrong_verdict(verdict: Verdict) -> Iterator[str]:
    """What is wrong with a verdict on known columns, in words."""
    name = verdict.target
    yield from _sets(verdict)
    for field in ("gain", "value", "threshold", "margin"):
        number = getattr(verdict, field)
        if not math.isfinite(number):
            yield f"the {field} of a test of {name!r} is {number!r}"
    if verdict.unit not in UNITS:
        yield f"a test of {name!r} has the unknown unit {verdict.unit!r}"
    if verdict.unit == "p" and not (0 <= verdict.value <= 1 and 0 <= verdict.threshold <= 1):
        yield f"a test of {name!r} has a p-value or a level that is no probability"
    if verdict.n_rows is not None and verdict.n_rows < 0:
        yield f"a test of {name!r} was made on {verdict.n_rows} rows"
    if verdict.margin < 0 if verdict.dependent else verdict.margin > 0:
        yield f"the margin of a test of {name!r} speaks against what it found"


def _sets(verdict: Verdict) -> Iterator[str]:
    name, about = verdict.target, (*verdict.others, *verdict.given)
    if not verdict.others:
        yield f"a test of {name!r} names nothing it was tested with"
    if name in about:
        yield f"a test of {name!r} names the column itself among the others"
    if len(set(about)) < len(about):
        yield f"a test of {name!r} names another column twice"
