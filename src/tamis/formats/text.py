"""What every format must be able to do with a name: write it as UTF-8, and read it again."""

from __future__ import annotations

from tamis.errors import FileFormatError


def is_unicode(name: str) -> bool:
    """Whether a name is text that UTF-8 can hold; a lone surrogate is not."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def decoded(content: bytes) -> str:
    """The text of a file; ``FileFormatError`` if it is not UTF-8 or empty."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileFormatError(f"it is not UTF-8, at byte {error.start}") from error
    if not text.strip():
        raise FileFormatError("it is empty")
    return text
