"""When two names of columns mean the same column, and which known name was meant by another.

DuckDB compares names without regard to the case of A to Z and keeps everything else apart: `Time` is `time`, while `É`
and `é` can be two columns of one table. People hardly see such a difference, and other engines fold more. So two names
that only *look* the same are taken neither for one column nor for two where it matters: that is refused.
"""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterable

_LOWER = str.maketrans({letter: letter.lower() for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"})


def folded(name: str) -> str:
    """One spelling for all that name the same column.

    >>> folded("Time") == folded("TIME"), folded("É") == folded("é")
    (True, False)
    """
    return name.translate(_LOWER)


def likeness(name: str) -> str:
    """One spelling for all that look the same, whether or not they name the same column.

    >>> likeness("É") == likeness("é") == likeness("e" + chr(0x301)), likeness("straße") == likeness("STRASSE")
    (True, True)
    """
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def suggest_name(name: str, known: Iterable[str], otherwise: str, *, near: float = 0.6) -> str:
    """The known name that was probably meant, as a question; otherwise a hint. `near`: how alike, 1 is equal.

    >>> suggest_name("sorce", ["name", "source"], "use one of name, source")
    'did you mean source?'
    """
    spelled = {n.casefold(): n for n in reversed(list(known))}
    close = difflib.get_close_matches(name.casefold(), list(spelled), n=1, cutoff=near)
    return f"did you mean {spelled[close[0]]}?" if close else otherwise
