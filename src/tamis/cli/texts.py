"""What the texts of options mean: columns and kinds, knowledge, rules, settings, sizes."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from inspect import signature

from tamis.decisions.rule import Fixed, Rule
from tamis.decisions.specification import RULES, rule_from_dict
from tamis.errors import SettingError
from tamis.knowledge import Knowledge
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
    if ORDER not in kind and kind.partition(",")[0].strip() in TYPES:
        raise SettingError(f"--type {text!r} names several columns: write --type for each of them")
    if len(levels) < 2 or not all(levels):
        raise SettingError(
            f"--type {text!r}: {kind!r} is no kind: use {', '.join(TYPES)}, or the levels from low "
            "to high, as in 'size=small<medium<large'"
        )
    return name, list(levels)


def knowledge_from_options(
    path: str | None,
    require: Sequence[str] | None,
    forbid: Sequence[str] | None,
    tiers: Sequence[str] | None,
) -> Knowledge | None:
    """What the file says and what the options add; None if there is neither."""
    known = Knowledge() if path is None else Knowledge.read(path)
    if tiers and known.tiers:
        raise SettingError(f"--tier and the tiers of {path!r} cannot both hold: leave one out")
    if not (require or forbid or tiers):
        return known or None
    return Knowledge(
        required=(*known.required, *(require or ())),
        forbidden=(*known.forbidden, *(forbid or ())),
        tiers=[_names_in_line(text) for text in tiers] if tiers else known.tiers,
        sources=known.sources,
        sinks=known.sinks,
    )


def _names_in_line(text: str) -> list[str]:
    """Names as a line of CSV has them: one with a comma stands in quotation marks."""
    try:
        lines = list(csv.reader(io.StringIO(text, newline=""), skipinitialspace=True))
    except csv.Error as error:
        raise SettingError(
            f"--tier {text!r} cannot be read as names with commas: {error}"
        ) from None
    if len(lines) > 1:
        raise SettingError(
            f"--tier {text!r} goes over several lines: put commas between the names, and names "
            "that hold a line break into quotation marks"
        )
    return [name.strip() for line in lines for name in line]


def rule_from_text(option: str, text: str | None) -> Rule | None:
    """The rule that a text names; no text leaves the choice to the search."""
    if text is None:
        return None
    try:
        return _rule(text)
    except SettingError as error:
        raise SettingError(f"{option} {text!r}: {error}") from None


def _rule(text: str) -> Rule:
    threshold = _number(text)
    if threshold is not None:
        return Fixed(threshold)
    name, colon, rest = text.strip().partition(":")
    if name not in RULES:
        raise SettingError(
            f"a rule is a number of nats, or one of {', '.join(RULES)}, which may be followed "
            "by a colon and its parameter, as in permutation:0.001"
        )
    if not colon:
        return rule_from_dict({"rule": name})
    parameters = list(signature(RULES[name]).parameters)
    if not parameters:
        raise SettingError(f"{name} has no parameter")
    value = _number(rest)
    if value is None:
        raise SettingError(f"after the colon stands {parameters[0]}, a number")
    return rule_from_dict({"rule": name, parameters[0]: value})


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}


def bytes_from_text(option: str, text: str | None) -> int | None:
    """A number of bytes, such as 500MB or 2GiB."""
    if text is None:
        return None
    found = re.fullmatch(r"\s*(\d{1,15}(?:\.\d{1,9})?)\s*([a-zA-Z]*)\s*", text)
    if found is None or found[2].upper() not in _UNITS or float(found[1]) == 0:
        raise SettingError(f"{option} {text!r} is no size: write it as 500MB or 2GB")
    return max(int(float(found[1]) * _UNITS[found[2].upper()]), 1)


def numbers_from_text(option: str, text: str) -> tuple[int, ...]:
    """Whole numbers above 0, with commas between them."""
    parts = [part.strip() for part in text.split(",")]
    if not all(re.fullmatch(r"[1-9]\d{0,8}", part) for part in parts):
        raise SettingError(f"{option} {text!r} must be whole numbers with commas, such as 100,1000")
    return tuple(dict.fromkeys(map(int, parts)))
