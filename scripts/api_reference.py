"""Make docs/api.md from the docstrings of the public names.

    python scripts/api_reference.py

With ``--check`` the page is made and compared instead of written.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import re
import sys
import textwrap
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import GenericAlias

PAGE = Path(__file__).parent.parent / "docs" / "api.md"
ENTROPY = "tamis.information.estimators"
WIDE = 96
"""A longer signature has one parameter a line."""

STARS: dict[object, str] = {
    inspect.Parameter.VAR_POSITIONAL: "*",
    inspect.Parameter.VAR_KEYWORD: "**",
}
BASES = ("Rule", "Model", "EntropyEstimator", "PValue")
"""Classes whose members are told once, not for every class below them."""

SECTIONS: dict[str, tuple[str, list[str]]] = {
    "Learning": (
        "",
        ["tamis.TAM", "tamis.Knowledge", "tamis.Result", "tamis.load", "tamis.save"],
    ),
    "A plan of the columns": (
        "",
        [f"tamis.{name}" for name in ("inspect", "Plan", "ColumnPlan", "Suspicion")],
    ),
    "What a result is made of": (
        "",
        [f"tamis.result.{name}" for name in ("Edge", "Verdict", "Run", "Trace")]
        + [f"tamis.result.{name}" for name in ("Admitted", "Masked", "Selection")],
    ),
    "How sure": ("", ["tamis.bootstrap.Confidence", "tamis.identifiability.RecoveryCheck"]),
    "Comparing": (
        "",
        ["tamis.compare", "tamis.Comparison"]
        + [f"tamis.comparison.{name}" for name in ("Compared", "Agreement", "Changes", "Distance")],
    ),
    "Single quantities": (
        "",
        ["tamis.entropy", "tamis.conditional_mutual_information", "tamis.markov_boundary"],
    ),
    "Measurements into levels": ("", ["tamis.discretize", "tamis.Discretization"]),
    "Rules": ("tamis.rules", []),
    "Fitted networks": (
        "tamis.network",
        ["tamis.GaussianNetwork"]
        + [f"tamis.network.{name}" for name in ("Network", "FittedEdge", "Coefficient")],
    ),
    "Another arrow": ("", ["tamis.rescoring.Rescored", "tamis.rescoring.Family"]),
    "Known networks": (
        "",
        ["tamis.BayesianNetwork", "tamis.check", "tamis.Check"]
        + [f"tamis.identifiability.{name}" for name in ("Condition", "Violation")]
        + [f"tamis.identifiability.{name}" for name in ("simulate", "Simulation")],
    ),
    "Other libraries": (
        "tamis.handover",
        [f"tamis.handover.{name}" for name in ("to_networkx", "to_dowhy", "to_pgmpy")]
        + [f"tamis.handover.{name}" for name in ("to_pyagrum", "fitted_network", "save")],
    ),
    "Metrics": ("tamis.metrics", []),
    "Simulation": ("tamis.simulate", []),
    "Random graphs": ("tamis.simulate.graphs", []),
    "Laws of the nodes": ("tamis.simulate.models", []),
    "Other methods": ("tamis.baselines", []),
    "Entropy estimators": (
        ENTROPY,
        ["tamis.EntropyEstimator"]
        + [f"{ENTROPY}.{name}" for name in ("EntropyFunction", "Plugin", "MillerMadow")]
        + [f"{ENTROPY}.{name}" for name in ("Jackknife", "Grassberger")]
        + [f"{ENTROPY}.{name}" for name in ("Minimax", "as_estimator")],
    ),
    "Sources of information": (
        "tamis.information.interface",
        [f"tamis.{name}" for name in ("Source", "Ability", "Tests", "Profiles")]
        + [f"tamis.{name}" for name in ("Context", "Query", "Group", "TableView")],
    ),
    "Tests of other libraries": ("tamis.adapters", []),
    "The paper's algorithms as printed": (
        "tamis.search.paper",
        [f"tamis.search.paper.{name}" for name in ("algorithm_1", "pps", "tam", "tam_general")]
        + ["tamis.search.paper.iamb_backward"],
    ),
    "Constants that decide results": (
        "tamis.constants",
        [],
    ),
    "Errors and warnings": (
        "",
        [f"tamis.{name}" for name in ("TamisError", "DataError", "SettingError", "PluginError")]
        + [f"tamis.{name}" for name in ("FileFormatError", "TamisWarning")],
    ),
}
"""Titles, the module whose docstring comes first, and names; without names, all the module has."""

HEAD = """# Reference

All public names, made from their docstrings by `python scripts/api_reference.py`. Start with
[`TAM`](#tamistam); the guides are the [tutorial](tutorial.md), [reading the
output](reading-the-output.md), [when to trust it](when-to-trust.md) and [choosing](choosing.md).
"""


def main() -> None:
    """Write the page, or say whether it is up to date."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    made = page()
    if not parser.parse_args().check:
        PAGE.write_text(made, encoding="utf-8")
    elif PAGE.read_text(encoding="utf-8") != made:
        sys.exit(f"{PAGE.name} is not up to date: run python scripts/api_reference.py")


def page() -> str:
    """The whole page; it depends on the docstrings and nothing else."""
    contents = sections()
    places = anchors([name for names in contents.values() for name in names])
    lines = [index(title, names, places) for title, names in contents.items()]
    parts = [HEAD, *lines, ""]
    for title, names in contents.items():
        module, _ = SECTIONS[title]
        parts.append(f"## {title}\n")
        if module:
            parts.append(markdown(inspect.getdoc(import_module(module)) or ""))
        parts += map(entry, names)
    return "\n".join(parts).rstrip() + "\n"


def sections() -> dict[str, list[str]]:
    """The names under each title; what two modules offer is told once."""
    told: list[object] = []
    contents: dict[str, list[str]] = {}
    for title, (module, names) in SECTIONS.items():
        contents[title] = []
        for name in names or [f"{module}.{one}" for one in import_module(module).__all__]:
            thing = found(name)
            if not any(thing is other for other in told):
                told.append(thing)
                contents[title].append(name)
    return contents


def anchors(names: list[str]) -> dict[str, str]:
    """Where the links to headings lead: no dots, small letters, and a number if that is taken."""
    seen: Counter[str] = Counter()
    places = {}
    for name in names:
        plain = name.replace(".", "").lower()
        places[name] = f"{plain}-{seen[plain]}" if seen[plain] else plain
        seen[plain] += 1
    return places


def index(title: str, names: list[str], places: dict[str, str]) -> str:
    """One line of the contents, with links."""
    links = [f"[{name.rpartition('.')[2]}](#{places[name]})" for name in names]
    return f"- {title}: {', '.join(links)}"


def found(name: str) -> object:
    """What a dotted name stands for."""
    module, _, last = name.rpartition(".")
    return getattr(import_module(module), last)


def entry(name: str) -> str:
    """Heading, signature, docstring and, for a class, its members."""
    thing = found(name)
    lines = [f"### {name}\n"]
    if isinstance(thing, dict):
        return "\n".join([*lines, f"By name: {', '.join(f'`{key}`' for key in thing)}.\n"])
    if isinstance(thing, GenericAlias) or not callable(thing):
        return "\n".join([*lines, f"`{thing}`\n"])
    lines += [*signature(name.rpartition(".")[2], thing), markdown(inspect.getdoc(thing) or "")]
    if isinstance(thing, type):
        lines += members(thing)
    return "\n".join(lines)


def signature(name: str, thing: object) -> Iterator[str]:
    """How it is called, as text; nothing for a class that is not made by calling it."""
    if isinstance(thing, type) and (inspect.isabstract(thing) or issubclass(thing, Exception)):
        return
    if not callable(thing):
        return
    yield f"```text\n{called(name, thing)}\n```\n"


def called(name: str, thing: object) -> str:
    """name(parameters) -> type, on one line or with a parameter a line."""
    if not callable(thing):
        return name
    shape = inspect.signature(thing)
    empty = isinstance(thing, type) or shape.return_annotation in (shape.empty, "None", None)
    returns = "" if empty else f" -> {shape.return_annotation}"
    words = list(_words([one for one in shape.parameters.values() if one.name != "self"]))
    line = f"{name}({', '.join(words)}){returns}"
    if len(line) <= WIDE:
        return line
    return f"{name}(\n" + "".join(f"    {word},\n" for word in words) + f"){returns}"


def _words(parameters: list[inspect.Parameter]) -> Iterator[str]:
    starred = False
    for one in parameters:
        if one.kind is one.KEYWORD_ONLY and not starred:
            yield "*"
            starred = True
        starred = starred or one.kind is one.VAR_POSITIONAL
        stars = STARS.get(one.kind, "")
        kind = "" if one.annotation is one.empty else f": {one.annotation}"
        default = "" if one.default is one.empty else f" = {one.default!r}"
        yield f"{stars}{one.name}{kind}{default}"


def members(thing: type) -> Iterator[str]:
    """Fields, properties and methods that are the package's own, and public."""
    own = [one for one in reversed(thing.__mro__) if one.__module__.startswith("tamis")]
    base = next((one for one in own[:-1] if one.__name__ in BASES), None)
    told = fields_of(base) if base else {}
    fields = {name: text for one in own for name, text in fields_of(one).items()}
    told |= dict.fromkeys(documented(thing), "")
    lines = [f"- `{name}`: {text}" for name, text in fields.items() if name not in told]
    yield from [*lines, ""] if lines else []
    if base is not None:
        yield f"Its methods are those of `{base.__name__}`.\n"
        return
    names = dict.fromkeys(name for one in own for name in vars(one) if name not in fields)
    for name in names:
        if not name.startswith("_"):
            yield from member(thing, name)


def documented(thing: type) -> list[str]:
    """The names that the sections of a class's docstring explain: ``a, b : type`` at the margin."""
    lines = (inspect.getdoc(thing) or "").splitlines()
    starts = [i + 2 for i, line in enumerate(lines) if line in ("Parameters", "Attributes")]
    heads = [
        line.partition(" : ")[0]
        for start in starts
        for line in lines[start : _end_of_section(lines, start)]
        if line[:1].strip()
    ]
    return [name.strip() for head in heads for name in head.split(",")]


def member(thing: type, name: str) -> Iterator[str]:
    """A method with its signature, or a property."""
    raw = inspect.getattr_static(thing, name)
    about = markdown(inspect.getdoc(raw) or "")
    if isinstance(raw, property | cached_property):
        yield f"**`.{name}`**\n\n{about}"
    elif isinstance(raw, classmethod | staticmethod) or inspect.isfunction(raw):
        shown = called(f".{name}", getattr(thing, name))
        yield f"**`.{name}()`**\n\n```text\n{shown}\n```\n\n{about}"


def fields_of(thing: type) -> dict[str, str]:
    """The annotated fields of a class: their types, and the strings that follow them."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(thing)))
    except OSError:
        return {}
    body = tree.body[0].body if isinstance(tree.body[0], ast.ClassDef) else []
    fields: dict[str, str] = {}
    last = ""
    for line in body:
        if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name):
            last = line.target.id
            if not last.startswith("_"):
                fields[last] = f"`{ast.unparse(line.annotation)}`"
        elif isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant) and last in fields:
            about = " ".join(str(line.value.value).split())
            fields[last] += f". {about.replace('``', '`')}"
            last = ""
        else:
            last = ""
    return fields


def markdown(docstring: str) -> str:
    """A docstring as Markdown: headings of numpydoc become bold, their entries lists, and tables
    of reStructuredText stay as they are typed."""
    lines = docstring.splitlines()
    shown: list[str] = []
    i = 0
    while i < len(lines):
        if i + 1 < len(lines) and re.fullmatch(r"-{3,}", lines[i + 1]):
            end = _end_of_section(lines, i + 2)
            shown += [f"**{lines[i]}**", "", *_section(lines[i], lines[i + 2 : end])]
            i = end
        elif re.fullmatch(r"=[= ]+=", lines[i]):
            end = next(k for k in range(len(lines) - 1, i, -1) if lines[k].startswith("=="))
            shown += ["```text", *lines[i : end + 1], "```"]
            i = end + 1
        else:
            shown.append(lines[i].replace("``", "`"))
            i += 1
    return "\n".join(shown) + "\n"


def _section(title: str, lines: list[str]) -> list[str]:
    """What stands under a heading: examples as they are typed, anything else as a list."""
    if title != "Examples":
        return _entries(lines)
    return ["```text", *"\n".join(lines).strip().splitlines(), "```", ""]


def _end_of_section(lines: list[str], start: int) -> int:
    following = range(start, len(lines) - 1)
    return next((k for k in following if re.fullmatch(r"-{3,}", lines[k + 1])), len(lines))


def _entries(lines: list[str]) -> list[str]:
    """Names at the margin with indented descriptions as a list; plain text stays."""
    if not any(line.startswith("    ") for line in lines):
        return [*(line.replace("``", "`") for line in lines), ""]
    shown: list[str] = []
    for line in lines:
        if line and not line.startswith(" "):
            shown.append(f"- `{line.replace('`', '')}`")
        elif line.strip():
            shown.append(f"  {line.strip().replace('``', '`')}")
    return [*shown, ""]


if __name__ == "__main__":
    main()
