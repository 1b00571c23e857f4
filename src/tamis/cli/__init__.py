"""The command `tamis`; everything heavy is imported when a command runs, so that help is quick."""

from __future__ import annotations

import gc
import os
from typing import Annotated

from tamis.cli.exit_codes import exit_cleanly, open_missing_streams, run_command

open_missing_streams()
# Ctrl-C does not wait until everything is imported.
with exit_cleanly():
    import typer

    from tamis.cli import commands
    from tamis.cli.learn import learn
    from tamis.cli.options import HELP, GroupedCommand

app = typer.Typer(name="tamis", **HELP)


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"tamis {version('tamis')}")
        raise typer.Exit()


@app.callback()
def tamis(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Learn one Bayesian-network DAG from a table, with the reasons."""


app.command(cls=GroupedCommand)(learn)
for _command in (
    commands.show,
    commands.plot,
    commands.report,
    commands.compare,
    commands.inspect,
    commands.pack,
    commands.check,
    commands.simulate,
):
    app.command()(_command)
app.command(name="warm-up")(commands.warm_up)


def main() -> None:
    """Run the command."""
    # A command does not live long, and searching for garbage in all that is imported and compiled
    # takes a fifth of its time.
    gc.set_threshold(100_000, 50, 50)
    # Pictures go to files, and no command opens a window.
    os.environ["MPLBACKEND"] = "agg"
    run_command(app)
