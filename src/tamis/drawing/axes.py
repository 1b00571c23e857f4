"""The axes of a picture of their own; needs matplotlib, which no other file here loads."""

from __future__ import annotations

from matplotlib import pyplot as plt
from matplotlib.axes import Axes


class GraphAxes(Axes):
    """Axes that a notebook shows once, as a picture."""

    def _ipython_display_(self) -> None:
        """Leave no line of text beside the picture.

        A figure that pyplot still has is shown by pyplot at the end of the cell. One that was
        shown before is shown again.
        """
        from IPython.display import display

        if not _is_open(self.figure):
            display(self.figure)


def _is_open(figure: object) -> bool:
    """Whether pyplot still has this figure; which one is current stays as it is."""
    if not plt.get_fignums():
        return False
    current = plt.gcf()
    found = any(plt.figure(number) is figure for number in plt.get_fignums())
    plt.figure(current)
    return found
