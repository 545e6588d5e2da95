"""One release from charge to replay, on a made-up table and a throw-away ledger."""

from __future__ import annotations

from pathlib import Path

from guessproof.auditing.result import Check
from guessproof.auditing.stage import Stage
from guessproof.guarantee import guarantee_to_dict
from guessproof.ledger import Budget, Charged, Cost, Ledger, Recorded
from guessproof.releasing import add_noise, request_digest


def ledger_check(stage: Stage, folder: Path) -> Check:
    """Charge, run, record; then the same request must give the same answer and cost nothing."""
    choice, name = stage.choice, "audit"
    act = stage.acts[0]
    cost = Cost(choice.cost, choice.delta)
    guarantee = guarantee_to_dict(choice.guarantee)
    book = Ledger.create(folder / "audit.ledger", name, Budget(2 * choice.cost, min(2 * choice.delta, 0.5)))
    request = request_digest(choice.plan, choice)
    charged = book.charge(name, request, cost, guarantee, {"audit": True}, None)
    if not isinstance(charged, Charged):
        return _failed("an answer was there before anything was asked")
    answer = add_noise(choice, {act.scene.group: act.cells[0]})
    book.record(charged, answer.record())
    spent = book.account(name).epsilon
    again = book.charge(name, request, cost, guarantee, {"audit": True}, None)
    if not isinstance(again, Recorded) or again.answer != answer.record():
        return _failed("the same request did not give the recorded answer")
    if book.account(name).epsilon != spent or spent < choice.cost * (1 - 1e-15):
        return _failed(f"the ledger shows ε = {spent} for a release of ε = {choice.cost:.6g}")
    words = f"charged ε = {choice.cost:.6g}, answered, recorded and given again without a new charge"
    return Check("ledger", float(spent), None, choice.cost, "pass", words)


def _failed(words: str) -> Check:
    return Check("ledger", None, None, None, "fail", words)
