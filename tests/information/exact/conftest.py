"""What the tests of exact information share."""

import pytest

from tamis.information import inference


@pytest.fixture
def made(monkeypatch):
    """The sizes of all tables that are made."""
    sizes = []
    contract, entropy = inference.contracted, inference.entropy

    def contracted(step, operands):
        table = contract(step, operands)
        sizes.append(table.size)
        return table

    def measured(table):
        sizes.append(table.size)
        return entropy(table)

    monkeypatch.setattr(inference, "contracted", contracted)
    monkeypatch.setattr(inference, "entropy", measured)
    return sizes
