"""Results as files: written whole or not at all, by the file's ending; JSON can be read again."""

from __future__ import annotations

from tamis.formats.files import check_outputs, load, save

__all__ = ["check_outputs", "load", "save"]
