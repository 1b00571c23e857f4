"""The layered layout: everything has a place, nothing overlaps, crossings do not grow."""

from __future__ import annotations

import itertools
import random

import hypothesis.strategies as st
import networkx as nx
import pytest
from hypothesis import given

from tamis.drawing.layout import BOX, SLOT, THIN, columns_of, curves, lay_out, untangled
from tamis.drawing.looks import LONGEST, NO_NAME, labels_of, width_of


@st.composite
def dags(draw, most=14):
    """Layers and edges: every edge points to a later layer."""
    names = draw(st.lists(st.text(max_size=30), min_size=1, max_size=most, unique=True))
    cuts = draw(st.lists(st.booleans(), min_size=len(names) - 1, max_size=len(names) - 1))
    layers = [[names[0]]]
    for name, cut in zip(names[1:], cuts, strict=True):
        layers.append([name]) if cut else layers[-1].append(name)
    column = {name: j for j, layer in enumerate(layers) for name in layer}
    pairs = [(a, b) for a in names for b in names if column[a] < column[b]]
    chosen = st.lists(st.sampled_from(pairs), unique=True, max_size=40) if pairs else st.just([])
    return layers, draw(chosen)


def crossings_by_hand(columns):
    """Pairs of segments with opposite orders at their two ends, counted one by one."""
    total = 0
    for j, segments in enumerate(columns.segments):
        left, right = columns.cells[j].index, columns.cells[j + 1].index
        for (a, b), (c, d) in itertools.combinations(segments, 2):
            total += (left(a) - left(c)) * (right(b) - right(d)) < 0
    return total


@given(dags())
def test_every_node_and_every_edge_has_a_place_within_the_picture(dag):
    layers, edges = dag
    layout = lay_out(layers, edges)
    assert set(layout.boxes) == {name for layer in layers for name in layer}
    assert set(layout.routes) == set(edges)
    for box in layout.boxes.values():
        assert 0 < box.x - box.width / 2 < box.x + box.width / 2 < layout.width
        assert 0 < box.y - BOX / 2 < box.y + BOX / 2 < layout.height
    for x, y in (point for route in layout.routes.values() for point in route):
        assert 0 <= x <= layout.width
        assert 0 <= y <= layout.height


def joined_in(layers, edges):
    """The nodes of each layer that have edges."""
    ends = {name for edge in edges for name in edge}
    return [[name for name in layer if name in ends] for layer in layers]


def sides(box):
    return box.x - box.width / 2, box.x + box.width / 2


@given(dags())
def test_layers_stand_from_left_to_right_and_no_two_boxes_overlap(dag):
    layers, edges = dag
    layout = lay_out(layers, edges)
    drawn = [[layout.boxes[name] for name in layer] for layer in joined_in(layers, edges) if layer]
    for before, after in itertools.pairwise(drawn):
        assert max(sides(box)[1] for box in before) < min(sides(box)[0] for box in after)
    for one, other in itertools.combinations(layout.boxes.values(), 2):
        aside = max(sides(one)[0], sides(other)[0]) > min(sides(one)[1], sides(other)[1])
        assert aside or abs(one.y - other.y) >= SLOT - 1e-6


@given(dags())
def test_every_layer_with_edges_has_its_number_above_it(dag):
    layers, edges = dag
    layout = lay_out(layers, edges)
    wanted = [j for j, layer in enumerate(joined_in(layers, edges), start=1) if layer]
    assert [number for number, _ in layout.headings] == wanted
    for number, x in layout.headings:
        boxes = [layout.boxes[name] for name in joined_in(layers, edges)[number - 1]]
        assert min(sides(box)[0] for box in boxes) < x < max(sides(box)[1] for box in boxes)


@given(dags())
def test_nodes_without_edges_are_in_the_tray_below_the_graph_and_no_others(dag):
    layers, edges = dag
    layout = lay_out(layers, edges)
    ends = {name for edge in edges for name in edge}
    assert set(layout.tray) == {name for layer in layers for name in layer} - ends
    assert len(layout.tray) == len(set(layout.tray))
    width, height = layout.graph
    assert all(layout.boxes[name].y - BOX / 2 > height for name in layout.tray)
    for name in ends:
        assert sides(layout.boxes[name])[1] < width
        assert layout.boxes[name].y + BOX / 2 < height


@given(dags())
def test_an_edge_goes_from_its_parent_to_its_child_and_around_other_boxes(dag):
    layers, edges = dag
    layout = lay_out(layers, edges)
    for (parent, child), route in layout.routes.items():
        first, last = layout.boxes[parent], layout.boxes[child]
        assert route[0][0] == sides(first)[1]
        assert route[-1][0] == sides(last)[0]
        assert abs(route[0][1] - first.y) <= BOX / 2
        assert abs(route[-1][1] - last.y) <= BOX / 2
        assert [x for x, _ in route] == sorted(x for x, _ in route)
        for enters, leaves in zip(route[1:-1:2], route[2:-1:2], strict=True):
            assert enters[1] == leaves[1]
            middle = (enters[0] + leaves[0]) / 2
            passed = [box for box in layout.boxes.values() if abs(box.x - middle) < 1e-6]
            column = [box for box in passed if box.y < layout.graph[1]]
            assert column
            away = min(abs(box.y - enters[1]) for box in column)
            assert away >= (SLOT + THIN) / 2 - 1e-6 > BOX / 2


def test_a_long_layer_is_wrapped_so_that_the_drawing_can_be_shown_larger():
    leaves = [f"leaf {k}" for k in range(60)]
    layout = lay_out([["root"], leaves], [("root", leaf) for leaf in leaves])
    columns = {layout.boxes[leaf].x for leaf in leaves}
    assert 2 <= len(columns) <= 4
    assert layout.height < 60 * SLOT * 0.7
    few = lay_out([["root"], leaves[:4]], [("root", leaf) for leaf in leaves[:4]])
    assert len({few.boxes[leaf].x for leaf in leaves[:4]}) == 1


@given(dags())
def test_sweeps_never_add_crossings_and_the_count_is_right(dag):
    before = columns_of(*dag)
    after = untangled(before)
    assert after.crossings == crossings_by_hand(after) <= before.crossings
    assert before.crossings == crossings_by_hand(before)
    assert list(map(sorted, map(_texts, after.cells))) == list(
        map(sorted, map(_texts, before.cells))
    )


def _texts(cells):
    return map(repr, cells)


@given(dags(), st.randoms(use_true_random=False))
def test_the_order_in_which_edges_are_listed_plays_no_part(dag, chance):
    layers, edges = dag
    shuffled = list(edges)
    chance.shuffle(shuffled)
    assert lay_out(layers, edges) == lay_out(layers, shuffled)


def test_two_crossed_edges_are_untangled():
    layers = [["a", "b"], ["c", "d"]]
    crossed = columns_of(layers, [("a", "d"), ("b", "c")])
    assert crossed.crossings == 1
    assert untangled(crossed).crossings == 0


def test_a_chain_is_a_straight_line():
    layout = lay_out([["a"], ["b"], ["c"]], [("a", "b"), ("b", "c")])
    assert len({round(box.y, 6) for box in layout.boxes.values()}) == 1


def test_crossings_of_a_large_graph_fall_a_lot():
    chance = random.Random(5)
    graph = nx.DiGraph()
    names = [f"v{k:03}" for k in range(200)]
    graph.add_nodes_from(names)
    while graph.number_of_edges() < 500:
        a, b = sorted(chance.sample(names, 2))
        graph.add_edge(a, b)
    layers = [list(layer) for layer in nx.topological_generations(graph)]
    before = columns_of(layers, graph.edges)
    assert untangled(before).crossings < before.crossings / 2


@given(st.lists(st.tuples(st.floats(-1e3, 1e3), st.floats(-1e3, 1e3)), min_size=1, max_size=6))
def test_curves_leave_and_arrive_horizontally(points):
    assert len(curves(points)) == len(points) - 1
    for start, (first, second, end) in zip(points, curves(points), strict=False):
        assert first[1] == start[1]
        assert second[1] == end[1]


@given(st.lists(st.text(max_size=60), unique=True, max_size=12))
def test_labels_are_short_one_line_and_different(names):
    labels = labels_of(names)
    shown = [labels[name] for name in names]
    assert len(set(shown)) == len(shown)
    assert all(label and label.isprintable() for label in shown)
    assert all(width_of(label.split(" #")[0]) <= LONGEST for label in shown)


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("", NO_NAME),
        ("short", "short"),
        ("two\nlines", "two\\nlines"),
        ("a" * 30, "a" * 13 + "…" + "a" * 7),
        ("日" * 20, "日" * 6 + "…" + "日" * 3),
    ],
)
def test_a_label_keeps_what_fits(name, label):
    assert labels_of([name]) == {name: label}


def test_names_that_shorten_alike_are_numbered_whatever_their_order():
    names = ["x" * 20 + "1" + "y" * 20, "x" * 20 + "2" + "y" * 20, "plain"]
    labels = labels_of(names)
    assert labels[names[0]].endswith(" #1")
    assert labels[names[1]].endswith(" #2")
    assert labels == {name: labels_of(names[::-1])[name] for name in names}
