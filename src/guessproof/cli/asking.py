"""`guessproof init --ask`: one question at a time, and the plan growing with the answers."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

from guessproof.cli.screen import Screen
from guessproof.errors import InputError, ParameterError
from guessproof.plan import loads_plan
from guessproof.starting.conversation import doubtful_answer, plan_text
from guessproof.starting.origin import Table, is_told, name_data, write_origin
from guessproof.starting.questions import Question, next_question
from guessproof.starting.start import named_column


def ask_for_plan(table: Table | None, schema: Mapping[str, str] | None, plan: Path, called: str) -> str:
    """The text of a plan that loads, from answers given one by one."""
    told, name = is_told(table), name_data(table, called, "table")
    origin = write_origin(table, name, plan)
    screen, answers, before = Screen(), dict[str, Any](), ""
    _open(screen, schema if told else None)
    while True:
        question = next_question(answers)
        if question is None:
            doubtful = _try(screen, before, answers, plan)
            if doubtful is None:
                return before
            del answers[doubtful]
            continue
        answers[question.id] = _ask(screen, question, answers, schema, told)
        text = plan_text(answers, name=name, origin=origin, called=called)
        _show_growth(screen, before, text)
        before = text


def _open(screen: Screen, schema: Mapping[str, str] | None) -> None:
    screen.print("\nOne question at a time. Answer from public knowledge, never from the table. Ctrl-C stops.\n")
    if schema is not None:
        screen.print(f"The table has the columns {', '.join(schema)}.\n", style="dim")


def _ask(
    screen: Screen, question: Question, answers: Mapping[str, Any], schema: Mapping[str, str] | None, told: bool
) -> Any:
    screen.print(question.shown(answers), style="bold")
    screen.print(question.why, style="dim")
    for number, (_, words) in enumerate(question.options(answers), 1):
        screen.print(f"  {number}  {words}")
    while True:
        said = typer.prompt(f"  as {question.example}\n", default="", show_default=False, prompt_suffix="> ")
        try:
            found = question.read(said, answers, list(schema) if schema is not None and told else ())
            if question.kind == "column" and schema is not None:
                found = named_column(found, schema, told)
            return found
        except ParameterError as error:
            screen.print(f"  {error.problem}; {error.remedy}", style="yellow")


def _show_growth(screen: Screen, before: str, after: str) -> None:
    """What the answer added to the plan."""
    old, new = before.splitlines(), after.splitlines()
    for kind, _, _, start, end in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind in ("insert", "replace"):
            for line in new[start:end]:
                screen.print(f"    │ {line}", style="green")
    screen.print()


def _try(screen: Screen, text: str, answers: Mapping[str, Any], plan: Path) -> str | None:
    """The question to ask again, where the answers do not fit together; None where they make a plan."""
    try:
        loads_plan(text, folder=plan.absolute().parent, file=str(plan))
    except InputError as error:
        doubtful = doubtful_answer(error.field or "", answers)
        if doubtful is None:
            raise
        screen.print(f"  {error.field}: {error.problem}; {error.remedy}", style="yellow")
        return doubtful
    return None
