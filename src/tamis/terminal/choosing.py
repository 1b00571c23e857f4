"""Which columns a command reads and how: --type, --drop and --only become kinds by name."""

from __future__ import annotations

from collections.abc import Sequence

from tamis.errors import SettingError
from tamis.result import suggest
from tamis.tables.kinds import IGNORE, TYPES, Told

ORDER = "<"
"""What stands between the levels of an ordinal column, the lowest first."""


def types_from_options(
    source: str,
    types: Sequence[str] = (),
    drop: Sequence[str] = (),
    only: Sequence[str] = (),
    weights: str | None = None,
) -> dict[str, Told] | None:
    """The kinds that options name; None if there are none. Columns that --only leaves out are
    ignored, but for the one that holds the weights."""
    if not (types or drop or only):
        return None
    from tamis.inspection import column_names

    names = column_names(source)
    found: dict[str, Told] = {}
    for text in types:
        name, told = _kind(text, names)
        _add(found, name, told, f"--type {text!r}")
    for name in _named("--drop", drop, names):
        _add(found, name, IGNORE, f"--drop {name!r}")
    kept = {*_named("--only", only, names), weights}
    for name in names if only else ():
        if name not in kept and found.get(name) != IGNORE:
            _add(found, name, IGNORE, f"--only without {name!r}")
    return found


def _add(found: dict[str, Told], name: str, told: Told, option: str) -> None:
    if name in found and found[name] != told:
        raise SettingError(f"{option}: another option says something else of column {name!r}")
    found[name] = told


def _named(option: str, texts: Sequence[str], names: tuple[str, ...]) -> list[str]:
    """The columns that an option names, each by itself or several with commas between them."""
    found: list[str] = []
    for text in texts:
        parts = [text] if text in names else [part.strip() for part in text.split(",")]
        for part in parts:
            if part not in names:
                raise SettingError(f"{option}: there is no column {part!r}; {suggest(part, names)}")
        found += parts
    return found


def _kind(text: str, names: tuple[str, ...]) -> tuple[str, Told]:
    """NAME=KIND or NAME=LOW<...<HIGH, where a name may hold an equals sign itself."""
    places = [k for k, sign in enumerate(text) if sign == "="]
    if not places:
        raise SettingError(f"--type {text!r}: write NAME=KIND, for example grade=ordinal")
    place = next((k for k in reversed(places) if text[:k].strip() in names), places[0])
    name, kind = text[:place].strip(), text[place + 1 :].strip()
    if name not in names:
        raise SettingError(f"--type: there is no column {name!r}; {suggest(name, names)}")
    if kind in TYPES:
        return name, kind
    levels = [level.strip() for level in kind.split(ORDER)]
    if len(levels) < 2 or not all(levels):
        raise SettingError(
            f"--type {text!r}: {kind!r} is no kind: use {', '.join(TYPES)}, or the levels from low "
            "to high, as in 'size=small<medium<large'"
        )
    return name, list(levels)
