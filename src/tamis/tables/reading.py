"""How a table is to be read: what every reader is told, whatever holds the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from tamis.errors import SettingError
from tamis.tables.kinds import Told

Missing = Literal["error", "drop", "level", "pairwise", "drop-anyway"]
"""What may be done about missing values."""
MISSING: tuple[Missing, ...] = get_args(Missing)


@dataclass(frozen=True)
class Reading:
    """``continuous``: whether numbers that cannot be levels are kept. ``missing``: one of MISSING.
    ``weights``: the name of the column that holds the rows' weights, a sequence of them, or None.
    ``types``: the kinds of columns that the user has named. ``look``: who is shown the columns
    before they are typed, in place of making a table of them.
    """

    continuous: bool = False
    missing: str = "error"
    weights: object = None
    types: Mapping[str, Told] = field(default_factory=dict)
    look: Callable[[Any], None] | None = None


def require_missing(missing: object) -> None:
    """Refuse what is no choice about missing values."""
    if not isinstance(missing, str) or missing not in MISSING:
        choices = ", ".join(map(repr, MISSING))
        raise SettingError(f"missing must be one of {choices}, not {missing!r}")
