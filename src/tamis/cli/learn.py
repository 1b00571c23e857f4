"""The command `tamis learn`: its words and options, no logic."""

from __future__ import annotations

from typing import Annotated

import typer

from tamis.cli import options
from tamis.cli.exit_codes import exit_cleanly
from tamis.cli.options import FIRST, KNOWN, OUTPUT, READ, SEARCH, DropOption, OnlyOption, TypeOption


def _some(jobs: int | None) -> int | None:
    if jobs == 0:
        raise typer.BadParameter("0 threads do no work; -1 is all cores, -2 all but one.")
    return jobs


def learn(
    table: Annotated[
        str,
        typer.Argument(
            metavar="TABLE",
            help="A CSV or Parquet file with a header. A folder or a pattern of such files, and a "
            "packed file (.tamis), are counted in blocks.",
        ),
    ],
    type_: TypeOption = None,
    drop: DropOption = None,
    missing: Annotated[
        str,
        typer.Option(
            metavar="error|drop|level|pairwise|drop-anyway",
            autocompletion=options.missing,
            rich_help_panel=FIRST,
            help="What to do about missing values: refuse them, leave out rows that have any "
            "(with drop-anyway also if that is most rows), make them a level of their own, which "
            "numbers cannot have, or let each test use what is present.",
        ),
    ] = "error",
    tier: Annotated[
        list[str] | None,
        typer.Option(
            metavar="'A, B'",
            rich_help_panel=FIRST,
            help="Columns that come before those of the next --tier. May be repeated.",
        ),
    ] = None,
    details: Annotated[
        bool,
        typer.Option(
            "--details",
            rich_help_panel=FIRST,
            help="Show the statistics too: settings, layers, gains and p-values, the searches "
            "tried, the closest calls.",
        ),
    ] = False,
    report: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", rich_help_panel=FIRST, help="Write the whole answer as one HTML page."
        ),
    ] = None,
    out: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            rich_help_panel=FIRST,
            help="Write the result: .json (everything), .svg, .png or .pdf (the picture), .dot, "
            ".graphml, .csv (edges) or .bif (the fitted network). May be repeated.",
        ),
    ] = None,
    bootstrap: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            rich_help_panel=FIRST,
            help="Learn N resamples of the rows too, and say how sure each arrow is.",
        ),
    ] = None,
    only: OnlyOption = None,
    weights: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            rich_help_panel=READ,
            help="The column that holds the weights of the rows: how often each occurs, or, if "
            "not all are whole numbers, survey weights.",
        ),
    ] = None,
    information: Annotated[
        str,
        typer.Option(
            metavar="KIND",
            autocompletion=options.information,
            rich_help_panel=READ,
            help="How columns are read: counts of levels; numbers by their moments (gaussian), by "
            "the moments of their ranks (copula), or within the cells of levels "
            "(conditional-gaussian); nearest neighbours of numbers (neighbours) or of numbers and "
            "levels (mixed); smoothed densities (lipschitz). auto goes by the columns.",
        ),
    ] = "auto",
    source: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            rich_help_panel=READ,
            help="A setting of that information: k, shuffles or seed of neighbours and mixed; "
            "shrinkage of gaussian; shrinkage or seed of copula; thin of conditional-gaussian; "
            "constant, smoothness, ... of lipschitz. May be repeated.",
        ),
    ] = None,
    same_units: Annotated[
        bool,
        typer.Option(
            "--same-units",
            rich_help_panel=READ,
            help="All numbers are in one unit, so that their uncertainties can be compared.",
        ),
    ] = False,
    memory: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            rich_help_panel=READ,
            help="The most memory that counting in blocks may take, such as 2GB, the default; with "
            "it a single file is counted in blocks too.",
        ),
    ] = None,
    dask: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS|local:N",
            rich_help_panel=READ,
            help="Let the workers of a Dask cluster read and count the files: the address of its "
            "scheduler, or local:N for N processes on this machine.",
        ),
    ] = None,
    search: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            autocompletion=options.searches,
            rich_help_panel=SEARCH,
            help="auto, which looks for the graph with the best score, or one of the paper's: "
            "node, layer, sequential, reference, paper.",
        ),
    ] = "auto",
    alpha: Annotated[
        float | None,
        typer.Option(
            metavar="ALPHA",
            rich_help_panel=SEARCH,
            help="The number of false arrows to expect in the whole graph, with searches that "
            "test; auto has a score in its place (--edge-price).",
        ),
    ] = None,
    edge_price: Annotated[
        float,
        typer.Option(
            "--edge-price",
            metavar="X",
            help="With auto and sequential, what an edge costs in the score: X times the logarithm "
            "of the number of columns. More gives fewer edges.",
            rich_help_panel=SEARCH,
        ),
    ] = 1.0,
    max_boundary: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=0,
            rich_help_panel=SEARCH,
            help="Select at most N parents for a column.",
        ),
    ] = None,
    look_ahead: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            rich_help_panel=SEARCH,
            help="1 keeps auto from trying candidates together where no single one raises the "
            "score.",
        ),
    ] = None,
    entropy: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            autocompletion=options.entropies,
            rich_help_panel=SEARCH,
            help="How entropies are estimated: grassberger (the default), plugin, "
            "miller-madow, jackknife or minimax (the default of reference).",
        ),
    ] = None,
    boundary_rule: Annotated[
        str | None,
        typer.Option(
            metavar="RULE",
            autocompletion=options.rules,
            rich_help_panel=SEARCH,
            help="When a candidate becomes a parent: a number of nats, or permutation:ALPHA, "
            "chi-squared:ALPHA, bic, rate:CONSTANT, fixed:NATS, for numbers f-test:ALPHA, for "
            "neighbours local-permutation:ALPHA; p-value:ALPHA is the usual test of each. Default "
            "permutation:0.001, for numbers f-test:0.001, for neighbours "
            "local-permutation:0.001, for lipschitz 0.04, for reference and paper 0.005; auto and, "
            "unless a rule is given, sequential go by a score.",
        ),
    ] = None,
    masking_rule: Annotated[
        str | None,
        typer.Option(
            metavar="RULE",
            autocompletion=options.rules,
            rich_help_panel=SEARCH,
            help="When a column is masked: a rule as above. Default permutation:0.01, for "
            "reference and paper 0.001; auto and sequential do no masking.",
        ),
    ] = None,
    boundary: Annotated[
        str,
        typer.Option(
            metavar="pps|none",
            autocompletion=options.boundaries,
            rich_help_panel=SEARCH,
            help="Condition on selected parents, or on all columns before.",
        ),
    ] = "pps",
    backward: Annotated[
        str | None,
        typer.Option(
            metavar="one|together|none",
            autocompletion=options.backward,
            rich_help_panel=SEARCH,
            help="How superfluous parents are removed again. Default one, for reference "
            "and paper none.",
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            callback=_some,
            rich_help_panel=SEARCH,
            help="Threads; all cores unless given. No effect on the result.",
        ),
    ] = None,
    require: Annotated[
        list[str] | None,
        typer.Option(
            metavar="'A -> B'",
            rich_help_panel=KNOWN,
            help="An arrow that must be there. May be repeated.",
        ),
    ] = None,
    forbid: Annotated[
        list[str] | None,
        typer.Option(
            metavar="'A -> B'",
            rich_help_panel=KNOWN,
            help="An arrow that cannot be there. May be repeated.",
        ),
    ] = None,
    knowledge: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            rich_help_panel=KNOWN,
            help="All that is known about the arrows, JSON or YAML: required, forbidden, tiers, "
            "sources, sinks. With knowledge the table is learned twice, to say what it costs.",
        ),
    ] = None,
    explain: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            rich_help_panel=OUTPUT,
            help="Show the tests that placed this column. May be repeated.",
        ),
    ] = None,
    recovery: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            rich_help_panel=OUTPUT,
            help="Draw N tables from the learned model, learn them again, and say what comes back; "
            "check the conditions on the fitted network.",
        ),
    ] = None,
    seed: Annotated[
        int,
        typer.Option(
            metavar="S", rich_help_panel=OUTPUT, help="What --bootstrap and --recovery draw from."
        ),
    ] = 1,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            rich_help_panel=OUTPUT,
            help="Learn nothing and write nothing: show the memory that it would take, "
            "and how weak a dependence these rows can show.",
        ),
    ] = False,
    quiet: Annotated[
        bool,
        typer.Option(
            "--quiet",
            "-q",
            rich_help_panel=OUTPUT,
            help="Show nothing but errors; for use with --out.",
        ),
    ] = False,
) -> None:
    """Learn the DAG of a table, say what was found and show it."""
    for option, wish in (("--explain", explain), ("--details", details), ("--dry-run", dry_run)):
        if quiet and wish:
            raise typer.BadParameter(
                f"{option} shows something and --quiet forbids it: leave one out"
            )
    with exit_cleanly():
        from tamis.cli.learning import Wishes, run, settings_from_options, settings_from_text
        from tamis.cli.texts import (
            bytes_from_text,
            knowledge_from_options,
            rule_from_text,
            types_from_options,
        )

        settings = settings_from_options(
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
            types=types_from_options(table, type_ or (), drop or (), only or (), weights),
            missing=missing,
            edge_price=edge_price,
            units="same" if same_units else "unknown",
            memory=bytes_from_text("--memory", memory),
            n_jobs=jobs,
        )
        run(
            table,
            settings,
            Wishes(
                out=tuple(out or ()),
                report=report,
                explain=tuple(explain or ()),
                quiet=quiet,
                details=details,
                weights=weights,
                bootstrap=bootstrap,
                recovery=recovery,
                knowledge=knowledge,
                seed=seed,
                dry_run=dry_run,
                dask=dask,
            ),
        )
