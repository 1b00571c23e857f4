"""The settings of a run, stated once: checked when given, read by the search, recorded."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import KW_ONLY, InitVar, dataclass, field, fields
from functools import cache
from importlib.metadata import version
from typing import Any, Literal, Self

from tamis.choices import BoundarySearch, SourceOfTable, filled, named
from tamis.constants import changed, checked, in_force
from tamis.decisions.p_values import CallableTest, PValue
from tamis.decisions.rule import Rule
from tamis.decisions.specification import rule_from_dict, rule_to_dict
from tamis.errors import DataError, SettingError
from tamis.information.estimators import AnyEstimator, estimator_from_dict, estimator_to_dict
from tamis.information.interface import Ability, Source
from tamis.knowledge import Constraints, Knowledge
from tamis.parameters import Backward, Boundary, Kind, KindName, Search, Units
from tamis.plugins import (
    Recorded,
    answer_of,
    is_plain,
    is_qualified,
    qualified_name,
    record_of,
    refusal,
)
from tamis.tables.assemble import Missing
from tamis.tables.kinds import Told

VERSION = "tamis"
"""The field of a record that holds the version of tamis that ran; the others are settings."""

MAY_BE_OWN = ("information", "entropy", "boundary", "boundary_rule", "masking_rule")
"""The settings that may be a function or an object from outside."""

OPEN: Any = None
"""Left open: construction puts the default of the search and the kind of information in its place,
so that a field always has the type that the search reads."""


@dataclass(frozen=True)
class Settings:
    """The settings of a run, as documented at `tamis.TAM`, with nothing left open.

    Construction takes what users write, refuses what has no meaning and fills in what is None
    (`tamis.choices`): with the defaults of ``search`` on ``information``, those of counts while
    that is "auto". `on` does so again for the information that was chosen, `bound` fits the
    settings to a source, and `to_dict` is what a result records.
    """

    search: Search = "auto"
    boundary_rule: Rule = OPEN
    masking_rule: Rule = OPEN
    _: KW_ONLY
    alpha: InitVar[float | None] = None
    """That of the rules, which hold it from then on."""
    information: KindName | Literal["auto"] | Source | SourceOfTable = "auto"
    entropy: AnyEstimator | None = OPEN
    """How entropies are estimated from counts; other information has no such choice."""
    boundary: Boundary | BoundarySearch = "pps"
    backward: Backward = OPEN
    max_boundary: int | None = None
    look_ahead: int | None = OPEN
    """The largest sets tried where no single candidate passes; None is as large as the budget
    allows, which only the data can say."""
    source: dict[str, Any] | None = None
    """The settings of the source, if it has any."""
    knowledge: Knowledge = OPEN
    types: dict[str, Told] | None = None
    """The kinds of columns that the user has named, or their levels in order."""
    missing: Missing = "error"
    edge_price: float = 1.0
    """What an edge costs in the score, times the logarithm of the number of columns."""
    units: Units = "unknown"
    memory: int | str | None = field(default=None, metadata={"recorded": False})
    n_jobs: int | None = field(default=None, metadata={"recorded": False})
    constants: Mapping[str, float] | None = None
    """The constants that were varied (`tamis.constants`)."""
    kind: InitVar[Kind | None] = None
    """That of the source which a function has made of a table."""
    constraints: Constraints | None = field(default=None, metadata={"recorded": False})
    """What the knowledge means for the columns of a source; see `bound`."""
    asked: Mapping[str, Any] = field(init=False, repr=False, compare=False)
    """What was not left open, as it was given."""

    def __post_init__(self, alpha: float | None, kind: Kind | None) -> None:
        given = {**vars(self), "alpha": alpha}
        object.__setattr__(self, "asked", {k: v for k, v in given.items() if v is not None})
        varied = changed() if self.constants is None else checked(self.constants)
        for name, value in {**filled(given, kind), "constants": varied or None}.items():
            object.__setattr__(self, name, value)

    def leaves_open(self, *names: str) -> bool:
        """Whether none of these settings was given."""
        return not any(name in self.asked for name in names)

    def on(
        self,
        information: KindName | Source | SourceOfTable,
        **changes: Any,  # noqa: ANN401 - any field
    ) -> Settings:
        """What was asked for with these changes, filled in for this information."""
        return Settings(**{**self.asked, "information": information, **changes})

    def bound(self, source: Source) -> Settings:
        """The settings for one source: rules for its size, knowledge about its columns, and sets
        of candidates as large as pays."""
        _require_abilities(self, source)
        size = source.n_rows, source.n_variables
        return self.filled_in(
            boundary_rule=_bound(self.boundary_rule, *size),
            masking_rule=_bound(self.masking_rule, *size),
            look_ahead=self.look_ahead or source.worthwhile_look_ahead(),
            constraints=_constraints(self.knowledge, source),
        )

    def filled_in(self, **found: Any) -> Settings:  # noqa: ANN401 - any field
        """The settings with what was found for them; nothing in it has to be checked again."""
        filled_in = copy(self)
        vars(filled_in).update(found)
        return filled_in

    def require_renewable(self, needed_by: str) -> None:
        """Refuse what was made of one table where others are drawn and learned from."""
        bound = [self.information] if isinstance(self.information, Source) else []
        bound += [rule for rule in self.rules if rule.knows_rows]  # type: ignore[misc]
        if bound:
            raise SettingError(
                f"{needed_by} learns from other rows, and {qualified_name(bound[0])} was made of "
                "one table: pass a function, information=f(table) or boundary_rule=f(source, x, y, "
                "given)"
            )

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules that the search uses."""
        selects, masks = not callable(self.boundary), self.search != "sequential"
        return (self.boundary_rule,) * selects + (self.masking_rule,) * masks

    @property
    def own_information(self) -> Source | SourceOfTable | None:
        """A source from outside, or a function that makes one; None for a kind by name."""
        return None if isinstance(self.information, str) else self.information

    @property
    def from_outside(self) -> tuple[str, ...]:
        """The settings that are not tamis' own, each with its qualified name."""
        given = {name: self.asked.get(name) for name in MAY_BE_OWN}
        own = {k: v.function if isinstance(v, CallableTest) else v for k, v in given.items()}
        named = {k: qualified_name(v) for k, v in own.items() if not is_plain(v)}
        return tuple(f"{k}={name}" for k, name in named.items() if not name.startswith("tamis."))

    @property
    def read_as(self) -> str:
        """The kind of information by name, or what is from outside by its qualified name."""
        own = self.own_information
        return str(self.information) if own is None else qualified_name(own)

    @property
    def is_reference(self) -> bool:
        """Whether to agree with the authors' program where it differs from the paper."""
        return self.search == "reference"

    def to_dict(self) -> dict[str, Any]:
        """What JSON can hold, enough to run the same again; what is from outside is told by its
        qualified name and its parameters."""
        selects, masks = not callable(self.boundary), self.search != "sequential"
        own = None if self.own_information is None else record_of(self.own_information)
        return {name: getattr(self, name) for name in RECORDED} | {
            "information": named(self.information) if own is None else own.name,
            "entropy": None if self.entropy is None else estimator_to_dict(self.entropy),
            "boundary_rule": rule_to_dict(self.boundary_rule) if selects else None,
            "masking_rule": rule_to_dict(self.masking_rule) if masks else None,
            "boundary": (
                record_of(self.boundary).to_dict("boundary")
                if callable(self.boundary)
                else self.boundary
            ),
            "source": self.source if own is None else own.told or None,
            "knowledge": self.knowledge.to_dict() or None,
            VERSION: _version(),
        }

    @classmethod
    def from_dict(cls, written: Mapping[str, Any]) -> Self:
        """The settings that `to_dict` wrote; what is from outside can be read, and not run."""
        given = {name: {**ADDED, **written}[name] for name in RECORDED}
        if given["entropy"] is not None:
            given["entropy"] = estimator_from_dict(given["entropy"])
        if isinstance(given["boundary"], dict):
            given["boundary"] = Recorded.from_dict("boundary", given["boundary"])
        unused = {"boundary_rule": callable(given["boundary"]), "masking_rule": True}
        for name, may_be_none in unused.items():
            if given[name] is not None or not may_be_none:
                given[name] = rule_from_dict(_mapping(given[name], "a decision rule"))
        if is_qualified(given["information"]):
            parameters = given.pop("source") or {}
            given["information"] = Recorded(given["information"], dict(parameters))
        for name in ("knowledge", "constants"):
            given[name] = {} if given[name] is None else _mapping(given[name], name)
        given["knowledge"] = Knowledge.of(given["knowledge"])
        with in_force(checked(given["constants"])):
            return cls(**given)


RECORDED = tuple(
    one.name for one in fields(Settings) if one.init and one.metadata.get("recorded", True)
)
"""The settings that decide a result, and so are recorded with it."""


ADDED: Mapping[str, Any] = {
    "source": None, "knowledge": None, "missing": "error", "edge_price": 1.0, "units": "unknown",
    "constants": None, "types": None,
}  # fmt: skip
"""Fields that the first files did without, and what their absence means."""


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


def _bound(rule: Rule, n_rows: float, n_variables: int) -> Rule:
    what = f"{qualified_name(rule)}.bind"
    found: object = answer_of(what, lambda: rule.bind(n_rows, n_variables))
    if not isinstance(found, Rule):
        raise refusal(what, found, "it must be a tamis.rules.Rule, such as the rule itself")
    return found


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


def _mapping(written: object, what: str) -> dict[str, Any]:
    if not isinstance(written, dict):
        raise SettingError(f"{written!r} is not {what}")
    return written
