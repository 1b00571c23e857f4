"""HTML that cannot be broken by what it holds: text is escaped unless it was built here."""

from __future__ import annotations

import json
from collections.abc import Iterable
from html import escape

VOID = frozenset({"input", "meta"})


class Markup(str):
    """HTML that is ready; every other string is text."""

    __slots__ = ()


def tag(name: str, /, *children: str, **attributes: str | float | bool | None) -> Markup:
    """An element. ``class_`` is written class, ``data_value`` data-value; None and False are left
    out, True is an attribute without a value."""
    opened = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in VOID:
        return Markup(f"<{name}{opened}>")
    return Markup(f"<{name}{opened}>{join(children)}</{name}>")


def join(children: Iterable[str]) -> Markup:
    """Text and markup one after the other."""
    return Markup(
        "".join(child if isinstance(child, Markup) else text(child) for child in children)
    )


def text(content: str) -> Markup:
    """Text as HTML shows it: marks escaped, and what cannot be seen or encoded spelled out."""
    return Markup(escape("".join(map(_visible, content)), quote=True))


def data_block(identity: str, value: object) -> Markup:
    """JSON that a script can read and that no browser reads as HTML.

    ASCII only: U+2028 and lone surrogates become escapes of JSON, like the marks of HTML.
    """
    written = json.dumps(value, separators=(",", ":"), allow_nan=False)
    for mark in "<>&":
        written = written.replace(mark, f"\\u{ord(mark):04x}")
    return Markup(f'<script type="application/json" id="{identity}">{written}</script>')


def _visible(character: str) -> str:
    return character if character.isprintable() or character == "\n" else repr(character)[1:-1]


def _attribute(key: str, value: str | float | bool | None) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    if value is True:
        return f" {name}"
    written = f"{value:.6g}" if isinstance(value, float) else str(value)
    return f' {name}="{text(written)}"'
