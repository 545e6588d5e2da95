"""One page a rule: the query, the query that is really run, and the account of it.

`UPDATE_GOLDEN=1 pytest tests/sql/test_golden.py` writes the pages anew; read the difference before it is kept.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
import sqlglot

from guessproof.sql import analyze, rewrite
from sql.examples import PAGES, Example
from sql.running import target

FOLDER = Path(__file__).parent / "golden"


def page(examples: list[Example]) -> str:
    """What a page says."""
    return "\n".join(map(written, examples))


def written(example: Example) -> str:
    question = analyze(example.sql, example.declared)
    exponents = [0 if m.is_whole else -10 for m in question.measurements]
    run = rewrite(question, exponents, target(question)).sql
    protects = example.declared.unit.name + (f", {example.declared.rows} rows" if example.declared.rows else "")
    accounts = "".join(f"-- {m.account}\n" for m in question.measurements)
    return f"-- {protects}: {example.sql}\n{accounts}{sqlglot.transpile(run, 'duckdb', 'duckdb', pretty=True)[0]};\n"


def file(name: str) -> Path:
    words = re.findall(r"[a-z]+", name.replace("*", "times").replace("+", "plus").lower())
    return FOLDER / f"{'-'.join(words[:4])}.sql"


@pytest.mark.parametrize("name", PAGES)
def test_every_page_is_current(name: str) -> None:
    text = page(PAGES[name])
    if os.environ.get("UPDATE_GOLDEN"):
        FOLDER.mkdir(exist_ok=True)
        file(name).write_text(text, encoding="utf-8")
    assert file(name).read_text(encoding="utf-8") == text


def test_no_page_is_left_over() -> None:
    assert {file(name) for name in PAGES} == set(FOLDER.glob("*.sql"))
    assert len({file(name) for name in PAGES}) == len(PAGES)
