"""docs/queries.md says what the code does. `UPDATE_GOLDEN=1 pytest tests/sql/test_docs.py` writes its tables anew."""

from __future__ import annotations

import os

from guessproof.sql import analyze
from guessproof.sql.rules import RULES
from sql.docs import END, PAGE, START, tables
from sql.examples import VALUES, whole


def test_the_tables_are_current() -> None:
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(START)
    _, after = rest.split(END)
    current = before + tables() + after
    if os.environ.get("UPDATE_GOLDEN"):
        PAGE.write_text(current, encoding="utf-8")
        text = current
    assert text == current


def test_every_rule_has_examples_that_are_understood() -> None:
    for rule in RULES:
        assert rule.examples
        for example in rule.examples:
            assert analyze(whole(example), VALUES).measurements
