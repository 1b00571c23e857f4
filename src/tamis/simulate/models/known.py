"""A model that is a network with tables: from a file, by name, or from Python."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tamis.errors import DataError, SettingError
from tamis.network import BayesianNetwork
from tamis.simulate.graphs.graph import Graph
from tamis.simulate.models.model import Column, Model
from tamis.simulate.options import whole
from tamis.simulate.streams import Purpose, Seed, child

NetworkSource = str | os.PathLike[str] | BayesianNetwork | Mapping[str, Any]
"""A path of a BIF file, the name of a network that comes with tamis, the network itself, or what
``network_to_json`` makes of it."""


@dataclass(frozen=True)
class Known(Model):
    """The law of a given network, whose labels are the values."""

    tables: BayesianNetwork

    def sample(self, n: int, seed: Seed, replicate: int = 0) -> dict[str, Column]:
        """Draw ``n`` independent rows of labels, by streams that go with the names of nodes."""
        key = whole("replicate", replicate, 0)
        return self.tables.sample(whole("n", n, 1), child(seed, Purpose.NOISE, key))

    def network(self) -> BayesianNetwork:
        """The network."""
        return self.tables


def known(source: NetworkSource) -> Known:
    """The model of a network, however it is given."""
    network = _network(source)
    return Known(Graph(network.names, network.parents), network)


def _network(source: NetworkSource) -> BayesianNetwork:
    if isinstance(source, BayesianNetwork):
        return source
    if isinstance(source, Mapping):
        return _from_dict(source)
    if not isinstance(source, str | os.PathLike):
        raise SettingError(
            "network must be the path of a BIF file, the name of an example or a "
            f"BayesianNetwork, not {source!r}"
        )
    if source in BayesianNetwork.examples():
        return BayesianNetwork.example(str(source))
    return BayesianNetwork.read(source)


def network_to_json(source: NetworkSource) -> Any:  # noqa: ANN401 - whatever JSON holds
    """The source as JSON holds it: a path stays a path, a network is written out."""
    if isinstance(source, str | os.PathLike):
        return os.fspath(source)
    network = _network(source)
    return {
        "names": list(network.names),
        "levels": [list(labels) for labels in network.levels],
        "parents": [list(given) for given in network.parents],
        "tables": [table.tolist() for table in network.tables],
    }


def _from_dict(contents: Mapping[str, Any]) -> BayesianNetwork:
    fields = ("names", "levels", "parents", "tables")
    absent = [field for field in fields if field not in contents]
    if absent:
        raise DataError(f"A network written out has {', '.join(fields)}; {absent[0]!r} is absent.")
    return BayesianNetwork(*(contents[field] for field in fields))
