"""Canonical JSON, digests and seals."""

from __future__ import annotations

import hashlib
import hmac
import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from guessproof.errors import ParameterError
from guessproof.ledger import read_key
from guessproof.ledger.book import COLUMNS, START, Entry, canonical, next_entry, read_chain
from ledger.making import KEY

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda parts: st.lists(parts, max_size=4) | st.dictionaries(st.text(), parts, max_size=4),
    max_leaves=12,
)


def chain(length: int, key: bytes | None = None) -> list[Entry]:
    entries: list[Entry] = []
    for number in range(length):
        last = entries[-1] if entries else None
        body = {"number": number}
        entries.append(next_entry(last, time="2030-01-01T00:00:00Z", name="cats", kind="note", body=body, key=key))
    return entries


def rows(entries: list[Entry]) -> list[tuple[Any, ...]]:
    return [tuple(getattr(entry, column) for column in COLUMNS) for entry in entries]


@given(plain)
def test_canonical_json_reads_back_as_the_same_value_and_text(value: Any) -> None:
    text = canonical("x", value)
    assert text.isascii()
    assert json.loads(text) == value
    assert canonical("x", json.loads(text)) == text


def test_the_order_of_keys_does_not_matter() -> None:
    assert canonical("x", {"b": 1, "a": 2}) == canonical("x", {"a": 2, "b": 1})


@pytest.mark.parametrize(
    ("value", "field"),
    [
        ({"a": math.nan}, r"x\.a"),
        ([0, math.inf], r"x\[1\]"),
        ({1: 2}, "key"),
        ({"a": {1, 2}}, r"x\.a"),
        ({"a": np.int64(3)}, "int64"),
        (10**400, "too large"),
        (b"bytes", "bytes"),
    ],
)
def test_what_json_cannot_hold_is_refused_by_place_and_type(value: Any, field: str) -> None:
    with pytest.raises(ParameterError, match=field):
        canonical("x", value)


def test_a_refusal_never_shows_an_answer() -> None:
    with pytest.raises(ParameterError) as refused:
        canonical("answer", {"secret": complex(12345.678)})
    assert "12345" not in str(refused.value)


def test_depth_is_bounded() -> None:
    deep: Any = []
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(ParameterError, match="nested"):
        canonical("x", deep)


def test_the_chain_is_the_published_recipe() -> None:
    """Computed here from the words in docs/ledger.md alone."""
    previous = "0" * 64
    for entry in chain(3, KEY):
        fields = ["guessproof ledger 1", entry.seq, entry.time, entry.name, entry.kind, entry.body, previous]
        digest = hashlib.sha256(json.dumps(fields, separators=(",", ":")).encode("ascii")).hexdigest()
        assert (entry.previous, entry.digest) == (previous, digest)
        assert entry.seal == hmac.new(KEY, digest.encode("ascii"), "sha256").hexdigest()
        previous = digest


def test_every_flip_of_every_byte_of_every_column_is_found() -> None:
    """Each character replaced by each of two others, in each column of each row, also with a fitting key."""
    for key in (None, KEY):
        stored = rows(chain(4, key))
        assert read_chain(stored, key)[1] == []
        for at, row in enumerate(stored):
            for column, value in enumerate(row):
                for changed in flips(value):
                    spoiled = [*stored[:at], (*row[:column], changed, *row[column + 1 :]), *stored[at + 1 :]]
                    assert read_chain(spoiled, key)[1], (at, column, changed)


def flips(value: Any) -> list[Any]:
    if value is None:
        return [b"", "", "00", 0]
    if isinstance(value, int):
        return [value + 1, value - 1, -value, str(value), float(value), None]
    spoiled = [value[:i] + chr(ord(value[i]) ^ bit) + value[i + 1 :] for i in range(len(value)) for bit in (1, 32)]
    return [*spoiled, value[:-1], value + " ", value.encode(), None, ""]


@pytest.mark.parametrize("key", [None, KEY])
def test_rehashing_an_edited_entry_breaks_the_next_link(key: bytes | None) -> None:
    entries = chain(4, key)
    forged = next_entry(entries[0], time=entries[1].time, name="cats", kind="note", body={"number": 99}, key=key)
    _, defects = read_chain(rows([entries[0], forged, *entries[2:]]), key)
    assert [defect.seq for defect in defects] == [3]


def test_rewriting_everything_shows_only_with_the_key() -> None:
    sealed, forged = chain(4, KEY), chain(5)
    resealed = chain(5, b"not the key of this ledger")
    assert read_chain(rows(forged), None)[1] == []  # the limit that the docs name
    assert "no entry is sealed" in str(read_chain(rows(forged), KEY)[1][0])
    assert "the key is wrong" in str(read_chain(rows(resealed), KEY)[1][0])
    mixed = [*sealed, next_entry(sealed[-1], time="t", name="n", kind="note", body={})]
    assert "written without the key" in str(read_chain(rows(mixed), KEY)[1][0])
    forged_seal = replace(mixed[-1], seal="0" * 64)
    assert "forged without the key" in str(read_chain(rows([*sealed, forged_seal]), KEY)[1][0])
    assert "no key was given" in str(read_chain(rows(sealed), None)[1][0])


def test_the_first_entry_follows_zeros() -> None:
    assert chain(1)[0].previous == START == "0" * 64


def test_keys_come_from_the_environment_or_a_file(tmp_path: Any) -> None:
    file = tmp_path / "key"
    file.write_bytes(KEY + b"\n")
    assert read_key(file, {}) == KEY == read_key(None, {"GUESSPROOF_LEDGER_KEY": KEY.decode() + "\n"})
    assert read_key(None, {}) is None
    for short in ("", "short", "  " * 20):
        with pytest.raises(ParameterError, match="16 bytes") as refused:
            read_key(None, {"GUESSPROOF_LEDGER_KEY": short})
        assert "short" not in str(refused.value)
