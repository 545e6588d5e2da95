"""What a name protects is pinned by its first release; only the owner adds to it, and never what was read as public."""

from __future__ import annotations

import os
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from guessproof.errors import BudgetError, LedgerError, ParameterError
from guessproof.guarantee import UNITS
from guessproof.ledger import Budget, Charged, Cost, Failed, Ledger, Protection, Recorded, verify
from guessproof.ledger.account import WHOLE_RECORD
from guessproof.names import folded, likeness
from ledger.making import DESCRIBE, GUARANTEE, Clock, copied, opened, pay


def values(*columns: str, public: tuple[str, ...] = (), **more: Any) -> Protection:
    return Protection("values", columns, public, **more)


def charged(ledger: Ledger, request: str, protection: Protection | None, **more: Any) -> Any:
    result = ledger.charge("cafeteria", request, Cost("0.01"), GUARANTEE, DESCRIBE, protection=protection, **more)
    if isinstance(result, Charged):
        ledger.record(result, {"value": 1})
    return result


def test_the_first_release_pins_unit_and_columns(tmp_path: Path) -> None:
    ledger = opened(tmp_path)
    charged(ledger, "1", values("time", "Age", public=("faculty",)))
    charged(ledger, "2", values("AGE", "Time"))  # the same columns
    head = ledger.head
    for asked, words in (
        (values("time"), r"Age is protected .*Declare \[columns\.Age\]"),
        (values("time", public=("age",)), "declares it public"),
        (values("time", "age", "salary"), "ledger amend cafeteria --protect salary"),
        (values("time", "age", "Faculty"), r"entry 2 read Faculty as public"),
        (Protection("records"), r'protect values, .*protects = "values"'),
        (None, "does not say what it protects"),
    ):
        with pytest.raises(LedgerError, match=words):
            charged(ledger, "3", asked)
    assert ledger.head == head
    assert isinstance(
        charged(ledger, "1", values("time")), Recorded
    )  # what was answered is given whatever is asked now
    assert verify(ledger.path).ok


@pytest.mark.parametrize("key", ["linked_records", "copies"])
@pytest.mark.parametrize("unit", ["values", "records"])
def test_the_first_release_pins_how_much_one_unit_is(tmp_path: Path, unit: str, key: str) -> None:
    """A charge of an earlier version says nothing of it, and the next release pins it."""
    ledger, columns = opened(tmp_path), ("time",) if unit == "values" else ()
    charged(ledger, "1", Protection(unit, columns))
    charged(ledger, "2", Protection(unit, columns, **{key: 3}))
    charged(ledger, "3", Protection(unit, columns, **{key: 3}))
    head = ledger.head
    for other in (1, 2, 4):
        with pytest.raises(LedgerError, match=rf"with {key} = 3, and this plan with {key} = {other}\. Write {key} = 3"):
            charged(ledger, "4", Protection(unit, columns, **{key: other}))
    assert ledger.head == head
    assert verify(ledger.path).ok


def test_the_owner_widens_by_an_entry_and_not_to_what_was_public(tmp_path: Path) -> None:
    ledger = opened(tmp_path)
    charged(ledger, "1", values("time", public=("faculty",)))
    for column, words in (("FACULTY", "entry 2 read FACULTY as public"), ("Time", "protected already")):
        with pytest.raises(LedgerError, match=words):
            ledger.amend("cafeteria", protect=[column])
    with pytest.raises(LedgerError, match="protected already"):
        ledger.amend("cafeteria", protect=["salary", "SALARY"])
    head = ledger.amend("cafeteria", protect=["salary"])
    assert head == ledger.head == ledger.entries()[-1].digest
    assert ledger.entries()[-1].kind == "amend"
    assert [a.protect for a in ledger.account("cafeteria").amendments] == [("salary",)]
    with pytest.raises(LedgerError, match="salary is protected"):
        charged(ledger, "2", values("time"))
    charged(ledger, "2", values("time", "Salary"))
    for bad in ((), ("",), ("a\nb",)):
        with pytest.raises(ParameterError, match="protect"):
            ledger.amend("cafeteria", protect=bad)
    assert verify(ledger.path).ok


def test_columns_can_be_protected_before_the_first_release(tmp_path: Path) -> None:
    ledger = opened(tmp_path)
    ledger.amend("cafeteria", protect=["salary"])
    with pytest.raises(LedgerError, match="salary is protected"):
        charged(ledger, "1", values("time"))
    charged(ledger, "1", values("time", "salary"))


def test_where_records_are_protected_every_column_is(tmp_path: Path) -> None:
    ledger = opened(tmp_path)
    charged(ledger, "1", Protection("records"))
    charged(ledger, "2", Protection("records", hidden=("time",)))
    with pytest.raises(LedgerError, match="every column already"):
        ledger.amend("cafeteria", protect=["salary"])
    with pytest.raises(LedgerError, match="protect records"):
        charged(ledger, "3", values("time"))
    with pytest.raises(LedgerError, match="entry 4 hides whether a value of TIME is missing"):
        charged(ledger, "3", Protection("records", known=("TIME",)))


def test_whether_values_are_missing_is_hidden_or_known_as_the_first_reader_says(tmp_path: Path) -> None:
    ledger = opened(tmp_path)
    charged(ledger, "1", values("time", "age", known=("time",), hidden=("age",)))
    charged(ledger, "2", values("time", "age", hidden=("Time",)))  # more than is promised
    charged(ledger, "3", values("time", "age", known=("TIME",)))
    with pytest.raises(LedgerError, match="missing"):
        charged(ledger, "4", values("time", "age", known=("Age",)))


@pytest.mark.parametrize(("one", "other"), [("É", "é"), ("straße", "STRASSE"), ("e\u0301", "é"), ("K", "\u212a")])
def test_names_that_only_look_the_same_are_neither_one_column_nor_two(tmp_path: Path, one: str, other: str) -> None:
    """To DuckDB they are two columns: taken for one, the second would protect the first."""
    assert folded(one) != folded(other)
    assert likeness(one) == likeness(other)
    ledger = opened(tmp_path)
    charged(ledger, "1", values(one, "time"))
    for asked in (values(other, "time"), values(one, "time", public=(other,))):
        with pytest.raises(LedgerError, match="looks like"):
            charged(ledger, "2", asked)
    with pytest.raises(LedgerError, match="looks like"):
        ledger.amend("cafeteria", protect=[other])


def test_a_budget_is_raised_by_an_entry_and_never_lowered(tmp_path: Path) -> None:
    ledger = opened(tmp_path, Budget("1.0", "1e-6", "0.1"))
    for budget in (
        Budget("1.0", "1e-6", "0.1"),
        Budget("0.5", "1e-6", "0.2"),
        Budget("2.0", "1e-7", "0.1"),
        Budget("2.0", "1e-6"),
        Budget("2.0", "1e-6", "0.05"),
    ):
        with pytest.raises(LedgerError, match="take nothing back"):
            ledger.amend("cafeteria", budget=budget)
    ledger.charge("cafeteria", "1", Cost("0.9"), GUARANTEE, DESCRIBE, lambda _: 0.1)
    with pytest.raises(BudgetError):
        ledger.charge("cafeteria", "2", Cost("0.9"), GUARANTEE, DESCRIBE, lambda _: 0.1)
    ledger.amend("cafeteria", budget=Budget("2.0", "1e-6", "0.1"))
    ledger.charge("cafeteria", "2", Cost("0.9"), GUARANTEE, DESCRIBE, lambda _: 0.1)
    assert Ledger(ledger.path).remaining("cafeteria").epsilon == Decimal("0.2")
    assert verify(ledger.path).ok


def test_a_failure_that_would_come_again_is_given_again(tmp_path: Path) -> None:
    ledger = opened(tmp_path)
    first = pay(ledger, "one")
    head = ledger.failed(first, final=True)
    again = ledger.charge("cafeteria", "one", Cost("0.1"), GUARANTEE, DESCRIBE)
    assert isinstance(again, Failed)
    assert (again.seq, again.head) == (first.seq, head)
    assert ledger.settled("cafeteria", ["one"]) == again
    assert ledger.settled("cafeteria", ["two"]) is None
    assert isinstance(ledger.charge("cafeteria", "new", Cost("0.1"), GUARANTEE, DESCRIBE, aliases=["one"]), Failed)
    assert ledger.remaining("cafeteria").epsilon == Decimal("0.9")


def test_a_ledger_that_was_replaced_by_another_of_the_same_length_is_seen(tmp_path: Path) -> None:
    """Two histories from one beginning: as many entries, other digests."""
    ledger = opened(tmp_path)
    other = copied(ledger.path)
    pay(ledger, "one", "0.5")
    pay(Ledger(other, clock=Clock()), "cheap", "0.01")
    os.replace(other, ledger.path)
    assert verify(ledger.path).ok
    with pytest.raises(LedgerError, match="truncated or replaced"):
        pay(ledger, "two")
    with pytest.raises(LedgerError, match="truncated or replaced"):
        ledger.remaining("cafeteria")


def test_the_largest_advantage_counts_not_the_last(tmp_path: Path) -> None:
    """A later plan's goal may be easier to protect; what an attacker has learned of an earlier one stays learned."""
    ledger = opened(tmp_path, Budget("1.0", advantage="0.2"))
    for number, judged in enumerate((0.05, 0.18, 0.02)):
        ledger.charge("cafeteria", f"{number}", Cost("0.1"), GUARANTEE, DESCRIBE, lambda _, value=judged: value)
    assert ledger.account("cafeteria").advantage == Decimal("0.18")
    assert ledger.remaining("cafeteria").advantage == Decimal("0.02")
    with pytest.raises(BudgetError, match=r"0\.18 is used"):
        ledger.charge("cafeteria", "3", Cost("0.1"), GUARANTEE, DESCRIBE, lambda _: 0.3)


def test_the_ledger_knows_which_units_protect_a_whole_record() -> None:
    for name, unit in UNITS.items():
        assert (name in WHOLE_RECORD) == unit.hides_presence, name
