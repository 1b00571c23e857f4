"""A comparison as files: everything as JSON, the edges as CSV, or the picture."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable

from tamis.atomic import check_place, write_files
from tamis.comparison.model import Comparison
from tamis.drawing.pictures import ENDINGS as PICTURES
from tamis.drawing.pictures import rendered, require_matplotlib
from tamis.errors import SettingError

ENDINGS = (".json", ".csv", *PICTURES)
Path = str | os.PathLike[str]


def save(comparison: Comparison, *paths: Path) -> None:
    """Check every path, make every content, then write."""
    if not paths:
        raise SettingError("save needs a path, such as 'comparison.json'")
    places = check_outputs(paths)
    write_files({place: _content(comparison, _ending(place)) for place in places})


def check_outputs(paths: Iterable[Path], endings: tuple[str, ...] = ENDINGS) -> list[str]:
    """The paths; refused if one cannot be written, before the work that it is to hold."""
    places = [os.fspath(path) for path in paths]
    for place in places:
        if _ending(place) not in endings:
            raise SettingError(
                f"the ending of {place!r} must say the format: one of {', '.join(endings)}"
            )
        if _ending(place) in PICTURES:
            require_matplotlib()
        check_place(place)
    return places


def _ending(place: str) -> str:
    return os.path.splitext(place)[1].lower()


def _content(comparison: Comparison, ending: str) -> bytes:
    if ending == ".json":
        text = json.dumps(comparison.to_dict(), ensure_ascii=False, indent=1, allow_nan=False)
        return f"{text}\n".encode()
    if ending == ".csv":
        return _csv(comparison)
    return rendered(comparison.plot(), ending)


def _csv(comparison: Comparison) -> bytes:
    """A line for each edge; names are quoted and numbers are not."""
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    rows = comparison.edge_rows()
    writer.writerow(rows[0] if rows else ("parent", "child"))
    writer.writerows(row.values() for row in rows)
    return text.getvalue().encode()
