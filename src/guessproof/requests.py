"""When is a request the same as one before? The ledger gives the recorded answer then, and charges nothing.

A request is its plan, as far as the plan can change the answer, and nothing that is computed from it: a version that
chooses another ε for the same plan, or writes its mechanisms down differently, still finds the answer that was paid
for.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from guessproof.ledger import Account, Charge
from guessproof.plan import Plan
from guessproof.plan.identity import first_text, identity_text

FORMAT = "guessproof request 2"

# How the first version wrote down the noise that it drew.
_FIRST_GAMMA = 3.8588653134923234
_FIRST_ROOM = 1 - 2.0**-20


def request_of(plan: Plan, epsilon: float | None = None) -> str:
    """The digest of a request; `epsilon` where a choice, rather than the plan alone, decided on it."""
    parts = [FORMAT, plan.data.name, identity_text(plan.file, plan.digests)]
    return _digest(parts if epsilon is None else [*parts, epsilon.hex()])


def first_requests(plan: Plan, account: Account) -> frozenset[str]:
    """The names under which the first version charged this very plan."""
    text = first_text(plan.file, plan.digests)
    if text is None:
        return frozenset()
    return frozenset(c.request for c in account.charges.values() if c.request == _first_request(plan, text, c))


def _first_request(plan: Plan, text: str, charge: Charge) -> str | None:
    """The name that the first version gave to this plan with the noise that a charge describes."""
    try:
        noise = [_first_noise(plan, table, len(charge.describe["noise"])) for table in charge.describe["noise"]]
    except (KeyError, TypeError, ValueError):
        return None
    return _digest([plan.data.name, text, plan.query.sql, noise])


def _first_noise(plan: Plan, table: Mapping[str, Any], count: int) -> list[Any]:
    rows = float(plan.data.rows or 1) if str(table["measurement"]).startswith("AVG(") else 1.0
    kind, epsilon, most = table["mechanism"], float(table["epsilon"]), float(table["sensitivity"]) * rows
    if kind == "geometric":
        most = float(round(most))
    more = {
        "gaussian": f", delta={(plan.release.delta or 0.0) / count * _FIRST_ROOM!r}",
        "cauchy": f", gamma={_FIRST_GAMMA!r}, beta=0.0",
    }.get(kind, "")
    return [kind, f"{str(kind).capitalize()}(sensitivity={most!r}, epsilon={epsilon!r}{more})", table["grid"]]


def _digest(parts: Iterable[Any]) -> str:
    return hashlib.sha256(json.dumps(list(parts), ensure_ascii=False).encode()).hexdigest()
