"""What was released, as the ledger has it, and what is left of the budget."""

from __future__ import annotations

import shlex
from decimal import Decimal
from typing import Any

from guessproof.charts import plan as charts
from guessproof.ledger.amounts import rest_of, typed
from guessproof.reporting.facts import Facts, Made
from guessproof.reporting.figures import figure
from guessproof.reporting.markup import Markup, Piece, join, paragraph, table, tag
from guessproof.reporting.words import left, listed, minus, spent, when
from guessproof.rounded import beside_error, percent_short, up_grouped
from guessproof.world import show_time

MOST_ANSWERS = 60


def releases(facts: Facts) -> Markup:
    """Answers of this plan first, then everything that was charged for these data."""
    if facts.account is None:
        return paragraph(
            "Nothing is recorded: no budget is open for these data yet. The owner of the data opens one, once, with ",
            tag("code", f"guessproof ledger open {shlex.quote(facts.plan.data.name)} --budget {_least_budget(facts)}"),
            ". This report is the decision only.",
        )
    parts: list[Piece] = [_answers(facts, made) for made in facts.own]
    if not facts.own:
        parts.append(paragraph("This plan has not released anything yet. This report is the decision only."))
    parts += [_charges(facts), _budget(facts), _chain(facts)]
    return join(parts)


def _least_budget(facts: Facts) -> str:
    """What this plan needs of a budget, where it can be released."""
    return typed(Decimal(facts.choice.cost_of_all)) if facts.is_noisy else "…"


def _answers(facts: Facts, made: Made) -> Markup:
    answer = made.answer
    assert answer is not None
    given: list[dict[str, Any]] = list(answer.get("answers", ()))
    title = f"Answer of {when(made.time)}, entry {made.seq} of the ledger"
    found: list[Piece] = []
    for question in answer.get("questions") or [None]:
        own = [row for row in given if row.get("question") == question]
        caption = title if question is None else f"{facts.plan.label(question)}: {title[:1].lower()}{title[1:]}"
        found += _answer_table(facts, caption, own)
    levels = sorted({float(row["confidence"]) for row in given})
    sure = " or ".join(percent_short(level, "near") for level in levels)
    told = f"Errors hold with {sure} confidence. Charged: ε = {spent(made.epsilon)}"
    told += f", δ = {spent(made.delta)}." if made.delta else "."
    return join(
        [
            *found,
            paragraph(
                told, " The head of the chain after it: ", tag("code", made.head, class_="hash"), ".", class_="note"
            ),
        ]
    )


def _answer_table(facts: Facts, caption: str, given: list[dict[str, Any]]) -> list[Piece]:
    """The numbers of one question, as far as there is room."""
    keys = list(given[0].get("group", {})) if given else []
    label, rows = facts.plan.label, list[list[Piece]]()
    cut = any(row.get("nearest") not in (None, row["value"]) for row in given)
    for row in given[:MOST_ANSWERS]:
        group = ["(missing)" if row["group"][key] is None else label(key, str(row["group"][key])) for key in keys]
        nearest: list[Piece] = [_number(row.get("nearest"), row)] if cut else []
        rows.append([*group, label(_full(row)), _number(row["value"], row), *nearest, _error(row), _between(row)])
    shown = ["released value", *(["nearest possible value"] if cut else []), "error", "so the true answer lies in"]
    heads: list[Piece] = [*map(label, keys), "output", *shown]
    start, more = len(keys) + 1, len(given) - MOST_ANSWERS
    found: list[Piece] = [table(caption, heads, rows, numbers=range(start, start + len(shown)))]
    if more > 0:
        found.append(paragraph(f"{more} more rows are in the data at the end of this page.", class_="note"))
    return found


def _full(row: dict[str, Any]) -> str:
    """The name of an output, with its question where there are several."""
    return f"{row['question']}.{row['name']}" if row.get("question") else str(row["name"])


def _number(value: Any, row: dict[str, Any]) -> str:
    if row.get("time") is not None:
        return show_time(float(value), row.get("error"))
    return "none" if value is None else minus(beside_error(float(value), row.get("error")))


def _error(row: dict[str, Any]) -> str:
    if row.get("ranks") is not None:
        return f"± {up_grouped(float(row['ranks']))} ranks"
    return (
        "unknown"
        if row.get("error") is None
        else f"± {up_grouped(float(row['error']))}{' days' if row.get('time') else ''}"
    )


def _between(row: dict[str, Any]) -> str:
    low, high = row.get("low"), row.get("high")
    return "" if low is None or high is None else f"{_number(low, row)} … {_number(high, row)}"


def _charges(facts: Facts) -> Markup | None:
    account = facts.account
    assert account is not None
    if not facts.made:
        return None
    judged = any(m.advantage is not None for m in facts.made)
    total, rows = Decimal(0), list[list[Piece]]()
    for made in facts.made:
        total += made.epsilon
        row: list[Piece] = [
            str(made.seq),
            when(made.time),
            tag("code", made.query, class_="lines"),
            f"{made.outcome} (this plan)" if made.is_own else made.outcome,
            spent(made.epsilon),
            spent(total),
        ]
        rows.append(row + ([_judged(made)] if judged else []))
    heads = ["entry", "when", "question", "became", "ε", "ε in all"] + (["cumulative advantage"] if judged else [])
    return table(f"All charges for “{account.name}”", heads, rows, numbers=range(4, len(heads)))


def _judged(made: Made) -> str:
    return "" if made.advantage is None else spent(made.advantage)


def _budget(facts: Facts) -> Markup:
    account = facts.account
    assert account is not None
    budget, rest = account.budget, account.left
    own = sum((m.epsilon for m in facts.made if m.is_own), Decimal(0))
    others = account.epsilon - own
    parts = [
        ("other releases", float(others), "spent"),
        ("this plan", float(own), "this"),
        ("left", float(rest.epsilon), "left"),
    ]
    shown = [part for part in parts if part[1] > 0]
    took = [
        f"{name} took {spent(amount)}" for name, amount in (("other releases", others), ("this plan", own)) if amount
    ]
    said = (
        f"Budget of ε = {left(budget.epsilon)}: {listed([*took, f'{rest_of(rest.epsilon, budget.epsilon)} is left'])}."
    )
    key = " Grey: other releases. Dark: this plan." if len(took) == 2 else ""
    picture = figure("budget", lambda width: charts.budget(shown, float(budget.epsilon), width), said, f"{said}{key}")
    more: list[str] = []
    if budget.delta:
        more.append(f"Of δ = {left(budget.delta)}, {spent(account.delta)} is spent and {left(rest.delta)} is left.")
    if budget.advantage is not None and rest.advantage is not None:
        more.append(
            f"Over all releases together an attacker’s belief may rise by {left(budget.advantage)} at most; so far it "
            f"can have risen by {spent(account.advantage)} for the goals that were judged."
        )
    if not facts.own and facts.is_noisy:
        more.append(_affordable(facts))
    return join([tag("h3", "The budget"), picture, paragraph(" ".join(more)) if more else None])


def _affordable(facts: Facts) -> str:
    account = facts.account
    assert account is not None
    cost = Decimal(facts.choice.cost)
    rest = account.left.epsilon
    if cost > rest:
        return f"This release would cost ε = {spent(cost)}, more than is left."
    return (
        f"This release would cost ε = {spent(cost)}; then {rest_of(rest - cost, account.budget.epsilon)} would be left."
    )


def _chain(facts: Facts) -> Markup:
    return paragraph(
        "The ledger is a chain of entries, each holding the digest of the one before; its last digest is the head. "
        "Keep it elsewhere: ",
        tag("code", f"guessproof ledger verify --head {facts.head}", class_="hash"),
        " shows later whether anything in the ledger was changed or cut off.",
    )
