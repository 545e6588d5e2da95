"""What is refused, why, where, and what to write instead; and whatever is written, nothing but a refusal comes out."""

from __future__ import annotations

import re
from random import Random

import pytest
from counting import calls
from depth import cases
from hypothesis import given, settings
from hypothesis import strategies as st

from guessproof.errors import QueryError
from guessproof.guarantee.unit import Persons
from guessproof.sql import AnalyzedQuery, DeclaredColumn, DeclaredTable, analyze, rewrite
from sql.examples import JOINABLE
from sql.grammar import Maker, setting
from sql.refusals import RECORDS, REFUSALS, TABLE, Refusal
from sql.running import target

PERSONS = DeclaredTable("t", TABLE.columns, Persons("ward", 3))
JARGON = re.compile(r"<class|sqlglot|Token|Expression\b|exp\.|keyword:|None|Unexpected|ParseError|NoneType|[a-z]_")


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda r: r.sql[:60])
def test_refusals_say_why_where_and_what_to_write_instead(refusal: Refusal) -> None:
    with pytest.raises(QueryError) as caught:
        analyze(refusal.sql, refusal.declared)
    error = caught.value
    assert refusal.problem in error.problem, error.problem
    assert error.remedy, "there is no remedy"
    assert not JARGON.search(error.problem), error.problem
    assert error.__cause__ is None
    assert error.__suppress_context__ or error.__context__ is None
    if refusal.underlined is not None:
        assert error.place is not None
        assert refusal.sql[slice(*error.place)] == refusal.underlined


@pytest.mark.parametrize(
    ("sql", "declared", "remedy"),
    [
        ("SELECT AVG(tiem) FROM t", TABLE, r"did you mean time\? Otherwise declare bounds = .* for tiem,"),
        ("SELECT SUM(height) FROM t", TABLE, r"declare bounds = .* for height,"),  # declared, and no misspelt weight
        ("SELECT facluty, COUNT(*) FROM t GROUP BY facluty", TABLE, r"did you mean faculty\? Otherwise declare levels"),
        ("SELECT SUM(p.raet) FROM t JOIN prices AS p USING (faculty)", JOINABLE, r"did you mean rate\?"),
        ("SELECT SUM(p.cost) FROM t JOIN prices AS p USING (faculty)", JOINABLE, r"\[tables\.prices\.columns\.cost\]"),
        ("SELECT COUNT(DISTINCT patient) FROM t", TABLE, r'protects = "persons", person = "patient" and max_rows'),
        ("SELECT COUNT(DISTINCT patient) FROM t", PERSONS, r'names the persons, write person = "patient" under'),
    ],
)
def test_a_column_that_lacks_something_may_be_another(sql: str, declared: DeclaredTable, remedy: str) -> None:
    with pytest.raises(QueryError) as caught:
        analyze(sql, declared)
    assert re.search(remedy, caught.value.remedy), caught.value.remedy
    assert ("did you mean" in remedy) == ("did you mean" in caught.value.remedy)


@pytest.mark.parametrize(
    ("condition", "right"),
    [
        ("colour = black", "colour = 'black'"),
        ("faculty = math", "faculty = 'math'"),  # public, with declared labels
        ("faculty <> math", "faculty <> 'math'"),
        ("office = home", "office = 'home'"),  # not declared
        ("faculty IN (math, law)", "faculty IN ('math')"),
    ],
)
def test_a_text_without_quotes_is_shown_with_them(condition: str, right: str) -> None:
    with pytest.raises(QueryError) as caught:
        analyze(f"SELECT COUNT(*) FROM t WHERE {condition}", TABLE)
    assert right in caught.value.remedy


HIDDEN = [
    "SELECT SUM(time) FROM t /* ; DROP TABLE t */ WHERE town = '-- not a comment; DROP TABLE t'",
    "SELECT SUM(time) FROM t -- ; DROP TABLE t",
    "SELECT SUM(time) FROM t WHERE town = 'a'' OR 1=1 --'",
    'SELECT SUM(time) AS "x"" FROM secret; --" FROM t',
    "SELECT SUM(time) FROM t WHERE town = '\\'' ",
    "SELECT SUM(time) FROM t WHERE town = E'\\x27 OR 1=1'",
    "SELECT SUM(time) FROM t WHERE town = $$a' OR 1=1$$",
    "SELECT SUM(time) FROM t WHERE town = '’; DROP TABLE t'",
    "ＳＥＬＥＣＴ SUM(time) FROM t",
    "SELECT SUM(tіme) FROM t",  # a Cyrillic і
    "SELECT SUM(time) FROM t WHERE town = 'a' ; ",
    "SELECT SUM(time)\u00a0FROM t",
]


@pytest.mark.parametrize("sql", HIDDEN)
def test_what_hides_in_quotes_and_comments_stays_a_constant(sql: str) -> None:
    """Either refused, or written again from what was understood: one SELECT over the one table."""
    try:
        question = analyze(sql, TABLE)
    except QueryError:
        return
    written = rewrite(question, [0] * len(question.measurements), target(question)).sql
    outside = re.sub(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"", "", written)
    assert "--" not in outside
    assert "/*" not in outside
    assert ";" not in outside
    assert "DROP" not in outside
    assert outside.count("SELECT") == 1
    assert written.count('FROM "t"') == 1


def test_names_are_quoted() -> None:
    name = 'x" FROM secret; --'
    declared = DeclaredTable('t"; --', {name: DeclaredColumn(name, bounds=(0, 1))})
    question = analyze('SELECT SUM("x"" FROM secret; --") FROM "t""; --"', declared)
    written = rewrite(question, [0], target(question)).sql
    assert '"x"" FROM secret; --"' in written
    assert written.endswith('FROM "t""; --"')


LONG = [
    "SELECT SUM(time) FROM t WHERE " + " AND ".join(f"age > {i}" for i in range(400)),
    "SELECT SUM(time) FROM t WHERE " + "NOT (" * 300 + "age > 1" + ")" * 300,
    "SELECT SUM(" + "(" * 2000 + "time" + ")" * 2000 + ") FROM t",
    "SELECT SUM(" + "+".join(["time"] * 2500) + ") FROM t",
    "SELECT SUM(" + "ABS(" * 90 + "time" + ")" * 90 + ") FROM t",
    "SELECT SUM(" + "-" * 3000 + "time) FROM t",
    "SELECT SUM(CASE " + "WHEN age > 1 THEN 1 " * 800 + "END) FROM t",
    "SELECT " + ", ".join(f"SUM(time + {i}) AS s{i}" for i in range(250)) + " FROM t",
    "SELECT COUNT(*) FROM t WHERE age IN (" + ", ".join(map(str, range(500))) + ")",
    "SELECT COUNT(*) FROM t WHERE age IN (" + ", ".join(map(str, range(2000))) + ")",
    "SELECT COUNT(*) FROM t WHERE colour LIKE '" + "%a" * 1500 + "'",
    "SELECT SUM(time) FROM t WHERE town = '" + "x" * 30_000 + "'",
    "SELECT SUM(x) FROM " + "(SELECT x + x AS x FROM " * 18 + "(SELECT time AS x FROM t)" + ")" * 18,
    "SELECT SUM(POWER(POWER(POWER(time, 64), 64), 64)) FROM t",
    "SELECT SUM(1e999) FROM t",
    "SELECT SUM(time * 1e300 * 1e300) FROM t",
    "SELECT SUM(time) FROM t LIMIT 99999999999999999999999999",
    "SELECT COUNT(*) FROM t WHERE age > 1e200 AND age < 1e201",
]


@pytest.mark.parametrize("sql", LONG, ids=lambda s: s[:50] + "…")
def test_long_and_deep_queries_end_soon(sql: str) -> None:
    longest = DeclaredColumn("colour", levels=tuple("ab" * 800 + str(i) for i in range(50)))
    declared = DeclaredTable("t", {**TABLE.columns, "colour": longest})
    assert calls(lambda: attempt(sql, declared), limit=8_000_000)


WORDS = """
SELECT FROM t WHERE GROUP BY HAVING ORDER LIMIT AND OR NOT IN BETWEEN LIKE IS NULL CASE WHEN THEN ELSE END COUNT SUM AVG
MIN MAX FILTER DISTINCT AS time age colour faculty height town POINT ABS SQRT POWER ROUND COALESCE LEAST ( ) ( ) , * + -
/ = <> < >= <@> 'black' 'a''b' 0 1 2.5 1e308 ; -- /* */ " ' ? $1 :x TRUE OVER UNION WITH JOIN LATERAL UNNEST [ ] { } ::
CAST INTERVAL DATE EXTRACT % // ^ ~ | & => -> @ EXCLUDE REPLACE COLUMNS ALL ANY EXISTS
"""
TOKENS = WORDS.split()


@settings(max_examples=cases(100))
@given(st.lists(st.sampled_from(TOKENS), max_size=25), st.booleans())
def test_token_soup_is_understood_or_refused(tokens: list[str], records: bool) -> None:
    attempt(" ".join(["SELECT", *tokens]), RECORDS if records else TABLE)


@settings(max_examples=cases(60))
@given(st.text(max_size=60))
def test_any_text_is_understood_or_refused(text: str) -> None:
    attempt(text, TABLE)
    attempt(f"SELECT SUM(time) FROM t WHERE {text}", TABLE)


@settings(max_examples=cases(100))
@given(st.integers(0, 10**6), st.data())
def test_mutated_queries_are_understood_or_refused(seed: int, data: st.DataObject) -> None:
    random = Random(seed)
    declared = setting(random).declared
    words = re.findall(r"\w+|'[^']*'|\S", Maker(random).query())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(words) - 1))
        change = data.draw(st.sampled_from(("drop", "double", "swap", "token", "cut")))
        if change == "drop" and len(words) > 1:
            del words[at]
        elif change == "double":
            words.insert(at, words[at])
        elif change == "swap":
            other = data.draw(st.integers(0, len(words) - 1))
            words[at], words[other] = words[other], words[at]
        elif change == "token":
            words[at] = data.draw(st.sampled_from(TOKENS))
        elif change == "cut" and len(words) > 2:
            words = words[: max(2, at)]
    attempt(" ".join(words), declared)


def attempt(sql: str, declared: DeclaredTable) -> None:
    """Only a refusal comes out; what is understood can be written, and speaks of the one table."""
    outcome = asked(sql, declared)
    if isinstance(outcome, QueryError):
        assert outcome.problem
        assert outcome.remedy
        assert str(outcome)
    else:
        written = rewrite(outcome, [0] * len(outcome.measurements), target(outcome)).sql
        assert written.count(f'FROM "{declared.table}"') == 1


def asked(sql: str, declared: DeclaredTable) -> AnalyzedQuery | QueryError:
    """What comes of a query."""
    try:
        return analyze(sql, declared)
    except QueryError as error:
        return error


@pytest.mark.parametrize(
    ("sql", "problem", "remedy"),
    [
        ("SELECT VAR(x) AS v FROM t", "there is no function VAR", "VARIANCE"),
        ("SELECT COUNT(*) AS n FROM t WHERE g = north", "north is no column", "g = 'north'"),
    ],
)
def test_what_was_meant_is_named(sql: str, problem: str, remedy: str) -> None:
    columns = {"x": DeclaredColumn("x", bounds=(0, 9)), "g": DeclaredColumn("g", levels=("north", "south"))}
    with pytest.raises(QueryError, match=problem) as refused:
        analyze(sql, DeclaredTable("t", columns))
    assert remedy in str(refused.value)
