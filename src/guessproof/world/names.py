"""One spelling of a column's name."""

from __future__ import annotations


def folded(name: str) -> str:
    """The spelling by which two names are the same column: SQL does not tell capitals from small letters.

    Every comparison of names goes through here. It joins a few names more than some engines do (É and é), never fewer.

    >>> folded("Time") == folded("TIME")
    True
    """
    return name.casefold()
