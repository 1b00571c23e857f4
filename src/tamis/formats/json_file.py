"""The whole result as JSON, and back again: strict both ways.

The document has the fields of ``Result`` and its parts under their own names, after
``format``, ``version`` and ``sha256``. Numbers keep every digit. JSON has no word for a number
that is not finite; the strings "Infinity", "-Infinity" and "NaN" stand for those.

``sha256`` is the digest of everything else, so that a file that was damaged on the way is not
taken for another result. It does not tell who wrote a file.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any

from tamis.errors import FileFormatError, SettingError
from tamis.formats.consistency import first_contradiction
from tamis.formats.structure import Refused, from_json, to_json
from tamis.formats.text import is_unicode
from tamis.result import Result

FORMAT = "tamis result"
VERSION = 3
"""Raised by one whenever the fields of a result change; files before 3 have no digest."""
DIGEST = "sha256"

_NESTED = 3
_HEAD_BEFORE = ("format", "version")

holds = is_unicode


def render(result: Result) -> bytes:
    """One record a line, so that two results can be compared by their lines.

    Raises ``SettingError`` for a result that ``parse`` would refuse.
    """
    fields = to_json(result)
    contradiction = first_contradiction(result)
    if contradiction is not None:
        raise SettingError(f"this result cannot be saved and read again: {contradiction}")
    head = {"format": FORMAT, "version": VERSION}
    document = {**head, DIGEST: digest_of({**head, **fields}), **fields}
    return (_spread(document, _NESTED) + "\n").encode()


def parse(content: bytes) -> Result:
    """The result in a document; whatever is wrong with it is a ``FileFormatError``."""
    document = _decode(content)
    _check_version(document)
    head = ("format", "version", DIGEST) if document["version"] == VERSION else _HEAD_BEFORE
    fields = {key: value for key, value in document.items() if key not in head}
    if document["version"] == 1:
        fields = _from_version_1(fields)
    try:
        if DIGEST in head and document.get(DIGEST) != digest_of(document):
            raise Refused(
                "its content does not have the digest that it names, so it was changed or damaged "
                "after it was saved; learn again, or take another copy"
            )
        result: Result = from_json(Result, fields, "the document")
    except Refused as error:
        raise FileFormatError(str(error)) from None
    except RecursionError as error:
        raise FileFormatError("it is nested too deeply") from error
    contradiction = first_contradiction(result)
    if contradiction is not None:
        raise FileFormatError(contradiction)
    return result


def digest_of(document: Mapping[str, Any]) -> str:
    """The digest of what a document says, whatever its spaces and the order of its keys."""
    said = {key: value for key, value in document.items() if key != DIGEST}
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


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
    if type(version) is not int or version not in (1, 2, VERSION):
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
