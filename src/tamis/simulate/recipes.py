"""Options by name: which a graph or a model has is read off its function."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tamis.errors import SettingError

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
