"""The plan of a folder: stored before the first run, and the same ever after."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from tamis.atomic import write_files
from tamis.errors import FileFormatError, SettingError
from tamis.experiments.plans import Plan

NAME = "plan.json"
FORMAT = 1
_FEW = 6


def read_plan(folder: Path) -> Plan:
    """The plan a folder was filled by."""
    path = folder / NAME
    try:
        content = path.read_bytes()
    except FileNotFoundError as error:
        raise FileFormatError(
            f"{str(folder)!r} holds no {NAME}: it is not the folder of an experiment"
        ) from error
    try:
        written = json.loads(content)
        if written.pop("format") != FORMAT:
            raise ValueError("it was written by another version of tamis")
        return Plan.from_dict(written)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise FileFormatError(f"{str(path)!r} cannot be read as a plan: {error}") from error


def settle(plan: Plan, folder: Path) -> None:
    """Store the plan; where there is one already it must be the same."""
    if (folder / NAME).exists():
        stored = read_plan(folder)
        if stored != plan:
            raise SettingError(
                f"{str(folder)!r} holds another plan: {'; '.join(_differences(stored, plan))}. "
                "Give the same options to go on with it, or use another folder."
            )
        return
    text = json.dumps({"format": FORMAT, **plan.to_dict()}, separators=(",", ":"))
    write_files({str(folder / NAME): f"{text}\n".encode()})


def _differences(stored: Plan, asked: Plan) -> Iterator[str]:
    for name in ("name", "time_limit", "patience"):
        there, here = getattr(stored, name), getattr(asked, name)
        if there != here:
            yield f"its {name} is {there}, asked for is {here}"
    if stored.methods != asked.methods:
        yield f"its methods are {_listed(stored.methods)}, asked for are {_listed(asked.methods)}"
    if stored.draws != asked.draws:
        yield _other_tables(stored, asked)


def _other_tables(stored: Plan, asked: Plan) -> str:
    there, here = set(stored.draws), set(asked.draws)
    different = sorted(there ^ here)
    return (
        f"it has {len(there):,} tables and {len(here):,} are asked for, "
        f"{len(there & here):,} of them the same; the first that differs is {different[0].place}"
    )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_FEW]) + (f" and {len(names) - _FEW} more" * (len(names) > _FEW))
