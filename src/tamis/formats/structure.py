"""Dataclasses to JSON values and back: the declared types of the fields are the schema."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from tamis.errors import SettingError
from tamis.formats.text import is_unicode

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
    """The fields that the first files did without."""
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
