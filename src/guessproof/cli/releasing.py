"""`guessproof release`. Heavy rooms are imported inside the command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from guessproof.cli.printing import AsJson, PlanArgument, after_answer, belief_words, command, error_words, print_json
from guessproof.rounded import beside_error, margin, points, up

WIDE = 100_000  # columns: more than a table can need, so that its width is told without breaking anything
MISSING = "(missing)"  # a key of a group that no value was found for

if TYPE_CHECKING:
    from rich.table import Table

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
    from guessproof.choosing.choice import BOUNDS
    from guessproof.cli.screen import Screen

    console = Screen()
    if answer.replayed:
        console.print("\nThis very request was answered before: the same answer, no new charge.", style="yellow")
    for question in plan.questions:
        numbers = answer[question.name].answers if question.name else answer.answers
        title = f"{question.name}: {question.sql}" if question.name else question.sql
        _show_numbers(console, title, numbers, plan, question.name)
    if BOUNDS in answer.assumptions:
        console.print(BOUNDS, style="dim")
    if answer.bias_note is not None:
        console.print(f"{answer.bias_note}.", style="yellow")
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
    """The answer to one question as a table; where that is too wide as a line for each number. Nothing is cut off."""
    columns, keys = _columns(numbers, plan, question), len(numbers[0].group) if numbers else 0
    confidences, said = set(columns["confidence"]), ""
    table = _number_table(f"\n{title}", columns, keys, breaks=False)
    if not _fits(table, console):
        table = _number_table(f"\n{title}", columns, keys, breaks=True)
    if not _fits(table, console) and len(confidences) == 1:
        said = f"Each error holds with a confidence of {confidences.pop()}."
        columns = {name: cells for name, cells in columns.items() if name != "confidence"}
        table = _number_table(f"\n{title}", columns, keys, breaks=True)
    if _fits(table, console):
        console.print(table)
    else:
        console.print(f"\n{title}", style="dim")
        for cells in zip(*columns.values(), strict=True):
            console.print(_number_line(dict(zip(columns, cells, strict=True))), soft_wrap=True)
    if said:
        console.print(said, style="dim")


def _fits(table: Table, console: Screen) -> bool:
    """Whether a table has room without breaking a key or a number."""
    from rich.measure import Measurement

    return Measurement.get(console, console.options.update(max_width=WIDE), table).minimum <= console.width


def _columns(numbers: tuple[Released, ...], plan: Plan, question: str) -> dict[str, list[str]]:
    """The cells of each column: keys, the output, the number and what is said of it."""
    keys = list(numbers[0].group) if numbers else []
    found = {
        plan.label(k): [MISSING if row.group[k] is None else plan.label(k, str(row.group[k])) for row in numbers]
        for k in keys
    }
    found["answer"] = [_called(plan, question, row.name) for row in numbers]
    found["value"] = ["none" if row.value is None else _value(row.value, row) for row in numbers]
    if any(row.nearest is not None and row.nearest != row.value for row in numbers):
        found["nearest possible"] = ["" if row.nearest is None else _value(row.nearest, row) for row in numbers]
    found["error"] = [
        "" if row.error is None and row.ranks is None else error_words(row.error, row.ranks, row.time)
        for row in numbers
    ]
    found["confidence"] = [f"{row.confidence:.0%}" for row in numbers]
    found["between"] = [_between(row) for row in numbers]
    return found


def _between(row: Released) -> str:
    """The ends of what is likely; nothing beside an error in ranks, for which they are the ends of what is possible."""
    ends = [_value(end, row) for end in (row.low, row.high) if end is not None]
    return " … ".join(ends) if len(ends) > 1 and row.ranks is None else ""


def _number_table(title: str, columns: dict[str, list[str]], keys: int, *, breaks: bool) -> Table:
    """A table whose keys and numbers are never cut off or broken; what an output is called and, with `breaks`, the
    headings may be, between words.
    """
    from rich.cells import cell_len
    from rich.table import Table

    table = Table(title=title, title_justify="left", title_style="dim")
    for place, (name, cells) in enumerate(columns.items()):
        if name == "answer" and breaks:
            table.add_column(name, overflow="fold")
            continue
        width = max(map(cell_len, [*cells, *(name.split() if breaks else [name])]), default=0)
        justify = "left" if place < keys or name == "answer" else "right"
        table.add_column(name, justify=justify, width=width, style="bold" if name == "value" else None)
    for row in zip(*columns.values(), strict=True):
        table.add_row(*row)
    return table


def _number_line(cells: dict[str, str]) -> str:
    """One number on a line: its group, its name, its value, and what is said of it.

    >>> _number_line({"ward": "north", "answer": "n", "value": "-2", "nearest possible": "0", "error": "± 3",
    ...     "confidence": "95%", "between": "-5 … 1"})
    'ward north: n = -2 ± 3, nearest possible 0, with confidence 95%: -5 … 1'
    """
    rest = dict(cells)
    called, value, error = (rest.pop(name) for name in ("answer", "value", "error"))
    nearest, confidence, between = (rest.pop(name, "") for name in ("nearest possible", "confidence", "between"))
    group = ", ".join(f"{key} {cell}" for key, cell in rest.items())
    line = f"{group}: {called} = {value}" if group else f"{called} = {value}"
    line += f" {error}" if error else ""
    line += f", nearest possible {nearest}" if nearest not in ("", value) else ""
    line += f", with confidence {confidence}" if confidence else ""
    return f"{line}: {between}" if between else line


def _value(value: float, row: Released) -> str:
    """One of the numbers of an answer: a time as a time, and no digits that the error drowns."""
    from guessproof.world import show_time

    return show_time(value, row.error) if row.time else beside_error(value, row.error)


def _called(plan: Plan, question: str, output: str) -> str:
    """What people call an output; of several questions by its full name too, as mean_stay.days."""
    full = f"{question}.{output}" if question else output
    words = plan.label(full)
    return output if words == full else words


def _show_learned(console: Screen, answer: Answer, plan: Plan) -> None:
    """A belief before → after at one true value, and how far it rises at most where that is not the one."""
    from guessproof.choosing.choice import given_truth
    from guessproof.risk import Bracket

    known, gained = answer.learned.get("posterior"), answer.learned.get("advantage")
    before = answer.learned.get("prior")
    if known is not None:
        told = belief_words(Bracket(**known), before, plan.truth_words, plan.prior_factor)
        console.print(f"An attacker's belief, before and after at most: {told}.")
    if gained is not None and (known is None or before is None):
        gain = Bracket(**gained)
        console.print(f"Whatever is true, his belief rises by at most {points(float(gain.bound))} ({gain.status}).")
    if plan.attacker is not None and plan.attacker.failure is not None:
        console.print(f"This holds except with probability {plan.attacker.failure:g}, {given_truth(plan)}.")
