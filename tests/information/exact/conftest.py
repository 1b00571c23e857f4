"""What the tests of exact information share."""

import pytest

from tamis.information.exact import inference, tables


@pytest.fixture
def made(monkeypatch):
    """The sizes of all tables that are made."""
    sizes = []
    contract, entropy = tables.contracted, inference.entropy

    def contracted(step, operands):
        table = contract(step, operands)
        sizes.append(table.size)
        return table

    def measured(table):
        sizes.append(table.size)
        return entropy(table)

    monkeypatch.setattr(tables, "contracted", contracted)
    monkeypatch.setattr(inference, "entropy", measured)
    return sizes
