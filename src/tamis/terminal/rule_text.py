"""Decision rules as they are written on the command line: a number, a name, or name:value."""

from __future__ import annotations

from inspect import signature

from tamis.decisions.rule import Fixed, Rule
from tamis.decisions.specification import RULES, rule_from_dict
from tamis.errors import SettingError


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
