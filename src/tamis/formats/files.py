"""Which ending stands for which format, and everything that is checked before writing."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from tamis.atomic import check_place, write_files
from tamis.drawing.pictures import ENDINGS as PICTURES
from tamis.drawing.pictures import picture_of, require_matplotlib
from tamis.errors import FileFormatError, SettingError
from tamis.formats import graph_files, json_file
from tamis.formats.graph import FileGraph
from tamis.network import BayesianNetwork
from tamis.network.bif import ENDINGS as NETWORKS
from tamis.parameters import require
from tamis.result import Result

Path = str | os.PathLike[str]


@dataclass(frozen=True)
class Holder:
    """A format, and which names of columns it can hold."""

    called: str
    holds: Callable[[str], bool]


@dataclass(frozen=True)
class Format(Holder):
    """A format that a result alone can be written in."""

    render: Callable[[Result], bytes]


def _holds_any(name: str) -> bool:
    """A picture shows every name, whatever it holds: shortened, and escaped where need be."""
    return True


FORMATS: dict[str, Format] = {
    ".json": Format("JSON", json_file.holds, json_file.render),
    ".dot": Format("DOT", graph_files.holds_dot, graph_files.render_dot),
    ".graphml": Format("GraphML", graph_files.holds_graphml, graph_files.render_graphml),
    ".csv": Format("CSV", graph_files.holds_csv, graph_files.render_csv),
    **{
        ending: Format(ending[1:].upper(), _holds_any, partial(picture_of, ending=ending))
        for ending in PICTURES
    },
}
"""The formats by the ending that asks for them."""
FITTED: dict[str, Holder] = {graph_files.BIF_ENDING: Holder("BIF", graph_files.holds_bif)}
"""Those that need the fitted network as well."""


def save(result: Result, *paths: Path, network: BayesianNetwork | None = None) -> None:
    """Write a result to files, in the format that each file name ends in.

    Every path is checked and every file is rendered before the first is written. A file is replaced
    whole, or left as it was.

    Parameters
    ----------
    result : Result
        The result to write.
    *paths : str or path
        .json is the whole result, for ``load``; .dot (Graphviz) and .graphml are the graph with its
        numbers; .csv is the list of edges; .svg, .png and .pdf are its picture, which needs
        matplotlib; .bif is the fitted ``network``.
    network : BayesianNetwork or None
        The fitted network for a .bif file, since a result does not hold it.

    Raises
    ------
    SettingError
        For a path or a name that cannot be written.
    OSError
        If writing fails.

    Examples
    --------
    >>> import tamis
    >>> rows = {"rain": [0, 0, 1, 1] * 20, "wet": [0, 0, 1, 1] * 20}
    >>> tamis.save(tamis.TAM().fit(rows).result_, "run.json", "edges.csv")
    """
    if not paths:
        raise SettingError("save needs a path, such as 'run.json'")
    require(result=result)
    check_outputs(paths, result.names, fitted=network is not None)
    write_files({path: _rendered(path, result, network) for path in map(_text, paths)})


def load(path: Path) -> Result:
    """Read a result that ``save`` wrote as JSON; anything else is refused.

    The file is data, never code. Its content must have the digest that it names, so that a damaged
    file is refused, and its parts must agree, so that the result is one that a run could have
    given. Files of versions before 0.2 have no digest; they are read all the same.

    Parameters
    ----------
    path : str or path
        A .json file that `tamis learn --out`, `TAM.save` or `tamis.save` wrote.

    Returns
    -------
    Result
        It explains, plots, reports, compares and converts. Methods that need rows take the table.

    Raises
    ------
    FileFormatError
        If the file cannot be read or does not hold a result.
    SettingError
        If ``path`` is not a path.

    Examples
    --------
    >>> import tamis
    >>> rows = {"rain": [0, 0, 1, 1] * 20, "wet": [0, 0, 1, 1] * 20}
    >>> tamis.TAM().fit(rows).save("run.json")
    >>> tamis.load("run.json")
    <Result of search 'auto': 2 columns, 80 rows, 2 layers, 1 edges>
    """
    return _parsed(path, json_file.parse, "a result of tamis")


def load_graph(path: Path) -> FileGraph:
    """The graph in a file: .json, .graphml, .csv (a list of edges), .bif or .bif.gz.

    Raises ``FileFormatError`` if the file cannot be read or holds no graph.
    """
    text = _text(path)
    if text.lower().endswith(NETWORKS):
        network = BayesianNetwork.read(text)
        return _of_parents({name: network.parents_of(name) for name in network.names})
    reader = READERS.get(ending_of(text))
    if reader is None:
        raise FileFormatError(
            f"The ending of {text!r} must say the format of a graph: one of "
            f"{', '.join((*READERS, *NETWORKS))}."
        )
    return _parsed(text, *reader)


def _of_parents(parents: Mapping[str, Iterable[str]]) -> FileGraph:
    arrows = frozenset((parent, child) for child, own in parents.items() for parent in own)
    return FileGraph(tuple(parents), arrows, frozenset())


READERS: dict[str, tuple[Callable[[bytes], FileGraph], str]] = {
    ".json": (lambda content: _of_parents(json_file.parse(content).parents), "a result of tamis"),
    ".graphml": (graph_files.parse_graphml, "a graph in GraphML"),
    ".csv": (graph_files.parse_csv, "a list of edges"),
}
"""How graphs are read by the ending of the file, and what the file should be."""

T = TypeVar("T")


def _parsed(path: Path, parse: Callable[[bytes], T], what: str) -> T:
    """What is in a file; every complaint names the file."""
    text = _text(path)
    try:
        with open(text, "rb") as file:
            return parse(file.read())
    except FileFormatError as error:
        raise FileFormatError(f"{text!r} is not {what}: {error}") from error
    except FileNotFoundError as error:
        raise FileFormatError(f"There is no file {text!r}. Check the path.") from error
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise FileFormatError(f"The file {text!r} cannot be read: {why}.") from error


def check_outputs(
    paths: Iterable[Path], names: Sequence[str] = (), *, fitted: bool = False
) -> None:
    """Refuse paths that cannot be written, and formats that cannot hold the names.

    ``fitted`` says that there will be a network for the formats that need one. Nothing is
    touched. Called before a long run, it saves the run from being lost.
    """
    taken: dict[object, str] = {}
    for path in map(_text, paths):
        format_ = _holder(path, fitted=fitted)
        if ending_of(path) in PICTURES:
            require_matplotlib()
        check_place(path)
        file = _identity(path)
        if file in taken:
            raise SettingError(f"{taken[file]!r} and {path!r} are the same file; write it once")
        taken[file] = path
        unheld = next((name for name in names if not format_.holds(name)), None)
        if unheld is not None:
            raise SettingError(
                f"{format_.called} cannot hold the column name {unheld!r}, so "
                f"{path!r} cannot be written. Rename the column or use another format."
            )


def _text(path: object) -> str:
    if isinstance(path, os.PathLike):
        path = os.fspath(path)
    if not isinstance(path, str):
        raise SettingError(f"a path must be a string or a pathlib.Path, not {path!r}")
    return path


def _rendered(path: str, result: Result, network: BayesianNetwork | None) -> bytes:
    ending = ending_of(path)
    if ending in FITTED and network is not None:
        return graph_files.render_bif(network)
    return FORMATS[ending].render(result)


def _holder(path: str, *, fitted: bool) -> Holder:
    ending = ending_of(path)
    known = FORMATS | FITTED if fitted else FORMATS
    if ending in known:
        return known[ending]
    if ending in FITTED:
        raise SettingError(
            f"{path!r} holds probabilities, and a result holds no rows to count them from: pass "
            "the table, as in result.save('model.bif', data=table)"
        )
    raise SettingError(f"the ending of {path!r} must say the format: one of {', '.join(known)}")


def ending_of(path: Path) -> str:
    """The ending that says the format, in small letters."""
    return os.path.splitext(_text(path))[1].lower()


def _identity(path: str) -> object:
    """What identifies a file: equal for two paths of one file, whether it exists or not."""
    target = os.path.realpath(path)
    try:
        found = os.stat(target)
    except FileNotFoundError:
        return target
    return found.st_dev, found.st_ino
