"""Results as files: written whole or not at all, by the file's ending; JSON is read again as a
result, and a graph from JSON, GraphML, CSV and BIF."""

from __future__ import annotations

from tamis.formats.files import check_outputs, load, load_graph, save

__all__ = ["check_outputs", "load", "load_graph", "save"]
