"""What a plan's ledger has left, where there is one, and the command that makes room. The table is not touched."""

from __future__ import annotations

import math
import shlex
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from guessproof.ledger.amounts import ZERO, Cost, plus, typed
from guessproof.plan import Plan
from guessproof.rounded import within_bounds

if TYPE_CHECKING:
    from guessproof.choosing import Choice
    from guessproof.ledger import Ledger
    from guessproof.ledger.account import Standing


@dataclass(frozen=True)
class BudgetLeft:
    """What a ledger has left for a plan. A release that was made is given again for nothing: only others need room."""

    epsilon: float | None  # None where no ledger knows this data
    numbers: tuple[int, ...]  # which of the plan's releases are still to be paid for
    is_scanned: bool = False

    @property
    def to_come(self) -> int:
        """How many releases share what is left."""
        return len(self.numbers)


def budget_left(plan: Plan, key_file: str | None = None) -> BudgetLeft:
    """What is left of ε, for which of the plan's releases, and whether a scan was made."""
    from guessproof.errors import LedgerError
    from guessproof.ledger import Ledger, is_there, read_key

    numbers = tuple(range(1, plan.release.times + 1))
    unknown = BudgetLeft(None, numbers)
    try:
        if not is_there(plan.ledger_path):
            return unknown
        ledger = Ledger(plan.ledger_path, read_key(key_file))
        return budget_in(ledger, plan) if plan.data.name in ledger.names else unknown
    except LedgerError:  # a ledger that does not open is the release's business
        return unknown


def budget_in(ledger: Ledger, plan: Plan) -> BudgetLeft:
    """The same of one ledger that knows the data."""
    from guessproof.plan.identity import request_of

    numbers, name = range(1, plan.release.times + 1), plan.data.name
    to_come = tuple(n for n in numbers if ledger.settled(name, [request_of(plan, number=n)]) is None)
    standing = ledger.standing(name)
    return BudgetLeft(float(standing.left.to_dict()["epsilon"]), to_come, standing.is_scanned)


def fitting_epsilon(left: BudgetLeft) -> str:
    """The ε of each release to come that what is left pays for, as it is typed: `choose` names the same."""
    assert left.epsilon is not None
    each = shared(left.epsilon, max(left.to_come, 1))
    return within_bounds(each, 0.0, each)


def shared(epsilon: float, times: int) -> float:
    """The part of each of so many releases, never above it."""
    return epsilon if times == 1 else math.nextafter(epsilon / times, 0.0)


def room_line(plan: Plan, choice: Choice, key_file: str | None = None) -> str | None:
    """The command with which the owner of the data makes room for this plan; None where there is room.

    Opened with just what the plan needs, or raised by what is missing: a budget is the owner's to choose, and nobody
    can say less.
    """
    from guessproof.ledger import Ledger, is_there, read_key
    from guessproof.plan.identity import requests_of

    if not choice.feasible or not choice.noises:
        return None
    book = Ledger(plan.ledger_path, read_key(key_file)) if is_there(plan.ledger_path) else None
    if book is None or plan.data.name not in book.names:
        return _line(plan, "open", *_needed(choice, choice.times))
    paid = sum(book.settled(plan.data.name, [request]) is not None for request in requests_of(plan))
    return raising_line(plan, choice, book.standing(plan.data.name), choice.times - paid)


def opening_line(plan: Plan, choice: Choice | None = None) -> str | None:
    """The command that opens the budget of this plan; None where there is one, or where nothing can be chosen."""
    from guessproof.choosing.chooser import choose
    from guessproof.errors import GuessproofError

    try:
        line = room_line(plan, choice or choose(plan))
    except GuessproofError:  # a sealed ledger, a plan that is not feasible: what was said first says more
        return None
    return line if line is not None and line.startswith("guessproof ledger open") else None


def raising_line(plan: Plan, choice: Choice, standing: Standing, count: int = 1) -> str | None:
    """The command that raises a budget so that so many releases fit; None where they do."""
    epsilon, delta = _needed(choice, count)
    lacks_epsilon, lacks_delta = epsilon > standing.left.epsilon, delta > standing.left.delta
    if not lacks_epsilon and not lacks_delta:
        return None
    more = plus(standing.epsilon, epsilon) if lacks_epsilon else None
    return _line(plan, "amend", more, plus(standing.delta, delta) if lacks_delta else ZERO)


def _needed(choice: Choice, count: int) -> tuple[Decimal, Decimal]:
    """What so many releases cost as the ledger counts them."""
    cost, total = Cost(choice.exact_cost, choice.delta), (ZERO, ZERO)
    for _ in range(count):
        total = plus(total[0], cost.epsilon), plus(total[1], cost.delta)
    return total


def _line(plan: Plan, what: str, epsilon: Decimal | None, delta: Decimal) -> str:
    """A command that a shell understands; amounts in few digits, never below what is needed."""
    parts = ["guessproof", "ledger", what, plan.data.name]
    parts += [] if epsilon is None else ["--budget", typed(epsilon)]
    parts += ["--delta", typed(delta)] if delta else []
    ledger = plan.ledger_path
    is_default = ledger == Path.cwd() / "guessproof.ledger"
    return shlex.join(parts if is_default else [*parts, "--ledger", str(ledger)])
