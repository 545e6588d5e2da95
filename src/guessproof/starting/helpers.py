"""What a steward can say instead of parameters: presets, ready attackers, and beliefs in words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from guessproof.errors import ParameterError, PriorError
from guessproof.names import suggest_name
from guessproof.world import QUARTILE, read_half

_NO_IDEA = ("no idea", "unknown", "nothing")


@dataclass(frozen=True)
class Preset:
    """How much an attacker may learn, for three kinds of data holder."""

    name: str
    advantage: float
    relative: float  # the three agencies of Kazan & Reiter, Table 3
    absolute: float  # and of their Table 4


PRESETS: Mapping[str, Preset] = {
    "cautious": Preset("cautious", 0.02, 1.5, 0.025),
    "middle": Preset("middle", 0.05, 3.0, 0.15),
    "open": Preset("open", 0.1, 6.0, 0.3),
}


@dataclass(frozen=True)
class ReadyAttacker:
    """An attacker whom most stewards have met, and what he stands for under "values" and under "records"."""

    name: str
    values: str
    records: str


ATTACKERS: Mapping[str, ReadyAttacker] = {
    a.name: a
    for a in (
        ReadyAttacker(
            "knows everyone else",
            "He knows every other record, who is in the table and how many rows it has. Only the protected values of "
            "one record are hidden from him.",
            "He knows every other record and everything about one person, and asks only whether that person is in "
            "the table (q = 1). However sure he was before, the limit holds.",
        ),
        ReadyAttacker(
            "stranger with public statistics",
            "He knows what public statistics tell, and no more: put that into prior. The noise is computed as if he "
            "knew the other records as well, so that nothing is lost if he does.",
            "He knows that the person belongs to the population, not whether the person was asked: p is the share "
            "of the population that is in the table.",
        ),
        ReadyAttacker(
            "knows you took part",
            'He knows that the person is in the table, which protects = "values" takes as known anyway. What he knows '
            "of the value besides goes into knows.",
            "He knows that the person is in the table (p = 1) and asks what the person's values are.",
        ),
    )
}

T = TypeVar("T")


def chosen(field: str, name: str, known: Mapping[str, T]) -> T:
    """One of several things that have names; part of a name is enough where it is the only one.

    >>> chosen("attacker", "stranger", ATTACKERS).name
    'stranger with public statistics'
    """
    words = " ".join(name.lower().replace("-", " ").replace("_", " ").split())
    spelled = {key.replace("-", " "): key for key in known}
    found = [key for text, key in spelled.items() if text == words] or [
        key for text, key in spelled.items() if words and words in text
    ]
    if len(found) == 1:
        return known[found[0]]
    hint = suggest_name(name, known, f"choose from {', '.join(known)}")
    raise ParameterError(field, name, "is not known", hint)


@dataclass(frozen=True)
class WrittenBelief:
    """A prior as TOML, and the words that it came from."""

    toml: str
    comment: str


def believed(text: str) -> WrittenBelief:
    """A prior from words: "half of people lie between 10 and 30", or "no idea".

    >>> believed("half between 10 and 30").toml
    '{ normal = { mean = 20, sd = 14.8260 } }'
    >>> believed("no idea").toml
    '"unknown"'
    """
    words = " ".join(text.split())
    if words.lower() in _NO_IDEA:
        return WrittenBelief(
            '"unknown"', "Nothing is known but the bounds: the limit holds whatever an attacker believes."
        )
    found = read_half(words)
    if found is None:
        raise PriorError("prior", text, "is not understood", 'say "half between 10 and 30", or "no idea"')
    low, high = found
    mean, sd = (low + high) / 2, (high - low) / (2 * QUARTILE)
    comment = f"Half of people lie between {low:g} and {high:g}: a normal prior with these quartiles."
    return WrittenBelief(f"{{ normal = {{ mean = {_digits(mean)}, sd = {_digits(sd, 6)} }} }}", comment)


def _digits(value: float, digits: int | None = None) -> str:
    if digits is None:
        return f"{value:.15g}" if math.isfinite(float(f"{value:.15g}")) else repr(value)
    return f"{value:#.{digits}g}"
