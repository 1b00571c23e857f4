"""The layered graph as SVG, with everything in it that a page without scripts can show.

Colours that hold on light and on dark paper are attributes, for notebooks and pictures taken
elsewhere; the style of the page overrides them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tamis.drawing.layout import (
    ALONE,
    BOX,
    FONT,
    HEADING,
    MARGIN,
    Box,
    Layout,
    Point,
    curves,
    lay_out,
)
from tamis.drawing.looks import Confidence, dashes_of, gain_of, name_in_full, opacity_of, widths_of
from tamis.markup import Markup, join, tag
from tamis.report.words import nats, p_value, share
from tamis.result import LOOKS, Edge, Result, rests_on
from tamis.tables.refusals import count

LINE, UNSURE = "#4a86b8", "#d2691e"
SAMPLE = 46.0
"""The length of a sample of a line."""
KEY = 20.0
"""The height of a line of the legend in a picture."""


@dataclass(frozen=True)
class Arrow:
    """An arrow to be drawn: its ends, its line, and what it says when asked."""

    parent: str
    child: str
    width: float
    warrant: str = "equivalence"
    opacity: float | None = None
    says: str = ""


def arrows_of(result: Result, confidence: Confidence | None) -> list[Arrow]:
    """The arrows of a result; the strongest are drawn last, over the others."""
    widths = widths_of(result.edges)
    found = []
    for edge in sorted(result.edges, key=lambda e: (gain_of(e), e.parent, e.child)):
        came = None if confidence is None else confidence.edges.get((edge.parent, edge.child), 0.0)
        opacity = None if came is None else opacity_of(came)
        width, says = widths[edge.parent, edge.child], _edge_in_words(edge, came)
        found.append(Arrow(edge.parent, edge.child, width, edge.warrant, opacity, says))
    return found


def picture(
    result: Result, layout: Layout, numbers: Mapping[str, int], confidence: Confidence | None
) -> Markup:
    """The drawing for the page; ``numbers`` give each column the number by which the page refers
    to it. What only a saved picture shows, the tray and the legend, is there and not displayed."""
    saved, height = _saved(layout, _warrants(result))
    joined = [name for name in result.order if name not in layout.tray]
    size = size_in_words(result)
    width, shown = max(layout.graph[0], 1.0), max(layout.graph[1], 1.0)
    return tag(
        "svg",
        tag("title", f"The learned graph: {size}, layers from left to right"),
        _edges(layout, arrows_of(result, confidence), numbers),
        # Along the order of admission, so that the keyboard goes through the graph as the search.
        tag("g", *(_linked(result, layout, n, numbers[n]) for n in joined), class_="nodes"),
        # Over the rest: they stay in sight while the drawing is moved.
        _headings(layout),
        tag("g", *saved, id="saved"),
        id="graph",
        viewBox=f"0 0 {width:.1f} {shown:.1f}",
        width=_short(width),
        height=_short(shown),
        data_width=width,
        data_height=shown,
        data_saved_width=layout.width,
        data_saved_height=height,
        font_size=FONT,
        role="group",
        aria_label=f"The learned graph: {size}",
    )


def small_picture(layers: Sequence[Sequence[str]], arrows: Sequence[Arrow], label: str) -> Markup:
    """The drawing for a notebook: no links and no identities, in colours of its own."""
    layout = lay_out(layers, [(arrow.parent, arrow.child) for arrow in arrows])
    nodes = [
        tag("g", tag("title", name_in_full(name)), *_box(box)) for name, box in layout.boxes.items()
    ]
    return tag(
        "svg",
        _headings(layout),
        _edges(layout, arrows, {}),
        tag("g", *nodes),
        tag("g", *_tray_title(layout)),
        viewBox=f"0 0 {layout.width:.1f} {layout.height:.1f}",
        width=_short(layout.width),
        height=_short(layout.height),
        # Notebooks shrink pictures to their width; labels are to be read, so the frame scrolls.
        style=f"max-width: none; width: {layout.width:.0f}px; height: {layout.height:.0f}px;",
        font_size=FONT,
        font_family="sans-serif",
        role="img",
        aria_label=label,
    )


def layout_of(result: Result) -> Layout:
    """Where everything of a result stands."""
    return lay_out(result.layers, [(edge.parent, edge.child) for edge in result.edges])


def size_in_words(result: Result) -> str:
    """The number of columns and of arrows."""
    return f"{count(len(result.names), 'column')}, {count(len(result.edges), 'arrow')}"


def tray(layout: Layout, numbers: Mapping[str, int]) -> Markup:
    """The columns without arrows, as links to their stories; nothing if there are none."""
    alone = layout.tray
    if not alone:
        return Markup("")
    chips = [
        tag(
            "li",
            tag(
                "a",
                tag("bdi", name_in_full(name)),
                class_="node",
                href=f"#column-{numbers[name]}",
                data_node=numbers[name],
            ),
        )
        for name in alone
    ]
    return tag(
        "div",
        tag("h3", f"{ALONE}: {count(len(alone), 'column')}"),
        tag("ul", *chips, class_="chips"),
        id="tray",
    )


def legend(result: Result, confidence: Confidence | None) -> Markup:
    """What the lines mean: a sample of each kind that occurs, with its words and how many."""
    keys = [
        tag("li", sample(one), " ", LOOKS[one].label, f" ({number:,})", data_warrant=one)
        for one in _warrants(result)
        if (number := sum(edge.warrant == one for edge in result.edges))
    ]
    said = ["Wider lines stand for stronger dependence."] if result.edges else []
    if confidence is not None and result.edges:
        said.append(" The fainter a line, the less often its arrow came back from resampled rows.")
    return tag(
        "div",
        tag("ul", *keys, class_="keys", aria_label="What the direction of an arrow rests on"),
        tag("p", join(said), class_="legend"),
        class_="legend-of-lines",
    )


def sample(warrant: str) -> Markup:
    """A short line as arrows of this kind have it."""
    return tag(
        "svg",
        *_sample(warrant, 1.0, 6.0),
        class_="sample",
        viewBox=f"0 0 {SAMPLE + 2:.0f} 12",
        width=_short(SAMPLE + 2),
        height="12",
        aria_hidden="true",
    )


def _sample(warrant: str, x: float, y: float) -> Iterator[Markup]:
    width = 2.2 * LOOKS[warrant].weight
    end = (x + SAMPLE, y)
    yield tag(
        "g",
        tag(
            "path",
            class_="line",
            d=f"M{_at((x, y))}H{_short(x + SAMPLE - _size_of_head(width))}",
            stroke_width=_short(width),
            stroke_dasharray=_dashes(warrant, width),
        ),
        tag("path", class_="head", d=_head(end, width), stroke="none"),
        class_=f"edge {warrant}",
        **_colours(warrant),
    )


def _warrants(result: Result) -> list[str]:
    return [one for one in LOOKS if any(edge.warrant == one for edge in result.edges)]


def _saved(layout: Layout, warrants: Sequence[str]) -> tuple[list[Markup], float]:
    """The tray and the legend of a saved picture, and how high it is with them."""
    boxes = [layout.boxes[name] for name in layout.tray]
    parts = [*_tray_title(layout), *(one for box in boxes for one in _box(box))]
    y = layout.height
    for warrant in warrants:
        parts += _sample(warrant, MARGIN, y + KEY / 2)
        words = f"direction {LOOKS[warrant].label}"
        x, base = _short(MARGIN + SAMPLE + 8), _short(y + KEY / 2 + 0.34 * FONT)
        parts.append(tag("text", words, x=x, y=base, class_="start", text_anchor="start"))
        y += KEY
    return parts, max(y + MARGIN / 2, 1.0)


def _tray_title(layout: Layout) -> Iterator[Markup]:
    if layout.tray:
        x, y = _short(MARGIN), _short(layout.graph[1] + HEADING - 4)
        yield tag("text", ALONE, x=x, y=y, class_="start", text_anchor="start", **_quiet())


def _quiet() -> dict[str, str]:
    return {"fill": "currentColor", "fill_opacity": "0.65"}


def _headings(layout: Layout) -> Markup:
    titles = [tag("text", f"layer {j}", x=_short(x), y="18") for j, x in layout.headings]
    return tag("g", *titles, class_="headings", text_anchor="middle", **_quiet())


def _edges(layout: Layout, arrows: Sequence[Arrow], numbers: Mapping[str, int]) -> Markup:
    drawn = (_edge(layout, arrow, numbers) for arrow in arrows)
    return tag("g", *drawn, class_="edges", **_colours("equivalence"))


def _edge(layout: Layout, arrow: Arrow, numbers: Mapping[str, int]) -> Markup:
    route, width = layout.routes[arrow.parent, arrow.child], arrow.width
    return tag(
        "g",
        tag("title", arrow.says) if arrow.says else Markup(""),
        tag(
            "path",
            class_="line",
            d=_line(route, width),
            stroke_width=_short(width),
            stroke_dasharray=_dashes(arrow.warrant, width),
            fill="none",
            opacity=arrow.opacity,
        ),
        tag("path", class_="head", d=_head(route[-1], width), stroke="none", opacity=arrow.opacity),
        class_=f"edge {arrow.warrant}",
        data_parent=numbers.get(arrow.parent),
        data_child=numbers.get(arrow.child),
        **(_colours(arrow.warrant) if arrow.warrant == "none" else {}),
    )


def _colours(warrant: str) -> dict[str, str]:
    colour = UNSURE if warrant == "none" else LINE
    return {"stroke": colour, "fill": colour}


def _dashes(warrant: str, width: float) -> str | None:
    return " ".join(map(_short, dashes_of(warrant, width))) or None


def _edge_in_words(edge: Edge, came: float | None) -> str:
    said = f"{name_in_full(edge.parent)} → {name_in_full(edge.child)}: direction {rests_on(edge)}"
    if came is not None:
        said += f"; came back in {share(came)} of resamples"
    return f"{said}; gain {nats(edge.gain)} nats, p {p_value(edge.p_value)}"


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


def _linked(result: Result, layout: Layout, name: str, number: int) -> Markup:
    """A node that leads to its column's story."""
    box, full = layout.boxes[name], name_in_full(name)
    where = f"layer {box.layer + 1}"
    return tag(
        "a",
        tag("title", f"{full}: {where}, conditional entropy {nats(result.entropies[name])} nats"),
        *_box(box),
        class_="node",
        href=f"#column-{number}",
        data_node=number,
        aria_label=f"{full}, {where}",
    )


def _box(box: Box) -> tuple[Markup, Markup]:
    return (
        tag(
            "rect",
            x=_short(box.x - box.width / 2),
            y=_short(box.y - BOX / 2),
            width=_short(box.width),
            height=_short(BOX),
            rx="6",
            fill="currentColor",
            fill_opacity="0.05",
            stroke="currentColor",
            class_="box",
        ),
        tag(
            "text",
            box.label,
            x=_short(box.x),
            y=_short(box.y + 0.34 * FONT),
            text_anchor="middle",
            fill="currentColor",
        ),
    )
