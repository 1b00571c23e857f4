"""Help in groups: options under the titles that they name, in plain text of 80 columns."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand


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
