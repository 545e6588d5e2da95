"""Checkpoints: entries that say how every account stands, so that a charge need not read the chain from its start.

A checkpoint is an entry like any other: numbered, linked, sealed where the ledger is. Whoever reads the whole chain
finds one that does not say what the entries before it add up to; whoever begins at one trusts it as far as the
chain and the seal do.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from guessproof.ledger.account import SIZES, Account, Pins, read_size
from guessproof.ledger.amounts import Budget
from guessproof.ledger.book import Entry, canonical

VERSION = 1


def due_body(accounts: Mapping[str, Account], since: Sequence[Entry]) -> dict[str, Any] | None:
    """What a checkpoint would say now; None where it would be longer than all that came `since` the last one.

    So a ledger becomes at most twice as large by them, and reading from the last one takes no longer than it has to.
    """
    body = standings_body(accounts)
    return body if len(canonical("checkpoint", body)) <= sum(len(entry.body) for entry in since) else None


def standings_body(accounts: Mapping[str, Account]) -> dict[str, Any]:
    """How every account stands, ready for an entry."""
    return {"version": VERSION, "names": [_written(account) for account in accounts.values()]}


def read_standings(body: Mapping[str, Any]) -> dict[str, Account]:
    """The accounts as a checkpoint says that they stand; without their history."""
    if body["version"] != VERSION:
        raise ValueError("version")
    accounts = {account.name: account for account in map(_read, body["names"])}
    left = [amount for account in accounts.values() for amount in (account.left.epsilon, account.left.delta)]
    if len(accounts) != len(body["names"]) or any(not amount >= 0 for amount in left):
        raise ValueError("names")
    return accounts


def _written(account: Account) -> dict[str, Any]:
    pins = account.pins
    return {
        "name": account.name,
        "opened": account.opened,
        "budget": account.budget.to_dict(),
        "epsilon": str(account.epsilon),
        "delta": str(account.delta),
        "advantage": str(account.advantage),
        "scanned": account.is_scanned,
        "guarantees": [[times, json.loads(text)] for text, times in account.tallies.items()],
        "pins": {
            "unit": pins.unit,
            "complete": pins.is_complete,
            "protected": pins.protected,
            "public": {column: list(found) for column, found in pins.public.items()},
            "gaps": {column: list(found) for column, found in pins.gaps.items()},
            **pins.sizes,
        },
    }


def _read(table: Mapping[str, Any]) -> Account:
    return Account(
        name=table["name"],
        opened=table["opened"],
        budget=Budget(**table["budget"]),
        epsilon=_amount(table["epsilon"]),
        delta=_amount(table["delta"]),
        advantage=_amount(table["advantage"]),
        pins=_pins(table["pins"]),
        is_scanned=table["scanned"],
        tallies={canonical("guarantee", guarantee): times for times, guarantee in table["guarantees"]},
    )


def _pins(table: Mapping[str, Any]) -> Pins:
    return Pins(
        unit=table["unit"],
        is_complete=table["complete"],
        protected=dict(table["protected"]),
        public={column: (spelled, seq) for column, (spelled, seq) in table["public"].items()},
        gaps={column: (known, seq) for column, (known, seq) in table["gaps"].items()},
        sizes={key: read_size(table[key]) for key in SIZES if key in table},
    )


def _amount(text: str) -> Decimal:
    amount = Decimal(text)
    if not amount.is_finite() or amount < 0:
        raise ValueError(text)
    return amount
