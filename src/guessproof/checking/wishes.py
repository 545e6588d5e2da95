"""Checks of what is allowed to be learnt at all, and of words that name nothing."""

from __future__ import annotations

from collections.abc import Iterator

from guessproof.checking.concern import Checked, Concern
from guessproof.names import suggest_name

LOOSE = {"advantage": 0.5, "posterior": 0.95}  # from here on a limit leaves an attacker nearly sure
USUAL = {
    "advantage": "2 % is cautious, 5 % is usual, 10 % is open: write for instance 0.05",
    "posterior": "write for instance 0.3, or limit how far it may rise: advantage = 0.05",
}


def nothing_is_limited(case: Checked) -> Iterator[Concern]:
    """Neither an attacker nor a risk: the accuracy alone would decide how much is told of people."""
    plan = case.plan
    if plan.attacker is None and plan.file.risk is None and plan.release.epsilon is None:
        problem = "nothing says how much may be learnt about a person, so that the accuracy alone decides ε"
        remedy = "add [attacker] with a goal and a limit, or [risk]; or write a decided epsilon under [release]"
        yield case.concern("nothing_limited", ("data", "protects"), plan.data.protects, problem, remedy)


def limit_is_loose(case: Checked) -> Iterator[Concern]:
    """A limit that lets an attacker become nearly sure."""
    for key, loose in LOOSE.items():
        value = None if case.plan.attacker is None else getattr(case.plan.attacker, key)
        if value is not None and loose <= value < 1:
            points = f"rise by {100 * value:g} percentage points" if key == "advantage" else f"reach {100 * value:g} %"
            problem = f"his belief may {points}: hardly anything is kept from him"
            yield case.concern("limit_loose", ("attacker", key), value, problem, USUAL[key])


def label_names_nothing(case: Checked) -> Iterator[Concern]:
    """Words for something that the plan does not have: nobody would ever see them."""
    plan = case.plan
    columns = {*plan.columns, *case.asked.columns}
    questions = {question.name for question in plan.questions if question.name}
    outputs = {output.name for output in case.asked.outputs}
    short = {name.partition(".")[2] for name in outputs if name.partition(".")[0] in questions}
    known = {*columns, *questions, *outputs, *short}
    for name, words in plan.file.labels.items():
        if name in known or name.partition(".")[0] in columns:  # a level of a column: its levels may be found
            continue
        hint = suggest_name(name, sorted(known), f"the plan has {', '.join(sorted(known)[:8])}")
        problem = "is neither a column nor an output, a question or a level, so that nobody would see these words"
        yield case.concern("label_of_nothing", ("labels", name), words, problem, hint)
