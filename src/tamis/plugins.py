"""What comes from outside tamis: how it is called in files and messages, and how it is asked."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any, NoReturn, TypeGuard, TypeVar

import numpy as np
from numpy.typing import NDArray

from tamis.errors import PluginError, SettingError, TamisError

Plain = str | int | float | None
"""What a file can hold of a parameter."""
Answer = TypeVar("Answer")
_QUALIFIED = re.compile(r"[\w<>]+(\.[\w<>]+)+")


MOST_WRAPPED = 64
"""Things wrapped in each other are looked through to this depth."""


def qualified_name(thing: object) -> str:
    """package.module.Name of a function, or of the class of an object; what is only wrapped around
    another is called as that other."""
    for _ in range(MOST_WRAPPED):  # what is wrapped in itself never ends
        if not isinstance(thing, partial) and not hasattr(thing, "__wrapped__"):
            break
        thing = thing.func if isinstance(thing, partial) else thing.__wrapped__
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


def numbers_of(what: str, found: object) -> NDArray[np.float64]:
    """An answer as an array of finite numbers, if it is one."""
    array = answer_of(what, lambda: np.asarray(found))
    if array.dtype.kind not in "fiu":
        raise PluginError(f"{what} returned {found!r}; it must be numbers")
    if not np.isfinite(array).all():
        raise PluginError(f"{what} returned {found!r}; all of it must be finite")
    return array.astype(np.float64)


Check = Callable[[str, Any, object], object]
"""What was called, what it was first asked, and what it returned: the answer, if it makes sense."""


def check_answers(kind: type, checks: Mapping[str, Check]) -> None:
    """Have the methods that a class defines itself checked, if it is from outside tamis."""
    if kind.__module__.split(".")[0] == "tamis":
        return
    for name, check in checks.items():
        if name in vars(kind):
            setattr(kind, name, _checked(name, vars(kind)[name], check))


def _checked(name: str, method: Callable[..., Any], check: Check) -> Callable[..., Any]:
    @wraps(method)
    def answer(self: object, asked: object, *more: object) -> object:
        what = f"{qualified_name(self)}.{name}"
        return check(what, asked, answer_of(what, lambda: method(self, asked, *more)))

    return answer


LONGEST = 200
"""Parameters that are longer in print are left out of a record: they are data."""


@dataclass(frozen=True)
class Recorded:
    """A function or an object from outside as a file tells of it: it can be read, and not run."""

    name: str
    parameters: dict[str, Plain]

    def __call__(self, *_: object) -> NoReturn:
        """Refused."""
        raise SettingError(
            f"{self.name} was read from a file, which says what it is called and not what it does: "
            "pass the thing itself"
        )

    def to_dict(self, key: str) -> dict[str, Plain]:
        """Its name under this key, and its parameters."""
        return {**self.parameters, key: self.name}

    @classmethod
    def from_dict(cls, key: str, written: Mapping[str, Any]) -> Recorded:
        """What `to_dict` wrote; nothing is imported."""
        given = dict(written)
        name = given.pop(key, None)
        if not is_qualified(name) or not all(map(is_plain, given.values())):
            raise SettingError(f"{dict(written)!r} names nothing that {key} could be")
        return cls(name, given)


def record_of(thing: object) -> Recorded:
    """What a result tells of something from outside: its qualified name, and those of its
    parameters that fit on a line."""
    if isinstance(thing, Recorded):
        return thing
    described = ("names", "n_rows")  # a source has them, and so does the result
    told = {
        name: value
        for name, value in parameters_of(thing).items()
        if name not in described and len(str(value)) <= LONGEST and str(value).isprintable()
    }
    return Recorded(qualified_name(thing), told)
