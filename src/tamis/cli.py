"""The command `tamis`: its words and options, no logic.

Everything heavy is imported inside the commands, so that help is quick.
"""

from __future__ import annotations

from typing import Annotated

from tamis.terminal.endings import clean_ending, open_missing_streams, run_command

open_missing_streams()
# Ctrl-C does not wait until everything is imported.
with clean_ending():
    import typer

    from tamis.cli_experiment import experiment
    from tamis.terminal import completion

app = typer.Typer(
    name="tamis",
    no_args_is_help=True,
    # Plain help needs neither rich nor markdown to be imported; bugs keep plain tracebacks.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"tamis {version('tamis')}")
        raise typer.Exit()


def _some(jobs: int | None) -> int | None:
    if jobs == 0:
        raise typer.BadParameter("0 threads do no work; -1 is all cores, -2 all but one.")
    return jobs


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


@app.command()
def learn(
    table: Annotated[
        str,
        typer.Argument(
            metavar="TABLE",
            help="A CSV or Parquet file with a header; counted in blocks, a folder or a pattern of "
            "such files, or a plane file (.tamis).",
        ),
    ],
    search: Annotated[
        str,
        typer.Option(
            metavar="auto|node|layer|sieve|sequential|reference",
            autocompletion=completion.searches,
            help="How the next nodes are found; auto tries several and keeps the likeliest.",
        ),
    ] = "auto",
    alpha: Annotated[
        float | None,
        typer.Option(
            metavar="LEVEL",
            help="About so many false parents are expected in the whole graph. Default 0.02 for "
            "auto; the other searches have levels of their own.",
        ),
    ] = None,
    entropy: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            autocompletion=completion.entropies,
            help="How entropies are estimated: grassberger (the default), plugin, "
            "miller-madow, jackknife or minimax.",
        ),
    ] = None,
    boundary_rule: Annotated[
        str | None,
        typer.Option(
            metavar="RULE",
            autocompletion=completion.rules,
            help="When a candidate becomes a parent: a number of nats, or permutation:LEVEL, "
            "chi-squared:LEVEL, bic, rate:CONSTANT, fixed:NATS, for numbers f-test:LEVEL, for "
            "neighbours local-permutation:LEVEL. Default permutation:0.001, for numbers "
            "f-test:0.001, for neighbours local-permutation:0.001, for lipschitz 0.04; auto goes "
            "by --alpha.",
        ),
    ] = None,
    masking_rule: Annotated[
        str | None,
        typer.Option(
            metavar="RULE",
            autocompletion=completion.rules,
            help="When a node is masked: a rule as above. Default permutation:0.01, in the sieve "
            "permutation:0.05; auto goes by --alpha; sequential does no masking.",
        ),
    ] = None,
    boundary: Annotated[
        str,
        typer.Option(
            metavar="pps|none",
            autocompletion=completion.boundaries,
            help="Condition on selected parents, or on all nodes before.",
        ),
    ] = "pps",
    backward: Annotated[
        str | None,
        typer.Option(
            metavar="one|together|none",
            autocompletion=completion.backward,
            help="How superfluous parents are removed again. Default one.",
        ),
    ] = None,
    max_boundary: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Select at most N parents a node.")
    ] = None,
    look_ahead: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Try up to N candidates together, 6 at most, where no single one passes. "
            "Default 1, for auto what a budget allows.",
        ),
    ] = None,
    information: Annotated[
        str,
        typer.Option(
            metavar="auto|counts|gaussian|copula|conditional-gaussian|neighbours|mixed|lipschitz",
            autocompletion=completion.information,
            help="Count levels, or take the columns as numbers: by their moments (gaussian), "
            "the moments of their ranks (copula), or within cells of the others' levels "
            "(conditional-gaussian), nearest neighbours (with levels among them mixed), or "
            "smoothed densities (lipschitz). auto goes by the columns.",
        ),
    ] = "auto",
    source: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="A setting of that information: k, shuffles or seed of neighbours and mixed; "
            "shrinkage of gaussian; shrinkage or seed of copula; thin of conditional-gaussian; "
            "constant, smoothness, ... of lipschitz. May be repeated.",
        ),
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="The most memory that counting in blocks may take, such as 2GB, the default; with "
            "it a single file is counted in blocks too.",
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            callback=_some,
            help="Threads; all cores unless given. No effect on the result.",
        ),
    ] = None,
    out: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="Write the result: .json (everything), .dot, .graphml, .csv (edges) or .bif "
            "(the fitted network). May be repeated.",
        ),
    ] = None,
    report: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write a page to look at, one HTML file."),
    ] = None,
    knowledge: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="What is known about the arrows, JSON or YAML: required, forbidden, tiers, "
            "sources, sinks.",
        ),
    ] = None,
    bootstrap: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Learn N resamples of the rows too, and say how sure each arrow is.",
        ),
    ] = None,
    certify: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Draw N tables from the learned model, learn them again, and say what comes back; "
            "check the conditions on the fitted network.",
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(metavar="S", help="What --bootstrap and --certify draw from.")
    ] = 1,
    require: Annotated[
        list[str] | None,
        typer.Option(metavar="'A -> B'", help="An arrow that must be there. May be repeated."),
    ] = None,
    forbid: Annotated[
        list[str] | None,
        typer.Option(metavar="'A -> B'", help="An arrow that cannot be there. May be repeated."),
    ] = None,
    tier: Annotated[
        list[str] | None,
        typer.Option(
            metavar="'A, B'",
            help="Columns that come before those of the next --tier. May be repeated.",
        ),
    ] = None,
    missing: Annotated[
        str,
        typer.Option(
            metavar="error|drop|level|pairwise",
            autocompletion=completion.missing,
            help="What to do about missing values: refuse them, leave out rows that have any, "
            "make them a level of their own, or make each test on the rows that have its columns.",
        ),
    ] = "error",
    weights: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="The column that holds the weights of the rows: how often each occurs, or, if "
            "not all are whole numbers, survey weights.",
        ),
    ] = None,
    explain: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN", help="Show the tests that placed this column. May be repeated."
        ),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Learn nothing and write nothing: show what it would take, in memory and time, "
            "and how weak a dependence can be seen with so many rows.",
        ),
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Show nothing but errors; for use with --out.")
    ] = False,
) -> None:
    """Learn the DAG of a table and show it.

    The reference search has defaults of its own: minimax, 0.005, 0.001 and none.
    """
    if quiet and explain:
        raise typer.BadParameter("--explain shows something and --quiet forbids it: leave one out")
    if quiet and dry_run:
        raise typer.BadParameter("--dry-run shows something and --quiet forbids it: leave one out")
    with clean_ending():
        from tamis.plans import Request
        from tamis.terminal.knowing import knowledge_from_options
        from tamis.terminal.learning import Wishes, run, settings_from_text
        from tamis.terminal.rule_text import rule_from_text

        request = Request(
            search=search,
            alpha=alpha,
            entropy=entropy,
            boundary_rule=rule_from_text("--boundary-rule", boundary_rule),
            masking_rule=rule_from_text("--masking-rule", masking_rule),
            boundary=boundary,
            backward=backward,
            max_boundary=max_boundary,
            look_ahead=look_ahead,
            information=information,
            source=settings_from_text("--source", source or ()),
            knowledge=knowledge_from_options(knowledge, require, forbid, tier),
            missing=missing,
            n_jobs=jobs,
        )
        run(
            table,
            request,
            Wishes(
                out=tuple(out or ()),
                report=report,
                explain=tuple(explain or ()),
                quiet=quiet,
                weights=weights,
                bootstrap=bootstrap,
                certify=certify,
                knowledge=knowledge,
                seed=seed,
                dry_run=dry_run,
                memory=memory,
            ),
        )


@app.command()
def pack(
    table: Annotated[
        str,
        typer.Argument(
            metavar="TABLE", help="A CSV or Parquet file, a folder of such files, or a pattern."
        ),
    ],
    planes: Annotated[
        str, typer.Argument(metavar="FILE", help="Where the planes go: a file ending in .tamis.")
    ],
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show nothing but errors.")] = False,
) -> None:
    """Pack a table into a plane file, which learn counts in blocks, within a limit of memory."""
    with clean_ending():
        from tamis.terminal.packing import run

        run(table, planes, quiet=quiet)


@app.command()
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
            "--simulate", help="Learn tables drawn from the network: how often does it come back?"
        ),
    ] = False,
    search: Annotated[
        str | None,
        typer.Option(
            metavar="node|layer|sieve|sequential|reference",
            autocompletion=completion.searches,
            help="The search to simulate with: the first that is guaranteed, else sequential.",
        ),
    ] = None,
    rows: Annotated[
        str, typer.Option(metavar="N,N,...", help="The numbers of rows to simulate.")
    ] = "100,300,1000,3000,10000,30000",
    repeats: Annotated[
        int, typer.Option(metavar="N", min=1, help="Tables drawn for each number of rows.")
    ] = 20,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Draws the same tables again.")] = 1,
    epsilon: Annotated[
        float,
        typer.Option(metavar="P", help="The chance of failure that the theorems' rows allow."),
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
    with clean_ending():
        from tamis.terminal.checking import CheckWishes, run
        from tamis.terminal.sizes import bytes_from_text, numbers_from_text

        wishes = CheckWishes(
            out=out,
            plot=plot,
            quick=quick,
            simulate=simulate,
            search=search,
            rows=numbers_from_text("--rows", rows),
            repeats=repeats,
            seed=seed,
            epsilon=epsilon,
            memory_limit=bytes_from_text("--memory", memory),
            quiet=quiet,
        )
        run(network, wishes)


@app.command()
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
            help="The law of the nodes: mod (the default), add, tables, logistic, gaussian or "
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
            help="Any other option: m and new_to_old (sf); widths and extra (layered); components "
            "or drop (polyforest); entropy and arity (tables); coefficients, intercepts "
            "(logistic); coefficients, variances (gaussian); terms, weights, variances "
            "(nonlinear); paths and length (diamond). A range is LOW,HIGH. May be repeated.",
        ),
    ] = None,
    rows: Annotated[int, typer.Option(metavar="N", min=1, help="The number of rows.")] = 1000,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Draws the same again.")] = 1,
    replicate: Annotated[
        int,
        typer.Option(metavar="N", min=0, help="Other rows of the same graph and parameters."),
    ] = 0,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show nothing but errors.")] = False,
) -> None:
    """Draw a table from a random graph, or from a known network, with the truth beside it."""
    with clean_ending():
        from tamis.terminal.simulating import SimulateWishes, run

        run(
            SimulateWishes(
                graph=graph,
                model=model,
                network=network,
                options={"d": nodes, "edges": edges, "p": p, "flip": flip or None},
                more=tuple(more or ()),
                rows=rows,
                seed=seed,
                replicate=replicate,
                out=out,
                quiet=quiet,
            )
        )


app.add_typer(
    experiment, name="experiment", help="The paper's studies and figures, reproducible by seed."
)


def main() -> None:
    """Run the command."""
    run_command(app)
