"""Whole releases through an engine: what is answered, and what is charged when it breaks down after the charge."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

from guessproof.engines import Engine, base
from guessproof.errors import EngineError
from guessproof.ledger import Budget, Ledger
from guessproof.plan import Plan, plan_of
from guessproof.releasing import Answer, release
from guessproof.testing.door import SECRET, caught, slow
from guessproof.testing.harness import Harness, spoken
from guessproof.testing.overheard import overhear, told

WARDS = ("north", "south", "other", None)
ROWS = [(str(i % 70 - 3.5), WARDS[i % 4], SECRET, str(i % 40)) for i in range(480)]
BOUNDS = (0.0, 60.0)


def make_plan(harness: Harness, source: Any, protects: str) -> tuple[Plan, Any]:
    """A plan with hardly any noise, and the frame where the source is one; its ledger is open."""
    folder = harness.folder / protects
    folder.mkdir(exist_ok=True)
    ledger = folder / "guessproof.ledger"
    ledger.unlink(missing_ok=True)
    Ledger.create(ledger, "contract", Budget("1e12"))
    person: dict[str, Any] = {"person": "card", "max_rows": 1000} if protects == "persons" else {}
    is_named = isinstance(source, str)
    tables: dict[str, Any] = {
        "data": {"name": "contract", "source": source if is_named else "frame", "table": "t", "protects": protects}
        | person,
        "query": {"sql": "SELECT ward, SUM(days) AS days, COUNT(*) AS n FROM t WHERE days < 50 GROUP BY ward"},
        "columns": {"days": {"bounds": BOUNDS}, "ward": {"levels": ["north", "south"]}},
        "release": {"epsilon": 1e9, "ledger": str(ledger)},
    }
    return plan_of(tables, folder=folder), None if is_named else source


def keep(harness: Harness, times: int = 1) -> Any:
    """The rows of a small clinic."""
    shelf = harness.shelf
    columns = {"days": shelf.doubles, "ward": shelf.texts, "s": shelf.texts, "card": shelf.texts}
    return harness.keep("t", {name: found.type for name, found in columns.items()}, ROWS * times)


def quiet_releases(harness: Harness) -> None:
    """With hardly any noise a release says what the table says; asked again it is replayed, for nothing."""
    source = keep(harness)
    for protects in ("records", "persons"):
        plan, frame = make_plan(harness, source, protects)
        answer = release(plan, source=frame)
        assert _read(answer) == _expected(), protects
        again = release(plan, source=frame)
        assert again.replayed
        assert _read(again) == _read(answer)
        assert len(Ledger(plan.ledger_path).account("contract").charges) == 1


def _read(answer: Answer) -> dict[tuple[str, str], float]:
    return {(str(found.group["ward"]), found.name): round(float(found.value or 0), 2) for found in answer.answers}


def _expected() -> dict[tuple[str, str], float]:
    found: dict[tuple[str, str], float] = {}
    for ward in ("north", "south"):
        days = [float(days) for days, where, _, _ in ROWS if where == ward and float(days) < 50]
        found[ward, "days"] = round(math.fsum(min(max(d, BOUNDS[0]), BOUNDS[1]) for d in days), 2)
        found[ward, "n"] = float(len(days))
    return found


# After the charge.


class Disturbed:
    """An engine whose aggregates are disturbed; all else is its own."""

    def __init__(self, engine: Engine, ask: Callable[[Engine], Any]) -> None:
        self._engine, self._ask = engine, ask

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *ended: Any) -> None:
        self._engine.close()

    def aggregates(self, sql: str) -> Any:
        return self._ask(self._engine)


@contextmanager
def disturbing(ask: Callable[[Engine], Any]) -> Any:
    """Every engine that is opened meanwhile is a disturbed one."""
    kept = [*base.OPENERS]

    def disturb(opener: Any) -> Any:
        def opened(*given: Any) -> Any:
            engine = opener(*given)
            return None if engine is None else Disturbed(engine, ask)

        return opened

    base.OPENERS[:] = [disturb(opener) for opener in kept]
    try:
        yield
    finally:
        base.OPENERS[:] = kept


def hold_charge(harness: Harness, ask: Callable[[Engine], Any], timeout: float) -> None:
    """The failure says one constant sentence, and its charge stays."""
    plan, frame = make_plan(harness, keep(harness, 5), "records")
    with overhear() as heard, disturbing(ask):
        error = caught(EngineError, lambda: release(plan, source=frame, timeout=timeout), "a disturbed query")
    assert str(error) == str(EngineError())
    assert error.__cause__ is None
    assert error.__context__ is None or error.__suppress_context__
    shown = told(error) if frame is None else str(error)  # a frame is at hand wherever it was handed on
    assert SECRET not in shown + heard.text
    (charge,) = Ledger(plan.ledger_path).account("contract").charges.values()
    assert charge.answer is None


def charge_after_time_limit(harness: Harness) -> None:
    """A query that is stopped after the charge has been charged, and says nothing else."""

    def ask(engine: Engine) -> Any:
        return engine.aggregates(spoken(engine, slow(harness).replace("a.x", "a.days")))

    hold_charge(harness, ask, max(1.2, 2 * harness.patience))


def cut_connection(harness: Harness) -> None:
    """A connection that breaks while a query runs: the charge stays, and the one constant sentence is said."""
    if type(harness).cut is Harness.cut:
        raise NotImplementedError("there is no connection to cut")

    def ask(engine: Engine) -> Any:
        cutting = threading.Thread(target=harness.cut)
        cutting.start()
        try:
            return engine.aggregates(spoken(engine, slow(harness).replace("a.x", "a.days")))
        finally:
            cutting.join(120)

    hold_charge(harness, ask, 120)


CHECKS = (quiet_releases, charge_after_time_limit, cut_connection)
