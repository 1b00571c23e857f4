"""Whether the settings in a file are those that a run of tamis writes down."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tamis.errors import SettingError
from tamis.plugins import is_plain
from tamis.settings import ADDED, RECORDED, VERSION, Settings

_FIELDS = {*RECORDED, VERSION}
_DEEP = ("knowledge", "types")
_VERSION = re.compile(r"[0-9][0-9A-Za-z.+!-]{0,99}")


def wrong_settings(settings: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with the settings of a result, in words."""
    settings = {**ADDED, **settings}
    if settings.keys() != _FIELDS:
        yield f"settings does not have the fields {', '.join(sorted(_FIELDS))}"
    # Knowledge and kinds are read, and written again, as a whole.
    flat = {name: value for name, value in settings.items() if name not in _DEEP}
    deep = next((name for name, value in flat.items() if not _is_flat(value)), None)
    if deep is not None:
        yield f"settings has something in {deep!r} that no run has"
    version = settings[VERSION]
    if not isinstance(version, str) or not _VERSION.fullmatch(version):
        yield f"settings names no version of tamis but {version!r}"
    try:
        read = Settings.from_dict(settings)
    except SettingError as error:
        yield f"settings is not what a run can have: {error}"
        return
    if {**read.to_dict(), VERSION: version} != settings:
        yield "settings is not in full what a run writes down"


def _is_flat(value: object) -> bool:
    if isinstance(value, dict):
        return all(map(is_plain, value.values()))
    return is_plain(value)
