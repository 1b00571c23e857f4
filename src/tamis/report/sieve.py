"""The sieve step by step: who was admitted, who was masked by whom, as in Fig. 1(b) of the paper.

A step is one admission, the paper's loop within a layer. The masking searches leave the uncertainty
of every remaining column in every round behind; one node at a time leaves that of the admitted,
of the next in line and, through the entropy gaps, of the admitted one's children.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tamis.drawing.labels import name_in_full
from tamis.markup import Markup, join, tag
from tamis.report.words import MANY, count, named, names, nats, said
from tamis.result import Admitted, Masked, Result

ONE_BY_ONE = ("sequential", "refined")
_MANNER = {
    "sequential": "one column at a time",
    "refined": "order refined by the likelihood",
}
"""How columns follow each other where there are no layers."""
FIRST_MASKED = ("node", "layer", "reference")
"""The searches in which a column is masked by what was admitted, as soon as it is."""


@dataclass
class Step:
    """One admission and what it masked."""

    admitted: Admitted
    masked: list[Masked] = field(default_factory=list)


def steps_of(result: Result) -> list[Step]:
    """The admissions in order, each with the columns masked before the next."""
    steps = [Step(one) for one in result.trace.admissions]
    rounds: dict[int, list[Step]] = {}
    for step in steps:
        rounds.setdefault(step.admitted.round, []).append(step)
    for masking in result.trace.maskings:
        _step_of(masking, rounds.get(masking.round, steps), result.search).masked.append(masking)
    for step in steps:
        step.masked.sort(key=lambda m: (m.entropy, m.name))
    return steps


def _step_of(masking: Masked, steps: Sequence[Step], search: str) -> Step:
    if search in FIRST_MASKED:
        by = masking.verdict.others[-1]
        found = next((step for step in steps if step.admitted.name == by), None)
        if found is not None:
            return found
    # The sieve looks at the columns in order of uncertainty, and masks by those not admitted, too.
    place = (masking.entropy, masking.name)
    before = [s for s in steps if (s.admitted.entropy, s.admitted.name) <= place]
    return before[-1] if before else steps[0]


def sieve_data(result: Result, numbers: Mapping[str, int]) -> dict[str, object]:
    """What the player needs, with columns as numbers."""
    steps = steps_of(result)
    at = {step.admitted.name: i for i, step in enumerate(steps, start=1)}
    return {
        "steps": [
            {
                "round": step.admitted.round,
                "node": numbers[step.admitted.name],
                "says": _says(result, step),
            }
            for step in steps
        ],
        "rounds": {
            str(number): [
                [numbers[bar.name], _finite(bar.entropy), bar.at, [numbers[n] for n in bar.by]]
                for bar in bars
            ]
            for number, bars in _rounds(result, steps, at).items()
        },
        "manner": _MANNER.get(result.search),
    }


def _finite(value: float) -> float | None:
    """JSON has no infinity."""
    return value if math.isfinite(value) else None


@dataclass(frozen=True)
class Bar:
    """A column's uncertainty in a round, and the step that admitted or masked it; 0 if none did."""

    name: str
    entropy: float
    at: int
    by: tuple[str, ...] = ()


def _rounds(result: Result, steps: Sequence[Step], at: Mapping[str, int]) -> dict[int, list[Bar]]:
    rounds: dict[int, list[Bar]] = {}
    gaps = _entropy_gaps(result)
    for i, step in enumerate(steps, start=1):
        bars = rounds.setdefault(step.admitted.round, [])
        bars.append(Bar(step.admitted.name, step.admitted.entropy, i))
        bars += [Bar(m.name, m.entropy, i, m.verdict.others) for m in step.masked]
        if result.search in ONE_BY_ONE:
            bars += _compared(step.admitted, gaps.get(step.admitted.name, {}))
    return {
        number: sorted(bars, key=lambda bar: (bar.entropy, bar.at == 0, bar.name))
        for number, bars in rounds.items()
    }


def _compared(entry: Admitted, gaps: Mapping[str, float]) -> Iterator[Bar]:
    """Columns whose uncertainty in a round of one node is on record."""
    seen = set()
    if entry.runner_up is not None and entry.runner_up_entropy is not None:
        seen.add(entry.runner_up)
        yield Bar(entry.runner_up, entry.runner_up_entropy, 0)
    for name, gap in gaps.items():
        if name not in seen:
            yield Bar(name, entry.entropy + gap, 0)


def _entropy_gaps(result: Result) -> dict[str, dict[str, float]]:
    gaps: dict[str, dict[str, float]] = {}
    for edge in result.edges:
        gaps.setdefault(edge.parent, {})[edge.child] = edge.entropy_gap
    return gaps


def _says(result: Result, step: Step) -> str:
    """A step in words."""
    entry = step.admitted
    name, parents = name_in_full(entry.name), result.parents[entry.name]
    where = "" if result.search in ONE_BY_ONE else f" layer {entry.round}"
    said = f"{name} enters{where} with a conditional entropy of {nats(entry.entropy)} nats. "
    said += f"Its boundary: {_some(parents)}." if parents else "It has no parents."
    if step.masked:
        said += f" Masked: {_some([m.name for m in step.masked])}."
    return said


def _some(listed: Sequence[str]) -> str:
    shown = ", ".join(map(name_in_full, listed[:MANY]))
    rest = len(listed) - MANY
    return f"{shown} and {rest:,} more" if rest > 0 else shown


def sieve_in_words(result: Result) -> Markup:
    """The sieve as a folded list: for paper, and for pages without scripts."""
    steps = steps_of(result)
    return tag(
        "section",
        tag("h2", "The sieve in words"),
        tag("p", said(result, "steps")),
        tag(
            "details",
            tag("summary", f"All {count(len(steps), 'step')}"),
            tag("ol", *(tag("li", _step(result, step)) for step in steps)),
        ),
        id="sieve",
    )


def _step(result: Result, step: Step) -> Markup:
    entry = step.admitted
    parts: list[str] = [named(entry.name)]
    if result.search not in ONE_BY_ONE:
        parts.append(f" enters layer {entry.round}")
    parts.append(f" at {nats(entry.entropy)} nats, with parents ")
    parts.append(names(result.parents[entry.name]))
    if step.masked:
        parts += ["; masks ", names([m.name for m in step.masked])]
    return join(parts)
