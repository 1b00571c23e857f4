"""Published networks: the same numbers as pyAgrum's, and a whole search at little cost."""

import gzip
import importlib.util
import math
import warnings
from pathlib import Path

import numpy as np
import pytest

from tamis.information.exact import ExactInformation
from tamis.information.inference import TooLarge

BITS = math.log(2)


@pytest.fixture(scope="module")
def gum():
    # Imported under warnings as errors, the library ends the interpreter.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("pyagrum")


@pytest.fixture(scope="module")
def published(gum, tmp_path_factory):
    """A network of the bnlearn repository in pyAgrum and here."""
    folder = Path(importlib.util.find_spec("pgmpy").origin).parent / "utils" / "example_models"
    known = {}

    def load(name):
        if name not in known:
            path = tmp_path_factory.mktemp("bif") / f"{name}.bif"
            path.write_bytes(gzip.decompress((folder / f"{name}.bif.gz").read_bytes()))
            known[name] = gum.loadBN(str(path))
            for node in known[name].nodes():
                known[name].cpt(node).normalizeAsCPT()
        return known[name], as_network(known[name])

    return load


def as_network(model):
    names = [model.variable(k).name() for k in model.nodes()]
    # The first name of a table is its own; the axes of its array are in reverse.
    cpts = [model.cpt(name) for name in names]
    parents = [tuple(names.index(p) for p in reversed(cpt.names[1:])) for cpt in cpts]
    return names, parents, [cpt.toarray() for cpt in cpts]


def posterior(gum, model, names):
    """The joint table of some variables, axes as named, by another library's inference."""
    engine = gum.LazyPropagation(model)
    engine.addJointTarget(set(names))
    engine.makeInference()
    table = engine.jointPosterior(set(names))
    found = list(reversed(table.names))
    return table.toarray().transpose([found.index(name) for name in names])


def entropy(table):
    return -math.fsum(p * math.log(p) for p in table.ravel().tolist() if p > 0)


SETS = {
    "cancer": [("Cancer",), ("Dyspnoea", "Xray"), ("Smoker", "Pollution", "Xray", "Dyspnoea")],
    "asia": [("dysp", "xray"), ("asia", "smoke"), ("either", "bronc", "xray", "tub")],
    "alarm": [
        ("HR", "CO", "BP"),
        ("CATECHOL", "SAO2", "EXPCO2"),
        ("HYPOVOLEMIA", "VENTLUNG", "PRESS", "MINVOL"),
        ("HISTORY", "CVP", "PCWP", "HRBP", "HREKG", "HRSAT"),
    ],
}
CASES = [(name, variables) for name, sets in SETS.items() for variables in sets]


@pytest.mark.parametrize(("name", "variables"), CASES)
def test_joint_tables_and_entropies_are_those_of_another_library(gum, published, name, variables):
    model, network = published(name)
    information = ExactInformation(*network)
    ref = posterior(gum, model, variables)
    positions = [network[0].index(variable) for variable in variables]
    np.testing.assert_allclose(information.marginal(positions), ref, atol=1e-14)
    assert information.entropy_of(positions) == pytest.approx(entropy(ref), abs=1e-12)
    for i, k in enumerate(positions):
        given = positions[:i] + positions[i + 1 :]
        wanted = entropy(ref) - entropy(ref.sum(axis=i))
        assert information.conditional_entropy(k, given) == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize(("name", "variables"), [case for case in CASES if len(case[1]) > 1])
def test_gains_are_those_of_another_library(gum, published, name, variables):
    model, network = published(name)
    information = ExactInformation(*network)
    one, *others = (network[0].index(variable) for variable in variables)
    table = posterior(gum, model, variables)
    rest = table.sum(axis=0)
    alone = table.reshape(len(table), -1).sum(axis=1)
    wanted = entropy(alone) + entropy(rest) - entropy(table)
    assert information.gain(one, others) == pytest.approx(wanted, abs=1e-12)


def test_pairs_have_the_mutual_information_of_another_library(gum, published):
    model, network = published("alarm")
    information = ExactInformation(*network)
    engine = gum.LazyPropagation(model)
    for one, two in [("HR", "CO"), ("CVP", "PCWP"), ("HISTORY", "LVFAILURE"), ("BP", "SAO2")]:
        wanted = engine.jointMutualInformation([one, two]) * BITS
        found = information.gain(network[0].index(one), [network[0].index(two)])
        assert found == pytest.approx(wanted, abs=1e-12)
        assert found > 0


def test_every_question_of_the_layers_of_alarm_is_answered_with_little_work(published, made):
    names, parents, tables = published("alarm")[1]
    information = ExactInformation(names, parents, tables)
    below, left, answers = [], set(range(37)), 0
    while left:
        layer = [k for k in left if set(parents[k]) <= set(below)]
        for k in left:
            alone = information.conditional_entropy(k, below)
            for i in sorted(set(layer) - {k}):
                gain = information.gain(k, [i], below)
                after = information.conditional_entropy(k, [i, *below])
                assert alone - after == pytest.approx(gain, abs=1e-12)
                answers += 1
            answers += 1
            if k in layer:
                wanted = information.conditional_entropy(k, parents[k])
                assert alone == pytest.approx(wanted, abs=1e-12)
        below += layer
        left -= set(layer)
    assert answers == 913
    assert len(made) < 7_000
    assert sum(made) < 1_500_000


def test_a_network_beyond_reach_says_so_and_answers_what_it_can(published):
    names, parents, tables = published("hailfinder")[1]
    information = ExactInformation(names, parents, tables, memory_limit=2**23)
    roots = [k for k in range(56) if not parents[k]]
    with pytest.raises(TooLarge, match="137 GiB; 8 MiB are allowed"):
        information.conditional_entropy(names.index("R5Fcst"), roots)
    assert information.conditional_entropy(names.index("CombVerMo"), roots) > 0
