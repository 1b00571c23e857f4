"""Recovery and distance against the number of rows, drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tamis.atomic import check_place, write_files
from tamis.drawing.pictures import ENDINGS, rendered, require_matplotlib
from tamis.errors import SettingError

if TYPE_CHECKING:
    from tamis.identifiability.simulation import Simulation


def draw(simulation: Simulation, path: str) -> None:
    """Two panels over a logarithmic axis of rows; the file appears whole or not at all."""
    ending = next((ending for ending in ENDINGS if path.endswith(ending)), None)
    if ending is None:
        raise SettingError(f"a plot must end in {' or '.join(ENDINGS)}, not {path!r}")
    check_place(path)
    require_matplotlib()
    from matplotlib.figure import Figure

    rows = [point.rows for point in simulation.points]
    figure = Figure(figsize=(8, 3.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.fill_between(
        rows,
        [point.low for point in simulation.points],
        [point.high for point in simulation.points],
        alpha=0.2,
        linewidth=0,
        label="95% interval",
    )
    left.plot(rows, [point.recovered for point in simulation.points], "o-")
    left.set(ylim=(-0.03, 1.03), ylabel="share of graphs recovered exactly")
    left.legend(loc="best", frameon=False)
    right.plot(rows, [point.distance for point in simulation.points], "o-", label="edges (SHD)")
    right.plot(rows, [point.skeleton for point in simulation.points], "s--", label="skeleton only")
    right.set(ylabel="mean distance")
    right.set_ylim(bottom=0)
    right.legend(loc="best", frameon=False)
    for axis in (left, right):
        axis.set(xscale="log", xlabel="rows")
        axis.grid(alpha=0.3)
    figure.suptitle(f"search {simulation.search}, {simulation.points[0].tables} tables a size")
    write_files({path: rendered(figure, ending)})
