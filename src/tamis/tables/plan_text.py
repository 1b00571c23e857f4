"""A plan to look at: as text of at most 80 columns, and as a table of HTML."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

from tamis.tables.kinds import IGNORE, RULE
from tamis.tables.refusals import count, dropping, listed, shown, typing

if TYPE_CHECKING:
    from tamis.tables.plan import ColumnPlan, Plan

WIDTH = 80
_NAME = 24
"""The most columns of the screen that a name takes in the table."""
_ROWS = 200
"""How many columns of a table are shown before the number of the others is given."""
_LEFT = ' style="text-align: left;"'
"""Notebooks set cells to the right."""
_NO_BREAK = "\N{NO-BREAK SPACE}"
_NAMED = 12
"""Columns are few, and named one by one, up to this number."""

BOTH_WAYS = (
    "Every column holds whole numbers and no kind is named, so the table is read both ways, as "
    "categories and as numbers, and what explains it better is kept; columns of many values are "
    "numbers in either case."
)
_LEVELLED = ("category", "ordinal")
_PLURALS = {"number": "numbers", "category": "categories", "ordinal": "ordinal columns"}


def plan_in_text(plan: Plan) -> str:
    """Everything that a plan says, in lines of at most 80 columns."""
    lines = [
        *_wrapped(f"{count(plan.n_rows, 'row')}, {count(len(plan), 'column')}: {essence(plan)}"),
        "",
        *_table(plan),
    ]
    if plan.suspicions:
        lines += ["", "Suspicious ('!' is grave: left out of the plan unless a kind is named)"]
        for name, one in plan.suspicions[:_ROWS]:
            words = _unbroken(plain(str(one)), name)
            lines += _wrapped(f"{_called(name, 30)} {words}", "! " if one.grave else "- ")
        lines += _more(len(plan.suspicions) - _ROWS, "suspicion")
    lines += ["", *_wrapped(missing_in_words(plan))]
    lines += [line for note in _notes(plan) for line in _wrapped(note)]
    return "\n".join([*lines, *_wrapped(f"Kinds: {RULE}")])


def plan_in_html(plan: Plan) -> str:
    """A plan as a table for notebooks; whatever names and levels hold, they stay text."""
    titles = ("column", "kind", "missing", "values", "")
    head = "".join(f"<th{_LEFT}>{title}</th>" for title in titles)
    rows = "".join(map(_row_in_html, plan.columns[:_ROWS]))
    told = [
        f"{count(plan.n_rows, 'row')}, {count(len(plan), 'column')}: {essence(plan)}",
        missing_in_words(plan),
        *_notes(plan),
        f"Kinds: {RULE}",
        *_more(len(plan) - _ROWS, "column"),
    ]
    words = "".join(f"<p>{escape(plain(one))}</p>" for one in told)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    return f'<div><div style="overflow: auto; max-height: 30em;">{table}</div>{words}</div>'


def essence(plan: Plan) -> str:
    """Which columns are read how, by name where they are few."""
    return columns_in_words({kind: plan.of_kind(kind) for kind in (*_PLURALS, IGNORE)})


def columns_in_words(kinds: Mapping[str, Sequence[str]]) -> str:
    """How many columns of each kind there are, by name where they are few."""
    parts = []
    for kind, names in kinds.items():
        if not names:
            continue
        many = "left out" if kind == IGNORE else _PLURALS[kind]
        one = "left out" if kind == IGNORE else many if kind == "ordinal" else kind
        title = f"{len(names):,} {one.removesuffix('s') if len(names) == 1 else many}"
        named = ", ".join(_called(name, 30) for name in names)
        parts.append(f"{title} ({named})" if len(names) <= _NAMED else title)
    return "; ".join(parts)


def missing_in_words(plan: Plan) -> str:
    """How many rows each choice about missing values leaves."""
    if not any(one.n_missing for one in plan if one.kind != IGNORE):
        return "Missing values: none in the columns that are kept."
    complete = plan.rows["drop"]
    dropped = "a number of rows that is not known" if complete is None else count(complete, "row")
    asked = "" if plan.missing == "error" else f" The choice is missing={plan.missing!r}."
    return (
        f"Missing values: missing='drop' leaves {dropped} of {plan.n_rows:,}; 'level' and "
        f"'pairwise' keep all {plan.n_rows:,}.{_without_empty(plan)}{asked}"
    )


def _without_empty(plan: Plan) -> str:
    """How many rows would be left without the columns that are mostly missing."""
    empty = [one.name for one in plan if any(own.topic == "empty" for own in one.suspicions)]
    left = plan.n_complete(without=empty)
    if left is None or left == plan.rows["drop"]:
        return ""
    return f" Without {listed(map(shown, empty))} 'drop' would leave {left:,}."


def plain(text: str) -> str:
    """The text on one line, with anything that a terminal might obey written out."""
    return text if text.isprintable() else repr(text)[1:-1]


def cut(text: str, width: int) -> str:
    """The beginning of the text, as much as fits."""
    if _width(text) <= width:
        return text
    while _width(text) > width - 1:
        text = text[:-1]
    return text + "…"


def _called(name: str, width: int) -> str:
    """A name as it is shown, on one line and not too long."""
    return cut(plain(name), width) if name.strip() else "(no name)"


def values_of(column: ColumnPlan) -> str:
    """The levels of a column or its range, on one line."""
    if column.low is not None and column.high is not None and column.kind not in _LEVELLED:
        return f"{_number(column.low)} to {_number(column.high)}"
    labels = column.order or column.levels
    if not labels:
        return f"{column.n_values:,} different" if column.n_values else ""
    mark = " < " if column.kind == "ordinal" else ", "
    return f"{column.n_values:,}: {mark.join(plain(str(label)) for label in labels)}"


def _table(plan: Plan) -> Iterator[str]:
    shown = plan.columns[:_ROWS]
    names = [_called(column.name, _NAME) for column in shown]
    missing = [f"{column.n_missing:,}" if column.n_missing else "-" for column in shown]
    widths = max(map(_width, [*names, "column"])), max(map(len, [*missing, "missing"]))
    yield f"  {_padded('column', widths[0])}  kind      {'missing':>{widths[1]}}  values"
    for column, name, absent in zip(shown, names, missing, strict=True):
        mark = "!" if column.is_grave else "-" if column.suspicions else " "
        kind = f"{column.kind}{'*' if column.told else ''}"
        start = f"{mark} {_padded(name, widths[0])}  {kind:9} {absent:>{widths[1]}}  "
        yield (start + cut(values_of(column), WIDTH - _width(start))).rstrip()
    yield from _more(len(plan) - len(shown), "column")
    if any(column.told for column in shown):
        yield "  * named by the user"


def _notes(plan: Plan) -> Iterator[str]:
    yield from plan.notes
    kept = [one.name for one in plan if one.kind != IGNORE]
    if len(kept) >= 2 and plan.both_ways:
        yield BOTH_WAYS
    if len(kept) < 2 <= len(plan):
        other = next((one for one in plan if one.kind == IGNORE and one.kinds), None)
        how = "" if other is None else f", such as {typing(other.name, other.kinds[-1])}"
        what = f"one column, {shown(kept[0])}" if kept else "no column"
        yield f"The plan keeps {what}, and learning needs two: name the kind of another{how}."


def _row_in_html(column: ColumnPlan) -> str:
    kind = f"{column.kind}{' (named)' if column.told else ''}"
    why = "; ".join(map(str, column.suspicions))
    why = f"<b>{escape(plain(why))}</b>" if column.is_grave else escape(plain(why))
    cells = (_called(column.name, 80), kind, f"{column.n_missing:,}", cut(values_of(column), 80))
    written = [*map(escape, cells), why]
    return f"<tr>{''.join(f'<td{_LEFT}>{cell}</td>' for cell in written)}</tr>"


def _more(number: int, thing: str) -> list[str]:
    return [f"  ... and {count(number, f'more {thing}')}"] if number > 0 else []


def _unbroken(words: str, name: str) -> str:
    """The words, with options to copy that no line ends within."""
    for option in (dropping([name]), typing(name, "category")):
        words = words.replace(option, option.replace(" ", _NO_BREAK))
    return words


def _wrapped(text: str, mark: str = "") -> list[str]:
    """Lines no wider than the screen, the first after a mark and the others under it."""
    lines = [mark]
    for word in text.split(" "):
        for piece in _pieces(word, WIDTH - len(mark)):
            gap = " " if lines[-1].strip() not in ("", mark.strip()) else ""
            if _width(lines[-1]) + len(gap) + _width(piece) > WIDTH:
                lines.append(" " * len(mark))
                gap = ""
            lines[-1] += gap + piece
    return [line.replace(_NO_BREAK, " ") for line in lines]


def _pieces(word: str, width: int) -> Iterator[str]:
    """A word, or if it is wider than a line, as much of it as fits on each."""
    start = 0
    for end in range(1, len(word) + 1):
        if _width(word[start:end]) > width:
            yield word[start : end - 1]
            start = end - 1
    yield word[start:]


def _number(value: float) -> str:
    return f"{value:.6g}" if abs(value) < 1e6 or value != int(value) else f"{value:.0f}"


def _padded(text: str, width: int) -> str:
    return text + " " * (width - _width(text))


def _width(text: str) -> int:
    """The columns of the screen that a text takes."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(one) else 2 if unicodedata.east_asian_width(one) in "WF" else 1
        for one in text
    )
