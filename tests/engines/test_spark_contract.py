"""Spark is held to the contract that every engine passes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engines.spark_harness import SparkHarness
from guessproof.testing import EngineContract


@pytest.fixture
def harness(spark: str) -> Iterator[SparkHarness]:
    made = SparkHarness(spark)
    yield made
    made.close()


class TestSpark(EngineContract):
    """A time limit is tried in test_spark.py: one in which a count is over for sure is longer here."""

    test_time_limit = test_same_answers = test_same_answers_of_texts = None
    test_drawn_plans = test_more_drawn_plans = None
