"""Checks as a notebook shows them: the answer, and what it rests on, in small tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from tamis.markup import Markup, tag
from tamis.result import show

if TYPE_CHECKING:
    from tamis.identifiability.recovery import RecoveryCheck
    from tamis.identifiability.report import Check

ROWS = 12
"""Rows of a table that are shown before it is said how many more there are."""
QUIET = "opacity: 0.7; font-size: 0.9em;"


def check_in_html(found: Check) -> str:
    """The answer, and a line for each condition."""
    size = f"{len(found.names):,} nodes, {found.n_edges:,} edges, {len(found.layers):,} layers"
    rows = []
    for condition in found.conditions.values():
        example = "".join(f" E.g. {one}" for one in condition.violations[:1])
        margin = "" if condition.margin is None else f"{condition.margin:+.3g} {condition.unit}"
        word = tag("strong", condition.word) if condition.holds is False else condition.word
        rows.append((condition.title, word, margin, condition.sentence + example))
    return tag(
        "div",
        tag("p", tag("strong", found.answer)),
        tag("p", size, style=QUIET),
        _table(("condition", "verdict", "margin", "what it says"), rows),
        tag("p", f"Guaranteed from exact information: {_named(found.guaranteed)}."),
        tag("p", f"Returns this graph from it: {_named(found.recovering)}."),
        style="max-width: 70em;",
    )


def recovery_in_html(found: RecoveryCheck) -> str:
    """How often the graph came back, and the arrows that came back least often."""
    least = sorted(found.edges.items(), key=lambda item: (item[1], item[0]))
    rows = [
        (f"{show(parent)} → {show(child)}", _share(value), _share(found.turned[parent, child]))
        for (parent, child), value in least[:ROWS]
    ]
    rest = len(least) - len(rows)
    more = [tag("p", f"and {rest:,} more.", style=QUIET)] if rest > 0 else []
    conditions = (
        [] if found.check is None else [tag("p", f"The fitted network: {found.check.answer}")]
    )
    return tag(
        "div",
        tag("p", *_recovered(found)),
        _table(("arrow, least often first", "came back", "turned"), rows) if rows else Markup(""),
        *more,
        *conditions,
        tag(
            "p", "Plausibility, not proof: the tables are drawn from the model itself.", style=QUIET
        ),
        style="max-width: 70em;",
    )


def _recovered(found: RecoveryCheck) -> Iterable[str]:
    yield "The whole graph came back from "
    yield tag("strong", _share(found.recovered))
    yield f" of {found.n_simulations:,} tables of {found.n_rows:,} rows "
    yield f"(95% interval {_share(found.low)} to {_share(found.high)}); "
    yield f"on average {found.distance:.2g} arrows differed."


def _share(value: float) -> str:
    return f"{value:.0%}"


def _named(searches: Sequence[str]) -> str:
    return ", ".join(searches) or "no search"


def _table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> Markup:
    heads = tag("tr", *(tag("th", title, style="text-align: left;") for title in titles))
    body = [
        tag("tr", *(tag("td", cell, style="text-align: left;") for cell in row)) for row in rows
    ]
    return tag("table", tag("thead", heads), tag("tbody", *body))
