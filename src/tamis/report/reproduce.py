"""How to get the same result again."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np

from tamis.markup import Markup, tag
from tamis.report.words import count
from tamis.result import Result, engine_in_words, rows_in_words

if TYPE_CHECKING:
    from tamis.identifiability import RecoveryCheck


def reproduce(result: Result, command: str | None, recovery: RecoveryCheck | None) -> Markup:
    """Command, settings, versions and seeds."""
    parts: list[str] = []
    if command is not None:
        parts += [tag("h3", "Command"), tag("pre", tag("code", command))]
    return tag(
        "section",
        tag("h2", "How to reproduce"),
        *parts,
        tag("h3", "Settings in full"),
        _pairs((key, _written(value)) for key, value in result.settings.items()),
        tag("h3", "Data, versions and seeds"),
        _pairs(_facts(result, recovery)),
        id="reproduce",
    )


def _facts(result: Result, recovery: RecoveryCheck | None) -> Iterator[tuple[str, str]]:
    if result.read_from is not None:
        yield "file", result.read_from
    yield "table", f"{rows_in_words(result)}, {count(len(result.names), 'column')}"
    if result.engine is not None:
        yield "counted", engine_in_words(result.engine)
    yield "learned by tamis", str(result.settings.get("tamis", "not recorded"))
    yield "written by tamis", version("tamis")
    yield "Python", platform.python_version()
    yield "numpy", np.__version__
    source = result.settings.get("source") or {}
    yield "seed of the search", str(source.get("seed", "none: it draws no random numbers"))
    if recovery is not None:
        yield "seed of the simulations", str(recovery.seed)


def _written(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _pairs(pairs: Iterator[tuple[str, str]]) -> Markup:
    rows = [
        tag("tr", tag("th", key, scope="row"), tag("td", tag("code", value)))
        for key, value in pairs
    ]
    return tag("div", tag("table", tag("tbody", *rows), class_="pairs"), class_="scroll")
