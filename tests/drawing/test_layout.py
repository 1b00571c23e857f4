"""The layered layout: everything has a place, nothing overlaps, crossings do not grow."""

from __future__ import annotations

import itertools
import random

import hypothesis.strategies as st
import networkx as nx
import pytest
from hypothesis import given, settings

from tamis.drawing.labels import LONGEST, NO_NAME, labels_of, width_of
from tamis.drawing.layout import BOX, SLOT, THIN, curves, lay_out
from tamis.drawing.ordering import columns_of, untangled


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


@given(dags())
def test_layers_stand_from_left_to_right_and_no_two_boxes_overlap(dag):
    layers, edges = dag
    layout = lay_out(layers, edges)
    for j, layer in enumerate(layers):
        assert {layout.boxes[name].x for name in layer} == {layout.columns[j]}
        ys = sorted(layout.boxes[name].y for name in layer)
        assert all(b - a >= SLOT - 1e-6 for a, b in itertools.pairwise(ys))
    rightmost = [layout.boxes[layer[0]].x + layout.boxes[layer[0]].width / 2 for layer in layers]
    leftmost = [layout.boxes[layer[0]].x - layout.boxes[layer[0]].width / 2 for layer in layers]
    assert all(right < left for right, left in zip(rightmost, leftmost[1:], strict=False))


@given(dags())
def test_an_edge_goes_from_its_parent_to_its_child_and_around_other_boxes(dag):
    layers, edges = dag
    layout = lay_out(layers, edges)
    for (parent, child), route in layout.routes.items():
        first, last = layout.boxes[parent], layout.boxes[child]
        assert route[0][0] == first.x + first.width / 2
        assert route[-1][0] == last.x - last.width / 2
        assert abs(route[0][1] - first.y) <= BOX / 2
        assert abs(route[-1][1] - last.y) <= BOX / 2
        assert [x for x, _ in route] == sorted(x for x, _ in route)
        for j, (enters, leaves) in enumerate(itertools.pairwise(route[1:-1])):
            if j % 2 == 0:
                assert enters[1] == leaves[1]
                column = layers[first.layer + 1 + j // 2]
                away = min(abs(layout.boxes[name].y - enters[1]) for name in column)
                assert away >= (SLOT + THIN) / 2 - 1e-6 > BOX / 2


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


def test_nodes_without_edges_stand_below_the_others():
    layout = lay_out([["alone", "a", "b"], ["c"]], [("a", "c"), ("b", "c")])
    below = layout.boxes["alone"].y
    assert below > max(layout.boxes[name].y for name in "ab")


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


@settings(max_examples=60)
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
