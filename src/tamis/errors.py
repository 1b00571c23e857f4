"""What tamis raises and warns with: one family, so that callers can catch all of it."""

from __future__ import annotations


class TamisError(Exception):
    """Every error that tamis raises on purpose.

    Examples
    --------
    >>> import tamis
    >>> try:
    ...     tamis.TAM(search="best").fit({"a": [0, 1], "b": [0, 1]})
    ... except tamis.TamisError as error:
    ...     print(type(error).__name__)
    SettingError
    """


class DataError(TamisError, ValueError):
    """A table that cannot be learned from; the message names the column and the cure.

    Examples
    --------
    >>> import tamis
    >>> try:
    ...     tamis.TAM().fit({"a": [0, 1, None, 1], "b": [0, 0, 1, 1]})
    ... except tamis.DataError as error:
    ...     print("'a'" in str(error))
    True
    """


class SettingError(TamisError, ValueError):
    """A parameter, or a combination of parameters, that has no meaning.

    Examples
    --------
    >>> import tamis
    >>> try:
    ...     tamis.TAM(search="best").fit({"a": [0, 1], "b": [0, 1]})
    ... except tamis.SettingError as error:
    ...     print("best" in str(error))
    True
    """


class PluginError(SettingError):
    """Something from outside tamis that failed, or returned an answer without meaning.

    Examples
    --------
    >>> import tamis
    >>> rows = {"rain": [0, 0, 1, 1] * 20, "wet": [0, 0, 1, 1] * 20}
    >>> try:
    ...     tamis.TAM("node", boundary_rule=lambda source, x, y, given: -1.0).fit(rows)
    ... except tamis.PluginError as error:
    ...     print("-1" in str(error))
    True
    """


class FileFormatError(TamisError, ValueError):
    """A file that is not what its name says.

    Examples
    --------
    >>> import tamis
    >>> with open("run.json", "w") as file:
    ...     length = file.write("nothing")
    >>> try:
    ...     tamis.load("run.json")
    ... except tamis.FileFormatError as error:
    ...     print("run.json" in str(error))
    True
    """


class TamisWarning(UserWarning):
    """Something the analyst should know that does not stop the work.

    Examples
    --------
    >>> import tamis, warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     model = tamis.TAM(missing="drop").fit({"a": [0, 1, None, 1] * 9, "b": [0, 0, 1, 1] * 9})
    >>> [one.category.__name__ for one in caught]
    ['TamisWarning']
    """
