"""Options of graphs and models: which there are is read off their functions, and each is checked
before anything is drawn. A message begins with the name of the option, says what it must be and
what was seen.
"""

from __future__ import annotations

import difflib
import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from tamis.errors import SettingError
from tamis.plugins import whole


def number(name: str, value: object, low: float, high: float = math.inf) -> float:
    """A number from ``low`` to ``high``, both included; never infinite."""
    found = _float(value)
    if found is None or not low <= found <= high:
        upto = "" if high == math.inf else f" to {high:g}"
        raise SettingError(f"{name} must be a number from {low:g}{upto}, not {value!r}")
    return found


def probability(name: str, value: object) -> float:
    """A probability that leaves both outcomes possible."""
    found = _float(value)
    if found is None or not 0 < found < 1:
        raise SettingError(f"{name} must be a number above 0 and below 1, not {value!r}")
    return found


def flag(name: str, value: object) -> bool:
    """True or False."""
    if not isinstance(value, bool | np.bool_):
        raise SettingError(f"{name} must be True or False, not {value!r}")
    return bool(value)


def span(name: str, value: object, above: float = -math.inf) -> tuple[float, float]:
    """A pair (low, high) with low <= high; one number stands for both."""
    ends = [_float(end) for end in value] if isinstance(value, Sequence) else [_float(value)] * 2
    low, high = ends if len(ends) == 2 and not isinstance(value, str) else (None, None)
    if low is None or high is None or not above < low <= high:
        limit = "" if above == -math.inf else f" above {above:g}"
        raise SettingError(
            f"{name} must be a number{limit}, or two of them with the smaller first, not {value!r}"
        )
    return low, high


def wholes(name: str, value: object, least: int) -> tuple[int, ...]:
    """At least one whole number, each from ``least`` on."""
    if isinstance(value, str) or not isinstance(value, Sequence | np.ndarray) or not len(value):
        raise SettingError(f"{name} must be a list of whole numbers from {least} on, not {value!r}")
    return tuple(whole(f"every number in {name}", one, least) for one in value)


def plain(value: Any) -> Any:  # noqa: ANN401 - whatever an option may be
    """The value as JSON holds it, to be given again as it is."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(one) for one in value]
    return value


def _float(value: object) -> float | None:
    """A finite number; None for anything else, True and '1' included."""
    if isinstance(value, bool | np.bool_ | str):
        return None
    try:
        found = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None


_NOT_OPTIONS = ("graph", "seed")


def options_of(function: Callable[..., Any]) -> dict[str, Any]:
    """The options by name, each with its default; ``inspect.Parameter.empty`` where none is."""
    parameters = inspect.signature(function).parameters
    return {name: one.default for name, one in parameters.items() if name not in _NOT_OPTIONS}


def named(kind: str, name: object, choices: Mapping[str, Callable[..., Any]]) -> Callable[..., Any]:
    """The function of this name, or a refusal that lists them all."""
    if isinstance(name, str) and name in choices:
        return choices[name]
    listed = ", ".join(choices)
    if name is None:
        raise SettingError(f"{kind} must be given: one of {listed}")
    raise SettingError(f"{kind} must be one of {listed}, not {name!r}{_hint(name, choices)}")


def completed(
    called: str, function: Callable[..., Any], given: Mapping[str, Any]
) -> dict[str, Any]:
    """All options of the function: as given, otherwise by default; some must be given."""
    options = {name: given.get(name, default) for name, default in options_of(function).items()}
    for name, value in options.items():
        if value is inspect.Parameter.empty:
            raise SettingError(f"{name} must be given for {called}")
    return options


def refuse_others(given: Iterable[str], known: Mapping[str, Iterable[str]]) -> None:
    """Refuse options that no part has; ``known`` lists those of each part."""
    names = [name for options in known.values() for name in options]
    for name in given:
        if name not in names:
            parts = "; ".join(
                f"{called} has {', '.join(options) or 'none'}" for called, options in known.items()
            )
            raise SettingError(f"there is no option {name!r} here{_hint(name, names)} ({parts})")


def _hint(name: object, choices: Iterable[str]) -> str:
    close = difflib.get_close_matches(str(name), list(choices), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""
