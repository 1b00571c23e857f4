"""The whole result as JSON, and back again: strict both ways.

The document has the fields of ``Result`` and its parts under their own names, after
``format`` and ``version``. Numbers keep every digit. JSON has no word for a number that is
not finite; the strings "Infinity", "-Infinity" and "NaN" stand for those.
"""

from __future__ import annotations

import json
import math
from typing import Any

from tamis.errors import FileFormatError
from tamis.formats.consistency import first_contradiction
from tamis.formats.structure import Refused, from_json, to_json
from tamis.formats.text import is_unicode
from tamis.result import Result

FORMAT = "tamis result"
VERSION = 2
"""Raised by one whenever the fields of a result change."""

_NESTED = 3

holds = is_unicode


def render(result: Result) -> bytes:
    """One record a line, so that two results can be compared by their lines."""
    document = {"format": FORMAT, "version": VERSION, **to_json(result)}
    return (_spread(document, _NESTED) + "\n").encode()


def parse(content: bytes) -> Result:
    """The result in a document; whatever is wrong with it is a ``FileFormatError``."""
    document = _decode(content)
    _check_version(document)
    fields = {key: value for key, value in document.items() if key not in ("format", "version")}
    if document["version"] == 1:
        fields = _from_version_1(fields)
    try:
        result: Result = from_json(Result, fields, "the document")
    except Refused as error:
        raise FileFormatError(str(error)) from None
    except RecursionError as error:
        raise FileFormatError("it is nested too deeply") from error
    contradiction = first_contradiction(result)
    if contradiction is not None:
        raise FileFormatError(contradiction)
    return result


def _spread(value: object, depth: int, margin: str = "\n") -> str:
    """Containers of containers take one line an item, down to ``depth``."""
    inner = margin + " "
    if depth and isinstance(value, dict) and any(map(_is_container, value.values())):
        items = [f"{_text(key)}: {_spread(item, depth - 1, inner)}" for key, item in value.items()]
        return "{" + inner + f",{inner}".join(items) + margin + "}"
    if depth and isinstance(value, list) and any(map(_is_container, value)):
        items = [_spread(item, depth - 1, inner) for item in value]
        return "[" + inner + f",{inner}".join(items) + margin + "]"
    return _text(value)


def _is_container(value: object) -> bool:
    return isinstance(value, dict | list)


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _decode(content: bytes) -> dict[str, Any]:
    try:
        document = json.loads(
            content.decode(),
            parse_constant=_refuse_constant,
            parse_float=_finite,
            object_pairs_hook=_distinct_keys,
        )
    except UnicodeDecodeError as error:
        raise FileFormatError(f"it is not UTF-8, at byte {error.start}") from error
    except RecursionError as error:
        raise FileFormatError("it is nested too deeply") from error
    except ValueError as error:
        raise FileFormatError(f"it is not JSON ({error})") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise FileFormatError(f'it does not say "format": "{FORMAT}"')
    return document


def _check_version(document: dict[str, Any]) -> None:
    version = document.get("version")
    if type(version) is int and version > VERSION:
        raise FileFormatError(
            f"its version is {version}, this tamis reads {VERSION}; install a newer tamis"
        )
    if type(version) is not int or version not in (1, VERSION):
        raise FileFormatError(f"its version is {version!r}, this tamis reads {VERSION}")


def _from_version_1(fields: dict[str, Any]) -> dict[str, Any]:
    """Files of version 1 said whether a direction had support, not by what: nothing is claimed."""
    edges, trace = fields.get("edges"), fields.get("trace")
    if isinstance(edges, list) and all(isinstance(one, dict) for one in edges):
        fields = {**fields, "edges": [_edge_from_version_1(one) for one in edges]}
    if isinstance(trace, dict):
        fields = {**fields, "trace": {k: v for k, v in trace.items() if k != "moves"}}
    return fields


def _edge_from_version_1(edge: dict[str, Any]) -> dict[str, Any]:
    names = {"lead": "entropy_gap"}
    kept = {names.get(name, name): value for name, value in edge.items() if name != "identified"}
    return {**kept, "warrant": "none", "direction_probability": 0.5}


def _refuse_constant(constant: str) -> None:
    raise ValueError(f"{constant} is not a number of JSON")


def _finite(numeral: str) -> float:
    value = float(numeral)
    if math.isinf(value):
        raise ValueError(f"{numeral} is too large")
    return value


def _distinct_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping: dict[str, Any] = {}
    for key, value in pairs:
        if key in mapping:
            raise ValueError(f"the key {key!r} stands twice in one object")
        mapping[key] = value
    return mapping
