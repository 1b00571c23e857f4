"""What comes from outside tamis: how it is called in files and messages, and how it is asked."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial, wraps
from inspect import signature
from typing import Any, NoReturn, Self, TypeGuard, TypeVar

import numpy as np
from numpy.typing import NDArray

from tamis.errors import PluginError, SettingError, TamisError

Plain = str | int | float | None
"""What a file can hold of a parameter."""
Answer = TypeVar("Answer")

MOST_WRAPPED = 64
"""Things wrapped in each other are looked through to this depth."""
LONGEST = 200
"""Parameters that are longer in print are left out of a record, being data; answers are cut."""
LARGEST = 1e100
"""No answer means anything beyond this, and neither squares nor sums of smaller ones overflow."""
MOST_BITS = 10_000
"""Python refuses to print whole numbers that are much longer."""
_ODD = re.compile(r"[^\w<>\[\],-]")
_QUALIFIED = re.compile(r"[\w<>\[\],?-]+(\.[\w<>\[\],?-]+)+")
_ADDRESS = re.compile(r"(?: at)? \(?0x[0-9A-Fa-f]{6,}\)?")


# What it is called.


def qualified_name(thing: object) -> str:
    """package.module.Name of a function, or of the class of an object; what is only wrapped around
    another is called as that other."""
    *_, named = _layers(thing)
    if not isinstance(getattr(named, "__qualname__", None), str):
        named = type(named)
    name = f"{getattr(named, '__module__', None) or 'builtins'}.{named.__qualname__}"  # type: ignore[attr-defined]
    return ".".join(_ODD.sub("?", part) or "?" for part in name.split("."))


def is_qualified(name: object) -> TypeGuard[str]:
    """Whether this could be the qualified name of something from outside."""
    return isinstance(name, str) and _QUALIFIED.fullmatch(name) is not None


def parameters_of(thing: object) -> dict[str, Plain]:
    """The parameters of an object, or those that partial functions fix, as a file holds them;
    private ones are not told."""
    held: dict[str, object] = {}
    for layer in _layers(thing):
        # An object within another is that one's business.
        if layer is thing or isinstance(layer, partial) or hasattr(layer, "__qualname__"):
            held = {**_held(layer), **held}
    return plain({name: value for name, value in held.items() if not name.startswith("_")})


def _layers(thing: Any) -> Iterator[object]:  # noqa: ANN401 - anything at all
    """A thing and what it is only wrapped around, from the outside in."""
    for _ in range(MOST_WRAPPED):  # what is wrapped in itself never ends
        yield thing
        if not isinstance(thing, partial) and not hasattr(thing, "__wrapped__"):
            return
        thing = thing.func if isinstance(thing, partial) else thing.__wrapped__


def _held(layer: object) -> dict[str, object]:
    if isinstance(layer, partial):
        try:
            return {**signature(layer.func).bind_partial(*layer.args).arguments, **layer.keywords}
        except (TypeError, ValueError):  # some functions written in C do not say
            return {"args": layer.args, **layer.keywords}
    held = getattr(layer, "__dict__", {})
    # Functions that decorators hang on a function are tools, such as those of a cache.
    is_function = hasattr(layer, "__qualname__") or hasattr(layer, "__wrapped__")
    return {name: one for name, one in held.items() if not (is_function and callable(one))}


def plain(values: Mapping[Any, object]) -> dict[str, Plain]:
    """Parameters as a file holds them: as they are, or as Python prints them; what does not fit on
    a line is left out."""
    found: dict[str, Plain] = {}
    for name, given in values.items():
        value: Any = given.item() if isinstance(given, np.generic) else given
        if _is_data(value):
            continue
        text = value if isinstance(value, str) else printed(value)
        if len(text) <= LONGEST and f"{name}{text}".isprintable():
            found[str(name)] = value if is_plain(value) else text
    return found


def is_plain(value: object) -> bool:
    """Whether JSON holds this value as it is."""
    if isinstance(value, int):
        return value.bit_length() <= MOST_BITS
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or isinstance(value, str)


def _is_data(value: object) -> bool:
    if isinstance(value, np.ndarray):
        return value.size > LONGEST
    return isinstance(value, list | tuple | set | dict) and len(value) > LONGEST


def beside(parameters: Mapping[str, Plain], fields: Mapping[str, Plain]) -> dict[str, Plain]:
    """The fields of a record with parameters beside them, whose names make way for the fields."""
    found: dict[str, Plain] = {}
    for name, value in parameters.items():
        while name in fields or name in found:
            name += "_"
        found[name] = value
    return {**found, **fields}


def printed(value: object) -> str:
    """A value as Python prints it, without addresses in memory; what cannot be printed is told
    by its class."""
    try:
        return _ADDRESS.sub("", repr(value))
    except Exception:  # of whoever wrote __repr__; the value is only to be named
        return f"<{qualified_name(type(value))}>"


# How it is asked.


def answer_of(what: str, ask: Callable[[], Answer]) -> Answer:
    """The answer of something from outside; its errors are named, and tamis' own left as they
    are."""
    try:
        return ask()
    except TamisError:
        raise
    except Exception as error:
        raise PluginError(f"{what} failed with {type(error).__name__}: {error}") from error


def shortened(value: object) -> str:
    """A value as Python prints it, on one line and cut if it is long."""
    with np.printoptions(threshold=8):
        text = " ".join(printed(value).split())
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def refusal(what: str, found: object, wanted: str) -> PluginError:
    """An answer without meaning: who gave it, what it is and what it must be."""
    return PluginError(f"{what} returned {shortened(found)}; {wanted}")


def is_real(value: object) -> TypeGuard[float]:
    """Whether a value is a plain number, numpy's included; True and False are not."""
    return is_whole(value) or isinstance(value, float | np.floating)


def is_whole(value: object) -> TypeGuard[int]:
    """Whether a value is a whole number, numpy's included; True and False are not, nor are spans of
    time, which numpy counts among its integers."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool | np.timedelta64)


def whole(parameter: str, value: object, least: int, most: int | None = None) -> int:
    """The value, if it is a whole number within bounds."""
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = least - 1
    if number < least or (most is not None and number > most) or isinstance(value, bool):
        end = "on" if most is None else f"to {most}"
        raise SettingError(f"{parameter} must be a whole number from {least} {end}, not {value!r}")
    return number


def is_number(value: object, least: float = -LARGEST, most: float = LARGEST) -> TypeGuard[float]:
    """Whether a value is a plain number within bounds."""
    # Without .item() the bounds would have to be numbers of the same few bits.
    return is_real(value) and bool(
        least <= (value.item() if isinstance(value, np.generic) else value) <= most
    )


def listed(value: object) -> list[Any] | None:
    """The members of a value; None if it is text, or has none to go through, as numpy's arrays
    without a dimension have not."""
    if isinstance(value, str | bytes):
        return None
    try:
        return list(value)  # type: ignore[call-overload, no-any-return]
    except TypeError:
        return None


def number_of(
    what: str, found: object, wanted: str, least: float = -LARGEST, most: float = LARGEST
) -> float:
    """An answer as a number within bounds, if it is one."""
    one = found[()] if isinstance(found, np.ndarray) and found.ndim == 0 else found
    if not is_number(one, least, most):
        raise refusal(what, found, wanted)
    return float(one)


def whole_of(what: str, found: object, wanted: str, least: int, most: float) -> int:
    """An answer as a whole number within bounds, if it is one."""
    if not is_whole(found) or not is_number(found, least, most):
        raise refusal(what, found, wanted)
    return int(found)


def truth_of(what: str, found: object) -> bool:
    """An answer as a truth value, if it is one."""
    if not isinstance(found, bool | np.bool_):
        raise refusal(what, found, "it must be True or False")
    return bool(found)


def numbers_of(
    what: str, found: object, shape: tuple[int, ...] | None = None
) -> NDArray[np.float64]:
    """An answer as an array of finite numbers, of this shape if there is one, if it is that."""
    array = answer_of(what, lambda: np.asarray(found))
    if array.dtype.kind not in "fiu":
        raise refusal(what, found, "it must be an array of floats")
    if shape is not None and array.shape != shape:
        raise refusal(what, array, f"its shape must be {shape}, not {array.shape}")
    numbers = array.astype(np.float64)
    wrong = numbers[~(np.abs(numbers) <= LARGEST)]
    if wrong.size:
        raise refusal(
            what, array, f"numbers must be finite, up to {LARGEST:g}, and one is {wrong.flat[0]}"
        )
    return numbers


Check = Callable[[str, Any, Any, object], object]
"""What was called, on which object, what it was first asked, and what it returned: the answer, if
it makes sense."""


def check_answers(kind: type, checks: Mapping[str, Check]) -> None:
    """Have the methods that a class defines itself checked, if it is from outside tamis."""
    if kind.__module__.split(".")[0] == "tamis":
        return
    for name, check in checks.items():
        if name in vars(kind):
            setattr(kind, name, _checked(name, vars(kind)[name], check))


def _checked(name: str, method: Callable[..., Any], check: Check) -> Callable[..., Any]:
    @wraps(method)
    def answer(self: object, *asked: object, **named: object) -> object:
        what = f"{qualified_name(self)}.{name}"
        found = answer_of(what, lambda: method(self, *asked, **named))
        return check(what, self, next(iter((*asked, *named.values())), None), found)

    return answer


# What a file tells of it.


@dataclass(frozen=True)
class Recorded:
    """Something from outside as a file tells of it: it can be read, and not run."""

    name: str
    told: dict[str, Plain]

    def __call__(self, *_: object) -> NoReturn:
        """Refused."""
        raise SettingError(
            f"{self.name} was read from a file, which says what it is called and not what it does: "
            "pass the thing itself"
        )

    def to_dict(self, key: str) -> dict[str, Plain]:
        """Its name under this key, and its parameters."""
        return beside(self.told, {key: self.name})

    @classmethod
    def from_dict(cls, key: str, written: Mapping[str, Any]) -> Self:
        """What `to_dict` wrote; nothing is imported."""
        given = dict(written)
        name = given.pop(key, None)
        if not is_qualified(name) or not all(map(is_plain, given.values())):
            raise SettingError(f"{dict(written)!r} names nothing that {key} could be")
        return cls(name, given)


def record_of(thing: object) -> Recorded:
    """What a result tells of something from outside: its qualified name and its parameters."""
    if isinstance(thing, Recorded):
        return thing
    described = ("names", "n_rows")  # a source has them, and so does the result
    told = {k: v for k, v in parameters_of(thing).items() if k not in described}
    return Recorded(qualified_name(thing), told)
