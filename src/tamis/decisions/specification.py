"""Rules as people and files write them: a plain number, a function, or a name with parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from inspect import Parameter, signature
from typing import final

from tamis.decisions.p_values import (
    CallableTest,
    ChiSquared,
    FTest,
    LocalPermutation,
    Permutation,
    PValue,
)
from tamis.decisions.rule import BIC, UNITS, Fixed, Rate, Rule, Score
from tamis.errors import SettingError
from tamis.information.interface import Source
from tamis.information.outside import PairTest
from tamis.plugins import (
    Plain,
    Recorded,
    answer_of,
    is_qualified,
    is_real,
    plain,
    qualified_name,
    refusal,
    truth_of,
)

_KINDS: tuple[type[Rule], ...] = (
    Fixed,
    ChiSquared,
    Permutation,
    BIC,
    Rate,
    FTest,
    LocalPermutation,
    PValue,
    Score,
)

RULES: dict[str, Callable[..., Rule]] = {kind.name: kind for kind in _KINDS}
"""The rules that come with tamis, by the name that stands for them in a file."""


def as_rule(spec: float | int | Rule | PairTest, default: Rule | None = None) -> Rule:
    """A rule as it is; a plain number as a fixed threshold in nats; a function f(source, x, y,
    given) -> p as a test at the alpha of the rule that it replaces, or else at 0.05."""
    if isinstance(spec, Rule):
        if not isinstance(spec, Recorded):
            _require_recordable(spec)
        return spec
    if is_real(spec):
        return Fixed(spec)
    if callable(spec) and not isinstance(spec, type):
        level = default if isinstance(default, PValue) else PValue()
        return CallableTest(level.alpha, level.whole_graph, function=spec)
    raise SettingError(
        "a decision rule must be a threshold in nats, one of tamis.rules "
        f"({', '.join(kind.__name__ for kind in _KINDS)}) or a Rule of your own, or a function "
        f"f(source, x, y, given) -> p, not {spec!r}"
    )


def _require_recordable(rule: Rule) -> None:
    """Refuse a rule from outside of which no file could tell."""
    name = qualified_name(rule)
    unit: object = rule.unit
    if not isinstance(unit, str) or unit not in UNITS:
        raise SettingError(
            f"the unit of {name} must be one of {', '.join(map(repr, UNITS))}, not {unit!r}"
        )
    if unit == "p" and type(rule).natural is Rule.natural:
        raise SettingError(f'the unit of {name} is "p": give it natural(strength), which is p')
    if type(rule).accepts is not Rule.accepts:
        raise SettingError(f"{name}.accepts must be left as it is: change strengths, threshold_for")
    for flag in ("judges_groups", "knows_rows"):
        truth_of(f"{name}.{flag}", getattr(rule, flag))
    rule_to_dict(rule)


def attached(source: Source, *rules: Rule) -> Source:
    """The source with whatever tests the rules bring, if it can answer all that they ask."""
    for rule in rules:
        what = f"{qualified_name(rule)}.attach"
        found: object = answer_of(what, partial(rule.attach, source))
        if not isinstance(found, Source):
            raise refusal(what, found, "it must be a tamis.Source, such as the one it was given")
        source = found
    return source


def rule_to_dict(rule: Rule) -> dict[str, Plain]:
    """The rule in a form that JSON can hold: its name and its parameters."""
    if type(rule) not in _KINDS:
        what = f"{qualified_name(rule)}.recorded"
        told: object = answer_of(what, rule.recorded)
        written = plain(told) if isinstance(told, dict) else {}
        if not is_qualified(written.get("rule")) or written.get("unit") != rule.unit:
            wanted = 'it must be a dict with a qualified name as "rule" and the unit as "unit"'
            raise refusal(what, told, wanted)
        return written
    # A level that is not shared out among the nodes goes without saying.
    return {"rule": rule.name, **{k: v for k, v in vars(rule).items() if v is not False}}


def rule_from_dict(written: Mapping[str, object]) -> Rule:
    """The rule that ``rule_to_dict`` wrote; a parameter left out has its default."""
    given = dict(written)
    name = given.pop("rule", None)
    if is_qualified(name):
        read = RecordedRule.from_dict("rule", written)
        if read.unit not in UNITS:
            raise SettingError(
                f'the "unit" of the rule {name} must be one of {UNITS}, not {read.unit!r}'
            )
        return read
    kind = _kind_called(name)
    known = signature(kind).parameters
    unknown = [name for name in given if name not in known]
    if unknown:
        raise SettingError(
            f"unknown parameters {unknown} of a decision rule: {kind.__name__} has {list(known)}"
        )
    missing = [
        name for name, p in known.items() if p.default is Parameter.empty and name not in given
    ]
    if missing:
        raise SettingError(f"{kind.__name__} cannot do without the parameters {missing}")
    return kind(**given)


def _kind_called(name: object) -> Callable[..., Rule]:
    if isinstance(name, str) and name in RULES:
        return RULES[name]
    raise SettingError(
        f'"rule" must be one of {", ".join(RULES)}, or the qualified name of a rule from outside, '
        f"not {name!r}"
    )


@final
class RecordedRule(Recorded, Rule):
    """A rule from outside as a file tells of it."""

    strengths = threshold_for = Recorded.__call__  # type: ignore[assignment]

    @property
    def unit(self) -> str:  # type: ignore[override]
        """What the file says that strengths are measured in."""
        return str(self.told.get("unit"))

    def recorded(self) -> dict[str, Plain]:
        """What the file says."""
        return self.to_dict("rule")
