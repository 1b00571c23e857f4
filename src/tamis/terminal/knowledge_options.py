"""Background knowledge from the options of a command, beside that of a file."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from tamis.errors import SettingError
from tamis.knowledge import Knowledge


def knowledge_from_options(
    path: str | None,
    require: Sequence[str] | None,
    forbid: Sequence[str] | None,
    tiers: Sequence[str] | None,
) -> Knowledge | None:
    """What the file says and what the options add; None if there is neither."""
    known = Knowledge() if path is None else Knowledge.read(path)
    if tiers and known.tiers:
        raise SettingError(f"--tier and the tiers of {path!r} cannot both hold: leave one out")
    if not (require or forbid or tiers):
        return known or None
    return Knowledge(
        required=(*known.required, *(require or ())),
        forbidden=(*known.forbidden, *(forbid or ())),
        tiers=[_names(text) for text in tiers] if tiers else known.tiers,
        sources=known.sources,
        sinks=known.sinks,
    )


def _names(text: str) -> list[str]:
    """Names as a line of CSV has them: one with a comma stands in quotation marks."""
    try:
        lines = list(csv.reader(io.StringIO(text, newline=""), skipinitialspace=True))
    except csv.Error as error:
        raise SettingError(
            f"--tier {text!r} cannot be read as names with commas: {error}"
        ) from None
    if len(lines) > 1:
        raise SettingError(
            f"--tier {text!r} goes over several lines: put commas between the names, and names "
            "that hold a line break into quotation marks"
        )
    return [name.strip() for line in lines for name in line]
