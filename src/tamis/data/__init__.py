"""A table becomes named, levelled columns; every refusal of bad input lives here."""

from __future__ import annotations

from tamis.data.read import read_table, table_notes
from tamis.data.table import Label, Table

__all__ = ["Label", "Table", "read_table", "table_notes"]
