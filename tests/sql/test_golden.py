"""The query that is really run: a page a rule on DuckDB to be read, and a digest of each statement on every engine.

`UPDATE_GOLDEN=1 pytest tests/sql/test_golden.py` writes both anew; read the difference before it is kept.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from pathlib import Path

import pytest
import sqlglot

from guessproof.sql import analyze, find_target, rewrite
from sql.examples import JOINS, PAGES, Example
from sql.running import TYPES, stored

GOLDEN = {**PAGES, "joins": JOINS}
FOLDER = Path(__file__).parent / "golden"
DIGESTS = FOLDER / "digests.json"
DIALECTS = ("duckdb", "postgres", "spark")


def title(example: Example) -> str:
    """What is protected, and the query."""
    rows = f", {example.declared.rows} rows" if example.declared.rows else ""
    return f"{example.declared.unit.name}{rows}: {example.sql}"


def statements(example: Example, dialect: str) -> str:
    """The statements that are run."""
    question = analyze(example.sql, example.declared)
    exponents = [0 if m.is_whole else -10 for m in question.measurements]
    types = {n: TYPES[dialect].get(kind, kind) for n, kind in stored(question).items()}
    return ";\n".join(rewrite(question, exponents, find_target(dialect, types)).statements)


def written(example: Example) -> str:
    """What a page says of one query."""
    accounts = "".join(f"-- {m.account}\n" for m in analyze(example.sql, example.declared).measurements)
    shown = ";\n".join(sqlglot.transpile(statements(example, "duckdb"), "duckdb", "duckdb", pretty=True))
    return f"-- {title(example)}\n{accounts}{shown};\n"


def digest(example: Example, dialect: str) -> str:
    """Of the statements as they are parsed: neither spaces, comments nor the case of words count."""
    parsed = sqlglot.parse(statements(example, dialect), dialect)
    text = ";".join(one.sql(dialect, comments=False) for one in parsed if one is not None)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def file(name: str) -> Path:
    words = re.findall(r"[a-z]+", name.replace("*", "times").replace("+", "plus").lower())
    return FOLDER / f"{'-'.join(words[:4])}.sql"


@pytest.mark.parametrize("name", GOLDEN)
def test_every_page_is_current(name: str) -> None:
    text = "\n".join(map(written, GOLDEN[name]))
    if os.environ.get("UPDATE_GOLDEN"):
        file(name).write_text(text, encoding="utf-8")
    assert file(name).read_text(encoding="utf-8") == text


def test_every_statement_is_current_on_every_engine() -> None:
    found = {
        name: {title(example): {d: digest(example, d) for d in DIALECTS} for example in examples}
        for name, examples in GOLDEN.items()
    }
    assert all(len(found[name]) == len(examples) for name, examples in GOLDEN.items())
    if os.environ.get("UPDATE_GOLDEN"):
        DIGESTS.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    assert json.loads(DIGESTS.read_text(encoding="utf-8")) == found


def test_no_page_is_left_over() -> None:
    assert {file(name) for name in GOLDEN} == set(FOLDER.glob("*.sql"))
    assert len({file(name) for name in GOLDEN}) == len(GOLDEN)
