"""What a plan's ledger has left, where there is one. The table is not touched."""

from __future__ import annotations

from guessproof.plan import Plan


def budget_left(plan: Plan, key_file: str | None = None) -> tuple[float | None, bool]:
    """(what is left of ε, whether a scan was made); (None, False) where no ledger knows this data."""
    from guessproof.errors import LedgerError
    from guessproof.ledger import Ledger, is_there, read_key

    if not is_there(plan.ledger_path):
        return None, False
    try:
        ledger = Ledger(plan.ledger_path, read_key(key_file))
        if plan.data.name not in ledger.names:
            return None, False
        return float(ledger.remaining(plan.data.name).to_dict()["epsilon"]), ledger.scanned(plan.data.name)
    except LedgerError:  # a ledger that does not open is the release's business
        return None, False
