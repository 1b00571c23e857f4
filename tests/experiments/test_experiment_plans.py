"""Plans: what the paper's grid has in it, and that names and seeds never change."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from experiment_plans import small_plan

import tamis
from tamis.experiments import Plan, plans
from tamis.experiments.cells import Cell, Draw
from tamis.experiments.plan_files import read_plan, settle


def test_the_full_plan_is_the_papers_grid():
    plan = plans.paper()
    assert len(plan.draws) == 2 * 3 * 5 * 4 * 30
    assert len(plan.cells) == len(plan.draws) * len(plan.methods)
    assert {draw.d for draw in plan.draws} == {10, 20, 30, 40, 50}
    assert {draw.n for draw in plan.draws} == {1000, 2000, 3000, 4000}
    assert {"sequential", "reference", "pc", "ges-bic"} <= set(plan.methods)


def test_the_quick_plan_is_a_part_of_the_full_one():
    quick, full = plans.paper(full=False), plans.paper()
    assert len(quick.draws) == 2 * 3 * 2 * 2 * 5
    assert set(quick.draws) <= set(full.draws)
    assert set(quick.methods) <= set(full.methods)


def test_keys_and_seeds_stay_the_same_whatever_else_is_planned():
    alone = plans.paper(models=["add"], graphs=["er"], nodes=[20], rows=[500], replications=8)
    cell = Cell(alone.draws[7], "pc")
    assert cell.key == "add/er/20/500/7/pc"
    # Written down: another seed would be another study under the same name.
    assert cell.draw.seed == 1977048525
    assert cell.draw.arguments() == {
        "graph": "er", "d": 20, "model": "add", "n": 500, "seed": 1977048525,
        "edges": 20.0, "p": 0.2, "flip": False,
    }  # fmt: skip
    assert len({cell.key for cell in plans.paper().cells}) == len(plans.paper().cells)


def test_a_replication_is_one_graph_for_both_models_and_all_n():
    plan = plans.paper(graphs=["tree"], nodes=[10], rows=[50, 80], replications=2)
    by_replication = {}
    for draw in plan.draws:
        edges = frozenset(tamis.simulate.draw(**draw.arguments()).graph.edges)
        by_replication.setdefault(draw.replication, set()).add(edges)
    assert all(len(graphs) == 1 for graphs in by_replication.values())
    assert by_replication[0] != by_replication[1]


def test_the_edges_of_er_and_sf_graphs_can_be_chosen():
    plan = plans.paper(graphs=["er", "sf"], nodes=[10], edges_per_node=2, attachments=3)
    options = {draw.graph: dict(draw.options) for draw in plan.draws}
    assert options["er"]["edges"] == 20.0
    assert options["sf"]["m"] == 3


def test_the_unfaithful_plan_draws_the_example_of_the_paper():
    plan = plans.unfaithful(rows=(100,), replications=2)
    assert plan.draws[0].arguments() == {
        "model": "unfaithful", "n": 100, "seed": plan.draws[0].seed,
    }  # fmt: skip
    assert set(tamis.simulate.draw(**plan.draws[0].arguments()).graph) == set("WXYZ")


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"graphs": ["star"]}, "the paper has no graph 'star'; it has tree, er, sf"),
        ({"models": ["tables"]}, "no model 'tables'"),
        ({"nodes": [1]}, "nodes must be a whole number from 2"),
        ({"replications": 0}, "replications must be a whole number from 1"),
        ({"rows": []}, "a plan needs at least one table"),
        ({"rows": [0]}, "rows must be a whole number from 1"),
        ({"edges_per_node": 5}, r"edges_per_node \(with 10 nodes\) must be a number from 0 to 4.5"),
        ({"methods": ["pc", "pc"]}, "the method 'pc' is in the plan twice"),
        ({"nodes": [10, 10]}, "the table 'add, er, d 10, n 1000, replication 0' is in the plan"),
        ({"time_limit": -1}, "time_limit must be a number of seconds above 0"),
        ({"patience": -1}, "patience must be a whole number from 0"),
    ],
)
def test_what_has_no_meaning_is_refused(options, complaint):
    with pytest.raises(tamis.SettingError, match=complaint):
        plans.paper(**options)


def test_a_plan_comes_back_from_its_file(tmp_path):
    plan = replace(small_plan(["pc"]), command="tamis experiment small")
    settle(plan, tmp_path)
    assert read_plan(tmp_path) == plan
    assert read_plan(tmp_path).command == plan.command
    assert Plan.from_dict(json.loads(json.dumps(plan.to_dict()))) == plan


def test_a_changed_plan_is_refused_with_the_difference(tmp_path):
    plan = small_plan(["pc"])
    settle(plan, tmp_path)
    settle(replace(plan, command="said in another way"), tmp_path)
    for changed, complaint in [
        (replace(plan, methods=("pc", "ges")), "its methods are pc, asked for are pc, ges"),
        (replace(plan, time_limit=1.0), "its time_limit is 30.0, asked for is 1.0"),
        (small_plan(["pc"], replications=4), "it has 6 tables and 8 are asked for, 6 of them the"),
    ]:
        with pytest.raises(tamis.SettingError, match=complaint):
            settle(changed, tmp_path)


def test_a_folder_without_a_plan_and_a_plan_that_is_none_are_refused(tmp_path):
    with pytest.raises(tamis.FileFormatError, match="not the folder of an experiment"):
        read_plan(tmp_path)
    for text in ("no json", "[]", '{"format": 99}', '{"format": 1, "name": "x"}'):
        (tmp_path / "plan.json").write_text(text)
        with pytest.raises(tamis.FileFormatError, match="cannot be read as a plan"):
            read_plan(tmp_path)


def test_a_draw_without_options_has_none():
    assert Draw.from_dict(Draw("mod", "tree", 4, 10, 0, 7).to_dict()).options == ()
