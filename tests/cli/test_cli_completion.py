"""What the shell offers for a half-written command, by the protocol that its scripts use."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from tamis.cli import app, options
from tamis.decisions.specification import RULES
from tamis.information.estimators import ESTIMATORS
from tamis.parameters import BACKWARD, BOUNDARY, KINDS, SEARCHES
from tamis.tables.assemble import MISSING

CHOICES = [
    ("--search", options.searches, SEARCHES),
    ("--information", options.information, ("auto", *KINDS)),
    ("--entropy", options.entropies, ESTIMATORS),
    ("--boundary-rule", options.rules, RULES),
    ("--masking-rule", options.rules, RULES),
    ("--boundary", options.boundaries, BOUNDARY),
    ("--backward", options.backward, BACKWARD),
    ("--missing", options.missing, MISSING),
]


def offered(shell, line):
    """The answer to a line, the cursor at its end."""
    words = line.split(" ")
    environment = {
        "_TAMIS_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
        "_TYPER_COMPLETE_ARGS": line,
    }
    return CliRunner().invoke(app, [], prog_name="tamis", env=environment)


@pytest.mark.parametrize(("option", "complete", "known"), CHOICES)
def test_the_words_offered_are_those_the_library_knows(option, complete, known):
    assert sorted(complete("")) == sorted(known)
    shown = offered("bash", f"tamis learn {option} ")
    assert (shown.exit_code, sorted(shown.stdout.split())) == (0, sorted(known))


def test_bash_is_offered_what_begins_so():
    assert offered("bash", "tamis learn --search s").stdout.split() == ["sequential"]
    assert offered("bash", "tamis check x.bif --search re").stdout.split() == ["reference"]
    assert "learn" in offered("bash", "tamis ").stdout.split()
    assert sorted(offered("bash", "tamis learn --ma").stdout.split()) == [
        "--masking-rule",
        "--max-boundary",
    ]


def test_zsh_is_offered_what_begins_so():
    answer = offered("zsh", "tamis learn --information ne").stdout
    assert answer.split() == ["_arguments", "'*:", ':(("neighbours"))\'']
