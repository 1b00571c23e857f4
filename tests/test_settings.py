"""Settings are stated once: the same parameters at the door, in the object and in the record."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError, replace
from inspect import signature

import pytest

import tamis
from tamis.errors import SettingError
from tamis.rules import Fixed, FTest, Permutation, Score
from tamis.settings import RECORDED, VERSION, Settings

OF_THE_SEARCH = {"constants", "constraints", "kind"}
"""What only a source can say, and so is no parameter of ``TAM``."""
NOT_DECISIVE = {"alpha", "memory", "n_jobs"}
"""Parameters that decide nothing beside what is recorded: alpha is that of the rules."""


def test_tam_and_settings_have_the_same_parameters_and_defaults():
    asked = {name: one.default for name, one in signature(tamis.TAM).parameters.items()}
    held = {name: one.default for name, one in signature(Settings).parameters.items()}
    assert asked == {name: held[name] for name in held if name not in OF_THE_SEARCH}


def test_what_decides_a_result_is_recorded_and_nothing_else():
    asked = signature(tamis.TAM).parameters.keys() - NOT_DECISIVE
    assert set(RECORDED) == asked | {"constants"}
    assert Settings().to_dict().keys() == {*RECORDED, VERSION}


def test_what_is_left_open_is_filled_in_for_the_search_and_the_information():
    settings = Settings()
    assert settings.boundary_rule == settings.on("gaussian").boundary_rule == Score()
    assert settings.on("gaussian", search="node").boundary_rule == FTest(0.001)
    assert Settings("sequential").boundary_rule == Score()
    assert Settings("sequential", boundary="none").boundary_rule == Permutation(0.001)
    assert settings.on("neighbours").search == "sequential"


def test_what_was_asked_for_is_not_filled_in_again():
    settings = Settings("sequential", alpha=0.1, masking_rule=0.3)
    assert settings.on("gaussian").boundary_rule == FTest(0.1, whole_graph=True)
    assert settings.on("gaussian").masking_rule == Fixed(0.3)
    assert not settings.leaves_open("alpha")
    assert settings.leaves_open("boundary_rule", "entropy")


def test_a_copy_keeps_everything_but_what_is_changed():
    settings = Settings("node", alpha=0.1, information="counts")
    copy = replace(settings, boundary_rule=Fixed(0.5))
    assert copy.boundary_rule == Fixed(0.5)
    assert copy.masking_rule == settings.masking_rule == Permutation(0.1)
    with pytest.raises(SettingError, match="max_boundary"):
        replace(settings, max_boundary=-1)


def test_settings_cannot_be_changed_but_copied():
    settings = Settings("node", source=None, knowledge={"sinks": ["a"]})
    with pytest.raises(FrozenInstanceError):
        settings.search = "node"
    copy = pickle.loads(pickle.dumps(settings))  # noqa: S301
    assert copy.to_dict() == settings.to_dict()
    assert copy.asked == settings.asked


@pytest.mark.parametrize("search", ["auto", "sequential"])
def test_what_was_filled_in_may_be_given_again(search):
    settings = Settings(search)
    assert replace(settings, edge_price=2.0).boundary_rule == Score()
    assert Settings.from_dict(settings.to_dict()).to_dict() == settings.to_dict()


@pytest.mark.parametrize("information", ["counts", "gaussian", "copula", "mixed", "lipschitz"])
def test_a_record_can_be_read_back(information):
    settings = Settings("node", information=information, knowledge={"sources": ["a"]})
    assert Settings.from_dict(settings.to_dict()).to_dict() == settings.to_dict()
