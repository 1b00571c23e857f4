"""The list of edges as CSV: one edge a line, in the order in which the children were admitted.

Names are quoted and numbers are not, so that a column called 12 stays a name. Names are
written as they are: one that starts with ``=``, ``+``, ``-`` or ``@`` is data here, but a
spreadsheet would take it for a formula. Whoever opens the file of a stranger's table in a
spreadsheet should import the first two columns as text.
"""

from __future__ import annotations

import csv
import io

from tamis.errors import FileFormatError
from tamis.formats.graph import FileGraph, GraphParts
from tamis.formats.text import decoded, is_unicode
from tamis.result import Result

COLUMNS = (
    "parent", "child", "gain", "p_value", "step", "gain_given_rest", "entropy_gap", "warrant",
    "direction_probability",
)  # fmt: skip

ENDS = (("parent", "child"), ("from", "to"), ("source", "target"), ("cause", "effect"))
"""What the columns of a list of edges may be called, in small letters."""

holds = is_unicode


def render(result: Result) -> bytes:
    """The header and one line for each edge; floats can be read back exactly."""
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    writer.writerow(COLUMNS)
    for edge in result.edges:
        numbers = (
            float(edge.gain),
            float(edge.p_value),
            int(edge.step),
            float(edge.gain_given_rest),
            float(edge.entropy_gap),
            edge.warrant,
            float(edge.direction_probability),
        )
        writer.writerow((edge.parent, edge.child, *numbers))
    return text.getvalue().encode()


def parse(content: bytes) -> FileGraph:
    """The graph in a list of edges; an edge that is listed in both directions is undirected.

    Columns without edges are not in such a list. Raises ``FileFormatError``.
    """
    reader = csv.reader(io.StringIO(decoded(content), newline=""), strict=True)
    parts = GraphParts()
    try:
        ends = _ends([title.strip().lower() for title in next(reader)])
        for row in reader:
            # The csv module gives an empty line as a row of nothing.
            if row:
                parts.add_arrow(*(_cell(row, place, reader.line_num) for place in ends))
    except csv.Error as error:
        raise FileFormatError(f"line {reader.line_num} is not CSV ({error})") from error
    return parts.graph(names_all=False)


def _ends(titles: list[str]) -> tuple[int, int]:
    for tail, head in ENDS:
        if tail in titles and head in titles:
            return titles.index(tail), titles.index(head)
    raise FileFormatError(
        "a list of edges begins with a line that names its columns parent and child, and this "
        f"begins with {', '.join(titles[:5])}"
    )


def _cell(row: list[str], place: int, line: int) -> str:
    if place >= len(row) or not row[place].strip():
        raise FileFormatError(f"line {line} names no two ends of an edge")
    return row[place]
