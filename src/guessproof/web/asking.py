"""A first plan by conversation, as `guessproof init --ask`: answers so far, the next question, the plan that grows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from guessproof.errors import InputError
from guessproof.plan import loads_plan
from guessproof.starting.conversation import doubtful_answer, plan_text
from guessproof.starting.origin import name_data
from guessproof.starting.questions import next_question
from guessproof.web.folder import Folder
from guessproof.web.opening import read_toml
from guessproof.web.refusals import WebError

Json = dict[str, Any]


def conversation(folder: Folder, said: Sequence[str], source: str | None, called: str, columns: Sequence[str]) -> Json:
    """Each answer is read in the order of the questions; where the plan is complete, it is a state."""
    folder.check({"data": {"source": source}} if source else {})
    answers: dict[str, Any] = {}
    for text in said:
        question = next_question(answers)
        if question is None:
            raise WebError(422, "more was answered than was asked", "begin again", "answers")
        answers[question.id] = question.read(text, answers, columns)
    name = name_data(source, called, "table")
    origin = {"source": source or f"{name}.csv"}  # as the folder that was opened calls it
    toml = plan_text(answers, name=name, origin=origin, called=called)
    question = next_question(answers)
    if question is not None:
        return {"question": question.to_dict(answers), "number": len(answers) + 1, "toml": toml, "state": None}
    _try(folder, toml, answers)
    return {"question": None, "number": len(answers), "toml": toml, "state": read_toml(toml)}


def _try(folder: Folder, toml: str, answers: Json) -> None:
    """Answers that do not fit together are refused under the question that they came from."""
    try:
        loads_plan(toml, folder=folder.root)
    except InputError as error:
        doubtful = doubtful_answer(error.field or "", answers)
        raise WebError(422, error.problem or str(error), error.remedy or "", doubtful or error.field) from None
