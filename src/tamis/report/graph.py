"""The layered graph as SVG, with everything in it that a page without scripts can show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tamis.drawing.confidence import Confidence
from tamis.drawing.labels import name_in_full
from tamis.drawing.layout import BOX, FONT, Layout, Point, curves, lay_out
from tamis.drawing.looks import gain_of, opacity_of, widths_of
from tamis.report.html import Markup, join, tag
from tamis.report.words import count, nats, p_value, rests_on, share
from tamis.result import WARRANTS, Edge, Result


def picture(result: Result, numbers: Mapping[str, int], confidence: Confidence | None) -> Markup:
    """The drawing; ``numbers`` give each column the number by which the page refers to it."""
    layout = lay_out(result.layers, [(edge.parent, edge.child) for edge in result.edges])
    size = f"{count(len(result.names), 'column')}, {count(len(result.edges), 'arrow')}"
    return tag(
        "svg",
        tag("title", f"The learned graph: {size}, layers from left to right"),
        tag("g", *_headings(layout), class_="headings"),
        tag("g", *_edges(result, layout, numbers, confidence), class_="edges"),
        tag("g", *_nodes(result, layout, numbers), class_="nodes"),
        id="graph",
        viewBox=f"0 0 {layout.width:.1f} {layout.height:.1f}",
        data_width=layout.width,
        data_height=layout.height,
        font_size=FONT,
        role="group",
        aria_label=f"The learned graph: {size}",
    )


def _headings(layout: Layout) -> Iterator[Markup]:
    for j, x in enumerate(layout.columns, start=1):
        yield tag("text", f"layer {j}", x=_short(x), y="18")


def _edges(
    result: Result,
    layout: Layout,
    numbers: Mapping[str, int],
    confidence: Confidence | None,
) -> Iterator[Markup]:
    widths = widths_of(result.edges)
    # The strongest are drawn last, over the others.
    for edge in sorted(result.edges, key=lambda e: (gain_of(e), e.parent, e.child)):
        width = widths[edge.parent, edge.child]
        route = layout.routes[edge.parent, edge.child]
        came = None if confidence is None else confidence.edges.get((edge.parent, edge.child), 0.0)
        opacity = None if came is None else opacity_of(came)
        line, head = _line(route, width), _head(route[-1], width)
        yield tag(
            "g",
            tag("title", _edge_in_words(edge, came)),
            tag("path", class_="line", d=line, stroke_width=_short(width), opacity=opacity),
            tag("path", class_="head", d=head, opacity=opacity),
            class_=f"edge {edge.warrant}",
            data_parent=numbers[edge.parent],
            data_child=numbers[edge.child],
        )


def _edge_in_words(edge: Edge, came: float | None) -> str:
    said = f"{name_in_full(edge.parent)} → {name_in_full(edge.child)}: gain {nats(edge.gain)} nats"
    said += f", p {p_value(edge.p_value)}"
    if came is not None:
        said += f", came back in {share(came)} of resamples"
    return f"{said}; direction {rests_on(edge)}"


def _size_of_head(width: float) -> float:
    return 6.0 + 1.3 * width


def _line(route: Sequence[Point], width: float) -> str:
    """The curve, which ends where its arrow's head begins."""
    (x, y), back = route[-1], _size_of_head(width) - 0.3
    points = [*route[:-1], (x - back, y)]
    pieces = [f"M{_at(points[0])}"]
    for i, piece in enumerate(curves(points)):
        # Every other piece passes through a column and is straight.
        curve = "C" + " ".join(map(_at, piece))
        pieces.append(f"H{_short(piece[-1][0])}" if i % 2 == 1 else curve)
    return "".join(pieces)


def _head(tip: Point, width: float) -> str:
    long, half = _size_of_head(width), 0.42 * _size_of_head(width)
    x, y = tip
    back = _short(x - long)
    return f"M{_at(tip)}L{back} {_short(y - half)}V{_short(y + half)}Z"


def _at(point: Point) -> str:
    return f"{_short(point[0])} {_short(point[1])}"


def _short(value: float) -> str:
    """A tenth of a point is seen by nobody, and the file is half as large."""
    return f"{value:.1f}".removesuffix(".0")


def _nodes(result: Result, layout: Layout, numbers: Mapping[str, int]) -> Iterator[Markup]:
    # Along the order of admission, so that the keyboard goes through the graph as the search did.
    for name in result.order:
        box, number = layout.boxes[name], numbers[name]
        full = name_in_full(name)
        where = f"layer {box.layer + 1}, conditional entropy {nats(result.entropies[name])} nats"
        yield tag(
            "a",
            tag("title", f"{full}: {where}"),
            tag(
                "rect",
                x=_short(box.x - box.width / 2),
                y=_short(box.y - BOX / 2),
                width=_short(box.width),
                height=_short(BOX),
                rx="6",
            ),
            tag("text", box.label, x=_short(box.x), y=_short(box.y + 0.34 * FONT)),
            class_="node",
            href=f"#column-{number}",
            data_node=number,
            aria_label=f"{full}, {where}",
        )


def legend(result: Result, confidence: Confidence | None) -> Markup:
    """What the lines mean."""
    said = ["Lines are as wide as the root of their gain; the strongest is drawn over the others."]
    looks = {"given": "dots", "equivalence": "solid", "entropy": "long dashes", "none": "dashes"}
    seen = [one for one in WARRANTS if any(edge.warrant == one for edge in result.edges)]
    if seen:
        said.append(" Directions: " + "; ".join(f"{looks[w]}, {WARRANTS[w]}" for w in seen) + ".")
    if confidence is not None:
        said.append(" The fainter, the less often an arrow came back from resampled rows.")
    return tag("p", join(said), class_="legend")
