"""The pure book against an oracle in Fractions: what is spent never passes the budget, and replay tells the same."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guessproof.errors import BudgetError, LedgerError
from guessproof.ledger import Budget, Cost, Entry
from guessproof.ledger.book import COLUMNS, Book, next_entry, read_chain

TIME = "2030-01-01T00:00:00Z"
costs = st.one_of(st.sampled_from(["0.1", "0.3", "0.25", 0.1, 0.3, 1 / 3]), st.floats(min_value=1e-9, max_value=0.6))
steps = st.lists(
    st.one_of(
        st.tuples(st.just("charge"), costs, st.sampled_from([0, "1e-6", 3e-6])),
        st.tuples(st.sampled_from(["answer", "failed"]), st.integers(0, 8), st.none()),
    ),
    max_size=25,
)


class Writer:
    """Entries, linked."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []

    def add(self, kind: str, body: dict[str, Any], name: str = "cats") -> Entry:
        last = self.entries[-1] if self.entries else None
        self.entries.append(next_entry(last, time=TIME, name=name, kind=kind, body=body))
        return self.entries[-1]


def open_body(budget: Budget) -> dict[str, Any]:
    return {"budget": budget.to_dict(), "sealed": False}


def charge_body(cost: Cost, request: str = "r", advantage: str | None = None) -> dict[str, Any]:
    return {"request": request, "cost": cost.to_dict(), "guarantee": {}, "describe": {}, "advantage": advantage}


def rows(entries: list[Entry]) -> list[tuple[Any, ...]]:
    return [tuple(getattr(entry, column) for column in COLUMNS) for entry in entries]


def played(budget: Budget, moves: list[tuple[Any, ...]]) -> tuple[Writer, Book, Fraction, Fraction]:
    """Play moves by the book's own rules; the oracle's sums beside it."""
    writer = Writer()
    book = Book([writer.add("open", open_body(budget))])
    account = book.accounts["cats"]
    epsilon, delta, unsettled = Fraction(0), Fraction(0), list[int]()
    for kind, value, extra in moves:
        if kind == "charge":
            cost = Cost(value, extra)
            more = (epsilon + Fraction(cost.epsilon), delta + Fraction(cost.delta))
            fits = more[0] <= Fraction(budget.epsilon) and more[1] <= Fraction(budget.delta)
            try:
                account.refuse_beyond_budget(cost)
            except BudgetError:
                assert not fits
                continue
            assert fits
            epsilon, delta = more
            book.add(writer.add("charge", charge_body(cost)))
            unsettled.append(writer.entries[-1].seq)
        elif value < len(unsettled):
            body = {"charge": unsettled.pop(value), **({"answer": {}} if kind == "answer" else {"note": "constant"})}
            book.add(writer.add(kind, body))
    return writer, book, epsilon, delta


@given(st.sampled_from(["1.0", 0.3, "0.7", 2]), st.sampled_from([0, "1e-5"]), steps)
def test_what_is_spent_is_exact_and_never_beyond_the_budget(epsilon: Any, delta: Any, moves: Any) -> None:
    budget = Budget(epsilon, delta)
    _, book, spent, spent_delta = played(budget, moves)
    account = book.accounts["cats"]
    assert not book.defects
    assert Fraction(account.epsilon) == spent <= Fraction(budget.epsilon)
    assert Fraction(account.delta) == spent_delta <= Fraction(budget.delta)
    assert Fraction(account.left.epsilon) == Fraction(budget.epsilon) - spent


@given(steps)
def test_replay_tells_the_same_and_every_prefix_is_a_book(moves: Any) -> None:
    writer, book, _, _ = played(Budget("1.0", "1e-5"), moves)
    entries, defects = read_chain(rows(writer.entries), None)
    assert (entries, defects) == (writer.entries, [])
    assert Book(entries).accounts == book.accounts
    spent = [Book(entries[:end]).accounts["cats"].epsilon for end in range(1, len(entries) + 1)]
    assert spent == sorted(spent)


@given(steps, st.data())
def test_any_other_order_or_subset_is_found(moves: Any, data: st.DataObject) -> None:
    writer, *_ = played(Budget("1.0", "1e-5"), moves)
    stored = rows(writer.entries)
    if len(stored) < 2:
        return
    order = data.draw(st.permutations(range(len(stored))))
    shuffled = [(place + 1, *stored[index][1:]) for place, index in enumerate(order)]
    assert bool(read_chain(shuffled, None)[1]) == (list(order) != sorted(order))
    gone = data.draw(st.integers(0, len(stored) - 2))
    assert read_chain(stored[:gone] + stored[gone + 1 :], None)[1]


@given(steps)
def test_whatever_became_of_them_charges_count(moves: Any) -> None:
    """Dropping answers and failures from the moves changes nothing about what is spent."""
    _, book, spent, _ = played(Budget("1.0", "1e-5"), moves)
    _, bare, again, _ = played(Budget("1.0", "1e-5"), [move for move in moves if move[0] == "charge"])
    assert spent == again
    assert book.accounts["cats"].left == bare.accounts["cats"].left


@pytest.mark.parametrize(
    ("kind", "body", "what"),
    [
        ("open", open_body(Budget(9)), "a second time"),
        ("charge", charge_body(Cost("1.01")), "more than the budget"),
        ("charge", charge_body(Cost("0.1", "1e-9")), "more than the budget"),
        ("charge", {**charge_body(Cost(1)), "cost": {"epsilon": "-1", "delta": "0"}}, "not positive"),
        ("charge", {**charge_body(Cost(1)), "cost": {"epsilon": "0"}}, "not positive"),
        ("charge", {**charge_body(Cost(1)), "cost": "1"}, "not what a ledger writes"),
        ("charge", {**charge_body(Cost(1)), "advantage": "NaN"}, "no probability"),
        ("charge", {}, "not what a ledger writes"),
        ("answer", {"charge": 1, "answer": {}}, "no charge"),
        ("answer", {"charge": 99, "answer": {}}, "no charge"),
        ("failed", {"charge": "1"}, "not what a ledger writes"),
        ("refund", {"charge": 1}, "unknown kind"),
        ("note", {"text": 5, "scan": False}, "not what a ledger writes"),
    ],
)
def test_entries_that_no_ledger_would_write_are_defects(kind: str, body: dict[str, Any], what: str) -> None:
    writer = Writer()
    writer.add("open", open_body(Budget("1.0")))
    writer.add(kind, body)
    book = Book(writer.entries)
    assert len(book.defects) == 1
    assert what in str(book.defects[0])
    assert book.accounts["cats"].left.epsilon == 1


def test_an_answer_settles_once_and_only_its_own_name() -> None:
    writer = Writer()
    writer.add("open", open_body(Budget("1.0")))
    writer.add("open", open_body(Budget("1.0")), name="dogs")
    seq = writer.add("charge", charge_body(Cost("0.5"))).seq
    writer.add("answer", {"charge": seq, "answer": {"v": 1}}, name="dogs")
    writer.add("answer", {"charge": seq, "answer": {"v": 2}})
    writer.add("answer", {"charge": seq, "answer": {"v": 3}})
    writer.add("charge", charge_body(Cost("0.5")), name="birds")
    book = Book(writer.entries)
    assert [defect.seq for defect in book.defects] == [4, 6, 7]
    assert book.accounts["cats"].charges[seq].answer == {"v": 2}


def test_a_limit_on_the_advantage_needs_a_judge_and_is_kept() -> None:
    writer = Writer()
    writer.add("open", open_body(Budget("1.0", advantage="0.2")))
    for advantage in (None, "0.05", "0.2", "0.21"):
        writer.add("charge", charge_body(Cost("0.1"), advantage=advantage))
    book = Book(writer.entries)
    assert [defect.seq for defect in book.defects] == [2, 5]
    assert book.accounts["cats"].advantage == Decimal("0.2")
    assert book.accounts["cats"].left.advantage == 0
    with pytest.raises(LedgerError, match=r"no\s+attacker"):
        book.accounts["cats"].refuse_beyond_advantage(None)


def test_a_bad_time_is_a_defect() -> None:
    writer = Writer()
    first = writer.add("open", open_body(Budget("1.0")))
    for time in ("yesterday", "2030-01-01T00:00:00"):
        assert Book([replace(first, time=time)]).defects
