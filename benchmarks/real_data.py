"""Real tables with an answer known from elsewhere, beside what tamis and other methods find.

python -m benchmarks.real_data [sachs experiments pairs] [--into docs/results/real-data.md]

`sachs`: proteins of single cells (cdt's wheel), against the network published with them (pgmpy's)
and against cdt's list of conventionally accepted arrows. `experiments`: columns that were drawn by
lot, on which nothing acts (causaldata). `pairs`: the cause-effect pairs (cdt), whose direction is
known. `--into` writes the figures into a page, between the marks of each section. CPU seconds are
those of a second run, on one thread.
"""

from __future__ import annotations

import argparse
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from time import process_time

import networkx as nx
import numpy as np
import pandas as pd
from scipy.stats import pearsonr, spearmanr

import tamis
from tamis.metrics import skeleton_scores
from tamis.studies.attempts import cpdag_distance, network_files

PROTEINS = ("Raf", "Mek", "Plcg", "PIP2", "PIP3", "Erk", "Akt", "PKA", "PKC", "P38", "Jnk")
"""The columns of cdt's table under the names of the published network, in the table's order."""
CONDITIONS = (853, 902, 911, 723, 810, 799, 848, 913, 707)
"""Cells of each condition, in the table's order; nothing was disturbed in the first."""
WARRANTS = ("given", "equivalence", "entropy", "none")

Arrow = tuple[str, str]


@dataclass(frozen=True)
class Found:
    """A learned graph, what its directions rest on (of tamis alone), and CPU seconds."""

    graph: nx.DiGraph[str]
    warrants: Mapping[Arrow, str] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def pairs(self) -> set[frozenset[str]]:
        """The pairs of columns with an edge."""
        return {frozenset(edge) for edge in self.graph.edges}

    @property
    def claimed(self) -> list[Arrow]:
        """Arrows whose direction is claimed: settled, or directed in a CPDAG."""
        if self.warrants:
            return [arrow for arrow, warrant in self.warrants.items() if warrant != "none"]
        return [(a, b) for a, b in self.graph.edges if not self.graph.has_edge(b, a)]


Learner = Callable[[pd.DataFrame], Found]


def by_tamis(**parameters: object) -> Learner:
    """What `TAM` finds."""

    def learn(frame: pd.DataFrame) -> Found:
        model = tamis.TAM(n_jobs=1, **parameters).fit(frame)
        edges = model.result_.edges
        return Found(model.graph_, {(e.parent, e.child): e.warrant for e in edges})

    return learn


def by_peer(name: str) -> Learner:
    """What a baseline finds."""

    def learn(frame: pd.DataFrame) -> Found:
        run = tamis.baselines.run(name, frame)
        if run.graph is None:
            raise SystemExit(f"{name}: {run.failure}")
        return Found(run.graph)

    return learn


OWN = {"tamis": by_tamis(), "tamis `sequential`": by_tamis(search="sequential")}
OF_NUMBERS = {"FLOP": by_peer("flop"), "PC (Fisher z)": by_peer("pc-fisher-z")}
OF_LEVELS = {
    "hill climbing (pyAgrum)": by_peer("hill-climbing"),
    "MIIC (pyAgrum)": by_peer("miic"),
    "PC (G²)": by_peer("pc-g2"),
}


def timed(learn: Learner, frame: pd.DataFrame) -> Found:
    """What a second run finds, and how long it takes: the first one compiles."""
    learn(frame)
    began = process_time()
    found = learn(frame)
    return Found(found.graph, found.warrants, process_time() - began)


def in_levels(frame: pd.DataFrame) -> pd.DataFrame:
    """The table with its numbers cut into three parts of about as many rows."""
    levels, _ = tamis.discretize(frame, "quantile", bins=3)
    return levels.astype(str)


def packaged(package: str, *parts: str) -> Path:
    """A file of an installed package, without importing it: cdt asks for torch on import."""
    spec = find_spec(package)
    for folder in (spec and spec.submodule_search_locations) or ():
        if (path := Path(folder, *parts)).exists():
            return path
    raise SystemExit(f"{'/'.join(parts)} is in the wheel of {package}: pip install {package}")


def turned(arrows: Sequence[Arrow], known: nx.DiGraph[str]) -> str:
    """Of arrows between columns that the known graph joins, those that agree and that do not."""
    right = sum(known.has_edge(*arrow) for arrow in arrows)
    wrong = sum(known.has_edge(*arrow[::-1]) and not known.has_edge(*arrow) for arrow in arrows)
    return f"{right}, {wrong}"


def lines(title: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """A table of Markdown."""
    yield "| " + " | ".join(title) + " |"
    yield "|---" * len(title) + "|"
    for row in rows:
        yield "| " + " | ".join(row) + " |"
    yield ""


# --- proteins ------------------------------------------------------------------------------------


def proteins() -> tuple[pd.DataFrame, nx.DiGraph[str], nx.DiGraph[str]]:
    """The table, the published network and the conventional arrows."""
    resources = ("data", "resources")
    frame = pd.read_csv(packaged("cdt", *resources, "cyto_full_data.csv"))
    names = dict(zip(frame.columns, PROTEINS, strict=True))
    listed = pd.read_csv(packaged("cdt", *resources, "cyto_full_target.csv")).replace(names)
    conventional: nx.DiGraph[str] = nx.DiGraph(list(listed.itertuples(index=False, name=None)))
    published = tamis.BayesianNetwork.read(network_files()["sachs"]).graph
    return frame.rename(columns=names), published, conventional


def told_the_condition(frame: pd.DataFrame) -> Found:
    """What tamis finds between proteins beside a column with the condition of each cell, on which
    nothing acts."""
    labels = [f"condition {i}" for i in range(1, len(CONDITIONS) + 1)]
    known = {"sources": ["condition"]}
    found = by_tamis(knowledge=known)(frame.assign(condition=np.repeat(labels, CONDITIONS)))
    found.graph.remove_node("condition")
    kept = {arrow: w for arrow, w in found.warrants.items() if arrow[0] != "condition"}
    return Found(found.graph, kept)


def sachs() -> Iterator[str]:
    """Five readings of the table of proteins, against two graphs."""
    frame, published, conventional = proteins()
    common = [edge for edge in published.edges if conventional.has_edge(*edge)]
    shared = skeleton_scores(conventional, published)
    yield (
        f"The published network has {len(published.edges)} arrows, the conventional list "
        f"{len(conventional.edges)}; {shared.right} pairs of proteins are joined in both, "
        f"{len(common)} of them the same way: skeleton F1 {shared.f1:.2f}.\n"
    )
    few = frame.iloc[: CONDITIONS[0]]
    apart = (pearsonr(table["P38"], table["Jnk"]) for table in (few, np.log(few)))
    shown = [f"{one.statistic:.2f} (p {one.pvalue:.2g})" for one in apart]
    yield (
        f"The correlation of P38 and Jnk in undisturbed cells is {shown[0]}, that of their "
        f"logarithms {shown[1]}.\n"
    )
    told = {"tamis, told the condition": told_the_condition}
    readings = {
        "undisturbed cells, numbers": (few, OF_NUMBERS),
        "undisturbed cells, logarithms": (np.log(few), OF_NUMBERS),
        "undisturbed cells, three levels": (in_levels(few), OF_LEVELS),
        "all nine conditions, numbers": (frame, told | OF_NUMBERS),
        "all nine conditions, three levels": (in_levels(frame), told | OF_LEVELS),
    }
    for title, (table, peers) in readings.items():
        found = {name: timed(learn, table) for name, learn in (OWN | peers).items()}
        yield f"**{title.capitalize()}: {len(table):,} rows, {table.shape[1]} columns**\n"
        heads = ("edges", "published", "F1", "CPDAG distance", "right, turned", "conventional")
        heads += ("F1", "right, turned", "open", "CPU s")
        rows = [_against(name, one, published, conventional) for name, one in found.items()]
        yield from lines(["method", *heads], rows)
        heads = ("as drawn: right, turned", *WARRANTS, "false")
        yield from lines(heads, _warrants(found, published))
        against = [a for a in found["tamis"].claimed if published.has_edge(*a[::-1])]
        if against:
            shown = ", ".join(f"{parent} → {child}" for parent, child in against)
            yield f"Claimed by the default and turned in the published network: {shown}.\n"


def _against(
    name: str, found: Found, published: nx.DiGraph[str], conventional: nx.DiGraph[str]
) -> list[str]:
    one, other = (skeleton_scores(found.graph, known) for known in (published, conventional))
    return [
        name,
        str(len(found.pairs)),
        str(one.right),
        f"{one.f1:.2f}",
        str(cpdag_distance(found.graph, published)),
        turned(found.claimed, published),
        str(other.right),
        f"{other.f1:.2f}",
        turned(found.claimed, conventional),
        str(len(found.pairs) - len(found.claimed)),
        f"{found.seconds:.2f}",
    ]


def _warrants(found: Mapping[str, Found], known: nx.DiGraph[str]) -> list[list[str]]:
    """Of tamis: arrows between columns that the published network joins, by warrant, and arrows
    between others by warrant."""
    pairs = {frozenset(edge) for edge in known.edges}
    rows = []
    for name, one in found.items():
        if not one.warrants:
            continue
        by = {w: [a for a, other in one.warrants.items() if other == w] for w in WARRANTS}
        false = Counter(w for w in WARRANTS for a in by[w] if frozenset(a) not in pairs)
        told = ", ".join(f"{n} `{w}`" for w, n in false.items()) or "0"
        rows.append([name, *(turned(by[w], known) for w in WARRANTS), told])
    return rows


# --- experiments ---------------------------------------------------------------------------------


def trials() -> dict[str, tuple[pd.DataFrame, tuple[str, ...], str]]:
    """Tables, their columns drawn by lot, and the outcome."""
    from causaldata import nsw_mixtape, thornton_hiv

    training = nsw_mixtape.load_pandas().data.drop(columns="data_id")
    visits = thornton_hiv.load_pandas().data.drop(columns="villnum").dropna()
    visits = visits[visits["hiv2004"] >= 0]  # -1: the test gave no result
    return {
        "training (NSW)": (training, ("treat",), "re78"),
        "HIV results, any incentive": (visits.drop(columns="tinc"), ("any", "distvct"), "got"),
        "HIV results, amount": (visits.drop(columns="any"), ("tinc", "distvct"), "got"),
    }


def experiments() -> Iterator[str]:
    """What is said of columns that were drawn by lot."""
    for title, (frame, drawn, outcome) in trials().items():
        told = by_tamis(knowledge=_known(list(frame), drawn, outcome))
        numbers = OWN | {"tamis, told what was drawn by lot": told} | OF_NUMBERS
        cut = in_levels(frame)
        found = {name: timed(learn, frame) for name, learn in numbers.items()}
        found |= {name: timed(learn, cut) for name, learn in OF_LEVELS.items()}
        size = f"{len(frame):,} rows, {frame.shape[1]} columns"
        yield f"**{title}: {size}; by lot: {', '.join(drawn)}; outcome: {outcome}**\n"
        heads = ["method", "edges", *(f"{one} → {outcome}" for one in drawn)]
        rows = [_of_trial(name, one, drawn, outcome) for name, one in found.items()]
        yield from lines([*heads, "ruled out, claimed", "ruled out, open", "CPU s"], rows)
        joined = {pair for one in found.values() for pair in one.pairs if pair & set(drawn)}
        joined |= {frozenset((one, outcome)) for one in drawn}
        yield f"By rank correlation in these rows: {_p_values(frame, joined)}.\n"


def _p_values(frame: pd.DataFrame, joined: set[frozenset[str]]) -> str:
    shown = []
    for a, b in sorted(map(sorted, joined)):
        shown.append(f"{a} – {b} p {spearmanr(frame[a], frame[b]).pvalue:.2g}")
    return ", ".join(shown)


def _known(names: Sequence[str], drawn: Sequence[str], outcome: str) -> dict[str, object]:
    """What the lot tells: no edge between what it drew and what was there before."""
    before = [name for name in names if name not in (*drawn, outcome)]
    apart = [(a, b) for a in drawn for b in (*before, *drawn) if a != b]
    both = dict.fromkeys([*apart, *((b, a) for a, b in apart)])
    return {"forbidden": list(both), "sinks": [outcome]}


def _of_trial(name: str, found: Found, drawn: Sequence[str], outcome: str) -> list[str]:
    """The effects, and edges between columns drawn by lot and what was there before."""
    before = [p for p in found.pairs if p & set(drawn) and outcome not in p]
    claimed = [a for a in found.claimed if frozenset(a) in before]
    claimed += [a for a in found.claimed if a[0] == outcome and a[1] in drawn]
    loose = [p for p in before if not any(frozenset(a) == p for a in claimed)]
    said = [_said(found, (one, outcome)) for one in drawn]
    shown = ", ".join(f"{a} → {b}" for a, b in claimed) or "–"
    left = ", ".join(" – ".join(sorted(pair)) for pair in loose) or "–"
    return [name, str(len(found.pairs)), *said, shown, left, f"{found.seconds:.2f}"]


def _said(found: Found, arrow: Arrow) -> str:
    if frozenset(arrow) not in found.pairs:
        return "not found"
    if arrow in found.claimed:
        return f"`{found.warrants[arrow]}`" if found.warrants else "claimed"
    return "turned" if arrow[::-1] in found.claimed else "open"


# --- pairs ---------------------------------------------------------------------------------------


def pairs() -> Iterator[str]:
    """The cause-effect pairs, A the cause in all of them."""
    listed = pd.read_csv(packaged("cdt", "data", "resources", "Tuebingen_pairs.csv"))
    frames = [
        pd.DataFrame({name: np.array(row[name].split(), dtype=float) for name in ("A", "B")})
        for _, row in listed.iterrows()
    ]
    yield f"{len(frames)} pairs, {min(map(len, frames))} to {max(map(len, frames)):,} rows.\n"
    rows = []
    for name, units in (("tamis", "unknown"), ("tamis, `units='same'`", "same")):
        model = tamis.TAM(n_jobs=1, units=units)
        for frame in frames:
            _said_of_pair(model, frame)
        began, counts = process_time(), Counter[str]()
        for frame in frames:
            counts.update(_said_of_pair(model, frame))
        claimed = f"{counts['claimed, right']} of {counts['claimed']}"
        guessed = f"{counts['open, right']} of {counts['open']}"
        seconds = f"{process_time() - began:.1f}"
        rows.append([name, str(counts["no edge"]), claimed, guessed, seconds])
    heads = ("no edge", "claimed and right", "open, and the likelier direction right", "CPU s")
    yield from lines(["method", *heads], rows)


def _said_of_pair(model: tamis.TAM, frame: pd.DataFrame) -> list[str]:
    edges = model.fit(frame).result_.edges
    if not edges:
        return ["no edge"]
    (edge,) = edges
    forward = (edge.parent == "A") == (edge.direction_probability >= 0.5)
    kind = "open" if edge.warrant == "none" else "claimed"
    return [kind, f"{kind}, right"] if forward else [kind]


SECTIONS = {"sachs": sachs, "experiments": experiments, "pairs": pairs}


def filled(page: str, name: str, text: str) -> str:
    """The page with new figures between the marks of a section."""
    marks = re.compile(f"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)
    if len(marks.findall(page)) != 1:
        raise SystemExit(f"the page has no <!-- {name} --> and <!-- /{name} -->, once each")
    return marks.sub(lambda found: f"{found[1]}\n{text}\n{found[2]}", page)


def main() -> None:
    """Print the sections asked for, or write them into a page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*", choices=[[], *SECTIONS])
    parser.add_argument("--into", type=Path, help="a page with marks")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in asked.sections or SECTIONS:
        text = "\n".join(SECTIONS[name]()).rstrip() + "\n"
        if asked.into:
            page = asked.into.read_text(encoding="utf-8")
            asked.into.write_text(filled(page, name, text), encoding="utf-8")
        print(text, flush=True)


if __name__ == "__main__":
    main()
