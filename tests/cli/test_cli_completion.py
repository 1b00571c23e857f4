"""What the shell offers for a half-written command, by the protocol that its scripts use."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

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
    assert offered("bash", "tamis learn --search s").stdout.split() == ["sieve", "sequential"]
    assert offered("bash", "tamis check x.bif --search re").stdout.split() == ["reference"]
    assert "learn" in offered("bash", "tamis ").stdout.split()
    assert sorted(offered("bash", "tamis learn --ma").stdout.split()) == [
        "--masking-rule",
        "--max-boundary",
    ]


def test_zsh_is_offered_what_begins_so():
    answer = offered("zsh", "tamis learn --information ne").stdout
    assert answer.split() == ["_arguments", "'*:", ':(("neighbours"))\'']


@pytest.mark.parametrize("line", ["tamis learn exa", "tamis learn t.csv --out g", "tamis check a"])
def test_where_a_file_is_due_the_shell_offers_files(line):
    # bash offers files because nothing is offered: its script says `complete -o default`.
    assert offered("bash", line).stdout.strip() == ""
    assert offered("zsh", line).stdout.strip() == "_files"


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_the_script_can_be_shown(shell, monkeypatch):
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    shown = CliRunner().invoke(app, ["--show-completion", shell], prog_name="tamis")
    assert shown.exit_code == 0
    assert "_TAMIS_COMPLETE" in shown.stdout
    start = {"bash": "complete -o default -F", "zsh": "compdef"}[shell]
    assert f"{start} _tamis_completion tamis" in shown.stdout


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_itself_completes(tmp_path, monkeypatch):
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    script = CliRunner().invoke(app, ["--show-completion", "bash"], prog_name="tamis").stdout
    command = tmp_path / "tamis"
    command.write_text(
        f"#!{sys.executable}\nimport sys\nsys.argv[0] = 'tamis'\n"
        "from tamis.cli import main\nmain()\n"
    )
    command.chmod(0o755)
    lines = [
        script,
        "COMP_WORDS=(tamis learn --search s)",
        "COMP_CWORD=3",
        f"_tamis_completion '{command}'",
        'echo "${COMPREPLY[@]}"',
    ]
    ended = subprocess.run(
        ["bash", "--norc", "-c", "\n".join(lines)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert (ended.stdout, ended.stderr) == ("sieve sequential\n", "")


def test_completing_imports_nothing_heavy():
    code = (
        "import sys\nsys.argv = ['tamis']\nfrom tamis.cli import app\n"
        "try:\n    app(standalone_mode=False)\nexcept SystemExit:\n    pass\n"
        "print({'numpy', 'numba', 'scipy', 'networkx', 'sklearn'} & set(sys.modules))"
    )
    environment = {
        **os.environ,
        "_TAMIS_COMPLETE": "complete_bash",
        "COMP_WORDS": "tamis learn --search s",
        "COMP_CWORD": "3",
    }
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True
    )
    assert ended.stdout.split() == ["sieve", "sequential", "set()"]
