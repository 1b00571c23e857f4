"""A table becomes named columns, levelled or measured; every refusal of bad input lives here."""

from __future__ import annotations

from tamis.data.measured import require_levels
from tamis.data.read import read_table, table_notes
from tamis.data.table import Label, Table

__all__ = ["Label", "Table", "read_table", "require_levels", "table_notes"]
