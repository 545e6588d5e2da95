"""Every door of the API with whatever can be sent: no 500, and nothing that is not described."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import response_schema_conformance, status_code_conformance

import guessproof.web
from web.running import CAFETERIA, CALCULATION, Served

VENDOR = Path(guessproof.web.__file__).parent / "static" / "vendor"
CHECKS = [not_a_server_error, status_code_conformance, response_schema_conformance]
QUIET = settings(
    max_examples=5,
    deadline=None,
    derandomize=True,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
)


def test_no_door_breaks(served: Served) -> None:
    """Drawn requests for every door."""
    schema = schemathesis.openapi.from_url(f"{served.address}api/openapi.json")
    operations = [found.ok() for found in schema.get_all_operations()]
    assert len(operations) > 20
    for operation in operations:
        given(case=operation.as_strategy())(QUIET(asker()))()


def asker() -> Callable[[Any], None]:
    """Sends one drawn request; what comes back must be described."""

    def ask(case: Any) -> None:
        case.call_and_validate(headers={"X-Guessproof": "1"}, checks=CHECKS)

    return ask


@pytest.mark.parametrize(("door", "first"), [("question", 0), ("shape", 1), ("plan/write", 2)])
def test_no_state_breaks_a_door(served: Served, door: str, first: int) -> None:
    """One thing wrong in a state that was right: an answer or a refusal with words."""
    for state in states()[first::3]:
        status, found = served.ask("POST", f"/api/{door}", {"state": state})
        assert status in (200, 422), (state, found)
        assert status == 200 or found["error"]["message"]


@pytest.mark.parametrize("door", ["shape", "live", "question", "plan/write", "charts", "budget", "sketch", "jobs"])
def test_a_date_is_no_state(served: Served, door: str) -> None:
    body = {"state": {"$date": "2024-05-01"}, **({"kind": "outcome"} if door == "jobs" else {})}
    status, found = served.ask("POST", f"/api/{door}", body)
    assert status in (200, 201, 422), found


def test_what_is_vendored_is_what_is_named() -> None:
    listed = json.loads((VENDOR / "VERSIONS.json").read_text(encoding="utf-8"))
    scripts = {path.name for path in VENDOR.glob("*.js")}
    assert {row["file"] for row in listed} == scripts
    for row in listed:
        assert hashlib.sha256((VENDOR / row["file"]).read_bytes()).hexdigest() == row["sha256"]
        assert (VENDOR / row["licence"]).is_file()


def states() -> list[Any]:
    """States in which one thing is wrong."""
    found: list[Any] = []
    for state in (CALCULATION, CAFETERIA):
        for path in _paths(state):
            for wrong in (None, -1, 1e308, [], {}, "<b>", "x" * 5000, {"$date": "no"}, [[[[]]]]):
                copy = json.loads(json.dumps(state))
                place = copy
                for key in path[:-1]:
                    place = place[key]
                place[path[-1]] = wrong
                found.append(copy)
    return found


def _paths(state: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if not isinstance(state, dict):
        return []
    return [p for key, item in state.items() for p in [(*path, key), *_paths(item, (*path, key))]]
