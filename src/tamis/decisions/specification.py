"""Rules as people and files write them: a plain number, a function, or a name with parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import NoReturn, final

import numpy as np
from numpy.typing import NDArray

from tamis.decisions import parameters
from tamis.decisions.p_values import (
    CallableTest,
    ChiSquared,
    FTest,
    LocalPermutation,
    Permutation,
    PValue,
)
from tamis.decisions.rule import BIC, UNITS, Fixed, Rate, Rule
from tamis.errors import SettingError
from tamis.information.interface import Floats, Source, Tests
from tamis.information.own_test import PairTest
from tamis.plugins import Plain, is_plain, is_qualified, qualified_name

_KINDS: tuple[type[Rule], ...] = (
    Fixed,
    ChiSquared,
    Permutation,
    BIC,
    Rate,
    FTest,
    LocalPermutation,
    PValue,
)

RULES: dict[str, Callable[..., Rule]] = {kind.name: kind for kind in _KINDS}
"""The rules that come with tamis, by the name that stands for them in a file."""


def as_rule(spec: float | int | Rule | PairTest, default: Rule | None = None) -> Rule:
    """A rule as it is; a plain number as a fixed threshold in nats; a function f(source, x, y,
    given) -> p as a test at the alpha of the rule that it replaces, or else at 0.05."""
    if isinstance(spec, Rule):
        if spec.unit not in UNITS:
            raise SettingError(
                f"the unit of {qualified_name(spec)} must be one of {', '.join(map(repr, UNITS))}, "
                f"not {spec.unit!r}"
            )
        return spec
    if parameters.is_number(spec):
        return Fixed(spec)
    if callable(spec) and not isinstance(spec, type):
        level = default if isinstance(default, PValue) else PValue()
        return CallableTest(level.alpha, level.whole_graph, function=spec)
    raise SettingError(
        "a decision rule must be a threshold in nats, one of tamis.rules "
        f"({', '.join(kind.__name__ for kind in _KINDS)}) or a Rule of your own, or a function "
        f"f(source, x, y, given) -> p, not {spec!r}"
    )


def attached(source: Source, *rules: Rule) -> Source:
    """The source with whatever tests the rules bring, if it can answer all that they ask."""
    for rule in rules:
        source = rule.attach(source)
    return source


def rule_to_dict(rule: Rule) -> dict[str, Plain]:
    """The rule in a form that JSON can hold: its name and its parameters."""
    if type(rule) not in _KINDS:
        return rule.recorded()
    # A level that is not shared out among the nodes goes without saying.
    return {"rule": rule.name, **{k: v for k, v in vars(rule).items() if v is not False}}


def rule_from_dict(written: Mapping[str, object]) -> Rule:
    """The rule that ``rule_to_dict`` wrote; a parameter left out has its default."""
    given = dict(written)
    name = given.pop("rule", None)
    if is_qualified(name):
        return _recorded(name, given)
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
@dataclass(frozen=True)
class RecordedRule(Rule):
    """A rule from outside as a file tells of it. It can be read, and not run: nothing is imported
    for it."""

    rule: str
    parameters: tuple[tuple[str, Plain], ...]
    unit: str = "nats"

    name = "recorded"

    def recorded(self) -> dict[str, Plain]:
        """What the file says."""
        return {**dict(self.parameters), "rule": self.rule, "unit": self.unit}

    def strengths(self, tests: Tests) -> Floats:
        """Refused."""
        self._refuse()

    def threshold_for(self, n_tests: NDArray[np.int64] | int) -> Floats:
        """Refused."""
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise SettingError(
            f"{self.rule} was read from a file, which says what it is called and not what it does: "
            "pass the rule itself"
        )


def _recorded(name: str, given: dict[str, object]) -> RecordedRule:
    unit = given.pop("unit", None)
    if unit not in UNITS:
        raise SettingError(f'the "unit" of the rule {name} must be one of {UNITS}, not {unit!r}')
    held: list[tuple[str, Plain]] = []
    for key, value in given.items():
        if not is_plain(value):
            raise SettingError(f"the rule {name} has the parameter {key}={value!r}, no plain value")
        held.append((key, value))  # type: ignore[arg-type]
    return RecordedRule(name, tuple(held), str(unit))
