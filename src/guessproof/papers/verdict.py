"""What a verdict is, and the few rules by which its word follows from computed numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import ArrayLike

Word = Literal["tight", "sound but loose", "does not apply", "unsound", "misprint"]
WORDS: tuple[Word, ...] = ("tight", "sound but loose", "does not apply", "unsound", "misprint")
CLOSE = 1e-6


@dataclass(frozen=True)
class Work:
    """One of the works, the kind of document that was judged, and the version that was read."""

    key: str
    title: str
    kind: str
    version: str


LP = Work(
    "[LP]",
    "Laud & Pankova, Interpreting Epsilon of Differential Privacy in Terms of Advantage in Guessing or "
    "Approximating Sensitive Attributes",
    "an undated manuscript",
    "an undated manuscript as transcribed; other versions not checked",
)
SLIDES = Work(
    "[slides]",
    "Pankova & Laud, slides of the talk of the same name",
    "slides of a talk of 7 August 2022",
    "the slides of 7 August 2022, in two transcriptions",
)
KR = Work(
    "[KR]",
    "Kazan & Reiter, Prior-itizing Privacy: A Bayesian Approach to Setting the Privacy Budget in Differential Privacy",
    "a draft of 23 April 2023",
    "the draft of 23 April 2023 as transcribed; later versions not checked",
)
MXK = Work(
    "[MXK]",
    "Mugunthan, Xiao & Kagal, Novel strategies to calculate the privacy loss parameter in Differential Privacy "
    "(poster)",
    "an undated poster abstract",
    "the poster abstract as transcribed; other versions not checked",
)
WORKS = (LP, SLIDES, KR, MXK)
JUDGED = (
    f"Judged: machine transcriptions of {', '.join(f'{work.kind} {work.key}' for work in WORKS)}; "
    "their pictures are not in them, and no printed or later version was read."
)
"""What kind of documents the verdicts speak of, in one line."""


@dataclass(frozen=True)
class Verdict:
    """One published result, and what is true of it; every figure computed when the verdict was asked for."""

    id: str
    work: str
    version: str
    result: str
    says: str
    """The published claim, in our words."""
    verdict: Word
    truth: str
    """What is true, in our words."""
    figures: Mapping[str, float]
    right: str
    """What the work got right here."""
    doubt: str = ""
    """A doubt about the transcription or the reading, kept apart from an error."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "figures", MappingProxyType(dict(self.figures)))

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; a figure that is not finite becomes a string."""
        names = ("id", "work", "version", "result", "says", "verdict", "truth", "right", "doubt")
        plain: dict[str, Any] = {name: getattr(self, name) for name in names}
        plain["figures"] = {k: v if math.isfinite(v) else str(v) for k, v in self.figures.items()}
        return plain


@dataclass(frozen=True)
class Finding:
    """What a judge finds: a verdict without its address."""

    says: str
    verdict: Word
    truth: str
    figures: Mapping[str, ArrayLike]
    right: str
    doubt: str = ""


Judge = Callable[[], Verdict]


@dataclass(frozen=True)
class Docket:
    """The judges of one work, by the id of what they judge."""

    work: Work
    judges: dict[str, Judge] = field(default_factory=lambda: cast("dict[str, Judge]", {}))

    def enter(self, name: str, result: str) -> Callable[[Callable[[], Finding]], Callable[[], Finding]]:
        """Enter a judge under an id, with the place of the result in the work."""

        def entered(find: Callable[[], Finding]) -> Callable[[], Finding]:
            def judge() -> Verdict:
                found = find()
                return Verdict(
                    id=name,
                    work=self.work.key,
                    version=self.work.version,
                    result=result,
                    says=found.says,
                    verdict=found.verdict,
                    truth=_minus(found.truth),
                    figures={k: _figure(v) for k, v in found.figures.items()},
                    right=found.right,
                    doubt=found.doubt,
                )

            self.judges[name] = judge
            return find

        return entered


def _figure(value: ArrayLike) -> float:
    """A figure as a number; what is only rounding (below 1e-9) is 0, so that every machine shows the same."""
    number = float(np.asarray(value))
    return 0.0 if abs(number) < 1e-9 else number


def _minus(text: str) -> str:
    """A proper minus before numbers: computed ones come with a hyphen.

    >>> _minus("from -1.25 to 1e-12")
    'from −1.25 to 1e-12'
    """
    return re.sub(r"(?<![\w.])-(?=\d)", "−", text)


def judge_bounds(published: ArrayLike, exact: ArrayLike, close: float = CLOSE) -> Word:
    """A bound from above against the exact values: below one of them it is unsound, at all of them tight.

    >>> judge_bounds([0.5, 0.7], [0.5, 0.7]), judge_bounds([0.5, 0.8], [0.5, 0.7]), judge_bounds([0.5, 0.6], [0.4, 0.7])
    ('tight', 'sound but loose', 'unsound')
    """
    bound, truth = np.asarray(published, dtype=float), np.asarray(exact, dtype=float)
    room = close * np.where(np.isfinite(truth), np.abs(truth), 0.0)
    if np.any(np.isnan(bound)) or np.any(bound < truth - room):
        return "unsound"
    return "tight" if np.all(bound <= truth + room) else "sound but loose"


def judge_epsilons(published: ArrayLike, exact: ArrayLike, close: float = CLOSE) -> Word:
    """An ε that is said to be safe, against the largest safe one: above it unsound, at it tight.

    >>> judge_epsilons([0.1], [0.2]), judge_epsilons([0.3], [0.2])
    ('sound but loose', 'unsound')
    """
    said, safe = np.asarray(published, dtype=float), np.asarray(exact, dtype=float)
    if np.any(np.isnan(said)):
        return "unsound"
    return judge_bounds(safe, said, close)


def judge_promise(delivered: ArrayLike, limit: ArrayLike, close: float = CLOSE) -> Word:
    """What happens against what was promised not to be exceeded."""
    return judge_bounds(limit, delivered, close)


def judge_print(printed: ArrayLike, corrected: ArrayLike, true: ArrayLike, close: float = CLOSE) -> Word:
    """A printed form against a corrected one: a misprint if only the corrected one gives the true values.

    >>> judge_print(-0.767, 0.767, 0.767), judge_print(1.0, 1.0, 1.0)
    ('misprint', 'tight')
    """
    truth = np.asarray(true, dtype=float)

    def agrees(value: ArrayLike) -> bool:
        return bool(np.allclose(np.asarray(value, dtype=float), truth, rtol=close, atol=close * 1e-3))

    if agrees(printed):
        return "tight"
    return "misprint" if agrees(corrected) else "unsound"


def judge_applied(there: Word, holds: bool, here: Word) -> Word:
    """A result carried over to another setting: `there` under its stated assumption, `here` in that setting.

    Where the assumption fails in the setting, a promise that is broken there is no fault of the result.

    >>> judge_applied("tight", False, "unsound"), judge_applied("tight", True, "unsound")
    ('does not apply', 'unsound')
    """
    return "does not apply" if here == "unsound" and not holds and there != "unsound" else here
