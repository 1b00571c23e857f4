"""Pictures as the bytes of a file: SVG, PNG or PDF, the same bytes for the same figure."""

from __future__ import annotations

import io
import warnings
from importlib.util import find_spec
from typing import TYPE_CHECKING

from tamis.errors import SettingError, TamisWarning
from tamis.result import Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
    """The graph of a result as `tamis.drawing.plot` draws it, as the bytes of a file."""
    require_matplotlib()
    import matplotlib.pyplot as plt

    from tamis.drawing.plot import plot

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
