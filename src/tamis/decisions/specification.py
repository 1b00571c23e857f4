"""Rules as people and files write them: a plain number, or a name with its parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import Parameter, signature

from tamis.decisions import parameters
from tamis.decisions.bic import BIC
from tamis.decisions.chi_squared import ChiSquared
from tamis.decisions.f_test import FTest
from tamis.decisions.fixed import Fixed
from tamis.decisions.local_permutation import LocalPermutation
from tamis.decisions.permutation import Permutation
from tamis.decisions.rate import Rate
from tamis.decisions.rule import Rule
from tamis.errors import SettingError

_KINDS: tuple[type[Rule], ...] = (
    Fixed,
    ChiSquared,
    Permutation,
    BIC,
    Rate,
    FTest,
    LocalPermutation,
)

RULES: dict[str, Callable[..., Rule]] = {kind.name: kind for kind in _KINDS}
"""The rules that come with tamis, by the name that stands for them in a file."""


def as_rule(spec: float | int | Rule) -> Rule:
    """A rule as it is; a plain number as a fixed threshold in nats."""
    if isinstance(spec, Rule):
        return spec
    if parameters.is_number(spec):
        return Fixed(spec)
    raise SettingError(
        "a decision rule must be a threshold in nats or one of tamis.rules "
        f"({', '.join(kind.__name__ for kind in _KINDS)}), not {spec!r}"
    )


def rule_to_dict(rule: Rule) -> dict[str, str | float]:
    """The rule in a form that JSON can hold: its name and its parameters."""
    if type(rule) not in _KINDS:
        raise SettingError(f"only the rules of tamis.rules can be written, not {rule!r}")
    # A level that is not shared out among the nodes goes without saying.
    return {"rule": rule.name, **{k: v for k, v in vars(rule).items() if v is not False}}


def rule_from_dict(written: Mapping[str, object]) -> Rule:
    """The rule that ``rule_to_dict`` wrote; a parameter left out has its default."""
    given = dict(written)
    kind = _kind_called(given.pop("rule", None))
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
    raise SettingError(f'"rule" must be one of {", ".join(RULES)}, not {name!r}')
