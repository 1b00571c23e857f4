"""What commands share: options, the words that the shell offers after them, and help in groups."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

HELP: dict[str, Any] = {
    "no_args_is_help": True,
    # Plain help needs neither rich nor markdown to be imported; bugs keep plain tracebacks.
    "rich_markup_mode": None,
    "pretty_exceptions_enable": False,
    "context_settings": {"help_option_names": ["-h", "--help"], "max_content_width": 100},
}
"""How the command and its groups of commands show help and errors."""

FIRST = "Most used"
READ = "What to read"
SEARCH = "How to search"
KNOWN = "What is known beforehand"
OUTPUT = "What to show and write"
"""The groups of the options, in the order in which the help shows them."""

TypeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--type",
        metavar="NAME=KIND",
        rich_help_panel=FIRST,
        help="What a column is: category, ordinal, number or ignore; or its levels from low to "
        "high, as in 'size=small<medium<large'. May be repeated.",
    ),
]
DropOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="A,B,...", rich_help_panel=FIRST, help="Columns to leave out. May be repeated."
    ),
]
OnlyOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="A,B,...",
        rich_help_panel=READ,
        help="Leave out all other columns. May be repeated.",
    ),
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Show nothing but errors.")]


class GroupedCommand(TyperCommand):
    """A command whose help lists options by their ``rich_help_panel``, in the order in which the
    groups first appear. Neither rich nor markdown is imported for it."""

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - typer's own click
        """Write the arguments, then the options group by group; the last takes those without."""
        groups: dict[str, list[tuple[str, str]]] = {}
        title = "Arguments"
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                title = getattr(parameter, "rich_help_panel", None) or title
                groups.setdefault(title, []).append(record)
        for title, records in groups.items():
            with formatter.section(title):
                formatter.write_dl(records, col_max=24)


Completer = Callable[[str], list[str]]


def _among(*words: str) -> Completer:
    def complete(incomplete: str) -> list[str]:
        return [word for word in words if word.startswith(incomplete)]

    return complete


# The words are written down here and compared with what the library knows by a test, because a
# completion must not wait for the library to be imported. Where there are none, files are offered.
searches = _among("auto", "node", "layer", "sequential", "reference", "paper")
information = _among(
    "auto",
    "counts",
    "gaussian",
    "copula",
    "conditional-gaussian",
    "neighbours",
    "mixed",
    "lipschitz",
)
entropies = _among("grassberger", "plugin", "miller-madow", "jackknife", "minimax")
# Without their parameters: a colon ends a word in bash.
rules = _among(
    "permutation",
    "chi-squared",
    "bic",
    "rate",
    "fixed",
    "f-test",
    "local-permutation",
    "p-value",
    "score",
)
boundaries = _among("pps", "none")
backward = _among("one", "together", "none")
missing = _among("error", "drop", "level", "pairwise", "drop-anyway")
