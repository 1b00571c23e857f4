"""The whole result as JSON, and back again: strict both ways.

The document has the fields of ``Result`` and its parts under their own names, after
``format``, ``version`` and ``sha256``. Numbers keep every digit. JSON has no word for a number
that is not finite; the strings "Infinity", "-Infinity" and "NaN" stand for those.

``sha256`` is the digest of everything else, so that a file that was damaged on the way is not
taken for another result. It does not tell who wrote a file.

The declared types of the fields are the schema.
"""

from __future__ import annotations

import hashlib
import json
import math
import operator
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from tamis.errors import FileFormatError, SettingError
from tamis.formats.consistency import first_contradiction
from tamis.formats.graph import is_unicode
from tamis.result import Result

_NOT_FINITE = {"Infinity": math.inf, "-Infinity": -math.inf, "NaN": math.nan}


class Refused(Exception):  # noqa: N818 - a message between modules, never seen by users
    """A JSON value that is not what a field declares."""


def to_json(value: Any) -> Any:  # noqa: ANN401 - a JSON value of any kind
    """The value in dictionaries, lists, strings and numbers."""
    if is_dataclass(value):
        return {
            field.name: to_json(getattr(value, field.name))
            for field in fields(value)
            if not (field.metadata.get("later") and getattr(value, field.name) == field.default)
        }
    if isinstance(value, Mapping):
        return {key: to_json(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [to_json(item) for item in value]
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, float):
        return _float_to_json(float(value))
    try:
        return operator.index(value)
    except TypeError:
        raise SettingError(f"{value!r} cannot be written as JSON") from None


def from_json(kind: Any, value: Any, where: str) -> Any:  # noqa: ANN401 - as declared
    """The value of type ``kind`` that ``to_json`` wrote; ``where`` is for the complaint."""
    if kind is Any:
        return value
    if is_dataclass(kind):
        return _dataclass_from_json(kind, value, where)
    origin = get_origin(kind)
    if origin is tuple:
        return _tuple_from_json(get_args(kind)[0], value, where)
    if origin is not None and issubclass(_as_class(origin), Mapping):
        return _mapping_from_json(get_args(kind)[1], value, where)
    if origin in (Union, UnionType):
        return _union_from_json(get_args(kind), value, where)
    if kind is float:
        return _float_from_json(value, where)
    # By type and not by isinstance: True is not the number 1.
    if type(value) is not kind:
        raise Refused(f"{where} must be {_called(kind)}, not {_shown(value)}")
    if kind is str and not is_unicode(value):
        raise Refused(f"{where} holds a lone surrogate, which is not text")
    return value


@cache
def _declared(kind: type) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}


@cache
def _later(kind: type) -> frozenset[str]:
    """The fields that a file may do without."""
    return frozenset(field.name for field in fields(kind) if field.metadata.get("later"))


def _dataclass_from_json(kind: Any, value: object, where: str) -> object:  # noqa: ANN401
    declared = _declared(kind)
    if not isinstance(value, dict):
        raise Refused(f"{where} must be an object, not {_shown(value)}")
    missing = [name for name in declared if name not in value and name not in _later(kind)]
    if missing:
        raise Refused(f"{where} lacks {', '.join(map(repr, missing))}")
    unknown = [name for name in value if name not in declared]
    if unknown:
        raise Refused(f"{where} has a field {_shown(unknown[0])} that no result has")
    return kind(
        **{
            name: from_json(type_, value[name], _at(where, name))
            for name, type_ in declared.items()
            if name in value
        }
    )


def _tuple_from_json(kind: Any, value: object, where: str) -> tuple[Any, ...]:  # noqa: ANN401
    if not isinstance(value, list):
        raise Refused(f"{where} must be a list, not {_shown(value)}")
    return tuple(from_json(kind, item, f"{where}[{i}]") for i, item in enumerate(value))


def _mapping_from_json(kind: Any, value: object, where: str) -> dict[str, Any]:  # noqa: ANN401
    if not isinstance(value, dict):
        raise Refused(f"{where} must be an object, not {_shown(value)}")
    return {key: from_json(kind, item, f"{where}[{key!r}]") for key, item in value.items()}


def _union_from_json(kinds: tuple[Any, ...], value: object, where: str) -> object:
    if value is None and NoneType in kinds:
        return None
    others = [kind for kind in kinds if kind is not NoneType]
    if len(others) == 1:
        return from_json(others[0], value, where)
    if type(value) not in others:
        raise Refused(f"{where} must be {' or '.join(map(_called, others))}, not {_shown(value)}")
    return from_json(type(value), value, where)


def _float_to_json(value: float) -> float | str:
    if math.isfinite(value):
        return value
    return next(word for word, meant in _NOT_FINITE.items() if repr(meant) == repr(value))


def _float_from_json(value: object, where: str) -> float:
    if isinstance(value, str) and value in _NOT_FINITE:
        return _NOT_FINITE[value]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Refused(f"{where} must be a number, not {_shown(value)}")
    try:
        return float(value)
    except OverflowError:
        raise Refused(f"{where} is too large for a number") from None


def _as_class(origin: Any) -> type:  # noqa: ANN401 - what get_origin gives
    return origin if isinstance(origin, type) else NoneType


def _at(where: str, name: str) -> str:
    return name if where == "the document" else f"{where}.{name}"


def _called(kind: type) -> str:
    return {str: "a string", int: "a whole number", bool: "true or false"}[kind]


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"


FORMAT = "tamis result"
VERSION = 4
"""Raised by one whenever the fields of a result change; files of another version are refused."""
DIGEST = "sha256"

_NESTED = 3

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
    head = ("format", "version", DIGEST)
    fields = {key: value for key, value in document.items() if key not in head}
    try:
        if document.get(DIGEST) != digest_of(document):
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
    if type(version) is not int or version != VERSION:
        is_newer = type(version) is int and version > VERSION
        cure = "install a newer tamis" if is_newer else "learn again"
        raise FileFormatError(f"its version is {version!r}, this tamis reads {VERSION}; {cure}")


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
