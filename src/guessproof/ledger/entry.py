"""One line of the ledger, and the chain that holds the lines together.

An entry's digest is the SHA-256 of the canonical JSON of its six fields and of the digest before it, so that
nothing in the past can change without changing every digest after it. The last digest is the *head*. With a key,
every digest is also sealed by HMAC-SHA256, and only who has the key can write a chain that fits.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import math
from dataclasses import dataclass
from typing import Any

from guessproof.errors import ParameterError

FORMAT = "guessproof ledger 1"
START = "0" * 64  # what the first entry follows
COLUMNS = ("seq", "time", "name", "kind", "body", "previous", "digest", "seal")


@dataclass(frozen=True)
class Entry:
    """One line, as it is stored. ``body`` is canonical JSON."""

    seq: int
    time: str
    name: str
    kind: str
    body: str
    previous: str
    digest: str
    seal: str | None = None

    @property
    def content(self) -> dict[str, Any]:
        """The body, read; a fresh value each time."""
        return json.loads(self.body)

    def to_dict(self) -> dict[str, Any]:
        """For JSON, with the body read."""
        return {column: self.content if column == "body" else getattr(self, column) for column in COLUMNS}


def next_entry(
    last: Entry | None, *, time: str, name: str, kind: str, body: dict[str, Any], key: bytes | None = None
) -> Entry:
    """The entry that follows `last`, linked and, with a key, sealed.

    >>> next_entry(None, time="2030-01-01T00:00:00Z", name="cats", kind="note", body={"text": "hello"}).digest[:16]
    '785d2dca732b76f9'
    """
    seq = 1 if last is None else last.seq + 1
    previous = START if last is None else last.digest
    text = canonical(kind, body)
    digest = digest_of(seq, time, name, kind, text, previous)
    return Entry(seq, time, name, kind, text, previous, digest, None if key is None else seal_of(digest, key))


def digest_of(seq: int, time: str, name: str, kind: str, body: str, previous: str) -> str:
    """SHA-256 over a JSON array of strings and one number: no two different entries have the same text."""
    text = json.dumps([FORMAT, seq, time, name, kind, body, previous], separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def seal_of(digest: str, key: bytes) -> str:
    """HMAC-SHA256 of a digest."""
    return hmac.new(key, digest.encode("utf-8", "surrogateescape"), hashlib.sha256).hexdigest()


def canonical(field: str, value: Any) -> str:
    """One text for one value: ASCII, keys sorted, no spaces. Refuses what JSON cannot hold exactly.

    >>> canonical("answer", {"b": 0.1, "a": [1, None, "ε"]})
    '{"a":[1,null,"\\\\u03b5"],"b":0.1}'
    """
    _plain(field, value, 0)
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _plain(field: str, value: Any, depth: int) -> None:
    """Refuse by field and type, never by value: an answer is not for error messages."""
    if depth > 50:
        raise ParameterError(field, "…", "it is nested more than 50 deep", "make it flatter")
    if isinstance(value, dict):
        for name, part in value.items():
            if not isinstance(name, str):
                raise ParameterError(field, type(name).__name__, "a key of it is not text", "use text for every key")
            _plain(f"{field}.{name}", part, depth + 1)
    elif isinstance(value, list | tuple):
        for index, part in enumerate(value):
            _plain(f"{field}[{index}]", part, depth + 1)
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise ParameterError(field, "NaN or an infinity", "JSON has no such number", "use null or text for it")
    elif isinstance(value, int):
        if abs(value) >= 2**1024:
            raise ParameterError(field, "…", "the integer is too large", "use text for it")
    elif value is not None and not isinstance(value, str):
        remedy = "use dict, list, text, plain Python numbers, booleans and None"
        raise ParameterError(field, type(value).__name__, "JSON has no such type", remedy)
