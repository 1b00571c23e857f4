"""Whether the settings in a file are those that a run of tamis writes down."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

from tamis.decisions.rule import Rule
from tamis.decisions.specification import rule_from_dict
from tamis.errors import SettingError
from tamis.information.estimators import estimator_from_dict
from tamis.knowledge import Knowledge
from tamis.plans import Plan, Request, make_plan

VERSION = "tamis"
"""The field for the version of tamis that ran; the others are those of a plan."""

_FIELDS = {field.name for field in fields(Plan)} | {VERSION}
_LATER = {
    "source": None, "knowledge": None, "missing": "error", "refine": True, "units": "unknown",
}  # fmt: skip
"""Fields that the first files did without, and what their absence means."""
_VERSION = re.compile(r"[0-9][0-9A-Za-z.+!-]{0,99}")


def wrong_settings(settings: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with the settings of a result, in words."""
    settings = {**_LATER, **settings}
    if settings.keys() != _FIELDS:
        yield f"settings does not have the fields {', '.join(sorted(_FIELDS))}"
    flat = {name: value for name, value in settings.items() if name != "knowledge"}
    deep = next((name for name, value in flat.items() if not _is_flat(value)), None)
    if deep is not None:
        yield f"settings has something in {deep!r} that no run has"
    version = settings[VERSION]
    if not isinstance(version, str) or not _VERSION.fullmatch(version):
        yield f"settings names no version of tamis but {version!r}"
    try:
        plan = _plan(settings)
    except SettingError as error:
        yield f"settings is not what a run can have: {error}"
        return
    if {**plan.to_dict(), VERSION: version} != settings:
        yield "settings is not in full what a run writes down"


def _is_flat(value: object) -> bool:
    if isinstance(value, dict):
        return all(map(_is_plain, value.values()))
    return _is_plain(value)


def _is_plain(value: object) -> bool:
    return value is None or isinstance(value, str | int | float)


def _plan(settings: Mapping[str, Any]) -> Plan:
    masking, entropy = settings["masking_rule"], settings["entropy"]
    return make_plan(
        Request(
            search=settings["search"],
            information=settings["information"],
            entropy=None if entropy is None else estimator_from_dict(entropy),
            boundary_rule=_rule(settings["boundary_rule"]),
            masking_rule=None if masking is None else _rule(masking),
            boundary=settings["boundary"],
            backward=settings["backward"],
            max_boundary=settings["max_boundary"],
            look_ahead=settings["look_ahead"],
            source=settings["source"],
            knowledge=_knowledge(settings["knowledge"]),
            missing=settings["missing"],
            refine=settings["refine"],
            units=settings["units"],
        )
    )


def _knowledge(written: object) -> Knowledge:
    if written is not None and not isinstance(written, dict):
        raise SettingError(f"{written!r} is not knowledge")
    return Knowledge.of(written)


def _rule(written: object) -> Rule:
    if not isinstance(written, dict):
        raise SettingError(f"{written!r} is not a decision rule")
    return rule_from_dict(written)
