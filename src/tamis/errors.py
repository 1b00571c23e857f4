"""What tamis raises and warns with: one family, so that callers can catch all of it."""

from __future__ import annotations


class TamisError(Exception):
    """Every error that tamis raises on purpose."""


class DataError(TamisError, ValueError):
    """A table that cannot be learned from; the message names the column and the cure."""


class SettingError(TamisError, ValueError):
    """A parameter, or a combination of parameters, that has no meaning."""


class PluginError(SettingError):
    """Something from outside tamis that failed, or gave an answer without meaning."""


class FileFormatError(TamisError, ValueError):
    """A file that is not what its name says."""


class TamisWarning(UserWarning):
    """Something the analyst should know, that does not stop the work."""
