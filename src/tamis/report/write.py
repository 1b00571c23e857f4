"""The report on the disk: one file, whole or not at all."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tamis.atomic import check_place, write_files
from tamis.drawing.confidence import Confidence
from tamis.errors import SettingError
from tamis.report.page import page
from tamis.result import Result

if TYPE_CHECKING:
    from tamis.identifiability import Certificate

ENDINGS = (".html", ".htm")


def write_report(
    result: Result,
    path: str | os.PathLike[str],
    *,
    certificate: Certificate | None = None,
    confidence: Confidence | None = None,
    command: str | None = None,
) -> None:
    """Write everything about a result into one HTML file that needs nothing else.

    ``certificate`` adds the conditions of the fitted network and what came back from it,
    ``confidence`` what came back from resampled rows, ``command`` how the result was made. The
    same arguments give the same bytes. Raises ``SettingError`` for a path that cannot be written
    and for a certificate of another result, and ``OSError`` if writing fails.
    """
    place = os.fspath(path)
    check_report_place(place)
    if certificate is not None:
        _same_edges(result, certificate)
    text = page(result, certificate=certificate, confidence=confidence, command=command)
    write_files({place: text.encode()})


def check_report_place(path: str) -> None:
    """Refuse a path for a report, before the work whose result it is to hold."""
    if not isinstance(path, str) or not path.lower().endswith(ENDINGS):
        raise SettingError(f"a report must end in {' or '.join(ENDINGS)}, not {path!r}")
    check_place(path)


def _same_edges(result: Result, certificate: Certificate) -> None:
    learned = {(edge.parent, edge.child) for edge in result.edges}
    if learned != set(certificate.edges):
        raise SettingError(
            "the certificate is not of this result: their edges differ; certify the same model"
        )
