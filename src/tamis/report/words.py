"""Numbers, names and tables as a report writes them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tamis.drawing.looks import name_in_full
from tamis.markup import Markup, join, tag
from tamis.result import Edge, Result, answer
from tamis.result.facts import Shares

MANY = 12
"""Names in a sentence before it is said how many more there are."""


def nats(value: float) -> str:
    """An amount of information, without its unit."""
    return f"{value:.4f}" if math.isfinite(value) else "not known"


def share(value: float) -> str:
    """A share of repetitions; only all of them are 100%, and only none is 0%."""
    if 0.995 <= value < 1:
        return "> 99%"
    return "< 1%" if 0 < value < 0.005 else f"{value:.0%}"


def p_value(p: float) -> str:
    """A p-value as short as it is true; the smallest are cut off where the rules cut them."""
    if math.isnan(p):
        return "no test"
    if p < 1e-299:
        return "< 1e-299"
    return f"{p:.4f}" if p >= 0.001 else f"{p:.1e}"


def named(name: str) -> Markup:
    """A column's name, set apart from the sentence around it, whichever way it is written."""
    return tag("bdi", name_in_full(name), class_="name")


def names(listed: Sequence[str], most: int = MANY) -> Markup:
    """Names side by side: a, b and c."""
    shown = [named(name) for name in listed[:most]]
    if len(listed) > most:
        return join([*_separated(shown), f" and {len(listed) - most:,} more"])
    if len(shown) < 2:
        return join(shown or ["nothing"])
    return join([*_separated(shown[:-1]), " and ", shown[-1]])


def arrow(edge: Edge) -> Markup:
    """parent → child."""
    return join([named(edge.parent), " → ", named(edge.child)])


def said(result: Result, *parts: str, confidence: Shares | None = None) -> Markup:
    """The sentences of some parts of the answer, one after the other."""
    sentences = [
        join([one if isinstance(one, str) else names(one.listed) for one in sentence.pieces])
        for sentence in answer(result, *parts, confidence=confidence)
    ]
    return Markup(" ".join(sentences))


def _separated(parts: Sequence[str]) -> list[str]:
    return [piece for part in parts for piece in (", ", part)][1:]


@dataclass(frozen=True)
class Cell:
    """What a cell shows; numbers are sorted by their value and stand to the right."""

    shown: str
    value: float | None = None
    words: bool = False
    """Whether it holds sentences, which need room."""


@dataclass(frozen=True)
class Row:
    """The cells of a row, and what else the page knows of it."""

    cells: Sequence[Cell]
    class_: str | None = None
    warrant: str | None = None
    """What the direction of the row's arrow rests on, for rows that can be filtered by it."""


def table(
    caption: str, titles: Sequence[str], rows: Iterable[Row], *, identity: str | None = None
) -> Markup:
    """A table in a frame that scrolls sideways; on a phone each row becomes a card of its own."""
    rows = list(rows)
    body = [
        tag("tr", *map(_cell, row.cells, titles), class_=row.class_, data_warrant=row.warrant)
        for row in rows
    ]
    numeric = [any(row.cells[i].value is not None for row in rows) for i in range(len(titles))]
    heads = [
        tag("th", title, scope="col", class_="number" if right else None)
        for title, right in zip(titles, numeric, strict=True)
    ]
    inner = tag(
        "table",
        tag("caption", caption),
        tag("thead", tag("tr", *heads)),
        tag("tbody", *body),
        id=identity,
        # A phone writes the two ends of an arrow in one line.
        class_="sortable arrows" if tuple(titles[:2]) == ("parent", "child") else "sortable",
    )
    return tag("div", inner, class_="scroll", tabindex="0", role="region", aria_label=caption)


def _cell(cell: Cell, title: str) -> Markup:
    if cell.value is None:
        return tag("td", cell.shown, class_="words" if cell.words else None, data_title=title)
    # repr is exact; values that cannot be compared go to the end.
    value = repr(float(cell.value)) if math.isfinite(cell.value) else ""
    return tag("td", cell.shown, class_="number", data_title=title, data_value=value)
