"""What a check looks like to a person and to a program."""

from __future__ import annotations

import json

import pytest
from known_networks import random_network
from typer.testing import CliRunner

import tamis
from tamis.cli import app
from tamis.report import summary

KEYS = {
    "C1", "C2", "C3", "U1", "U2", "unequal", "PPS", "positivity", "nondegeneracy", "polyforest",
    "faithful",
}  # fmt: skip


def test_every_condition_is_there_under_its_key_with_a_plain_sentence():
    found = tamis.check(tamis.BayesianNetwork.example("m2"))
    assert set(found.conditions) >= KEYS
    for key, condition in found.conditions.items():
        assert condition.key == key
        assert condition.sentence.endswith(".")
        assert condition.title in str(condition)
        assert bool(condition.violations) == (condition.holds is False)


@pytest.mark.parametrize("seed", range(5))
def test_a_check_survives_json(seed, tmp_path):
    found = tamis.check(random_network(seed, 5)[0])
    path = tmp_path / "check.json"
    found.write(path)
    read = json.loads(path.read_text())
    assert read == json.loads(json.dumps(found.to_dict()))
    assert read["guaranteed"] == list(found.guaranteed)
    assert read["conditions"]["C1"]["holds"] == found.conditions["C1"].holds


def test_a_check_is_written_as_json_only(tmp_path):
    with pytest.raises(tamis.SettingError, match=r"\.json"):
        tamis.check(random_network(0, 3)[0]).write(tmp_path / "check.txt")
    assert list(tmp_path.iterdir()) == []


def test_a_network_without_edges_or_with_one_node_has_nothing_to_violate():
    alone = tamis.BayesianNetwork(("a",), (("x", "y"),), ((),), ([0.5, 0.5],))
    found = tamis.check(alone)
    assert all(condition.holds for condition in found.conditions.values())
    assert set(found.guaranteed) == set(found.searches)
    assert found.gaps.to_dict()["Delta"] is None
    json.dumps(found.to_dict(), allow_nan=False)


def test_the_text_names_the_worst_culprit_and_what_follows():
    text = str(tamis.check(tamis.BayesianNetwork.example("m2")))
    assert "X4 is independent of each of its ancestors in layer 1" in text
    assert "Guaranteed from exact information: sequential" in text


def test_screen_notebook_and_page_say_that_the_pps_condition_is_stricter_than_printed():
    found = tamis.check(tamis.BayesianNetwork.example("m2"))
    assert "Stricter than printed: the best gain must also be positive." in str(found)
    assert "PPS condition (cond:pps), stricter than printed" in found._repr_html_()
    assert "stricter than printed" in summary._condition(found.conditions["PPS"]).cells[0].shown
    shown = CliRunner().invoke(app, ["check", "m2"]).output
    assert "Stricter than printed" in " ".join(shown.split())


def test_names_come_through_unharmed(tmp_path):
    odd = "<script>é\u2028 [bold]"
    network = tamis.BayesianNetwork(
        (odd, "b"), ((odd, "y"), ("x", "y")), ((), (0,)), ([0.2, 0.8], [[0.6, 0.4], [0.4, 0.6]])
    )
    found = tamis.check(network)
    found.write(tmp_path / "check.json")
    assert json.loads((tmp_path / "check.json").read_text())["layers"] == [[odd], ["b"]]
