"""One page a rule: the query, the query that is really run, and the account of it.

`UPDATE_GOLDEN=1 pytest tests/sql/test_golden.py` writes the pages anew; read the difference before it is kept.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
import sqlglot

from guessproof.sql import analyze, find_target, rewrite
from sql.examples import JOINS, PAGES, Example
from sql.running import TYPES, stored

GOLDEN = {**PAGES, "joins": JOINS}
GOLDEN_FOLDER = Path(__file__).parent / "golden"
FOLDERS = {"duckdb": GOLDEN_FOLDER, "postgres": GOLDEN_FOLDER / "postgres", "spark": GOLDEN_FOLDER / "spark"}


def page(examples: list[Example], dialect: str) -> str:
    """What a page says."""
    return "\n".join(written(example, dialect) for example in examples)


def written(example: Example, dialect: str) -> str:
    question = analyze(example.sql, example.declared)
    exponents = [0 if m.is_whole else -10 for m in question.measurements]
    types = {n: TYPES[dialect].get(kind, kind) for n, kind in stored(question).items()}
    run = ";\n".join(rewrite(question, exponents, find_target(dialect, types)).statements)
    protects = example.declared.unit.name + (f", {example.declared.rows} rows" if example.declared.rows else "")
    accounts = "".join(f"-- {m.account}\n" for m in question.measurements)
    shown = ";\n".join(sqlglot.transpile(run, dialect, dialect, pretty=True))
    return f"-- {protects}: {example.sql}\n{accounts}{shown};\n"


def file(name: str, dialect: str) -> Path:
    words = re.findall(r"[a-z]+", name.replace("*", "times").replace("+", "plus").lower())
    return FOLDERS[dialect] / f"{'-'.join(words[:4])}.sql"


@pytest.mark.parametrize("dialect", FOLDERS)
@pytest.mark.parametrize("name", GOLDEN)
def test_every_page_is_current(name: str, dialect: str) -> None:
    text = page(GOLDEN[name], dialect)
    if os.environ.get("UPDATE_GOLDEN"):
        FOLDERS[dialect].mkdir(exist_ok=True)
        file(name, dialect).write_text(text, encoding="utf-8")
    assert file(name, dialect).read_text(encoding="utf-8") == text


@pytest.mark.parametrize("dialect", FOLDERS)
def test_no_page_is_left_over(dialect: str) -> None:
    assert {file(name, dialect) for name in GOLDEN} == set(FOLDERS[dialect].glob("*.sql"))
    assert len({file(name, dialect) for name in GOLDEN}) == len(GOLDEN)
