"""Every verdict, computed when it is asked for: published results on the one side, the exact engine on the other.

>>> verdict("lp-6.1-and").verdict, verdict("lp-6.2").verdict
('tight', 'unsound')
"""

from __future__ import annotations

from guessproof.errors import ParameterError
from guessproof.papers.judges import (
    kazan_reiter,
    kazan_reiter_earlier,
    kazan_reiter_profiles,
    laud_pankova,
    laud_pankova_appendix,
    laud_pankova_appendix_b,
    laud_pankova_examples,
    laud_pankova_search,
    laud_pankova_several,
    laud_pankova_single,
    mugunthan,
    slides,
    slides_attackers,
)
from guessproof.papers.verdict import JUDGED, WORDS, WORKS, Judge, Verdict, Word, Work

__all__ = ["JUDGED", "WORDS", "WORKS", "Verdict", "Word", "Work", "ids", "verdict", "verdicts"]

_DOCKETS = (
    laud_pankova.DOCKET,
    laud_pankova_single.DOCKET,
    laud_pankova_search.DOCKET,
    laud_pankova_several.DOCKET,
    laud_pankova_examples.DOCKET,
    laud_pankova_appendix.DOCKET,
    laud_pankova_appendix_b.DOCKET,
    slides.DOCKET,
    slides_attackers.DOCKET,
    kazan_reiter.DOCKET,
    kazan_reiter_profiles.DOCKET,
    kazan_reiter_earlier.DOCKET,
    mugunthan.DOCKET,
)
_JUDGES: dict[str, Judge] = {name: judge for docket in _DOCKETS for name, judge in docket.judges.items()}


def ids() -> list[str]:
    """The ids of all verdicts, in the order of the works."""
    return list(_JUDGES)


def verdict(name: str) -> Verdict:
    """One verdict, computed now."""
    if name not in _JUDGES:
        raise ParameterError("id", name, "no result has this id", f"use one of {', '.join(_JUDGES)}")
    return _JUDGES[name]()


def verdicts() -> list[Verdict]:
    """All verdicts, computed now."""
    return [judge() for judge in _JUDGES.values()]
