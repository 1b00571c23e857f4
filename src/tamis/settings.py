"""The settings of a run, stated once: checked when given, read by the search, recorded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, InitVar, dataclass, field, fields, replace
from functools import cache
from importlib.metadata import version
from typing import Any, Literal, Self

import numpy as np

from tamis.blocks.limits import bytes_of
from tamis.counts.interactions import LARGEST
from tamis.counts.sharing import usable_jobs
from tamis.data.reading import Missing, require_missing
from tamis.decisions.p_values import PValue
from tamis.decisions.rule import Rule
from tamis.decisions.specification import as_rule, rule_from_dict, rule_to_dict
from tamis.defaults import (
    BACKWARD,
    BOUNDARY,
    KINDS,
    SEARCHES,
    UNITS,
    Backward,
    Boundary,
    Defaults,
    Kind,
    KindName,
    Search,
    Units,
)
from tamis.errors import DataError, SettingError
from tamis.information.catalogue import source_settings
from tamis.information.estimators import (
    AnyEstimator,
    as_estimator,
    estimator_from_dict,
    estimator_to_dict,
)
from tamis.information.interface import Ability, Source
from tamis.knowledge import Constraints, Knowledge

VERSION = "tamis"
"""The field of a record that holds the version of tamis that ran; the others are settings."""


OPEN: Any = None
"""Left open: construction puts the default of the search and the kind of information in its place,
so that a field always has the type that the search reads."""


@dataclass(frozen=True)
class Settings:
    """The settings of a run, as documented at `tamis.TAM`, with nothing left open.

    Construction takes what users write, refuses what has no meaning and fills in what is None:
    with the defaults of ``search`` on ``information``, those of counts while that is "auto". `on`
    does so again for the kind of information that was chosen, `bound` fits the settings to a
    source, and `to_dict` is what a result records.
    """

    search: Search = "auto"
    boundary_rule: Rule = OPEN
    masking_rule: Rule = OPEN
    _: KW_ONLY
    alpha: InitVar[float | None] = None
    """The level of the rules, which hold it from then on."""
    information: KindName | Literal["auto"] = "auto"
    entropy: AnyEstimator | None = OPEN
    """How entropies are estimated from counts; other information has no such choice."""
    boundary: Boundary = "pps"
    backward: Backward = OPEN
    max_boundary: int | None = None
    look_ahead: int | None = OPEN
    """The largest sets tried where no single candidate passes; None is as large as the budget
    allows, which only the data can say."""
    source: dict[str, Any] | None = None
    """The settings of the source, if it has any."""
    knowledge: Knowledge = OPEN
    missing: Missing = "error"
    refine: bool = True
    units: Units = "unknown"
    memory: int | str | None = field(default=None, metadata={"recorded": False})
    n_jobs: int | None = field(default=None, metadata={"recorded": False})
    constraints: Constraints | None = field(default=None, metadata={"recorded": False})
    """What the knowledge means for the columns of a source; see `bound`."""
    asked: Mapping[str, Any] = field(init=False, repr=False, compare=False)
    """What was not left open, as it was given."""

    def __post_init__(self, alpha: float | None) -> None:
        given = {**vars(self), "alpha": alpha}
        object.__setattr__(self, "asked", {k: v for k, v in given.items() if v is not None})
        for name, value in _filled(given).items():
            object.__setattr__(self, name, value)

    def leaves_open(self, *names: str) -> bool:
        """Whether none of these settings was given."""
        return not any(name in self.asked for name in names)

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules that the search uses."""
        masks = self.search != "sequential"
        return (self.boundary_rule, self.masking_rule)[: 1 + masks]

    @property
    def is_reference(self) -> bool:
        """Whether to agree with the authors' program where it differs from the paper."""
        return self.search == "reference"

    def on(self, information: KindName, **changes: Any) -> Settings:  # noqa: ANN401 - any field
        """What was asked for with these changes, filled in for this kind of information."""
        return Settings(**{**self.asked, "information": information, **changes})

    def bound(self, source: Source) -> Settings:
        """The settings for one source: rules for its size, knowledge about its columns, and sets
        of candidates as large as pays."""
        _require_abilities(self, source)
        size = source.n_rows, source.n_variables
        return replace(
            self,
            boundary_rule=self.boundary_rule.bind(*size),
            masking_rule=self.masking_rule.bind(*size),
            look_ahead=self.look_ahead or source.worthwhile_look_ahead(),
            constraints=_constraints(self.knowledge, source),
        )

    def to_dict(self) -> dict[str, Any]:
        """What JSON can hold, enough to run the same again."""
        written = {name: getattr(self, name) for name in RECORDED}
        return written | {
            "information": _chosen(self.information),
            "entropy": None if self.entropy is None else estimator_to_dict(self.entropy),
            "boundary_rule": rule_to_dict(self.boundary_rule),
            "masking_rule": (
                None if self.search == "sequential" else rule_to_dict(self.masking_rule)
            ),
            "source": None if self.source is None else dict(self.source),
            "knowledge": self.knowledge.to_dict() or None,
            VERSION: _version(),
        }

    @classmethod
    def from_dict(cls, written: Mapping[str, Any]) -> Self:
        """The settings that `to_dict` wrote."""
        masking, entropy = written["masking_rule"], written["entropy"]
        given = {name: written[name] for name in RECORDED}
        return cls(
            **given
            | {
                "entropy": None if entropy is None else estimator_from_dict(entropy),
                "boundary_rule": _rule_from_dict(written["boundary_rule"]),
                "masking_rule": None if masking is None else _rule_from_dict(masking),
                "knowledge": _knowledge_from_dict(written["knowledge"]),
            }
        )


RECORDED = tuple(
    one.name for one in fields(Settings) if one.init and one.metadata.get("recorded", True)
)
"""The settings that decide a result, and so are recorded with it."""

Given = Mapping[str, Any]
"""Settings by name as they were given, None where they were left open."""


def _chosen(information: KindName | Literal["auto"]) -> KindName:
    return "counts" if information == "auto" else information


def _filled(given: Given) -> dict[str, Any]:
    """What takes the place of settings that were left open or written in short."""
    _require_choices(given)
    information = _chosen(given["information"])
    kind = KINDS[information]
    _require_searched(given, information, kind)
    defaults = _at_level(given, information, kind.searches[given["search"]])
    backward = _backward(given, defaults)
    _require_together(given, information, kind, backward)
    search = kind.auto if given["search"] == "auto" else given["search"]
    limit = given["max_boundary"]
    return {
        "search": search,
        "entropy": _estimator(given, information, defaults),
        "boundary_rule": _rule("boundary_rule", given, defaults.boundary_rule),
        "masking_rule": _rule("masking_rule", given, defaults.masking_rule),
        "backward": backward,
        "max_boundary": kind.largest_boundary if limit is None else int(limit),
        "look_ahead": _look_ahead(given, search),
        "source": source_settings(information, given["source"]),
        "knowledge": _knowledge(given),
    }


def _require_choices(given: Given) -> None:
    _require_choice("search", given["search"], SEARCHES)
    _require_choice("boundary", given["boundary"], BOUNDARY)
    _require_choice("information", given["information"], ("auto", *KINDS))
    require_missing(given["missing"])
    _require_choice("units", given["units"], UNITS)
    if not isinstance(given["refine"], bool):
        raise SettingError(f"refine must be True or False, not {given['refine']!r}")
    require_size("max_boundary", given["max_boundary"])
    _require_look_ahead(given)
    bytes_of(given["memory"])
    usable_jobs(given["n_jobs"])


def _require_choice(parameter: str, value: object, choices: tuple[str, ...]) -> None:
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise SettingError(f"{parameter} must be one of {listed}, not {value!r}")


def require_size(parameter: str, value: object) -> None:
    """Refuse what is neither None nor a number of things."""
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
        raise SettingError(f"{parameter} must be None or a whole number >= 0, not {value!r}")


def _require_look_ahead(given: Given) -> None:
    asked = given["look_ahead"]
    if asked is None:
        return
    whole = isinstance(asked, int | np.integer) and not isinstance(asked, bool)
    if not whole or asked not in range(1, LARGEST + 1):
        raise SettingError(
            "look_ahead must be 1 (single candidates) or the size of the largest sets tried where "
            f"no single one passes, up to {LARGEST}; not {asked!r}"
        )
    if asked > 1 and given["search"] == "reference":
        raise SettingError("search='reference' looks at single candidates only: use look_ahead=1")
    if asked > 1 and given["boundary"] == "none":
        raise SettingError("look_ahead belongs to PPS; boundary='none' runs without it")


def _require_searched(given: Given, information: KindName, kind: Kind) -> None:
    if given["source"] and given["information"] == "auto":
        raise SettingError(
            "source has the settings of one kind of information: name it, as in "
            "information='neighbours'"
        )
    if given["search"] not in kind.searches:
        raise SettingError(
            f"search={given['search']!r} does not go with information={information!r}: use "
            f"{', '.join(map(repr, kind.searches))}"
        )


def _at_level(given: Given, information: KindName, defaults: Defaults) -> Defaults:
    """The defaults with ``alpha``, if it is given, as the level of their tests."""
    if given["alpha"] is None:
        return defaults
    if given["boundary_rule"] is not None:
        raise SettingError("alpha sets the level of the rules: give alpha or boundary_rule")
    if not isinstance(defaults.boundary_rule, PValue):
        by = (
            f"search={given['search']!r}"
            if given["search"] == "reference"
            else f"information={information!r}"
        )
        raise SettingError(
            f"alpha is the level of tests, and {by} compares gains with fixed "
            "thresholds: use boundary_rule and masking_rule"
        )
    test = type(defaults.boundary_rule)
    return replace(
        defaults,
        boundary_rule=test(given["alpha"], whole_graph=True),
        masking_rule=test(given["alpha"]),
    )


def _backward(given: Given, defaults: Defaults) -> Backward:
    if given["backward"] is not None:
        return as_backward(given["backward"])
    return "one" if given["boundary"] == "none" else defaults.backward


def as_backward(value: str | bool) -> Backward:
    """How to remove members of a boundary; True and False are the usual way and none."""
    if isinstance(value, bool):
        return "one" if value else "none"
    _require_choice("backward", value, BACKWARD)
    return next(known for known in BACKWARD if known == value)


def _require_together(given: Given, information: KindName, kind: Kind, backward: Backward) -> None:
    """Refuse choices that do not go together."""
    _require_small(given, information, kind.largest_boundary)
    if given["boundary"] == "none":
        _require_without_pps(given, backward)
    if given["search"] == "reference" and backward != "none":
        raise SettingError(
            "search='reference' has no backward phase, as the authors' program has none; "
            "leave backward out or use another search"
        )
    if given["search"] == "auto":
        _require_for_auto(given, backward)


def _require_small(given: Given, information: KindName, largest: int | None) -> None:
    """Refuse boundaries that the source cannot judge."""
    if largest is None:
        return
    if given["boundary"] == "none":
        raise SettingError(
            f"boundary='none' conditions on all nodes before, and information={information!r} on "
            f"{largest} at most: use boundary='pps'"
        )
    if given["max_boundary"] is not None and given["max_boundary"] > largest:
        raise SettingError(
            f"max_boundary must be at most {largest} with information={information!r}, not "
            f"{given['max_boundary']!r}"
        )


def _require_for_auto(given: Given, backward: Backward) -> None:
    if given["boundary"] == "none":
        raise SettingError("search='auto' always selects boundaries; use another search")
    if backward == "together":
        raise SettingError("search='auto' removes parents one at a time; use another search")


def _require_without_pps(given: Given, backward: Backward) -> None:
    if given["search"] == "reference":
        raise SettingError("search='reference' always selects boundaries; use search='layer'")
    if given["max_boundary"] is not None:
        raise SettingError("max_boundary limits PPS; boundary='none' runs without it")
    if backward == "none":
        raise SettingError(
            "with boundary='none' the parents are found by the backward phase; "
            "choose backward='one' or 'together'"
        )


def _estimator(given: Given, information: KindName, defaults: Defaults) -> AnyEstimator | None:
    asked = given["entropy"]
    if defaults.entropy is not None:
        return as_estimator(defaults.entropy if asked is None else asked)
    if asked is not None:
        raise SettingError(
            f"entropy= chooses how counts are turned into entropies; "
            f"information={information!r} has no such choice"
        )
    return None


def _rule(parameter: str, given: Given, default: Rule) -> Rule:
    try:
        return default if given[parameter] is None else as_rule(given[parameter], default)
    except SettingError as error:
        raise SettingError(f"{parameter}: {error}") from None


def _look_ahead(given: Given, search: Search) -> int | None:
    """As asked for; left open, the searches of the paper look at single candidates."""
    if given["look_ahead"] is not None:
        return int(given["look_ahead"])
    return None if search == "auto" else 1


def _knowledge(given: Given) -> Knowledge:
    knowledge = Knowledge.of(given["knowledge"])
    if knowledge and given["search"] == "reference":
        raise SettingError(
            "search='reference' does what the authors' program does, which takes no knowledge; "
            "use another search"
        )
    return knowledge


def _require_abilities(settings: Settings, source: Source) -> None:
    """Refuse settings that ask more of a source than it can do."""
    if settings.search == "auto":
        source.require(Ability.LIKELIHOOD, "search='auto'", "name a search")
    if settings.search == "layer" and not settings.masking_rule.judges_groups:
        raise SettingError(
            f"search='layer' tests a node with a whole layer, and {settings.masking_rule!r} with "
            "one other at a time: use search='node'"
        )
    if settings.search == "layer" and isinstance(settings.masking_rule, PValue):
        source.require(
            Ability.JOINT_TESTS, "search='layer'", "use search='node', or a threshold in nats"
        )
    if settings.look_ahead is not None and settings.look_ahead > 1:
        source.require(Ability.LOOK_AHEAD, f"look_ahead={settings.look_ahead}", "use look_ahead=1")


def _constraints(knowledge: Knowledge, source: Source) -> Constraints | None:
    constraints = knowledge.constraints(source.names)
    for child, parents in {} if constraints is None else constraints.required.items():
        for k in (child, *parents):
            if not source.varies(k):
                raise DataError(
                    f"Column {source.names[k]!r} has one value in all rows, so it cannot "
                    "have the arrow that is required: drop the column or the statement."
                )
    return constraints


@cache
def _version() -> str:
    return version("tamis")


def _knowledge_from_dict(written: object) -> Knowledge:
    if written is not None and not isinstance(written, dict):
        raise SettingError(f"{written!r} is not knowledge")
    return Knowledge.of(written)


def _rule_from_dict(written: object) -> Rule:
    if not isinstance(written, dict):
        raise SettingError(f"{written!r} is not a decision rule")
    return rule_from_dict(written)
