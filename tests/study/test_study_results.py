"""What ``study/results/README.md`` states is what its files hold."""

from __future__ import annotations

import pandas as pd

from study.figures import RESULTS, read

PAGE = " ".join((RESULTS / "README.md").read_text(encoding="utf-8").split())
PLACE = ["family", "graph", "nodes", "rows"]


def table(name, score, index=PLACE):
    """Means by place and method, of what finished in full."""
    found = read(RESULTS / f"{name}.csv")
    return found[found["finished"] == found["runs"]].pivot_table(
        score, index, "method", dropna=False
    )


def rows_of(means, digits, columns):
    """The rows of a Markdown table."""
    for place, row in means[columns].iterrows():
        cells = ("" if pd.isna(value) else f"{value:.{digits}f}" for value in row)
        yield place, " ".join(f"{' | '.join(cells)} |".split())


def test_the_tables_of_means_are_those_of_the_files():
    paper = table("paper", "shd").groupby(level=[0, 1]).mean()
    order = ["default", "labels", "sequential", "node", "reference", "pc-bic", "ges"]
    shown = {"er": "ER", "sf": "SF"}
    for (family, graph), cells in rows_of(paper, 2, order):
        assert f"| {family.upper()} | {shown.get(graph, graph)} | {cells}" in PAGE
    order = ["default", "node", "paper", "reference", "fges-bic"]
    stated = table("stated", "shd")
    for (family, graph), cells in rows_of(stated.groupby(level=[0, 1]).mean(), 1, order):
        assert f"| {family.upper()} | {graph} | {cells}" in PAGE
    small = stated.xs((10, 4000), level=("nodes", "rows")).mean()
    assert f"with {small['paper']:.1f} wrong edges and {small['fges-bic']:.1f}" in PAGE
    families = table("families", "cpdag", ["family", "rows"]).groupby(level=0).mean()
    order = ["default", "sequential", "hill-climbing", "miic", "pc-g2", "flop"]
    for family, cells in rows_of(families, 1, order):
        assert f"| {family} | {cells}" in PAGE
    order = ["default", "node-gaussian", "pc-fisher-z", "ges-gaussian"]
    for n, cells in rows_of(table("unfaithful", "shd", ["rows"]), 2, order):
        assert f"| {n} | {cells}" in PAGE


def test_the_published_networks_are_compared_where_both_finished():
    means = table("networks", "cpdag", ["family", "rows"])
    own = (
        read(RESULTS / "networks.csv").query("method == 'default'").groupby("family")["runs"].min()
    )
    means = means.loc[list(own[own == 10].index)]
    shown = {"hill-climbing": "hill climbing", "miic": "MIIC", "pc-g2": "PC (G)", "boss": "BOSS"}
    for name in means.columns.drop("default"):
        both = means[[name, "default"]].dropna()
        words = " | ".join(f"{value:.1f}" for value in both.mean())
        assert f"| {shown.get(name, name)} | {len(both)} | {words} |" in PAGE


def test_how_often_reference_is_comparable_to_pc_and_ges():
    means = table("paper", "shd")
    alike = means["reference"] <= means[["pc-bic", "ges"]].max(axis=1)
    counts = alike.groupby(level=[0, 1]).sum()
    add, mod = counts["add"], counts["mod"]
    assert f"in {add['tree']} cells of ADD on trees, {add['er']} of ADD on ER" in PAGE
    assert f"{add['sf']} of ADD on SF and {mod['er']} of MOD on ER" in PAGE
    assert f"in {mod['tree']} of MOD on trees and {mod['sf']} of MOD on SF" in PAGE
    assert f"in {alike.xs(10, level='nodes').sum()} of 32 cells" in PAGE
    assert not alike["mod"]["tree"].drop(10, level="nodes").any()


def test_who_is_ahead():
    means = table("paper", "shd")
    first = means["default"] <= means.min(axis=1)
    assert f"in {first.sum()} of the 160 cells" in PAGE
    assert (means["default"] - means.min(axis=1)).max() <= 0.1
    trees = means.loc["add"].loc[["tree", "tree-by-label"]]
    assert f"in {(trees['ges'] <= trees['node']).sum()} of the 40 cells" in PAGE
    assert f"means of {trees['ges'].mean():.2f} and {trees['node'].mean():.2f}" in PAGE
    families = table("families", "cpdag", ["family", "rows"])
    assert f"in {(families['default'] <= families.min(axis=1)).sum()} of the 44 cells" in PAGE


def test_shares_of_right_claims_on_networks():
    own = read(RESULTS / "networks.csv").query("method == 'default'")
    right, claimed = (own.groupby("family")[one].sum() for one in ("right", "claimed"))
    assert f"right in {100 * right.sum() / claimed.sum():.0f}%" in PAGE
    for name in ("diabetes", "water", "pathfinder", "mildew"):
        assert f"{100 * right[name] / claimed[name]:.0f}% on {name}" in PAGE
