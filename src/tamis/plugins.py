"""What comes from outside tamis: how it is called in files and messages, and how it is asked."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeGuard, TypeVar

from tamis.errors import PluginError, TamisError

Plain = str | int | float | None
"""What a file can hold of a parameter."""
Answer = TypeVar("Answer")
_QUALIFIED = re.compile(r"[\w<>]+(\.[\w<>]+)+")


def qualified_name(thing: object) -> str:
    """package.module.Name of a function, or of the class of an object."""
    while isinstance(thing, partial):
        thing = thing.func
    named = thing if hasattr(thing, "__qualname__") else type(thing)
    return f"{getattr(named, '__module__', None) or 'builtins'}.{named.__qualname__}"


def parameters_of(thing: object) -> dict[str, Plain]:
    """The parameters of an object, or those that a partial function fixes; private ones are not
    told, and what is no number, word or truth value is told as Python would print it."""
    held = thing.keywords if isinstance(thing, partial) else getattr(thing, "__dict__", {})
    return plain({name: value for name, value in held.items() if not name.startswith("_")})


def is_qualified(name: object) -> TypeGuard[str]:
    """Whether this could be the qualified name of something from outside."""
    return isinstance(name, str) and _QUALIFIED.fullmatch(name) is not None


def plain(values: Mapping[str, object]) -> dict[str, Plain]:
    """Parameters as a file holds them."""
    return {name: value if is_plain(value) else repr(value) for name, value in values.items()}  # type: ignore[misc]


def is_plain(value: object) -> bool:
    """Whether JSON holds this value as it is."""
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or isinstance(value, str | int)


def answer_of(what: str, ask: Callable[[], Answer]) -> Answer:
    """The answer of something from outside; its errors are named, and tamis' own left as they
    are."""
    try:
        return ask()
    except TamisError:
        raise
    except Exception as error:
        raise PluginError(f"{what} failed with {type(error).__name__}: {error}") from error
