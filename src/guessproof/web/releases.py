"""Budget, offer, release. Nothing is charged before an offer, which names the cost, was confirmed; each offer once."""

from __future__ import annotations

from typing import Any

from guessproof.choosing import choose
from guessproof.choosing.choice import BOUNDS
from guessproof.errors import InfeasibleError, LedgerError
from guessproof.ledger import Budget, Ledger, is_there
from guessproof.ledger.amounts import shown
from guessproof.plan import Plan
from guessproof.releasing import release
from guessproof.releasing.run import request_digest, which_release
from guessproof.rounded import beside_error, down, margin, up
from guessproof.web.desks import Offer
from guessproof.web.refusals import WebError
from guessproof.web.shop import Shop
from guessproof.web.states import Tables, digest, read_state

MOST_ENTRIES = 50
Json = dict[str, Any]


def budget_of(shop: Shop, state: Tables) -> Json:
    """How the data of a state stands: its budget, what was spent on what, what is left."""
    plan = read_state(state, shop.folder)
    book = _book(plan)
    if book is None:
        return {"name": plan.data.name, "is_open": False, "ledger": plan.release.ledger.rpartition("/")[2]}
    account = book.account(plan.data.name)
    charges = [
        {"time": c.time, "query": str(c.describe.get("query", "")), "epsilon": shown(c.cost.epsilon, up=True)}
        for c in list(account.charges.values())[-MOST_ENTRIES:]
    ]
    return {
        "name": plan.data.name,
        "is_open": True,
        "budget": str(account.budget.epsilon),
        "spent": shown(account.epsilon, up=True),
        "left": shown(account.left.epsilon, up=False),
        "share": float(account.epsilon / account.budget.epsilon),
        "charges": charges,
        "head": book.head,
    }


def open_budget(shop: Shop, state: Tables, name: str, budget: str) -> Json:
    """Set the budget of a table, once. The name is typed again by whoever does it."""
    plan = read_state(state, shop.folder)
    if name != plan.data.name:
        problem = "the name that was confirmed is not that of the data"
        raise WebError(422, problem, f"the data is called {plan.data.name}", "name")
    with shop.ledger_lock:
        Ledger.create(plan.ledger_path, plan.data.name, Budget(budget))
    return budget_of(shop, state)


def make_offer(shop: Shop, state: Tables, number: int | None) -> Json:
    """What a release would cost. The budget is not touched."""
    plan = read_state(state, shop.folder)
    book = _needed(plan)
    number = which_release(plan, number)
    choice = choose(plan)
    if not choice.feasible or not choice.noises:
        raise InfeasibleError(choice.explanation)
    settled = book.settled(plan.data.name, {request_digest(plan, choice, number)}) is not None
    left = float(book.remaining(plan.data.name).to_dict()["epsilon"])
    offer = shop.desks.offer(Offer.made_for(digest(state), book.head, plan, choice, number))
    return {
        "offer": offer.id,
        "name": plan.data.name,
        "query": plan.asked,
        "cost": "0" if settled else up(choice.cost),
        "left": down(left),
        "left_after": down(left if settled else max(left - choice.cost, 0.0)),
        "answered_before": settled,
        "fits": settled or choice.cost <= left,
    }


def confirm(shop: Shop, state: Tables, name: str) -> Json:
    """Make the release that was offered: the same state, an unchanged ledger, and only once."""
    offer = shop.desks.offers.pop(name)
    if offer is None:
        raise WebError(409, "this offer was used or is too old", "look at the cost again", "offer")
    with shop.ledger_lock:  # two tabs come one after the other, and the second finds another head
        if offer.state != digest(state):
            raise WebError(409, "the plan has changed since the cost was named", "look at the cost again", "offer")
        book = _needed(offer.plan)
        if book.head != offer.head:
            problem = "the budget has changed since the cost was named; nothing was charged"
            raise WebError(409, problem, "look at the cost again", "offer")
        answer = release(offer.plan, choice=offer.choice, number=offer.number)
    return {**answer.to_dict(), "shown": _shown(answer)}


def _shown(answer: Any) -> Json:
    rows = [
        {
            "group": {k: "(missing)" if v is None else str(v) for k, v in a.group.items()},
            "name": a.name,
            "value": "none" if a.value is None else a.time or beside_error(a.value, a.error),
            "nearest": "" if a.nearest in (None, a.value) else beside_error(a.nearest, a.error),
            "error": "" if a.error is None else f"{margin(a.error)}{' days' if a.time else ''}",
            "ranks": "" if a.ranks is None else f"{margin(a.ranks)} ranks",
            "confidence": f"{a.confidence:.0%}",
        }
        for a in answer.answers
    ]
    notes = [f"{answer.bias_note}."] if answer.bias_note is not None else []
    notes += [BOUNDS] if BOUNDS in answer.assumptions else []
    return {"rows": rows, "notes": notes, "charged": up(answer.epsilon), "left": down(answer.remaining.get("epsilon"))}


def _book(plan: Plan) -> Ledger | None:
    """The ledger of a plan, where it is there and knows the data."""
    if not is_there(plan.ledger_path):
        return None
    book = Ledger(plan.ledger_path)
    return book if plan.data.name in book.names else None


def _needed(plan: Plan) -> Ledger:
    book = _book(plan)
    if book is None:
        raise LedgerError(f"{plan.data.name} has no budget yet; open one: its owner decides on it once")
    return book
