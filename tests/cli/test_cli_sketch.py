"""The sketch of a DAG can be read back: its lines and its lists of parents are the edges."""

from __future__ import annotations

import io
import re

import hypothesis.strategies as st
import pytest
from hypothesis import given
from rich.cells import cell_len
from rich.console import Console

from tamis.cli.sketch import ASCII, LINES, ROWS, Sketch
from tamis.result import LOOKS, Edge, Result, Trace

STRANGE = (
    "two\nlines", "\x1b[31mred", "\u202eevil", "<script>", "[red]x[/red]", ":smile:", "日本語",
    " x ", "a" * 90, "four words in it", "é", "\t", "🙂",
)  # fmt: skip


def result_of(parents, warrants=None):
    """A result with these parents by name, listed in topological order."""
    warrants = warrants or {}
    depth = {}
    for name, given_ in parents.items():
        depth[name] = 1 + max((depth[parent] for parent in given_), default=0)
    layers = [
        tuple(name for name in parents if depth[name] == j)
        for j in range(1, max(depth.values()) + 1)
    ]
    return Result(
        names=tuple(parents),
        levels={},
        n_rows=9,
        settings={},
        layers=tuple(layers),
        order=tuple(parents),
        parents={name: tuple(given_) for name, given_ in parents.items()},
        entropies={},
        edges=tuple(
            Edge(
                parent,
                child,
                *(0.1, 0.0, 1, 0.1, 0.1),
                warrants.get((parent, child), "equivalence"),
                0.95,
            )
            for child, given_ in parents.items()
            for parent in given_
        ),
        trace=Trace((), (), ()),
    )


def shown(result, width=100, encoding="utf-8", **options):
    content = io.BytesIO()
    stream = io.TextIOWrapper(content, encoding=encoding, write_through=True)
    Console(file=stream, width=width, markup=False, emoji=False, highlight=False, **options).print(
        Sketch(result)
    )
    return content.getvalue().decode(encoding)


def rows_of(text):
    """The rows of a sketch, without the title and the legend, which may take several lines."""
    lines = text.split("\n")
    first = [k for k, line in enumerate(lines) if re.match(r" +1  ", line)]
    label = "|".join(re.escape(look.label) for look in LOOKS.values())
    last = [k for k, line in enumerate(lines) if re.match(rf" {{4}}(?:[^\w\s]+) (?:{label})", line)]
    return lines[first[0] : last[0] if last else -1] if first else []


@st.composite
def dags(draw, names=None, most=14):
    size = draw(st.integers(2, most))
    listed = [f"n{k}" for k in range(size)]
    if names is not None:
        listed = draw(st.lists(names, min_size=size, max_size=size, unique=True))
    parents = {}
    for k, name in enumerate(listed):
        few = st.lists(st.sampled_from(listed[:k]), max_size=3, unique=True) if k else st.just([])
        parents[name] = draw(few)
    edges = [(parent, child) for child in listed for parent in parents[child]]
    return result_of(parents, {edge: draw(st.sampled_from(tuple(LOOKS))) for edge in edges})


def edges_by_lines(rows, signs):
    """Follow the lines: who opens a column owns it until it ends."""
    owners, edges = {}, set()
    for row in rows:
        name = re.search(r"n\d+", row)
        assert name
        for place, sign in enumerate(row[: name.start()]):
            if sign in (signs.joining, signs.joining_first, signs.ending, signs.ending_first):
                edges.add((owners[place], name[0]))
            if sign in (signs.ending, signs.ending_first):
                del owners[place]
            if sign in (signs.opening, signs.opening_first):
                assert place not in owners
                owners[place] = name[0]
            assert (sign == signs.passing) <= (place in owners)
    assert not owners
    return edges


def edges_by_names(rows, signs):
    """The parents after each kind of arrow."""
    found = {warrant: set() for warrant in LOOKS}
    kinds = {arrow: warrant for warrant, arrow in signs.arrows.items()}
    either = "|".join(map(re.escape, kinds))
    for row in rows:
        child = re.search(r"n\d+", row)[0]
        for arrow, among in re.findall(rf"({either}) ((?:n\d+(?:, )?)+)", row):
            found[kinds[arrow]] |= {(parent, child) for parent in re.findall(r"n\d+", among)}
    return found


@pytest.mark.parametrize(("signs", "encoding"), [(LINES, "utf-8"), (ASCII, "ascii")])
@given(result=dags())
def test_lines_and_names_are_the_edges(signs, encoding, result):
    text = shown(result, width=200, encoding=encoding)
    if not result.edges:
        assert text == "\n" or not text
        return
    rows = rows_of(text)
    assert edges_by_lines(rows, signs) == {(e.parent, e.child) for e in result.edges}
    assert edges_by_names(rows, signs) == {
        warrant: {(e.parent, e.child) for e in result.edges if e.warrant == warrant}
        for warrant in LOOKS
    }


@pytest.mark.parametrize("signs", [LINES, ASCII])
def test_every_kind_of_direction_has_a_sign_of_its_own(signs):
    assert list(signs.arrows) == list(LOOKS)
    assert len(set(signs.arrows.values())) == len(LOOKS)
    # Of the same width, so that lists of parents stand below each other.
    assert len({cell_len(arrow) for arrow in signs.arrows.values()}) == 1


@given(result=dags())
def test_every_node_with_an_edge_has_a_row_and_the_first_of_a_layer_its_number(result):
    connected = {name for edge in result.edges for name in (edge.parent, edge.child)}
    expected = []
    for j, layer in enumerate(result.layers, start=1):
        rows = [name for name in layer if name in connected]
        expected += [(str(j) if i == 0 else "", name) for i, name in enumerate(rows)]
    rows = rows_of(shown(result, width=200))
    assert [(row[:4].strip(), re.search(r"n\d+", row)[0]) for row in rows] == expected


@given(
    result=dags(st.sampled_from(STRANGE) | st.text(max_size=9), most=8),
    width=st.integers(20, 120),
)
def test_strange_names_obey_the_width_and_do_nothing_to_the_terminal(result, width):
    # A lone surrogate has no place in UTF-8; the command's stream escapes it.
    text = shown(result, width=width, encoding="utf-16-le" if width % 2 else "utf-8")
    lines = text.split("\n")
    assert all(cell_len(line) <= width for line in lines)
    assert all(line == line.rstrip() for line in lines)
    assert all(character.isprintable() or character == "\n" for character in text)


def test_a_small_sketch_is_drawn_like_this():
    result = result_of(
        {"season": [], "sprinkler": ["season"], "rain": ["season"], "lawn": ["rain", "sprinkler"]},
        {("season", "rain"): "none"},
    )
    assert shown(result).split("\n") == [
        "",
        "Graph, parents after the arrow",
        " 1  ┌────── season",
        " 2  ├─┬───▸ sprinkler  ← season",
        "    └─│─┬─▸ rain       ⇠ season",
        " 3    └─┴─▸ lawn       ← rain, sprinkler",
        "    ← same in every equivalent graph   ⇠ open",
        "",
    ]
    assert shown(result, encoding="ascii").split("\n")[4:6] == [
        "    '-|-.-> rain       <~ season",
        " 3    '-'-> lawn       <- rain, sprinkler",
    ]


def test_the_legend_explains_the_arrows_that_occur_and_no_others():
    parents = {"a": [], "b": ["a"], "c": ["a", "b"]}
    assert shown(result_of(parents)).split("\n")[-2:] == [
        "    ← same in every equivalent graph",
        "",
    ]
    kinds = {("a", "b"): "given", ("a", "c"): "entropy", ("b", "c"): "entropy"}
    assert shown(result_of(parents, kinds)).split("\n")[1:] == [
        "Graph, parents after the arrow",
        " 1  ┌──── a",
        " 2  ├─┬─▸ b  ⇐ a",
        " 3  └─┴─▸ c  ↞ a, b",
        "    ⇐ follows from knowledge   ↞ by the entropy assumption",
        "",
    ]
    # Where they do not fit side by side, each has a line.
    assert shown(result_of(parents, kinds), width=40).split("\n")[-3:-1] == [
        "    ⇐ follows from knowledge",
        "    ↞ by the entropy assumption",
    ]


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "cp437"])
def test_an_encoding_without_the_characters_gets_ascii(encoding):
    text = shown(result_of({"a": [], "b": ["a"]}), encoding=encoding)
    assert text.isascii()
    assert "'-> b  <- a" in text


def test_long_lists_of_parents_wrap_beside_the_lines():
    parents = {f"n{k}": [] for k in range(12)}
    parents |= {"x": [f"n{k}" for k in range(12)], "y": ["n0"]}
    lines = rows_of(shown(result_of(parents), width=60))
    first = next(k for k, line in enumerate(lines) if "x " in line)
    assert "│" in lines[first + 1]
    assert "┌" not in lines[first + 1]
    assert re.findall(r"n\d+", " ".join(lines[first:-1])) == [f"n{k}" for k in range(12)]


def test_lines_that_take_too_much_room_are_drawn_close_and_then_left_out():
    parents = {f"n{k}": [] for k in range(12)} | {"x": [f"n{k}" for k in range(12)]}
    result = result_of(parents)
    assert " 1  ┌────" in shown(result, width=100)
    assert "    │┌───────────n1" in shown(result, width=50).replace("─ n1", "─n1")
    assert rows_of(shown(result, width=30))[:2] == [" 1  n0", "    n1"]


def test_a_graph_too_large_is_left_to_the_page():
    chain = {f"n{k}": [f"n{k - 1}"] if k else [] for k in range(ROWS + 1)}
    assert shown(result_of(chain)) == (
        f"\nGraph, too large with {ROWS + 1} columns; --report page.html draws it\n"
    )
    del chain[f"n{ROWS}"]
    assert len(rows_of(shown(result_of(chain)))) == ROWS


def test_isolated_nodes_are_left_out_and_do_not_count():
    parents = {f"alone{k}": [] for k in range(ROWS)} | {"a": [], "b": ["a"]}
    assert rows_of(shown(result_of(parents))) == [" 1  ┌── a", " 2  └─▸ b  ← a"]


def test_without_edges_nothing_is_shown():
    assert shown(result_of({"a": [], "b": []})).strip() == ""
