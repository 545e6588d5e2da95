"""`guessproof release`. Heavy rooms are imported inside the command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from guessproof.cli.printing import AsJson, PlanArgument, after_answer, belief_words, command, error_words, print_json
from guessproof.rounded import beside_error, margin, points, up

MISSING = "(missing)"  # a key of a group that no value was found for

if TYPE_CHECKING:
    from guessproof.cli.screen import Screen
    from guessproof.plan import Plan
    from guessproof.releasing import Answer
    from guessproof.releasing.answer import Released


def release(
    plan: PlanArgument,
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="Also write the answers: .csv, .json or .parquet.")
    ] = None,
    number: Annotated[
        int | None, typer.Option(help="Which of the plan's releases, where it has several (times = 12): 1, 2, …")
    ] = None,
    key_file: Annotated[str | None, typer.Option("--key-file", help="The key of a sealed ledger.")] = None,
    timeout: Annotated[float | None, typer.Option(help="Seconds after which the query is stopped.")] = None,
    as_json: AsJson = False,
) -> None:
    """Charge the ledger, ask the table, add noise, and print the answer with its error.

    The budget is opened once: guessproof ledger open NAME --budget 1.0

    Example: guessproof release plan.toml
    """
    from contextlib import nullcontext

    from guessproof.cli.screen import Screen
    from guessproof.ledger import read_key
    from guessproof.plan import load_plan
    from guessproof.releasing import release as released
    from guessproof.releasing.run import after_charge
    from guessproof.writing import check_target, write_answers

    loaded = load_plan(plan)
    if output is not None:
        check_target(output, loaded, key_file)  # before anything is charged
    with Screen(stderr=True).status("charging, asking, adding noise …"):
        answer = released(loaded, number=number, key=read_key(key_file), timeout=timeout)
    with nullcontext() if answer.replayed else after_charge():
        print_json(answer.to_dict()) if as_json else show_answer(answer, loaded)
        if output is not None:  # last: an answer that was paid for is shown even if the disk is full
            with after_answer():
                write_answers(answer, output, loaded)


def show_answer(answer: Answer, plan: Plan) -> None:
    """The answer, what it tells an attacker, what is left."""
    from guessproof.cli.screen import Screen

    console = Screen()
    if answer.replayed:
        console.print("\nThis very request was answered before: the same answer, no new charge.", style="yellow")
    for question in plan.questions:
        numbers = answer[question.name].answers if question.name else answer.answers
        title = f"{question.name}: {question.sql}" if question.name else question.sql
        _show_numbers(console, title, numbers, plan, question.name)
    for name, error in answer.sampling.items():
        console.print(
            f"Apart from this noise, the average of so many people ({name}) would itself vary by about "
            f"{margin(error, 3)} from sample to sample (from the declared prior and the public count).",
            style="dim",
        )
    _show_learned(console, answer, plan)
    left = answer.remaining
    if answer.times > 1:
        seen = f"whoever sees all {answer.times} learns at most what is said above"
        console.print(f"Release {answer.number} of {answer.times}; {seen}.")
    charged = f"ε = {up(answer.epsilon)}" + (f", δ = {up(answer.delta)}" if answer.delta else "")
    rest = _rest_words("ε", left.get("epsilon"), answer.epsilon)
    rest += f", {_rest_words('δ', left.get('delta'), answer.delta)}" if answer.delta else ""
    console.print(f"Charged {charged}; left: {rest}.")
    console.print(f"Ledger head {answer.head}", style="dim")
    if plan.path is not None:
        console.print(f"Next: {command('report', str(plan.path), '-o', 'report.html')}")
    console.print()


def _rest_words(symbol: str, left: float | None, charged: float) -> str:
    """What is left beside what was just charged; a crumb, as rounding leaves it behind, is no number to think about.

    >>> _rest_words("ε", 1.25, 0.5), _rest_words("ε", 5e-06, 0.5), _rest_words("ε", 0.0, 0.5)
    ('ε = 1.25', 'hardly anything', 'nothing')
    """
    from decimal import Decimal

    from guessproof.ledger.amounts import rest_of

    words = rest_of(Decimal(repr(left or 0.0)), Decimal(repr(charged)))
    return f"{symbol} = {words}" if words[:1].isdigit() else words


def _show_numbers(console: Screen, title: str, numbers: tuple[Released, ...], plan: Plan, question: str) -> None:
    """The answer to one question as a table."""
    from rich.table import Table

    from guessproof.cli.screen import styled

    table = Table(title=f"\n{title}", title_justify="left", title_style="dim")
    keys = list(numbers[0].group) if numbers else []
    cut = any(row.nearest is not None and row.nearest != row.value for row in numbers)
    for key in (*map(plan.label, keys), "answer"):
        table.add_column(key)
    for column in ("value", *(["nearest possible"] if cut else []), "error", "confidence", "between"):
        table.add_column(column, justify="right")
    for row in numbers:
        ends = [_value(e, row) for e in (row.low, row.high) if e is not None]
        between = " … ".join(ends) if len(ends) > 1 and row.ranks is None else ""  # of a rank all that is possible
        table.add_row(
            *(MISSING if row.group[k] is None else plan.label(k, str(row.group[k])) for k in keys),
            _called(plan, question, row.name),
            "none" if row.value is None else styled(_value(row.value, row), "bold"),
            *(["" if row.nearest is None else _value(row.nearest, row)] if cut else []),
            "" if row.error is None and row.ranks is None else error_words(row.error, row.ranks, row.time),
            f"{row.confidence:.0%}",
            between,
        )
    console.print(table)


def _value(value: float, row: Released) -> str:
    """One of the numbers of an answer: a time as a time, and no digits that the error drowns."""
    from guessproof.world.times import show_time

    return show_time(value, row.error) if row.time else beside_error(value, row.error)


def _called(plan: Plan, question: str, output: str) -> str:
    """What people call an output; of several questions by its full name too, as mean_stay.days."""
    full = f"{question}.{output}" if question else output
    words = plan.label(full)
    return output if words == full else words


def _show_learned(console: Screen, answer: Answer, plan: Plan) -> None:
    """A belief before → after at one true value, and how far it rises at most where that is not the one."""
    from guessproof.risk.bracket import Bracket

    known, gained = answer.learned.get("posterior"), answer.learned.get("advantage")
    before = answer.learned.get("prior")
    if known is not None:
        told = belief_words(Bracket(**known), before, plan.truth_words, plan.prior_factor)
        console.print(f"An attacker's belief, before and after at most: {told}.")
    if gained is not None and (known is None or before is None):
        gain = Bracket(**gained)
        console.print(f"Whatever is true, his belief rises by at most {points(float(gain.bound))} ({gain.status}).")
