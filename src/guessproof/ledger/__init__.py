"""The ledger: budgets that are set once, charges that cannot be lost, and a chain that shows edits."""

from guessproof.ledger.amounts import Budget, Cost, Left
from guessproof.ledger.book import Account, Amendment, Charge, Note
from guessproof.ledger.chain import Defect
from guessproof.ledger.entry import Entry
from guessproof.ledger.key import read_key
from guessproof.ledger.ledger import Charged, Failed, Ledger, Recorded
from guessproof.ledger.protection import Protection
from guessproof.ledger.verify import Verdict, verify

__all__ = [
    "Account",
    "Amendment",
    "Budget",
    "Charge",
    "Charged",
    "Cost",
    "Defect",
    "Entry",
    "Failed",
    "Ledger",
    "Left",
    "Note",
    "Protection",
    "Recorded",
    "Verdict",
    "read_key",
    "verify",
]
