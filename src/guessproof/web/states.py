"""The page's state is a plan: the same tables and keys, as JSON. Without data it is a calculation."""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from guessproof.calculate import Limits
from guessproof.errors import PlanError
from guessproof.plan import Plan, plan_of
from guessproof.plan.goals import known_on
from guessproof.risk import Attack
from guessproof.web.folder import Folder
from guessproof.web.refusals import WebError

Tables = dict[str, Any]
DEEPEST = 12  # tables within tables; a plan has fewer
DATE = "$date"  # how a state writes a date
STAND_IN = "SELECT COUNT(*) AS n FROM t"


@dataclass(frozen=True)
class CalculatorState:
    """A question without data: an attack, and what it may gain."""

    plan: Plan
    attack: Attack
    limits: Limits


def cleaned(state: Any, depth: int = 0) -> Any:
    """A state without what was left empty; a plan has no null."""
    if depth > DEEPEST:
        raise WebError(422, "the plan is nested too deeply", "write it flatter")
    if depth and isinstance(state, Mapping) and set(state) == {DATE}:
        return _date(state[DATE])
    if isinstance(state, Mapping):
        return {str(k): cleaned(v, depth + 1) for k, v in state.items() if v is not None}
    return [cleaned(v, depth + 1) for v in state if v is not None] if isinstance(state, (list, tuple)) else state


def _date(text: Any) -> Any:
    """A date or a moment, which JSON has not."""
    try:
        return datetime.datetime.fromisoformat(text) if "T" in text else datetime.date.fromisoformat(text)
    except (TypeError, ValueError):
        raise WebError(422, "this is not a date", "write it as 2024-12-31", DATE) from None


def has_data(state: Tables) -> bool:
    """Whether the state asks a table; otherwise it is a calculation."""
    return any(key in state for key in ("data", "query", "queries"))


def read_state(state: Tables, folder: Folder) -> Plan:
    """The plan that a state is. Its files lie in the folder that was opened, or were uploaded."""
    state = cleaned(state)
    folder.check(state)
    data = state.get("data")
    source = data.get("source") if isinstance(data, Mapping) else None
    place = folder.place_of(source) if isinstance(source, str) else folder.root
    if place != folder.root:  # an uploaded table; its ledger stays where it is kept
        release = state.get("release")
        kept: dict[str, Any] = dict(release) if isinstance(release, Mapping) else {}
        ledger = kept.get("ledger", "guessproof.ledger")
        if isinstance(ledger, str) and not ledger.startswith("env:"):
            state = {**state, "release": {**kept, "ledger": str(folder.root / ledger)}}
    return plan_of(state, folder=place)


def read_calculation(state: Tables, folder: Folder) -> CalculatorState:
    """A state without data: the plan's own rules for columns, attackers and limits, and no query."""
    state = cleaned(state)
    if has_data(state):
        raise WebError(422, "this state has data", "ask for a choice instead")
    full = {**state, "data": {"name": "calculation", "source": "calculation.csv", "protects": "values"}}
    full["query"] = {"sql": STAND_IN}
    folder.check(full)
    plan = plan_of(full, folder=folder.root)
    attacker = plan.attacker
    if attacker is None or plan.wanted is None:
        raise PlanError("attacker", None, "nobody attacks yet", 'say what he wants, as goal = "x within 2"')
    knows = known_on(attacker.knows, plan.attributes())
    # What is calculated for is noise of its own on the sum of each column: distances add up.
    attack = Attack(plan.goal(), at=attacker.at, knows=knows, norm="l1", prior_factor=attacker.prior_factor)
    return CalculatorState(plan, attack, plan.limits)


def digest(state: Tables, *, without_limits: bool = False) -> str:
    """A short name of all that a state holds; without limits and targets, which can be dragged, of its attack."""
    state = cleaned(state)
    if without_limits:
        attacker = state.get("attacker")
        if isinstance(attacker, Mapping):
            kept = {k: v for k, v in attacker.items() if k not in ("advantage", "posterior", "odds")}
            state = {**state, "attacker": kept}
        state = {k: v for k, v in state.items() if k not in ("accuracy", "risk", "labels")}
    text = json.dumps(state, sort_keys=True, ensure_ascii=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:24]
