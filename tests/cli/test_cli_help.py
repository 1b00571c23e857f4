"""The help of `tamis learn`: in groups, the most used options first, 80 columns wide."""

from __future__ import annotations

import re

import typer
from typer.testing import CliRunner

from tamis.cli import app
from tamis.cli.learn import FIRST, KNOWN, OUTPUT, READ, SEARCH

GROUPS = (FIRST, READ, SEARCH, KNOWN, OUTPUT)


def shown():
    return CliRunner().invoke(app, ["learn", "--help"], env={"COLUMNS": "80"}).stdout


def grouped(text):
    """The options under each title."""
    found = {}
    for line in text.splitlines():
        if re.fullmatch(r"\S.*:", line):
            title = line.removesuffix(":")
            found[title] = []
        elif option := re.match(r"  (?:-\w, )?(--[\w-]+)", line):
            found[title].append(option[1])
    return found


def test_options_stand_in_groups_and_none_is_left_out():
    found = grouped(shown())
    assert list(found) == ["Arguments", *GROUPS]
    command = typer.main.get_command(app).commands["learn"]
    known = [one.opts[0] for one in command.params if one.opts[0].startswith("--")]
    assert sorted(one for group in found.values() for one in group) == sorted([*known, "--help"])


def test_eight_options_come_first():
    assert len(grouped(shown())[FIRST]) == 8
    assert {"--missing", "--tier", "--report", "--details"} <= set(grouped(shown())[FIRST])


def test_it_fits_80_columns():
    assert max(map(len, shown().splitlines())) <= 80
