"""The commands but `learn`: their words and options, no logic."""

from __future__ import annotations

from typing import Annotated

import typer

from tamis.cli import options
from tamis.cli.exit_codes import do
from tamis.cli.options import DropOption, OnlyOption, QuietOption, TypeOption

RunArgument = Annotated[
    str,
    typer.Argument(metavar="RUN", help="A saved run: the .json file of `tamis learn --out`."),
]


def show(
    run: RunArgument,
    details: Annotated[
        bool, typer.Option("--details", help="Show the statistics too, as in `tamis learn`.")
    ] = False,
    explain: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN", help="Show the tests that placed this column. May be repeated."
        ),
    ] = None,
) -> None:
    """Show a saved run as `tamis learn` showed it."""
    do("showing.show", run, tuple(explain or ()), details=details)


def plot(
    run: RunArgument,
    picture: Annotated[
        str, typer.Argument(metavar="FILE", help="Where the picture goes: .svg, .png or .pdf.")
    ],
    quiet: QuietOption = False,
) -> None:
    """Draw the graph of a saved run."""
    do("showing.plot", run, picture, quiet=quiet)


def report(
    run: RunArgument,
    page: Annotated[str, typer.Argument(metavar="FILE", help="Where the page goes: .html.")],
    quiet: QuietOption = False,
) -> None:
    """Write a saved run as one HTML page."""
    do("showing.report", run, page, quiet=quiet)


def compare(
    things: Annotated[
        list[str],
        typer.Argument(
            metavar="TABLE | GRAPH GRAPH...",
            help="One table, from which every method learns; or two graphs and more: saved runs "
            "(.json), .graphml, .csv (a list of edges) or .bif.",
        ),
    ],
    truth: Annotated[
        str | None,
        typer.Option(metavar="GRAPH", help="The true graph, in a file of such a format."),
    ] = None,
    methods: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,...",
            help="The methods that learn from the table: tamis, sequential, hill-climbing, tabu, "
            "miic, pc, ges, flop. Default all.",
        ),
    ] = None,
    limit: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="The time that each method may take. Default 60."),
    ] = None,
    type_: TypeOption = None,
    drop: DropOption = None,
    only: OnlyOption = None,
    missing: Annotated[
        str,
        typer.Option(
            metavar="error|drop|level|pairwise|drop-anyway",
            autocompletion=options.missing,
            help="What to do about missing values, as in `tamis learn`.",
        ),
    ] = "error",
    out: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="Write the comparison: .json (everything) or .csv (edges). May be repeated.",
        ),
    ] = None,
    picture: Annotated[
        str | None,
        typer.Option(
            "--plot",
            metavar="FILE",
            help="Draw the graphs side by side: .svg, .png or .pdf.",
        ),
    ] = None,
    quiet: QuietOption = False,
) -> None:
    """Compare methods on a table, or graphs: edges agreed on, distances, what changed."""
    do(
        "comparing.run",
        things,
        truth=truth,
        methods=methods,
        limit=limit,
        types=(type_ or (), drop or (), only or ()),
        missing=missing,
        out=tuple(out or ()),
        plot=picture,
        quiet=quiet,
    )


def inspect(
    table: Annotated[
        str,
        typer.Argument(
            metavar="TABLE",
            help="A CSV or Parquet file with a header; of a folder or a pattern the first file is "
            "looked at.",
        ),
    ],
    type_: TypeOption = None,
    drop: DropOption = None,
    only: OnlyOption = None,
    missing: Annotated[
        str,
        typer.Option(
            metavar="error|drop|level|pairwise",
            autocompletion=options.missing,
            help="What is to be done about missing values; the rows that each choice leaves are "
            "shown.",
        ),
    ] = "error",
    json: Annotated[bool, typer.Option("--json", help="Show the plan as JSON.")] = False,
) -> None:
    """Show what every column would be taken for, and what is suspicious; learn nothing."""
    do("preparing.inspect_table", table, type_ or (), drop or (), only or (), missing, as_json=json)


def pack(
    table: Annotated[
        str,
        typer.Argument(
            metavar="TABLE", help="A CSV or Parquet file, a folder of such files, or a pattern."
        ),
    ],
    planes: Annotated[
        str, typer.Argument(metavar="FILE", help="The packed file to write; it ends in .tamis.")
    ],
    type_: TypeOption = None,
    drop: DropOption = None,
    only: OnlyOption = None,
    quiet: QuietOption = False,
) -> None:
    """Pack a table into a packed file, which learn counts in blocks, within a limit of memory."""
    do("preparing.pack_files", table, planes, type_ or (), drop or (), only or (), quiet=quiet)


def check(
    network: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="A network in BIF (.bif or .bif.gz), or one that comes with tamis: orchard, "
            "night_shift, m1, m2 or diamond.",
        ),
    ],
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="Leave out what takes long on large networks: the PPS condition, faithfulness "
            "and the searches.",
        ),
    ] = False,
    simulate: Annotated[
        bool,
        typer.Option(
            "--simulate",
            help="Learn tables drawn from the network, and say how often its graph is recovered.",
        ),
    ] = False,
    search: Annotated[
        str | None,
        typer.Option(
            metavar="node|layer|sequential|reference|paper",
            autocompletion=options.searches,
            help="The search to simulate with: the first that is guaranteed, else sequential.",
        ),
    ] = None,
    rows: Annotated[
        str, typer.Option(metavar="N,N,...", help="The numbers of rows to simulate.")
    ] = "100,300,1000,3000,10000,30000",
    repeats: Annotated[
        int, typer.Option(metavar="N", min=1, help="Tables drawn for each number of rows.")
    ] = 20,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Same seed, same tables.")] = 1,
    epsilon: Annotated[
        float,
        typer.Option(
            metavar="P", help="The chance of failure that the theorems' sample sizes allow."
        ),
    ] = 0.05,
    memory: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="The largest table exact inference may make, such as 500MB or 4GB. Default 1GB.",
        ),
    ] = None,
    out: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write everything as .json.")
    ] = None,
    plot: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Draw the simulation: .png, .svg or .pdf."),
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Show nothing but errors; for use with --out.")
    ] = False,
) -> None:
    """Say whether a known network can be identified, by how much, and with how many rows."""
    do(
        "checking.run",
        network,
        out=out,
        plot=plot,
        quick=quick,
        simulate=simulate,
        search=search,
        rows=rows,
        repeats=repeats,
        seed=seed,
        epsilon=epsilon,
        memory=memory,
        quiet=quiet,
    )


def simulate(
    out: Annotated[
        str,
        typer.Option(
            metavar="FILE",
            help="Where the rows go: .csv or .parquet. NAME.graph.csv beside it gets the true "
            "edges and NAME.network.bif the exact network, where there is a small one.",
        ),
    ],
    graph: Annotated[
        str | None,
        typer.Argument(
            metavar="GRAPH",
            help="The kind of graph: tree, er, sf (scale-free), chain, layered or polyforest.",
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The distribution of nodes: mod (the default), add, tables, logistic, gaussian or "
            "nonlinear; or an example with a graph of its own, diamond or unfaithful.",
        ),
    ] = None,
    network: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Draw from a network in BIF, or one that comes with tamis, instead.",
        ),
    ] = None,
    nodes: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="The number of nodes.")
    ] = None,
    edges: Annotated[
        float | None,
        typer.Option(metavar="N", min=0, help="The expected number of edges of er."),
    ] = None,
    p: Annotated[
        float | None, typer.Option(metavar="P", help="The noise of mod and add. Default 0.2.")
    ] = None,
    flip: Annotated[
        bool,
        typer.Option("--flip", help="Turn p into 1 - p at random nodes, as the authors do."),
    ] = False,
    more: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Any other option: directions, coins or labels (tree); m and new_to_old (sf); "
            "widths and extra (layered); components or drop (polyforest); entropy and arity "
            "(tables); coefficients, intercepts (logistic); coefficients, variances (gaussian); "
            "terms, weights, variances (nonlinear); leak, strengths (noisy-or); least, most "
            "(dirichlet, ordinal); share (mixed); paths and length (diamond). A range is LOW,HIGH. "
            "May be repeated.",
        ),
    ] = None,
    rows: Annotated[int, typer.Option(metavar="N", min=1, help="The number of rows.")] = 1000,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Same seed, same table.")] = 1,
    replicate: Annotated[
        int,
        typer.Option(metavar="N", min=0, help="Other rows of the same graph and parameters."),
    ] = 0,
    quiet: QuietOption = False,
) -> None:
    """Draw a table from a random graph or a known network; the true graph is written too."""
    do(
        "simulating.run",
        graph,
        model,
        network=network,
        options={"d": nodes, "edges": edges, "p": p, "flip": flip or None},
        more=tuple(more or ()),
        rows=rows,
        seed=seed,
        replicate=replicate,
        out=out,
        quiet=quiet,
    )


def warm_up(
    quiet: QuietOption = False,
) -> None:
    """Compile the counting loops ahead, while an image or a cluster is set up for example."""
    do("preparing.warm_up", quiet=quiet)
