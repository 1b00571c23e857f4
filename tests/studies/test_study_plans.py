"""Plans: what the files ask for, and that names and seeds never change."""

from __future__ import annotations

import json
import sys

import pytest
from study_plans import small_plan

import tamis
from tamis import studies
from tamis.studies import Plan, load
from tamis.studies.attempts import network_files

has_networks = pytest.mark.skipif(not network_files(), reason="pgmpy 1.1.0 is not installed")


def test_the_full_plan_is_the_papers_grid_with_both_kinds_of_trees():
    plan = load("paper")
    assert len(plan.draws) == 2 * 4 * 5 * 4 * 30
    assert {run.d for run, *_ in plan.draws} == {10, 20, 30, 40, 50}
    assert {run.n for run, *_ in plan.draws} == {1000, 2000, 3000, 4000}
    assert {run.graph for run, *_ in plan.draws} == {"tree", "tree-by-label", "er", "sf"}
    methods = {runs[0].model: tuple(run.method for run in runs) for runs in plan.draws}
    assert methods["mod"] == ("auto", "sequential", "node", "reference", "pc", "ges-bic")
    assert methods["add"] == (*methods["mod"], "auto-labels")
    assert len(set(plan.runs)) == len(plan.runs) == len(plan.draws) // 2 * 13


def test_the_quick_plan_is_a_part_of_the_full_one():
    quick, full = load("paper", quick=True), load("paper")
    assert len(quick.draws) == 2 * 4 * 2 * 2 * 5
    assert {runs[0] for runs in quick.draws} <= {runs[0] for runs in full.draws}


def test_keys_and_seeds_stay_the_same_whatever_else_is_planned():
    alone = load("paper", models=["add"], graphs=["er"], nodes=[20], rows=[500], replications=8)
    run = next(run for run in alone.draws[7] if run.method == "pc")
    assert run.key == "add/er/20/500/7/pc"
    # Written down: another seed would be another study under the same name.
    assert run.seed == 1977048525
    assert json.loads(run.settings) == {
        "graph": "er", "d": 20, "model": "add", "n": 500, "seed": 1977048525,
        "edges": 20.0, "p": 0.2, "flip": False,
    }  # fmt: skip


def test_a_replication_is_one_skeleton_for_all_models_and_n_and_both_kinds_of_trees():
    plan = load("paper", graphs=["tree", "tree-by-label"], nodes=[10], rows=[50, 80],
                replications=2)  # fmt: skip
    by_replication, by_graph = {}, {}
    for run, *_ in plan.draws:
        graph = tamis.simulate.draw(**json.loads(run.settings)).graph
        skeleton = frozenset(map(frozenset, graph.edges))
        by_replication.setdefault(run.replication, set()).add(skeleton)
        by_graph.setdefault((run.replication, run.graph), set()).add(frozenset(graph.edges))
    assert all(len(graphs) == 1 for graphs in (*by_replication.values(), *by_graph.values()))
    assert by_replication[0] != by_replication[1]
    assert by_graph[0, "tree"] != by_graph[0, "tree-by-label"]


def test_the_unfaithful_plan_draws_the_example_of_the_paper():
    plan = load("unfaithful", rows=(100,), replications=2)
    run = plan.draws[0][0]
    settings = json.loads(run.settings)
    assert settings == {"model": "unfaithful", "n": 100, "seed": run.seed}
    assert set(tamis.simulate.draw(**settings).graph) == set("WXYZ")


@has_networks
def test_the_networks_are_all_24_of_the_repository():
    plan = load("networks")
    sizes = {run.model: run.d for run, *_ in plan.draws}
    assert len(sizes) == 24
    assert (sizes["asia"], sizes["alarm"], sizes["munin"]) == (8, 37, 1041)
    assert len(plan.draws) == 24 * 4 * 10


def test_networks_come_from_a_folder_and_are_asked_for_where_there_are_none(tmp_path, monkeypatch):
    network = tamis.BayesianNetwork.example("orchard")
    network.write(tmp_path / "asia.bif")
    plan = load("networks", models=["asia"], networks=str(tmp_path))
    assert plan.draws[0][0].d == len(network.names)
    with pytest.raises(tamis.SettingError, match=r"has no alarm\.bif or alarm\.bif\.gz"):
        load("networks", networks=str(tmp_path))
    monkeypatch.setitem(sys.modules, "pgmpy", None)
    with pytest.raises(tamis.SettingError, match=r"pip install 'pgmpy==1\.1\.0', .* a folder of"):
        load("networks", tables=[{"network": "no-such"}])


@pytest.mark.parametrize("study", [name for name in studies.shipped() if name != "networks"])
@pytest.mark.parametrize("quick", [False, True])
def test_every_kind_of_table_of_every_plan_can_be_drawn(study, quick):
    from tamis.studies.attempts import Dataset

    plan = load(study, quick=quick)
    kinds = {run.cell[:2]: run for run, *_ in plan.draws if run.replication == 0}
    for run in kinds.values():
        data = Dataset({**json.loads(run.settings), "n": 60})
        assert set(data.columns) == set(data.graph)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"graphs": ["star"]}, "the plan has no graph 'star'; it has tree, tree-by-label, er, sf"),
        ({"models": ["tables"]}, "no model 'tables'"),
        ({"tables": [{"model": "mud"}]}, "model must be one of mod, .* did you mean 'mod'"),
        ({"tables": [{"model": "mod", "size": 3}]}, "there is no 'size' for tables of a plan"),
        ({"nodes": [1]}, "nodes must be a whole number from 2"),
        ({"replications": 0}, "replications must be a whole number from 1"),
        ({"rows": []}, "a plan needs at least one table"),
        ({"rows": [0]}, "rows must be a whole number from 1"),
        ({"methods": ["pc", "pc"]}, "the method 'pc' is in the plan twice"),
        ({"nodes": [10, 10]}, "the table 'add/er/10/1000/0/' is in the plan twice"),
        ({"time_limit": -1}, "time_limit must be a number of seconds from 0 on"),
        ({"patience": -1}, "patience must be a whole number from 0"),
        ({"measure": "f1"}, "measure must be one of shd, cpdag"),
        ({"speed": 1}, "a plan has no 'speed'"),
    ],
)
def test_what_has_no_meaning_is_refused(options, complaint):
    with pytest.raises(tamis.SettingError, match=complaint):
        load("paper", **options)


def test_a_plan_comes_back_from_what_json_holds():
    plan = small_plan(["pc"], also={"add": ["ges"]})
    assert Plan(**json.loads(json.dumps(plan.to_dict()))) == plan
    assert plan.without(["ges", "none"]).all_methods() == ("pc",)


def test_a_study_of_your_own_is_a_file(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(
        'methods = ["pc"]\nrows = 50\nnodes = [4, 5]\nreplications = 2\n'
        '[[tables]]\nmodel = "mod"\ngraph = ["tree", "chain"]\n[quick]\nnodes = 4\n'
    )
    assert len(load(path).draws) == 2 * 2 * 2
    assert {run.d for run, *_ in load(path, quick=True).draws} == {4}
    assert load(path).name == "mine"
    with pytest.raises(tamis.SettingError, match="there is no study 'none'; there are families"):
        load("none")
    path.write_text("methods = [")
    with pytest.raises(tamis.FileFormatError, match="cannot be read as a plan"):
        load(path)
