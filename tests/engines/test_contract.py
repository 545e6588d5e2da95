"""Every engine is held to the contract that ships as guessproof.testing; the page on engines prints what is missing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from servers import Place

from engines.harnesses import PostgresHarness
from guessproof.testing import CHECKS, GAPS, DuckDBHarness, EngineCheck, EngineContract, Harness
from guessproof.testing.page import write_table

PAGE = Path(__file__).parents[2] / "docs/engines.md"
BEGIN, END = "<!-- contract -->\n", "<!-- end of contract -->\n"


class TestDuckDB(EngineContract):
    @pytest.fixture
    def harness(self) -> Harness:
        return DuckDBHarness("duckdb")


class TestPostgres(EngineContract):
    """Further plans that are drawn, and texts in every storage, are asked in tests/deep."""

    test_same_answers_of_texts = test_more_drawn_plans = None

    @pytest.fixture
    def harness(self, postgres: Place) -> Harness:
        return PostgresHarness(postgres)


# The suite itself.


class Unable(DuckDBHarness):
    """An engine with gaps of its own."""

    def __init__(self, **gaps: str) -> None:
        super().__init__("duckdb")
        self.own = gaps

    @property
    def gaps(self) -> dict[str, str]:
        return self.own


def nothing(_: Harness) -> None:
    """Nothing is asked."""


def too_much(_: Harness) -> None:
    """Nobody can do it."""
    raise AssertionError("too much")


def test_a_gap_needs_a_reason_and_must_be_one() -> None:
    EngineCheck(nothing).hold(Unable())
    EngineCheck(too_much).hold(Unable(too_much="there is no way to do so much"))
    with pytest.raises(AssertionError, match="too much"):
        EngineCheck(too_much).hold(Unable())
    with pytest.raises(AssertionError, match="write the reason"):
        EngineCheck(too_much).hold(Unable(too_much=""))
    with pytest.raises(AssertionError, match="take its line out of the gaps"):
        EngineCheck(nothing).hold(Unable(nothing="there is no way to do nothing"))


def test_every_gap_is_of_a_check_and_has_a_reason() -> None:
    names = {check.name for check in CHECKS}
    assert len(names) == len(CHECKS)
    for engine, gaps in GAPS.items():
        assert set(gaps) <= names, engine
        assert all(len(reason) > 10 for reason in gaps.values()), engine


def test_the_page_prints_the_contract_and_its_gaps() -> None:
    """UPDATE_GOLDEN=1 writes it anew."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    wanted = f"{before}{BEGIN}{write_table()}{END}{after}"
    if os.environ.get("UPDATE_GOLDEN"):
        PAGE.write_text(wanted, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == wanted


def test_the_suite_needs_no_pytest() -> None:
    program = (
        "import sys, guessproof\n"
        "assert 'guessproof.testing' not in sys.modules\n"
        "from guessproof.testing import CHECKS, DuckDBHarness\n"
        "assert 'pytest' not in sys.modules\n"
        "next(check for check in CHECKS if check.name == 'good_queries').hold(DuckDBHarness('parquet'))\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
