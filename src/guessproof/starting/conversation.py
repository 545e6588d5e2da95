"""The plan that grows from answers: after each one its text, with a “?” for what is still open."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from guessproof.sql.declared import number_of
from guessproof.starting.helpers import believed
from guessproof.starting.questions import AVERAGE, COUNT, Answers, next_question, several_rows
from guessproof.starting.writing import BLANK, goal_name, note, pair, select, slug, sql_name, table, toml_key, toml_text
from guessproof.world import label_of


def plan_text(answers: Answers, *, name: str, origin: Mapping[str, str], called: str = "t") -> str:
    """The plan that these answers make; what is not answered yet is left out, or stands as a blank."""
    column = str(answers.get("column", ""))
    parts = [
        note("Made by guessproof init --ask. Nothing in this file may come from the table itself."),
        _data(answers, name, origin, called),
    ]
    if column:
        parts.append(table("query", pair("sql", toml_text(_sql(answers, column, called)), "The question.")))
        parts.append(_column(answers, column))
        parts += [part for part in (_attacker(answers, column), _risk(answers)) if part]
    if answers.get("accuracy") is not None:
        told = "How far the answer may be off, in so many of 100 cases."
        parts.append(table("accuracy", pair("within", _shown(answers["accuracy"]), told), "confidence = 0.95"))
    parts.append(table("release", pair("ledger", '"guessproof.ledger"', "What was released, and what it cost.")))
    return "\n\n".join(parts) + "\n"


def is_complete(answers: Answers) -> bool:
    """Whether every question that matters has its answer."""
    return next_question(answers) is None


# Which answer a refused key of the plan came from.
_ANSWERED = {
    "bounds": "bounds", "levels": "levels", "rows": "rows", "goal": "near", "advantage": "limit", "constant": "factor",
    "within": "accuracy", "prior": "belief", "categorical": "shares", "normal": "belief", "sql": "column",
    "person": "person", "max_rows": "most_rows", "rows_at_least": "least_rows",
}  # fmt: skip


def doubtful_answer(field: str, answers: Answers) -> str | None:
    """The question whose answer a refusal is about, by the key that it names."""
    keys = [_ANSWERED.get(key) for key in reversed(field.replace("[", ".").split("."))]
    return next((key for key in keys if key in answers), None)


def _shown(number: float) -> str:
    return f"{number:.15g}"


def _data(answers: Answers, name: str, origin: Mapping[str, str], called: str) -> str:
    secret = "persons" if several_rows(answers) else answers.get("secret")
    rows, least, most = (answers.get(key) for key in ("rows", "least_rows", "most_rows"))
    words = {
        "values": "The declared columns of one record; who is in the table is taken as known.",
        "records": "Even whether somebody is in the table.",
        "persons": "All rows of a person together, whether there are any included.",
    }
    return table(
        "data",
        pair("name", toml_text(name), "The ledger's name for this data."),
        *(
            pair(key, toml_text(value), "The confidential table." if key == "source" else "")
            for key, value in origin.items()
        ),
        pair("table", toml_text(called)),
        pair("protects", BLANK if secret is None else toml_text(secret), words.get(secret or "", "")),
        "" if rows is None else pair("rows", str(int(rows)), "Public knowledge."),
        "" if least is None else pair("rows_at_least", str(int(least)), "Public knowledge, for the stated error."),
        "" if "person" not in answers else pair("person", toml_text(answers["person"]), "Whose row it is."),
        "" if most is None else pair("max_rows", str(int(most)), "Of more rows of a person only so much counts."),
    )


def _sql(answers: Answers, column: str, called: str) -> str:
    own = sql_name(column)
    counted_once = f"COUNT(DISTINCT {sql_name(answers['person'])})" if "person" in answers else "COUNT(*)"
    if answers.get("asked") == AVERAGE:
        return select(f"AVG({own}) AS mean_{slug(column)}", name=called)
    if answers.get("asked") == COUNT:
        counted = str(answers.get("counted", "?"))
        quoted = "'" + counted.replace("'", "''") + "'"
        value = counted if _are_numbers([counted, *answers.get("levels", ())]) else quoted
        return select(f"{counted_once} AS n", f"WHERE {own} = {value}", called)
    return select(f"{own}, {counted_once} AS n", f"GROUP BY {own}", called)


def _column(answers: Answers, column: str) -> str:
    rows: list[str] = []
    if "bounds" in answers:
        low, high = answers["bounds"]
        rows.append(pair("bounds", f"[{_shown(low)}, {_shown(high)}]"))
    if "levels" in answers:
        levels = answers["levels"]
        rows.append(pair("levels", f"[{', '.join(levels if _are_numbers(levels) else map(toml_text, levels))}]"))
    if "belief" in answers:
        belief = believed(answers["belief"])
        rows.append(pair("prior", belief.toml, belief.comment))
    if "shares" in answers:
        shares: Mapping[str, float] = answers["shares"]
        inside = ", ".join(f"{toml_key(level)} = {share:.12g}" for level, share in shares.items())
        rows.append(pair("prior", f"{{ categorical = {{ {inside} }} }}", "What somebody thinks beforehand."))
    return table(f"columns.{toml_key(column)}", *rows)


def _are_numbers(levels: Sequence[str]) -> bool:
    """Whether these are numbers as a column of numbers holds them; a code like 007 is a text."""
    numbers = [number_of(level) for level in levels]
    return all(n is not None and math.isfinite(n) and label_of(n) == v for n, v in zip(numbers, levels, strict=True))


def _attacker(answers: Answers, column: str) -> str:
    goal = _goal(answers, column)
    if goal is None:
        return ""
    limit: Any = answers.get("limit")
    said = "" if limit is None else f"He may become right in {100 * limit:.6g} of 100 such guesses more than before."
    return table(
        "attacker",
        pair("goal", toml_text(goal), "When a guess of one person's value is right."),
        pair("advantage", BLANK if limit is None else _shown(limit), said),
    )


def _goal(answers: Answers, column: str) -> str | None:
    if "near" in answers:
        return f"{goal_name(column)} within {_shown(answers['near'])}"
    return f"{goal_name(column)} exactly" if "shares" in answers else None


def _risk(answers: Answers) -> str:
    if "factor" not in answers:
        return ""
    words = "By this factor at most may anything become more likely to whoever sees the answer."
    return table("risk", pair("constant", _shown(answers["factor"]), words))
