"""The contract of engines on the other forms that DuckDB reads, and all of it on PostgreSQL."""

from __future__ import annotations

import pytest
from engines.harnesses import PostgresHarness
from servers import Place

from guessproof.testing import DuckDBHarness, EngineContract, Harness


class TestPostgres(EngineContract):
    """All of it."""

    @pytest.fixture
    def harness(self, postgres: Place) -> Harness:
        return PostgresHarness(postgres)


class OtherForm(EngineContract):
    """Another form that DuckDB reads: what depends on its SQL alone need not be shown again."""

    test_same_answers = test_same_answers_of_texts = test_more_drawn_plans = None


class TestCsv(OtherForm):
    @pytest.fixture
    def harness(self) -> Harness:
        return DuckDBHarness("csv")


class TestParquet(OtherForm):
    @pytest.fixture
    def harness(self) -> Harness:
        return DuckDBHarness("parquet")


class TestFrame(OtherForm):
    @pytest.fixture
    def harness(self) -> Harness:
        return DuckDBHarness("frame")
