"""Tables and figures from rows made by hand."""

from __future__ import annotations

import math

import pytest
from study_plans import row, rows, small_plan

import tamis
from tamis.studies.figures import LEAST_SECONDS, measure_figure, time_figure, write_figures
from tamis.studies.report import Cells, fill, median_seconds, summarise

STUDY = [
    *rows("node", [2, 4, 6]),
    *rows("sequential", [1, 1, 1], cpu_seconds=0.25),
    *rows("pc", [1, 2, 1]),
    *rows("ges-bic", [0, None, None]),
    *rows("node", [0, 0, 0], model="add", graph="sf", d=20),
    row("ges-bic", None, model="add", graph="sf", d=20, status="skipped", reason="too slow"),
    row("pc", None, model="add", graph="sf", d=20, status="failed", reason="Error: no"),
]


def summary(rows):
    return Cells(rows).summary(rows)


def best(methods):
    return Cells([row for own in methods.values() for row in own]).best(methods)


def lines(text):
    return text.splitlines()


def test_a_summary_has_mean_standard_error_and_what_did_not_finish():
    found = summary(rows("pc", [2, 4, 6, None]))
    assert (found.mean, found.finished) == (4.0, 3)
    assert found.error == pytest.approx(2 / math.sqrt(3))
    assert summary(rows("pc", [0, 0, 3, 1])).exact == 0.5
    assert math.isnan(summary(rows("pc", [None])).mean)
    assert summary(rows("pc", [5])).error == 0.0


def test_within_one_standard_error_of_the_differences_is_as_good_as_best():
    # The second is worse by 1 ± 1 and the third by exactly 1, table by table.
    methods = {
        "a": rows("a", [10, 0, 5]),
        "b": rows("b", [11, 0, 7]),
        "c": rows("c", [11, 1, 6]),
        "d": rows("d", [0, 0, None]),
    }
    assert best({name: methods[name] for name in "acd"}) == ["a"]
    wide = {**methods, "b": rows("b", [13, 0, 5])}
    assert best(wide) == ["a", "b"]
    assert best({"d": methods["d"]}) == []


def test_time_counts_what_was_ended_with_its_limit():
    assert median_seconds(rows("pc", [1, 1, None])) == 0.5
    assert median_seconds(rows("pc", [1, None, None])) == 60.0
    assert math.isnan(median_seconds([row("pc", None, status="failed")]))


def test_models_are_listed_in_the_papers_order():
    assert Cells(STUDY).models == ["mod", "add"]


def test_the_report_has_distances_times_and_endings():
    text = lines(summarise([*STUDY, *rows("node", [1, 1], d=30)]))
    assert "| model | graph | d | n | tables | sequential | node | pc | ges-bic |" in text
    ends = "**1.0 ± 0.0** | 4.0 ± 1.2 | **1.3 ± 0.3** | 0.0 (1 of 3) |"
    assert f"| MOD | Tree | 10 | 1000 | 3 | {ends}" in text
    assert "| ADD | SF | 20 | 1000 | 3 |  | **0.0 ± 0.0** | failed | skipped |" in text
    assert "| MOD | Tree | 1000 | 5 | 0% | 0% | 0% | 100% |" in text
    assert "| MOD | 10 | 1000 | 3 | 0.25 | 0.5 | 0.5 | 60 |" in text
    assert "| ges-bic | 1 | 2 | 0 | 1 |" in text
    assert "- pc, 1 times: Error: no" in text


def test_all_methods_are_compared_where_all_finished_and_each_with_the_first_where_both_did():
    plan = small_plan(["auto", "pc", "boss"])
    half_way = [
        *rows("auto", [2, 4]), *rows("pc", [6, 8]), *rows("boss", [1, 3]),
        *rows("auto", [10], d=20), *rows("pc", [20], d=20), *rows("boss", [None], d=20),
        *rows("auto", [99], d=30),  # the others are at it
    ]  # fmt: skip
    text = lines(summarise(half_way, plan))
    start = text.index(
        "| method | SHD in 1 of 3 cells | best in | CPU s | cells in pairs | it | auto |"
    )
    assert text[start + 2 : start + 5] == [
        "| auto | 3.00 | 2 of 3 | 0.5 |  |  |  |",
        "| pc | 7.00 | 0 of 2 | 0.5 | 2 | 13.50 | 6.50 |",
        "| boss | 2.00 | 1 of 2 | 0.5 | 1 | 2.00 | 3.00 |",
    ]
    assert "| MOD | Tree | 20 | 1000 | 1 | **10.0** | 20.0 | time |" in text


def test_the_report_says_how_it_was_run():
    text = summarise(STUDY, small_plan(["pc"], notes=["Sums are labels."]), images=["shd-mod.png"])
    assert (
        "- 17 runs of 6 on 6 tables: 13 ok, 2 timed out, 1 failed, 1 skipped; 0.068 CPU hours"
        in text
    )
    assert "At most 30 CPU seconds of learning a run" in text
    assert "\n- Sums are labels.\n" in text
    assert "numpy 2.0, tamis 1.2" in text
    assert "![shd-mod.png](shd-mod.png)" in text


def test_a_page_is_filled_between_its_marks_and_nowhere_else():
    page = "before\n<!-- tamis experiment paper -->\nold\n<!-- end of paper -->\nafter\n"
    once = fill(page, "paper", "a \\1 table\n", "page")
    assert once == (
        "before\n<!-- tamis experiment paper -->\n\na \\1 table\n\n<!-- end of paper -->\nafter\n"
    )
    assert fill(once, "paper", "a \\1 table\n", "page") == once
    with pytest.raises(tamis.FileFormatError, match="'page' must have the line <!-- tamis exper"):
        fill(page, "unfaithful", "text", "page")


def test_figures_are_files_with_something_in_them_and_the_same_each_time(tmp_path):
    pytest.importorskip("matplotlib")
    names = write_figures(STUDY, tmp_path)
    assert names == ["shd-mod.png", "shd-add.png", "time.png"]
    contents = [(tmp_path / name).read_bytes() for name in names]
    assert all(len(content) > 10_000 for content in contents)
    write_figures(STUDY, tmp_path)
    assert contents == [(tmp_path / name).read_bytes() for name in names]


@pytest.mark.parametrize("ending", ["svg", "pdf"])
def test_figures_can_be_of_other_kinds(tmp_path, ending):
    pytest.importorskip("matplotlib")
    assert write_figures(rows("pc", [1]), tmp_path, ending=ending) == [
        f"shd-mod.{ending}",
        f"time.{ending}",
    ]
    assert (tmp_path / f"shd-mod.{ending}").stat().st_size > 4000


def test_a_figure_has_a_panel_for_each_graph_and_d_and_a_name_for_each_method():
    pytest.importorskip("matplotlib")
    grid = [
        one
        for graph in ("tree", "er")
        for d in (10, 20, 30)
        for n in (1000, 2000)
        for name in ("node", "pc")
        for one in rows(name, [n // 1000, d // 10], graph=graph, d=d, n=n)
    ]
    figure = measure_figure(Cells(grid), "mod")
    assert [axes.get_title() for axes in figure.axes] == [
        f"{graph}, d = {d}" for graph in ("Tree", "ER") for d in (10, 20, 30)
    ]
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["node", "pc"]
    assert [axes.get_yscale() for axes in time_figure(Cells(grid)).axes] == ["log", "log"]


def test_other_kinds_of_files_and_missing_folders_are_refused(tmp_path):
    pytest.importorskip("matplotlib")
    with pytest.raises(tamis.SettingError, match=r"figures end in .*\.png.*, not in \.gif"):
        write_figures(STUDY, tmp_path, ending="gif")
    with pytest.raises(tamis.SettingError, match="there is no directory"):
        write_figures(STUDY, tmp_path / "nowhere")


def test_a_study_of_many_models_of_one_size_has_one_table_and_a_panel_each():
    pytest.importorskip("matplotlib")
    directions = '{"equivalence": [3, 4], "none": [0, 1], "hidden": [1, 2, 5]}'
    found = [
        one
        for name in ("asia", "child", "alarm")
        for method in ("auto", "pc")
        for one in rows(method, [1, 3], model=name, graph="", skeleton_f1=0.5,
                        directions=directions if method == "auto" else "")
    ]  # fmt: skip
    text = lines(summarise(found, small_plan(["pc"], measure="cpdag")))
    assert "### Mean CPDAG distance" in text
    assert "| asia | 10 | 1000 | 2 | **2.0 ± 1.0** | **2.0 ± 1.0** |" in text
    assert "| asia | 1000 | 2 | 0%, 0.50 | 0%, 0.50 |" in text
    warrants = "| asia | auto | 75% of 8 | 0% of 2 | 4 of 10, 2 claimed |"
    assert warrants in text
    assert len(measure_figure(Cells(found, small_plan(["pc"], measure="cpdag"))).axes) == 3
    assert len(time_figure(Cells(found, small_plan(["pc"], measure="cpdag"))).axes) == 3


def test_a_run_too_short_to_have_cpu_time_is_drawn_all_the_same():
    pytest.importorskip("matplotlib")
    figure = time_figure(Cells([*rows("pc", [1, 2], cpu_seconds=0.0), *rows("node", [None])]))
    assert [line.get_ydata()[0] for line in figure.axes[0].lines[::2]] == [LEAST_SECONDS, 60.0]
