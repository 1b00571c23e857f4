"""The graph with matplotlib: lines, dashes, names as they are."""

from __future__ import annotations

from dataclasses import replace

import pytest
from drawn_results import Resampled, chain, layered

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from matplotlib import pyplot as plt  # noqa: E402
from matplotlib.patches import FancyArrowPatch  # noqa: E402

from tamis.drawing.pictures import plot  # noqa: E402
from tamis.errors import SettingError  # noqa: E402
from tamis.result import LOOKS  # noqa: E402


@pytest.fixture(autouse=True)
def _closed_figures():
    yield
    plt.close("all")


def arrows(axes):
    return [patch for patch in axes.patches if isinstance(patch, FancyArrowPatch)]


def texts(axes):
    return [text.get_text() for text in axes.texts]


def test_every_node_layer_and_edge_is_drawn():
    axes = plot(chain("abc"))
    assert {"a", "b", "c", "layer 1", "layer 2", "layer 3"} == set(texts(axes))
    assert len(arrows(axes)) == 2


def test_a_larger_gain_is_a_wider_line():
    result = chain("abc")
    first, second = result.edges
    thick = replace(result, edges=(replace(first, gain=0.9), replace(second, gain=0.1)))
    narrow, wide = arrows(plot(thick))
    assert wide.get_linewidth() > 2 * narrow.get_linewidth()


def looks(axes):
    """The dashes and colours of the arrows."""
    return {(str(patch.get_linestyle()), patch.get_edgecolor()) for patch in arrows(axes)}


def named(axes):
    """The kinds of directions that the legend names."""
    texts = (text.get_text() for text in axes.get_legend().get_texts())
    return [text for text in texts if text.startswith("direction ")]


@pytest.mark.parametrize("warrant", LOOKS)
def test_what_a_direction_rests_on_is_seen_in_the_line_and_named_in_the_legend(warrant):
    result = chain("abc")
    first, second = result.edges
    axes = plot(replace(result, edges=(replace(first, warrant=warrant), second)))
    seen = [one for one in LOOKS if one in (warrant, "equivalence")]
    assert named(axes) == [f"direction {LOOKS[one].label}" for one in seen]
    assert len(looks(axes)) == len(seen)


def test_only_directions_shared_by_all_equivalent_graphs_are_solid():
    solid = [patch.get_linestyle() == "-" for patch in arrows(plot(chain("abc")))]
    assert solid == [True, True]
    for warrant in ("given", "entropy", "none"):
        result = chain("abc")
        edges = tuple(replace(edge, warrant=warrant) for edge in result.edges)
        axes = plot(replace(result, edges=edges))
        assert all(patch.get_linestyle() != "-" for patch in arrows(axes))


def test_every_kind_of_direction_has_a_look_of_its_own():
    result = chain("abcde")
    edges = zip(result.edges, LOOKS, strict=True)
    axes = plot(replace(result, edges=tuple(replace(e, warrant=w) for e, w in edges)))
    assert len(looks(axes)) == len(LOOKS) == len(named(axes))
    handles = [line for line in axes.get_legend().get_lines() if line.get_linestyle() != "-"]
    assert len(handles) == len(LOOKS) - 1


def test_confidence_makes_rare_edges_faint():
    resampled = Resampled(40, {("a", "b"): 1.0, ("b", "c"): 0.1})
    axes = plot(chain("abc"), confidence=resampled)
    faint, strong = sorted(patch.get_alpha() for patch in arrows(axes))
    assert strong == 1.0
    assert 0.15 < faint < 0.3
    assert any("40 resamples" in text.get_text() for text in axes.get_legend().get_texts())


@pytest.mark.parametrize(
    "name", ["$x_1$", "$\\frac{", "a_b^c", "50%", "two\nlines", "", "<script>", "é", "\\"]
)
def test_a_name_is_text_and_no_formula(name, tmp_path):
    with matplotlib.rc_context({"text.usetex": False}):
        axes = plot(chain(["a", name]))
        axes.figure.savefig(tmp_path / "graph.png", dpi=30)
    shown = {"two\nlines": "two\\nlines", "": "(no name)"}.get(name, name)
    assert shown in texts(axes)
    assert not any(text.get_parse_math() or text.get_usetex() for text in axes.texts)


def test_the_figure_grows_with_the_graph_and_text_keeps_its_size():
    small, large = plot(chain(3)), plot(chain(40))
    assert large.figure.get_figwidth() > 5 * small.figure.get_figwidth()
    sizes = {round(text.get_fontsize(), 1) for text in (*small.texts, *large.texts)}
    assert max(sizes) - min(sizes) < 3
    assert min(sizes) > 6


def test_given_axes_are_used_and_text_shrinks_to_fit():
    figure, (left, right) = plt.subplots(1, 2, figsize=(6, 3))
    axes = plot(chain(10), left)
    assert axes is left
    assert not right.texts
    assert figure is axes.figure
    assert max(text.get_fontsize() for text in axes.texts) < 5


def test_a_graph_without_edges_has_no_legend():
    axes = plot(replace(chain("a"), edges=()))
    assert axes.get_legend() is None
    assert texts(axes) == ["a", "No arrows"]


def test_columns_without_arrows_are_drawn_in_a_tray_below_the_others():
    axes = plot(layered([["a", "alone", "apart"], ["b"]], [("a", "b")]))
    places = {text.get_text(): text.get_position()[1] for text in axes.texts}
    assert set(places) == {"a", "b", "alone", "apart", "layer 1", "layer 2", "No arrows"}
    # y grows downwards.
    assert places["a"] == places["b"] < places["No arrows"] < places["alone"] == places["apart"]


def test_in_black_and_white_the_four_kinds_of_lines_differ():
    result = chain("abcde")
    edges = zip(result.edges, LOOKS, strict=True)
    axes = plot(replace(result, edges=tuple(replace(e, warrant=w, gain=0.2) for e, w in edges)))
    assert len({str(patch.get_linestyle()) for patch in arrows(axes)}) == len(LOOKS)


def test_a_notebook_shows_the_picture_once_and_no_line_of_text(monkeypatch):
    shown = []
    display = pytest.importorskip("IPython.display")
    monkeypatch.setattr(display, "display", shown.append)
    axes = plot(chain("ab"))
    other = plt.figure()
    # pyplot will show it at the end of the cell.
    axes._ipython_display_()
    assert not shown
    assert plt.gcf() is other
    plt.close(axes.figure)
    axes._ipython_display_()
    plt.close("all")
    axes._ipython_display_()
    assert shown == [axes.figure, axes.figure]


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setattr("tamis.drawing.pictures.find_spec", lambda name: None)
    with pytest.raises(SettingError, match=r"tamis\[plot\]"):
        plot(chain("ab"))
