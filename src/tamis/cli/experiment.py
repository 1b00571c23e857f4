"""The commands `tamis experiment …`: their words and options, no logic.

Every plan in `studies/shipped` is a command, whose help is the first line of the file.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from tamis.cli.exit_codes import do
from tamis.cli.options import HELP, QuietOption

experiment = typer.Typer(**HELP)
_Out = Annotated[
    str, typer.Option("--out", metavar="FOLDER", help="Where the study is kept, and goes on.")
]
_Full = Annotated[
    bool, typer.Option("--full/--quick", help="The whole plan, or some minutes of it.")
]
_Names = Annotated[str | None, typer.Option(metavar="NAME,...", help="Only these of the plan.")]
_Numbers = Annotated[str | None, typer.Option(metavar="N,N,...", help="In place of the plan's.")]
_Replications = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="Tables drawn for each setting.")
]
_Methods = Annotated[
    str | None,
    typer.Option(metavar="NAME,...", help="The methods to compare, searches and baselines."),
]
_Seed = Annotated[int | None, typer.Option(metavar="N", min=0, help="Same seed, same tables.")]
_Limit = Annotated[
    float | None,
    typer.Option(metavar="SECONDS", min=0, help="CPU time of learning a run; 0 is no limit."),
]
_Patience = Annotated[
    int | None, typer.Option(metavar="N", min=0, help="Time-outs after which a method is given up.")
]
_Networks = Annotated[
    str | None, typer.Option(metavar="FOLDER", help="BIF files, in place of those in pgmpy.")
]
_Workers = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="Processes; one a core unless given.")
]
_Folder = Annotated[str, typer.Argument(metavar="FOLDER", help="A study.")]


def _study(plan: str) -> Callable[..., None]:
    """The command of one plan."""

    def command(
        out: _Out,
        full: _Full = False,
        models: _Names = None,
        graphs: _Names = None,
        nodes: _Numbers = None,
        rows: _Numbers = None,
        replications: _Replications = None,
        methods: _Methods = None,
        seed: _Seed = None,
        time_limit: _Limit = None,
        patience: _Patience = None,
        networks: _Networks = None,
        jobs: _Workers = None,
        quiet: QuietOption = False,
    ) -> None:
        options = {name: value for name, value in locals().items() if name != "plan"}
        do("experimenting.run_study", plan, **options)

    return command


for _path in sorted((Path(__file__).parents[1] / "studies" / "shipped").glob("*.toml")):
    with open(_path, encoding="utf-8") as _file:
        _words = _file.readline().removeprefix("# ").strip()
    experiment.command(name=_path.stem, help=_words)(_study(_path.stem))


@experiment.command(name="run")
def run_plan(
    plan: Annotated[str, typer.Argument(metavar="PLAN", help="A plan: a file that ends in .toml.")],
    out: _Out,
    full: _Full = True,
    jobs: _Workers = None,
    quiet: QuietOption = False,
) -> None:
    """Run a study of your own."""
    do("experimenting.run_study", plan, out=out, jobs=jobs, quiet=quiet, full=full)


@experiment.command(name="resume")
def resume_study(folder: _Folder, jobs: _Workers = None, quiet: QuietOption = False) -> None:
    """Go on with a study that was ended."""
    do("experimenting.resume", folder, jobs=jobs, quiet=quiet)


@experiment.command()
def figures(
    folder: _Folder,
    out: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="Where they go; the study itself.")
    ] = None,
    ending: Annotated[
        str, typer.Option("--format", metavar="png|svg|pdf", help="How they are drawn.")
    ] = "png",
    quiet: QuietOption = False,
) -> None:
    """Draw the figures of a study again."""
    do("experimenting.draw_figures", folder, out=out, ending=ending, quiet=quiet)


@experiment.command()
def report(
    folder: _Folder,
    into: Annotated[
        str | None,
        typer.Option(metavar="PAGE", help="A Markdown page with marks for the tables."),
    ] = None,
    quiet: QuietOption = False,
) -> None:
    """Write the tables and figures of a study, finished or not."""
    do("experimenting.write_report", folder, into=into, quiet=quiet)


@experiment.command()
def figure1(
    out: Annotated[str, typer.Option(metavar="FILE", help="The picture: .png, .svg or .pdf.")],
    rows: Annotated[int, typer.Option(metavar="N", min=1, help="Rows to learn from.")] = 10_000,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Same seed, same rows.")] = 1,
    quiet: QuietOption = False,
) -> None:
    """Draw the loops of testing and masking, as the paper's Figure 1(b)."""
    do("experimenting.draw_figure1", out, rows=rows, seed=seed, quiet=quiet)
