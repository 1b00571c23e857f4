"""What speaks for the graph beyond the search itself: resamples, simulations, conditions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tamis.drawing.confidence import Confidence
from tamis.markup import Markup, join, tag
from tamis.report.tables import Cell, Row, table
from tamis.report.words import count, named, share
from tamis.result import Result

if TYPE_CHECKING:
    from tamis.identifiability import RecoveryCheck
    from tamis.identifiability.conditions import Condition
    from tamis.identifiability.report import Check

OTHERS = 15
"""Arrows that are not in the graph and came all the same: shown at most."""
RARE = 0.05
"""How often such an arrow must have come to be worth a line."""
VIOLATIONS = 3


def confidence_section(result: Result, confidence: Confidence | None) -> Markup:
    """What came back from resampled rows; nothing if there were none."""
    if confidence is None:
        return Markup("")
    learned = {(edge.parent, edge.child) for edge in result.edges}
    rows = sorted(
        ((confidence.edges.get(pair, 0.0), confidence.skeleton(*pair), *pair) for pair in learned),
        key=lambda row: (row[0], row[2], row[3]),
    )
    return tag(
        "section",
        tag("h2", "Confidence"),
        tag(
            "p",
            f"The rows were resampled {count(confidence.n, 'time')} and the "
            "graph was learned from each draw. Shares say how stable an arrow is in these data, "
            "not how likely it is to be true.",
        ),
        _shares("Arrows, least stable first", "resamples", rows),
        *_absent(confidence, learned),
        id="confidence",
    )


def _shares(caption: str, title: str, rows: list[tuple[float, float, str, str]]) -> Markup:
    return table(
        caption,
        ("parent", "child", title, "either way"),
        [
            Row(
                [
                    Cell(named(parent)),
                    Cell(named(child)),
                    Cell(share(directed), directed),
                    Cell(share(either), either),
                ]
            )
            for directed, either, parent, child in rows
        ],
    )


def _absent(confidence: Confidence, learned: set[tuple[str, str]]) -> Iterator[Markup]:
    others = sorted(
        (
            (value, confidence.skeleton(parent, child), parent, child)
            for (parent, child), value in confidence.edges.items()
            if (parent, child) not in learned and value >= RARE
        ),
        key=lambda row: (-row[0], row[2], row[3]),
    )
    if others:
        yield _shares(
            "Arrows that are not in the graph, most frequent first", "resamples", others[:OTHERS]
        )
        if len(others) > OTHERS:
            yield tag("p", f"and {len(others) - OTHERS:,} more in at least {RARE:.0%}.")


def recovery_section(recovery: RecoveryCheck | None) -> Markup:
    """What came back from the fitted model's own data, and the conditions on it."""
    if recovery is None:
        return Markup("")
    return tag(
        "section",
        tag("h2", "Plausibility and conditions"),
        tag(
            "p",
            "Plausibility, not proof: the tables of the graph were fitted, and "
            f"{count(recovery.n_simulations, 'table')} of {count(recovery.n_rows, 'row')} "
            "were drawn from the fitted network and learned again. The whole graph came back from "
            f"{share(recovery.recovered)} (95% interval {share(recovery.low)} to "
            f"{share(recovery.high)}); on average {recovery.distance:.2g} arrows differed.",
        ),
        _returned(recovery),
        *_conditions(recovery.check),
        id="conditions",
    )


def _returned(recovery: RecoveryCheck) -> Markup:
    rows = [
        Row(
            [
                Cell(named(parent)),
                Cell(named(child)),
                Cell(share(value), value),
                Cell(share(recovery.turned[parent, child]), recovery.turned[parent, child]),
            ]
        )
        for (parent, child), value in sorted(
            recovery.edges.items(), key=lambda item: (item[1], item[0])
        )
    ]
    if not rows:
        return Markup("")
    return table(
        "Arrows that came back from simulated tables, least often first",
        ("parent", "child", "as it is", "turned"),
        rows,
    )


def _conditions(check: Check | None) -> Iterator[Markup]:
    if check is None:
        return
    yield tag("h3", "Conditions of the fitted network")
    yield tag("p", check.answer)
    yield table(
        "The paper's conditions on the fitted network",
        ("condition", "verdict", "margin", "what it says"),
        [_condition(condition) for condition in check.conditions.values()],
    )


def _condition(condition: Condition) -> Row:
    margin = condition.margin
    said: list[str] = [condition.sentence]
    culprits = [tag("li", str(one)) for one in condition.violations[:VIOLATIONS]]
    rest = len(condition.violations) - len(culprits)
    if rest > 0:
        culprits.append(tag("li", f"and {rest:,} more"))
    if culprits:
        said.append(tag("ul", *culprits))
    return Row(
        [
            Cell(condition.title),
            Cell(tag("span", condition.word, class_=f"verdict {condition.word}")),
            Cell("" if margin is None else f"{margin:+.3g} {condition.unit}", margin),
            Cell(join(said), words=True),
        ]
    )
