"""The learned graph drawn with matplotlib, and pictures as the bytes of a file: SVG, PNG or PDF."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from tamis.drawing.layout import ALONE, BOX, FONT, HEADING, MARGIN, Box, Layout, curves, lay_out
from tamis.drawing.looks import (
    Confidence,
    dashes_of,
    gain_of,
    opacity_of,
    require_of,
    width_of_gain,
    widths_of,
)
from tamis.errors import SettingError, TamisWarning
from tamis.parameters import require
from tamis.result import LOOKS, Edge, Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, PAPER, LINE, UNSURE, RULE = "#1b2733", "#eef3f8", "#33658a", "#c2571a", "#d3dae0"
INCH = 96.0
"""Units of the layout to an inch: labels then have 9 points."""
LARGEST = 120.0
"""Inches beyond which a figure grows no more; PNG files end at 2^16 pixels."""
LEGEND = 0.55
"""Inches below the graph for the legend."""
# A name is text, whatever the user's settings: no formulas, no TeX.
PLAIN: dict[str, Any] = {"parse_math": False, "usetex": False, "color": INK}


def plot(result: Result, ax: Axes | None = None, *, confidence: Confidence | None = None) -> Axes:
    """Draw the graph, layers from left to right, columns without arrows in a tray below.

    Parameters
    ----------
    result : Result
        What to draw.
    ax : matplotlib.axes.Axes, optional
        Where to draw; text is scaled to what fits there now. Without it a figure is made that
        grows with the graph.
    confidence : Confidence, optional
        What a bootstrap found: lines are then as opaque as often as they came back.

    Returns
    -------
    matplotlib.axes.Axes
        The axes with the drawing. Lines are as wide as the root of their gain; their dashes say
        what the direction rests on (`tamis.result.LOOKS`).
    """
    require_matplotlib()
    require(ax=ax)
    if confidence is not None:
        require_of(result, confidence)
    layout = lay_out(result.layers, [(edge.parent, edge.child) for edge in result.edges])
    axes = _figure(layout) if ax is None else ax
    axes.set_axis_off()
    axes.set(xlim=(0, layout.width), ylim=(layout.height, 0))
    axes.set_aspect("equal")
    scale = _points_a_unit(axes, layout)
    opacity = _opacity(confidence)
    _draw_edges(axes, result, layout, scale, opacity)
    for box in layout.boxes.values():
        draw_box(axes, box, scale)
    _draw_titles(axes, layout, scale)
    _draw_legend(axes, result, confidence, scale)
    return axes


def _figure(layout: Layout) -> Axes:
    import matplotlib.pyplot as plt

    shrunk = min(1.0, LARGEST / max(layout.width / INCH, layout.height / INCH))
    width, height = layout.width / INCH * shrunk, layout.height / INCH * shrunk
    figure = plt.figure(figsize=(max(width, 4.5), height + LEGEND))
    bottom = LEGEND / (height + LEGEND)
    axes: Axes = _graph_axes()(figure, (0.0, bottom, 1.0, 1.0 - bottom))
    figure.add_axes(axes)
    return axes


@cache
def _graph_axes() -> type[Axes]:
    """The class of the axes of a picture of its own; made here, because it needs matplotlib."""
    from matplotlib import pyplot as plt
    from matplotlib.axes import Axes

    def is_open(figure: object) -> bool:
        """Whether pyplot still has this figure; which one is current stays as it is."""
        if not plt.get_fignums():
            return False
        current = plt.gcf()
        found = any(plt.figure(number) is figure for number in plt.get_fignums())
        plt.figure(current)
        return found

    class GraphAxes(Axes):
        """Axes that a notebook shows once, as a picture."""

        def _ipython_display_(self) -> None:
            """Leave no line of text beside the picture.

            A figure that pyplot still has is shown by pyplot at the end of the cell. One that was
            shown before is shown again.
            """
            from IPython.display import display

            if not is_open(self.figure):
                display(self.figure)

    return GraphAxes


def _points_a_unit(axes: Axes, layout: Layout) -> float:
    """How large a unit of the layout is drawn, in points, on axes of their present size."""
    place, dpi = axes.get_window_extent(), axes.figure.dpi
    pixels = min(place.width / layout.width, place.height / layout.height)
    return max(float(pixels) * 72.0 / float(dpi), 1e-3)


def _opacity(confidence: Confidence | None) -> Callable[[Edge], float]:
    if confidence is None:
        return lambda edge: 0.85
    shares = confidence.edges
    return lambda edge: opacity_of(shares.get((edge.parent, edge.child), 0.0))


def _draw_edges(
    axes: Axes, result: Result, layout: Layout, scale: float, opacity: Callable[[Edge], float]
) -> None:
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    widths = widths_of(result.edges)
    # The strongest are drawn last, over the others.
    for edge in sorted(result.edges, key=lambda e: (gain_of(e), e.parent, e.child)):
        route = layout.routes[edge.parent, edge.child]
        points = [route[0], *(point for piece in curves(route) for point in piece)]
        codes = [Path.MOVETO, *[Path.CURVE4] * (len(points) - 1)]
        width = widths[edge.parent, edge.child] * scale
        arrow = FancyArrowPatch(
            path=Path(points, codes),
            arrowstyle="-|>",
            mutation_scale=(5 + 1.2 * widths[edge.parent, edge.child]) * scale,
            linewidth=width,
            linestyle=_style(edge.warrant, widths[edge.parent, edge.child]),
            color=LINE if edge.is_claimed else UNSURE,
            alpha=opacity(edge),
            shrinkA=0,
            shrinkB=0,
            joinstyle="miter",
            capstyle="butt",
            zorder=1,
        )
        axes.add_patch(arrow)


def _style(warrant: str, width: float) -> str | tuple[int, tuple[float, ...]]:
    """The dashes as matplotlib takes them: for a line of width 1."""
    dashes = dashes_of(warrant, width)
    return (0, tuple(length / width for length in dashes)) if dashes else "-"


def draw_box(
    axes: Axes, box: Box, scale: float, *, ink: str = INK, paper: str = PAPER, line: str = "-"
) -> None:
    """The box of a column with its label in it; ``ink`` is the colour of its frame and its text."""
    from matplotlib.patches import FancyBboxPatch

    axes.add_patch(
        FancyBboxPatch(
            (box.x - box.width / 2, box.y - BOX / 2),
            box.width,
            BOX,
            boxstyle="round,pad=0,rounding_size=6",
            facecolor=paper,
            edgecolor=ink,
            linestyle=line,
            linewidth=0.9 * scale,
            zorder=2,
        )
    )
    axes.text(
        box.x,
        box.y,
        box.label,
        ha="center",
        va="center_baseline",
        fontsize=0.92 * FONT * scale,
        zorder=3,
        **{**PLAIN, "color": ink},
    )


def _draw_titles(axes: Axes, layout: Layout, scale: float) -> None:
    """The numbers of the layers, and what the tray is."""
    size = 0.8 * FONT * scale
    for layer, x in layout.headings:
        axes.text(x, 14, f"layer {layer}", ha="center", va="center", fontsize=size, **PLAIN)
    if layout.tray:
        y = layout.graph[1] + MARGIN
        axes.text(MARGIN, y, ALONE, ha="left", va="center", fontsize=size, **PLAIN)
        axes.plot(
            [MARGIN, layout.width - MARGIN], [y - HEADING / 2] * 2, color=RULE, lw=0.8 * scale
        )


def _draw_legend(axes: Axes, result: Result, confidence: Confidence | None, scale: float) -> None:
    if not result.edges:
        return
    handles, labels = _keys(result, confidence, scale)
    axes.legend(
        handles,
        labels,
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        ncols=2 if axes.get_window_extent().width < 8 * axes.figure.dpi else 4,
        frameon=False,
        fontsize=min(max(0.8 * FONT * scale, 6.0), 9.0),
        handlelength=3.2,
    )


def _keys(
    result: Result, confidence: Confidence | None, scale: float
) -> tuple[list[Any], list[str]]:
    """What the lines mean, as samples of them with words."""
    from matplotlib.lines import Line2D

    gains = [gain_of(edge) for edge in result.edges]
    smallest, largest = min(gains), max(gains)
    entries: list[tuple[dict[str, Any], str]] = []
    for gain in dict.fromkeys((smallest, largest)):
        width = width_of_gain(gain, largest) * scale
        entries.append(({"color": LINE, "linewidth": width}, f"gain {gain:.3g} nats"))
    for warrant, one in LOOKS.items():
        if any(edge.warrant == warrant for edge in result.edges):
            color = UNSURE if warrant == "none" else LINE
            look = {"color": color, "linestyle": _style(warrant, 1.6), "linewidth": 1.6}
            entries.append((look, f"direction {one.label}"))
    if confidence is not None:
        look = {"color": LINE, "linewidth": 2.0, "alpha": opacity_of(0.5)}
        entries.append((look, f"came back in half of {confidence.n} resamples"))
    return [Line2D([], [], **look) for look, _ in entries], [text for _, text in entries]


ENDINGS = (".svg", ".png", ".pdf")
"""The endings of files that hold a picture."""
NO_GLYPH = "Glyph .* missing from font"
"""How matplotlib's warning about a character begins that its font lacks."""


def require_matplotlib() -> None:
    """Refuse to draw without it, before the work whose result is to be drawn."""
    if find_spec("matplotlib") is None:
        raise SettingError(
            "drawing needs matplotlib: install tamis with its extra, pip install 'tamis[plot]'"
        )


def picture_of(result: Result, ending: str) -> bytes:
    """The graph of a result as `tamis.drawing.pictures` draws it, as the bytes of a file."""
    require_matplotlib()
    import matplotlib.pyplot as plt

    figure = plot(result).get_figure(root=True)
    if figure is None:
        raise SettingError("the picture lost its figure while it was drawn")
    try:
        return rendered(figure, ending)
    finally:
        # Nobody asked for a window or for an output of a notebook.
        plt.close(figure)


def rendered(figure: Figure, ending: str) -> bytes:
    """A figure as the bytes of a file with this ending."""
    import matplotlib as mpl

    content = io.BytesIO()
    # No date and no random identifiers in the file: the same graph gives the same bytes. Text
    # stays text in SVG, so that it can be searched and any font can draw it.
    plain = {".pdf": {"CreationDate": None}, ".svg": {"Date": None}}.get(ending)
    with (
        mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "tamis"}),
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.simplefilter("default")
        warnings.filterwarnings("always", NO_GLYPH, UserWarning)
        figure.savefig(content, format=ending[1:], dpi=150, metadata=plain)
    _tell(caught, ending)
    return content.getvalue()


def _tell(caught: list[warnings.WarningMessage], ending: str) -> None:
    """Pass warnings on; of characters that the font lacks, in one sentence."""
    lacking = [one for one in caught if "missing from font" in str(one.message)]
    for one in caught:
        if one not in lacking:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    if lacking and ending != ".svg":
        warnings.warn(
            TamisWarning(
                f"matplotlib's font lacks some characters of the names, which {ending} shows as "
                "boxes. Write .svg, which keeps the text, or choose another font."
            ),
            stacklevel=4,
        )
