"""The command `tamis learn`: its words and options, no logic."""

from __future__ import annotations

from typing import Annotated

import typer

from tamis.terminal import completion
from tamis.terminal.endings import clean_ending

TypeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--type",
        metavar="NAME=KIND",
        help="What a column is: category, ordinal, number or ignore; or its levels from low to "
        "high, as in 'size=small<medium<large'. May be repeated.",
    ),
]
DropOption = Annotated[
    list[str] | None,
    typer.Option(metavar="A,B,...", help="Columns to leave out. May be repeated."),
]
OnlyOption = Annotated[
    list[str] | None,
    typer.Option(metavar="A,B,...", help="Leave out all other columns. May be repeated."),
]


def _some(jobs: int | None) -> int | None:
    if jobs == 0:
        raise typer.BadParameter("0 threads do no work; -1 is all cores, -2 all but one.")
    return jobs


def learn(
    table: Annotated[
        str,
        typer.Argument(
            metavar="TABLE",
            help="A CSV or Parquet file with a header; counted in blocks, a folder or a pattern of "
            "such files, or a packed file (.tamis).",
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
            "auto, raised where edges are weak; the other searches have levels of their own.",
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
            "neighbours local-permutation:LEVEL; p-value:LEVEL is the usual test of each. Default "
            "permutation:0.001, for numbers f-test:0.001, for neighbours "
            "local-permutation:0.001, for lipschitz 0.04; auto goes by --alpha.",
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
            "Default 1, for auto what a budget allows and what pays.",
        ),
    ] = None,
    refine: Annotated[
        bool,
        typer.Option(
            "--refine/--no-refine",
            help="With auto, look for the class of graphs by likelihood, or keep the best of the "
            "paper's searches.",
        ),
    ] = True,
    same_units: Annotated[
        bool,
        typer.Option(
            "--same-units",
            help="The numbers of measured columns are in one unit, so that their uncertainties can "
            "be compared.",
        ),
    ] = False,
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
    dask: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS|local:N",
            help="Let the workers of a Dask cluster read and count the files: the address of its "
            "scheduler, or local:N for N processes on this machine.",
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
    recovery: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Draw N tables from the learned model, learn them again, and say what comes back; "
            "check the conditions on the fitted network.",
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(metavar="S", help="What --bootstrap and --recovery draw from.")
    ] = 1,
    type_: TypeOption = None,
    drop: DropOption = None,
    only: OnlyOption = None,
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
            metavar="error|drop|level|pairwise|drop-anyway",
            autocompletion=completion.missing,
            help="What to do about missing values: refuse them, leave out rows that have any "
            "(with drop-anyway also if that is most rows), make them a level of their own, which "
            "numbers have not, or let each test use what is present.",
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
        from tamis.terminal.choosing import types_from_options
        from tamis.terminal.knowing import knowledge_from_options
        from tamis.terminal.learning import Wishes, run, settings_from_options, settings_from_text
        from tamis.terminal.rule_text import rule_from_text
        from tamis.terminal.sizes import bytes_from_text

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
            refine=refine,
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
                weights=weights,
                bootstrap=bootstrap,
                recovery=recovery,
                knowledge=knowledge,
                seed=seed,
                dry_run=dry_run,
                dask=dask,
            ),
        )
