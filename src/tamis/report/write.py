"""The report on the disk: one file, whole or not at all."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tamis.atomic import check_place, write_files
from tamis.drawing.confidence import Confidence, require_of
from tamis.errors import SettingError
from tamis.parameters import require
from tamis.report.page import page
from tamis.result import Result

if TYPE_CHECKING:
    from tamis.identifiability import RecoveryCheck

ENDINGS = (".html", ".htm")


def write_report(
    result: Result,
    path: str | os.PathLike[str],
    *,
    recovery: RecoveryCheck | None = None,
    confidence: Confidence | None = None,
    command: str | None = None,
) -> None:
    """Write everything about a result into one HTML file that needs nothing else.

    ``recovery`` adds the conditions of the fitted network and what came back from it,
    ``confidence`` what came back from resampled rows, ``command`` how the result was made. The
    same arguments give the same bytes. Raises ``SettingError`` for a path that cannot be written
    and for a recovery check or a confidence of another result, and ``OSError`` if writing fails.
    """
    place = os.fspath(path) if isinstance(path, os.PathLike) else path
    check_report_place(place)
    require(recovery=recovery, command=command)
    if confidence is not None:
        require_of(result, confidence)
    if recovery is not None:
        _same_edges(result, recovery)
    text = page(result, recovery=recovery, confidence=confidence, command=command)
    write_files({place: text.encode()})


def check_report_place(path: str) -> None:
    """Refuse a path for a report, before the work whose result it is to hold."""
    if not isinstance(path, str) or not path.lower().endswith(ENDINGS):
        raise SettingError(f"a report must end in {' or '.join(ENDINGS)}, not {path!r}")
    check_place(path)


def _same_edges(result: Result, recovery: RecoveryCheck) -> None:
    learned = {(edge.parent, edge.child) for edge in result.edges}
    if learned != set(recovery.edges):
        raise SettingError(
            "the recovery check is not of this result: their edges differ; check the same model"
        )
