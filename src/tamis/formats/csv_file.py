"""The list of edges as CSV: one edge a line, in the order in which the children were admitted.

Names are quoted and numbers are not, so that a column called 12 stays a name. Names are
written as they are: one that starts with ``=``, ``+``, ``-`` or ``@`` is data here, but a
spreadsheet would take it for a formula. Whoever opens the file of a stranger's table in a
spreadsheet should import the first two columns as text.
"""

from __future__ import annotations

import csv
import io

from tamis.formats.text import is_unicode
from tamis.result import Result

COLUMNS = (
    "parent", "child", "gain", "p_value", "step", "gain_given_rest", "entropy_gap", "warrant",
    "direction_probability",
)  # fmt: skip

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
