"""Dates and lengths of time at the doors of the library: the same numbers as days would give."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

import guessproof as gp
from guessproof.errors import InputError
from guessproof.world.checks import days_of

BORN: Any = datetime.date(1980, 5, 17)
LOW: Any = datetime.date(1920, 1, 1)
HIGH: Any = datetime.date(2025, 12, 31)
YEARS: Any = datetime.timedelta(days=3652.5)
MONTH: Any = datetime.timedelta(days=30)
TEXT: Any = "1980-05-17"


def pairs() -> list[tuple[Any, Any]]:
    low, mid, high = map(days_of, (LOW, BORN, HIGH))
    return [
        (gp.normal(BORN, YEARS), gp.normal(mid, 3652.5)),
        (gp.uniform(LOW, HIGH), gp.uniform(low, high)),
        (gp.unknown(LOW, HIGH), gp.unknown(low, high)),
        (gp.laplace(BORN, YEARS), gp.laplace(mid, 3652.5)),
        (gp.histogram([LOW, BORN, HIGH], [0.5, 0.5]), gp.histogram([low, mid, high], [0.5, 0.5])),
        (gp.empirical([LOW, BORN, HIGH]), gp.empirical([low, mid, high])),
        (gp.partly_known(MONTH, 0.1, LOW, HIGH), gp.partly_known(30, 0.1, low, high)),
    ]


@pytest.mark.parametrize(("dated", "days"), pairs(), ids=lambda prior: prior.name)
def test_a_prior_of_dates_is_one_of_days(dated: Any, days: Any) -> None:
    assert repr(dated) == repr(days)
    first = gp.Attribute("born", dated, scale=3652.5, bounds=(LOW, HIGH))
    second = gp.Attribute("born", days, scale=3652.5, bounds=(days_of(LOW), days_of(HIGH)))
    assert first.is_time
    assert first.shown(days_of(BORN)) == "1980-05-17"
    one = gp.Attack(gp.within(first, MONTH), at={"born": BORN})
    other = gp.Attack(gp.within(second, 30), at={"born": days_of(BORN)})
    assert float(one.advantage(1.0).bound) == float(other.advantage(1.0).bound)


def test_what_is_known_may_be_dates() -> None:
    born = gp.Attribute("born", gp.normal(BORN, YEARS), scale=3652.5)
    known: Any = datetime.date(1975, 1, 1), datetime.datetime(1985, 1, 1, 12)
    one = gp.Attack(gp.inside(born, known), at={"born": BORN}, knows={"born": (LOW, known[1])})
    days: Any = tuple(map(days_of, known))
    other = gp.Attack(gp.inside(born, days), at={"born": days_of(BORN)}, knows={"born": (days_of(LOW), days[1])})
    assert float(one.advantage(1.0).bound) == float(other.advantage(1.0).bound)


def test_dates_that_are_labels_stay_labels() -> None:
    visit = gp.Attribute("visit", gp.categorical({LOW: 0.5, HIGH: 0.5}))
    assert float(gp.Attack(gp.exactly(visit), at={"visit": LOW}).advantage(1.0).bound) > 0


@pytest.mark.parametrize("make", [lambda: gp.normal(BORN, BORN), lambda: gp.normal(TEXT, 3)])
def test_a_moment_is_no_length_and_a_text_is_no_moment(make: Any) -> None:
    with pytest.raises(InputError):
        make()
