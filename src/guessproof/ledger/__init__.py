"""The ledger: budgets that are set once, charges that cannot be lost, and a chain that shows edits."""

from guessproof.ledger.account import Account, Amendment, Charge, Note, Protection, Standing, Tally
from guessproof.ledger.amounts import Budget, Cost, Left
from guessproof.ledger.book import Defect, Entry
from guessproof.ledger.copying import copy_ledger
from guessproof.ledger.key import read_key
from guessproof.ledger.ledger import Charged, Failed, Ledger, Recorded, is_on_server, is_there
from guessproof.ledger.verify import Verification, verify

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
    "Standing",
    "Tally",
    "Verification",
    "copy_ledger",
    "is_on_server",
    "is_there",
    "read_key",
    "verify",
]
