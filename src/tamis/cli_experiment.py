"""The commands `tamis experiment …`: their words and options, no logic."""

from __future__ import annotations

from typing import Annotated

import typer

from tamis.terminal.exit_codes import exit_cleanly

experiment = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
_Folder = Annotated[
    str, typer.Option("--out", metavar="FOLDER", help="Where the study is kept, and goes on.")
]
_Methods = Annotated[
    str | None,
    typer.Option(metavar="NAME,...", help="The methods to compare, searches and baselines."),
]
_Sizes = Annotated[
    str | None, typer.Option(metavar="N,N,...", help="The numbers of rows of the tables.")
]
_Replications = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="Tables drawn for each setting.")
]
_Seed = Annotated[int, typer.Option(metavar="N", min=0, help="Same seed, same tables.")]
_Limit = Annotated[
    float, typer.Option(metavar="SECONDS", min=0, help="Of learning, for each run; 0 is no limit.")
]
_Workers = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="Processes; one a core unless given.")
]
_Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show nothing but errors.")]


@experiment.command()
def paper(
    out: _Folder,
    full: Annotated[
        bool, typer.Option("--full/--quick", help="The paper's grid, or some minutes of it.")
    ] = False,
    models: Annotated[str | None, typer.Option(metavar="NAME,...", help="mod, add.")] = None,
    graphs: Annotated[str | None, typer.Option(metavar="NAME,...", help="tree, er, sf.")] = None,
    nodes: Annotated[
        str | None, typer.Option(metavar="N,N,...", help="The numbers of nodes.")
    ] = None,
    rows: _Sizes = None,
    replications: _Replications = None,
    methods: _Methods = None,
    seed: _Seed = 1,
    edges_per_node: Annotated[
        float, typer.Option(metavar="X", help="Expected edges of er, a node.")
    ] = 1.0,
    attach: Annotated[
        int, typer.Option(metavar="N", min=1, help="Edges of each new node of sf.")
    ] = 1,
    p: Annotated[float, typer.Option(metavar="P", help="The noise of both models.")] = 0.2,
    flip: Annotated[
        bool, typer.Option("--flip", help="Turn p into 1 - p at random nodes, as the authors do.")
    ] = False,
    time_limit: _Limit = 60.0,
    patience: Annotated[
        int,
        typer.Option(metavar="N", min=0, help="Time-outs after which a method is given up."),
    ] = 3,
    jobs: _Workers = None,
    quiet: _Quiet = False,
) -> None:
    """The simulation study of the paper: SHD against rows for every graph, model and method."""
    with exit_cleanly():
        from tamis.terminal.experimenting import ExperimentWishes, run_study

        options = {
            "full": full,
            "models": models,
            "graphs": graphs,
            "nodes": nodes,
            "rows": rows,
            "replications": replications,
            "methods": methods,
            "seed": seed,
            "edges_per_node": edges_per_node,
            "attachments": attach,
            "p": p,
            "flip": flip,
            "time_limit": time_limit,
            "patience": patience,
        }
        run_study(ExperimentWishes("paper", options, out, jobs, quiet))


@experiment.command()
def unfaithful(
    out: _Folder,
    rows: _Sizes = None,
    replications: _Replications = None,
    methods: _Methods = None,
    seed: _Seed = 1,
    time_limit: _Limit = 60.0,
    jobs: _Workers = None,
    quiet: _Quiet = False,
) -> None:
    """The unfaithful Gaussian example (app. C.7) against PC and GES."""
    with exit_cleanly():
        from tamis.terminal.experimenting import ExperimentWishes, run_study

        options = {
            "rows": rows,
            "replications": replications,
            "methods": methods,
            "seed": seed,
            "time_limit": time_limit,
        }
        run_study(ExperimentWishes("unfaithful", options, out, jobs, quiet))


@experiment.command(name="resume")
def resume_study(
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="A study that was ended.")],
    jobs: _Workers = None,
    quiet: _Quiet = False,
) -> None:
    """Go on with a study."""
    with exit_cleanly():
        from tamis.terminal.experimenting import resume

        resume(folder, jobs, quiet=quiet)


@experiment.command()
def figures(
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="A study.")],
    out: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="Where they go; the study itself.")
    ] = None,
    ending: Annotated[
        str, typer.Option("--format", metavar="png|svg|pdf", help="How they are drawn.")
    ] = "png",
    quiet: _Quiet = False,
) -> None:
    """Draw the figures of a study again."""
    with exit_cleanly():
        from tamis.terminal.experimenting import draw_figures

        draw_figures(folder, out, ending, quiet=quiet)


@experiment.command()
def report(
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="A study.")],
    into: Annotated[
        str | None,
        typer.Option(metavar="PAGE", help="A Markdown page with marks for the tables."),
    ] = None,
    quiet: _Quiet = False,
) -> None:
    """Write the tables of a study."""
    with exit_cleanly():
        from tamis.terminal.experimenting import write_report

        write_report(folder, into, quiet=quiet)


@experiment.command()
def figure1(
    out: Annotated[str, typer.Option(metavar="FILE", help="The picture: .png, .svg or .pdf.")],
    rows: Annotated[int, typer.Option(metavar="N", min=1, help="Rows to learn from.")] = 10_000,
    seed: _Seed = 1,
    quiet: _Quiet = False,
) -> None:
    """Draw the loops of testing and masking, as the paper's Figure 1(b)."""
    with exit_cleanly():
        from tamis.terminal.experimenting import draw_figure1

        draw_figure1(out, rows, seed, quiet=quiet)
