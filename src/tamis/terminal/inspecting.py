"""The command `tamis inspect`: the plan of a table, to read or as JSON."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass

from rich.text import Text

from tamis.inspection import inspect
from tamis.result import show
from tamis.tables.kinds import IGNORE, Told
from tamis.tables.plan import Plan
from tamis.terminal.choosing import ORDER
from tamis.terminal.consoles import console
from tamis.terminal.layout import QUIET
from tamis.terminal.words import options_in_words


@dataclass(frozen=True)
class InspectWishes:
    """How to look at a table."""

    types: dict[str, Told] | None
    missing: str
    json: bool


def run(source: str, wishes: InspectWishes) -> None:
    """Show what every column is taken for, and what is suspicious."""
    # Any other word is refused there.
    plan = inspect(source, types=wishes.types, missing=wishes.missing)  # type: ignore[arg-type]
    if wishes.json:
        console().print(
            json.dumps(plan.to_dict(), indent=1), markup=False, highlight=False, soft_wrap=True
        )
        return
    stdout = console()
    for line in options_in_words(str(plan)).split("\n"):
        stdout.print(Text(line), soft_wrap=True)
    if sum(column.kind != IGNORE for column in plan) > 1:
        stdout.print(Text(f"\n{show(_next(source, plan))}", style=QUIET), soft_wrap=True)


def _next(source: str, plan: Plan) -> str:
    """The command that learns by the plan."""
    words = ["tamis", "learn", source]
    for name, told in plan.types.items():
        if told == IGNORE:
            words += ["--drop", name]
        else:
            kind = ORDER.join(map(str, told)) if isinstance(told, list) else told
            words += ["--type", f"{name}={kind}"]
    if plan.missing != "error":
        words += ["--missing", plan.missing]
    elif any(one.n_missing for one in plan if one.kind != IGNORE):
        # A few rows less are the simplest answer; more would be a loss.
        few = 20 * (plan.rows["drop"] or 0) >= 19 * plan.n_rows
        words += ["--missing", "drop" if few else "pairwise"]
    return f"Then: {shlex.join(words)}"
