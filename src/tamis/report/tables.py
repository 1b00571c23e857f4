"""Tables that a script may sort: every cell carries the value it is sorted by."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tamis.markup import Markup, tag


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
