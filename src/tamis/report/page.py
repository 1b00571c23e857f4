"""The page: sections in order, style and script put in, a policy that lets nothing else in; and
its file, written whole or not at all.
"""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING

from tamis.atomic import check_place, write_files
from tamis.drawing.looks import Confidence, name_in_full, require_of
from tamis.errors import SettingError
from tamis.markup import Markup, data_block, tag
from tamis.parameters import require
from tamis.report.graph import layout_of, legend, picture, tray
from tamis.report.statistics import (
    closest,
    columns,
    edge_numbers,
    edge_table,
    reproduce,
    sieve_in_words,
    weakest,
)
from tamis.report.summary import (
    confidence_section,
    knowledge_of,
    ranking,
    recovery_section,
    summary,
    told_section,
)
from tamis.result import Result, rows_in_words
from tamis.tables.refusals import count

if TYPE_CHECKING:
    from tamis.identifiability import RecoveryCheck

CONTENTS = {
    "summary": "Summary",
    "picture": "Graph",
    "told-before": "What was told",
    "edges": "Arrows",
    "weakest": "What is weakest",
    "confidence": "Confidence",
    "conditions": "Conditions",
    "statistics": "Statistics",
    "numbers": "Arrows in numbers",
    "calls": "Closest calls",
    "searches": "Searches",
    "columns": "Columns",
    "sieve": "Sieve",
    "reproduce": "Reproduce",
}
"""The sections by their anchors; those after the statistics are folded away with them."""
SCRIPTS = ("page", "view", "panel", "warrants", "tables", "saving")
"""The parts of the script, in order."""


def page(
    result: Result,
    *,
    recovery: RecoveryCheck | None = None,
    confidence: Confidence | None = None,
    command: str | None = None,
) -> str:
    """The whole file; the same arguments give the same text."""
    style, script = _static("report.css"), _script()
    title = title_of(result)
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_policy(style, script)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", title),
        Markup(f"<style>{style}</style>"),
    )
    body = tag(
        "body",
        *_body(result, title, recovery, confidence, command),
        Markup(f"<script>{script}</script>"),
    )
    return f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"


def title_of(result: Result) -> str:
    """The name of the file if there is one, and otherwise how many columns there are."""
    if result.read_from is None:
        return f"Bayesian network of {count(len(result.names), 'column')}"
    return f"Bayesian network of {name_in_full(file_of(result.read_from))}"


def file_of(path: str) -> str:
    """The last part of a path, of this system or of another."""
    return path.rstrip("/\\").replace("\\", "/").split("/")[-1] or path


def _body(
    result: Result,
    title: str,
    recovery: RecoveryCheck | None,
    confidence: Confidence | None,
    command: str | None,
) -> list[Markup]:
    numbers = {name: i for i, name in enumerate(result.names)}
    sections = [
        summary(result, confidence),
        _graph(result, numbers, confidence),
        told_section(result),
        edge_table(result, numbers, confidence, recovery),
        weakest(result),
        confidence_section(result, confidence),
        recovery_section(recovery),
    ]
    statistics = [
        edge_numbers(result, numbers),
        closest(result),
        ranking(result),
        columns(result, numbers, confidence),
        sieve_in_words(result),
        reproduce(result, command, recovery),
    ]
    data = {"names": [name_in_full(name) for name in result.names], "file": _stem(result)}
    size = f"{rows_in_words(result)}, {count(len(result.names), 'column')}"
    titled = tag("div", tag("h1", title), tag("p", size, class_="legend"))
    return [
        tag("a", "Skip to the summary", href="#summary", class_="skip"),
        tag("header", titled, tag("div", class_="tools", id="page-tools")),
        _contents(confidence, recovery, result),
        tag("main", *sections, _fold(statistics)),
        data_block("data", data),
    ]


def _stem(result: Result) -> str:
    """What a saved picture is called: after the table, in letters that every system takes."""
    named = "" if result.read_from is None else file_of(result.read_from).split(".")[0]
    kept = "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "-" for c in named)
    return kept.strip("-")[:60] or "graph"


def _fold(sections: Sequence[Markup]) -> Markup:
    """The statistics, folded away."""
    return tag(
        "details",
        tag("summary", "Statistics: tests, searches, every column, how to reproduce"),
        *sections,
        id="statistics",
    )


def _contents(
    confidence: Confidence | None, recovery: RecoveryCheck | None, result: Result
) -> Markup:
    absent = {
        "told-before": not knowledge_of(result),
        "numbers": not result.edges,
        "confidence": confidence is None,
        "conditions": recovery is None,
        "searches": not result.ranking,
    }
    links = [
        tag("a", title, href=f"#{identity}")
        for identity, title in CONTENTS.items()
        if not absent.get(identity)
    ]
    return tag("nav", *links, aria_label="Contents")


def _graph(result: Result, numbers: dict[str, int], confidence: Confidence | None) -> Markup:
    """The picture, with empty places for what a script puts there."""
    layout = layout_of(result)
    return tag(
        "section",
        tag("h2", "Graph"),
        tag("div", class_="tools", id="graph-tools"),
        legend(result, confidence),
        tag(
            "div",
            tag(
                "div",
                picture(result, layout, numbers, confidence),
                id="frame",
                hidden=not result.edges,
            ),
            tag("aside", id="panel", aria_label="Details", hidden=True),
            class_="beside",
        ),
        tray(layout, numbers),
        id="picture",
    )


def _script() -> str:
    """The parts in one function, so that they share names with each other and with nobody else."""
    parts = "\n".join(_static(f"script/{name}.js") for name in SCRIPTS)
    return f'(() => {{\n"use strict";\n{parts}}})();\n'


def _static(name: str) -> str:
    return files("tamis.report").joinpath(name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    """Nothing may be loaded; of styles and scripts, these two may be used and no other."""
    return (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(content: str) -> str:
    return "sha256-" + b64encode(sha256(content.encode()).digest()).decode()


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
