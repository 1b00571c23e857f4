"""What every format must be able to do with a name: write it as UTF-8."""

from __future__ import annotations


def is_unicode(name: str) -> bool:
    """Whether a name is text that UTF-8 can hold; a lone surrogate is not."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
