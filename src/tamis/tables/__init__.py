"""A table becomes named columns, levelled or continuous; every refusal of bad input lives here."""

from __future__ import annotations

from tamis.tables.kinds import require_levels
from tamis.tables.read import read_table, table_notes
from tamis.tables.table import Label, Table

__all__ = ["Label", "Table", "read_table", "require_levels", "table_notes"]
