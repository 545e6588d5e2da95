"""What a plan's ledger has left, where there is one. The table is not touched."""

from __future__ import annotations

from guessproof.plan import Plan


def budget_left(plan: Plan, key_file: str | None = None) -> tuple[float | None, int | None, bool]:
    """What is left of ε, how many of the plan's releases it still has to pay for, and whether a scan was made.

    (None, None, False) where no ledger knows this data.
    """
    from guessproof.errors import LedgerError
    from guessproof.ledger import Ledger, is_there, read_key
    from guessproof.plan.identity import request_of

    if not is_there(plan.ledger_path):
        return None, None, False
    try:
        ledger, name = Ledger(plan.ledger_path, read_key(key_file)), plan.data.name
        if name not in ledger.names:
            return None, None, False
        to_come = None
        if plan.release.times > 1:
            numbers = range(1, plan.release.times + 1)
            to_come = sum(ledger.settled(name, [request_of(plan, number=n)]) is None for n in numbers)
        left = ledger.standing(name)
        return float(left.left.to_dict()["epsilon"]), to_come, left.is_scanned
    except LedgerError:  # a ledger that does not open is the release's business
        return None, None, False
