"""What a report is made from: the plan, the choice that follows from it, and what the ledger holds. Never the table."""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any

from guessproof.choosing import Choice, Limit, asked, choose
from guessproof.errors import InfeasibleError, PlanError
from guessproof.ledger import Account, Charge, Ledger, is_there
from guessproof.ledger.account import Note
from guessproof.plan import Plan, loads_plan
from guessproof.plan.identity import first_requests, request_of, requests_of
from guessproof.plan.places import hide_secrets, is_secret
from guessproof.reporting.shift import ShownShift, shift_of
from guessproof.reporting.words import goal_words
from guessproof.sql.formula import Output


@dataclass(frozen=True)
class Made:
    """One charge of this data in the ledger, and what became of it."""

    seq: int
    time: str
    query: str
    epsilon: Decimal
    delta: Decimal
    outcome: str
    head: str
    advantage: Decimal | None
    is_own: bool
    answer: dict[str, Any] | None

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON; amounts as the ledger has them."""
        return {
            "entry": self.seq,
            "time": self.time,
            "query": self.query,
            "epsilon": str(self.epsilon),
            "delta": str(self.delta),
            "outcome": self.outcome,
            "head": self.head,
            "cumulative_advantage": None if self.advantage is None else str(self.advantage),
            "this_plan": self.is_own,
            "answer": self.answer,
        }


@dataclass(frozen=True)
class Facts:
    """Everything that the pages of a report may speak of."""

    plan: Plan
    plan_name: str
    plan_text: str
    choice: Choice
    made: tuple[Made, ...]
    account: Account | None
    head: str | None
    ledger_name: str

    @cached_property
    def shift(self) -> ShownShift | None:
        """The attacker's belief before and after; None where nothing but ε can be said."""
        return shift_of(self.choice)

    @property
    def own(self) -> tuple[Made, ...]:
        """What this very plan released."""
        return tuple(m for m in self.made if m.is_own and m.answer is not None)

    @property
    def audited(self) -> Note | None:
        """The last audit of this very plan that the ledger has a note of."""
        about = f"request {request_of(self.plan)[:16]}"
        notes = () if self.account is None else self.account.notes
        found = [note for note in notes if note.text.startswith("audit ") and note.text.endswith(about)]
        return found[-1] if found else None

    @property
    def outputs(self) -> tuple[Output, ...]:
        """The numbers of the answer."""
        return tuple(o for o in self.choice.asked.outputs if o.measured)

    @property
    def is_noisy(self) -> bool:
        """Whether there is an ε at which something can be released."""
        return self.choice.feasible and bool(self.choice.noises)

    def goal(self, whose: str = "your") -> str:
        """The attacker's goal in words."""
        wanted = self.plan.wanted
        if wanted is None:
            return "anything about you" if whose == "your" else "anything about a person"
        said = goal_words(wanted.tree, whose, self.plan.label) or f"“{wanted.text}”"
        each = self.plan.attacker is not None and self.plan.attacker.or_ == "each"
        return said.replace("(one is enough)", "(each on its own)") if each else said

    def to_dict(self) -> dict[str, Any]:
        """What the page embeds for machines."""
        canonical = json.loads(self.plan.canonical())
        canonical["data"]["source"] = safe_source(canonical["data"].get("source"))
        left = None if self.account is None else self.account.left
        return {
            "choice": self.choice.to_dict(),
            "releases": [m.to_dict() for m in self.made],
            "budget": None if self.account is None else self.account.budget.to_dict(),
            "spent": None
            if self.account is None
            else {"epsilon": str(self.account.epsilon), "delta": str(self.account.delta)},
            "left": None if left is None else {"epsilon": str(left.epsilon), "delta": str(left.delta)},
            "head": self.head,
            "plan": canonical,
        }


def gather(plan: Plan, *, ledger: str | Path | None = None, key: bytes | None = None, text: str | None = None) -> Facts:
    """The facts of a plan and of its ledger, where there is one. Nothing else is opened.

    A ledger that is named must be there; the plan's own may still be missing. `text` is the plan as it was written;
    left out, its file is read.
    """
    path = plan.ledger_path if ledger is None else Path(ledger)
    book = None if ledger is None and not is_there(path) else Ledger(path, key)
    accounts = {} if book is None else book.accounts()
    account = accounts.get(plan.data.name)
    choice, requests = _decided(plan, account)
    made = () if book is None or account is None else _made(book, account, requests)
    name = "plan" if plan.path is None else plan.path.name
    head = None if book is None else book.head
    return Facts(
        plan=plan,
        plan_name=name,
        plan_text=_written(plan, text),
        choice=choice,
        made=made,
        account=account,
        head=head,
        ledger_name=path.name,
    )


def safe_source(source: str | None) -> str:
    """The source, unless it could open something."""
    if source is None:
        return "(a table of Spark's catalogue)"
    return "(not shown: it looks like a connection string)" if is_secret(source) else source


def _decided(plan: Plan, account: Account | None) -> tuple[Choice, frozenset[str]]:
    """The choice to report, and the digests under which its release would be charged.

    What was released already is reported as it was decided then; otherwise what is left of the budget is a limit.
    """
    try:
        if account is None:
            return choose(plan), frozenset()
        requests = first_requests(plan, account.charges.values()) | requests_of(plan)
        if account.answered(*requests) is not None:
            return choose(plan, data_dependent=_was_scanned(account, requests)), requests
        left = float(account.left.to_dict()["epsilon"])
        return choose(plan, remaining=left, data_dependent=_was_scanned(account, requests)), requests
    except InfeasibleError as error:
        return _refused(plan, error.words), frozenset()


def _was_scanned(account: Account, requests: frozenset[str]) -> bool:
    """Whether the records were looked at before this plan was charged; what came after it changed nothing."""
    paid = [charge.seq for charge in account.charges.values() if charge.request in requests]
    return any(note.scan and note.seq < min(paid, default=note.seq + 1) for note in account.notes)


def _refused(plan: Plan, why: str) -> Choice:
    """The limit is broken before any release, so that nothing is left to choose."""
    attacker = plan.attacker
    how = why if attacker is None else f"what is allowed of “{attacker.goal}” is reached before any release"
    limit = Limit("attacker", 0.0, "at most", how)
    said = why.partition(": ")[2] or why
    explanation = f"{said[:1].upper()}{said[1:]}."
    return Choice(
        plan=plan,
        asked=asked(plan),
        feasible=False,
        epsilon=0.0,
        interval=(0.0, 0.0),
        limits=(limit,),
        binding="attacker",
        noises=(),
        targets={},
        advantage=None,
        posterior=None,
        prior=None,
        query_aware_epsilon=None,
        changes=(),
        explanation=explanation,
    )


def _made(book: Ledger, account: Account, requests: frozenset[str]) -> tuple[Made, ...]:
    heads = {
        int(entry.content["charge"]): entry.digest
        for entry in book.entries(account.name)
        if entry.kind in ("answer", "failed")
    }
    return tuple(
        Made(
            seq=charge.seq,
            time=charge.time,
            query=_asked(charge),
            epsilon=charge.cost.epsilon,
            delta=charge.cost.delta,
            outcome=charge.outcome,
            head=heads.get(charge.seq, charge.digest),
            advantage=charge.advantage,
            is_own=charge.request in requests,
            answer=charge.answer,
        )
        for charge in account.charges.values()
    )


def _asked(charge: Charge) -> str:
    """What was asked, and which of a plan's releases it was."""
    query, number = str(charge.describe.get("query", "")), charge.describe.get("number")
    return query if number is None else f"{query} (release {number})"


def _written(plan: Plan, text: str | None) -> str:
    """The plan as it was written, without what looks like a password."""
    if text is None and plan.path is None:
        return json.dumps(json.loads(plan.canonical()), indent=2, sort_keys=True, ensure_ascii=False)
    if text is None:
        assert plan.path is not None
        text = plan.path.read_text(encoding="utf-8-sig")
        if loads_plan(text, folder=plan.folder).canonical() != plan.canonical():
            problem, remedy = "the file changed while the report was made", "make the report again"
            raise PlanError("plan", plan.path.name, problem, remedy, file=str(plan.path))
    return "\n".join(hide_secrets(line) for line in text.replace("\r\n", "\n").split("\n"))
