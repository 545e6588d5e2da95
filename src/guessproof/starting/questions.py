"""A first plan by conversation: the questions, how each answer is read, and which come next.

Pure data and pure functions: a terminal asks them one at a time, and so can a web page. Nothing here opens a table; the
names of its columns are handed in where they are known.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from guessproof.errors import GuessproofError, ParameterError
from guessproof.names import suggest_name
from guessproof.starting.helpers import believed

Answers = Mapping[str, Any]
AnswerKind = Literal["choice", "column", "range", "labels", "label", "number", "belief", "shares", "percent", "target"]

_NUMBER = r"[-+]?(?:\d[\d_]*(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?"
_NOTHING = ("", "-", "no", "none", "skip", "unknown", "not public")


@dataclass(frozen=True)
class Question:
    """One question: what is asked, an example of an answer, and how an answer is read."""

    id: str
    text: str
    why: str
    example: str
    kind: AnswerKind
    choices: tuple[tuple[str, str], ...] = ()  # what is stored, and the words for it
    optional: bool = False
    when: Callable[[Answers], bool] = lambda answers: True

    def shown(self, answers: Answers) -> str:
        """The question about what was said before."""
        return self.text.format(column=answers.get("column", "the value"))

    def options(self, answers: Answers) -> list[tuple[str, str]]:
        """What can be chosen: what is stored, and the words for it."""
        return [(value, words.format(column=answers.get("column", "value"))) for value, words in self.choices]

    def read(self, text: str, answers: Answers, columns: Sequence[str] = ()) -> Any:
        """What an answer means; ParameterError says what to write instead. None: left open on purpose."""
        words = " ".join(text.split())
        if self.optional and words.lower() in _NOTHING:
            return None
        if not words:
            raise ParameterError(self.id, text, "an answer is needed", f"write for instance {self.example}")
        return _READERS[self.kind](self, words, answers, columns)

    def to_dict(self, answers: Answers) -> dict[str, Any]:
        """Ready for JSON."""
        choices = [{"value": value, "words": words} for value, words in self.options(answers)]
        return {
            "id": self.id,
            "text": self.shown(answers),
            "why": self.why,
            "example": self.example,
            "kind": self.kind,
            "choices": choices,
            "optional": self.optional,
        }


def next_question(answers: Answers) -> Question | None:
    """The first question that matters after these answers and has none yet; None where the plan is complete."""
    return next((q for q in QUESTIONS if q.id not in answers and q.when(answers)), None)


def _choice(question: Question, words: str, answers: Answers, _: Sequence[str]) -> str:
    options = question.options(answers)
    values = [value for value, _ in options]
    if words.isdigit() and 1 <= int(words) <= len(values):
        return values[int(words) - 1]
    known = {value.lower(): value for value in values} | {said.lower(): value for value, said in options}
    near = [value for said, value in known.items() if said.startswith(words.lower())]
    if words.lower() in known or len(set(near)) == 1:
        return known.get(words.lower()) or near[0]
    raise ParameterError(question.id, words, "is none of the choices", f"write a number of 1 to {len(values)}")


def _column(question: Question, words: str, answers: Answers, columns: Sequence[str]) -> str:
    if question.id == "person" and words.casefold() == str(answers.get("column")).casefold():
        problem = "is the column that is asked about, and cannot say whose row it is as well"
        raise ParameterError(question.id, words, problem, f"name another column, as {question.example}")
    if not columns:
        return words
    same = [name for name in columns if name.casefold() == words.casefold()]
    if same:
        return same[0]
    shown = ", ".join(columns[:12])
    raise ParameterError(question.id, words, "the table has no such column", suggest_name(words, columns, shown))


def _range(question: Question, words: str, _: Answers, __: Sequence[str]) -> tuple[float, float]:
    found = _numbers(words)
    if len(found) != 2 or not found[0] < found[1]:
        remedy = f"write two numbers, the smaller first, as {question.example}"
        raise ParameterError(question.id, words, "is no range", remedy)
    return found[0], found[1]


def _labels(question: Question, words: str, _: Answers, __: Sequence[str]) -> tuple[str, ...]:
    found = tuple(part.strip().strip("\"'") for part in words.split(",") if part.strip())
    if len(found) < 2 or len(set(found)) < len(found):
        remedy = f"write two or more, each once, with commas, as {question.example}"
        raise ParameterError(question.id, words, "is no list of values", remedy)
    return found


def _label(question: Question, words: str, answers: Answers, __: Sequence[str]) -> str:
    levels: Sequence[str] = answers.get("levels") or ()
    if not levels or words in levels:
        return words
    hint = suggest_name(words, levels, f"write one of {', '.join(levels)}")
    raise ParameterError(question.id, words, "is none of the values", hint)


def _number(question: Question, words: str, answers: Answers, _: Sequence[str]) -> float:
    found, least = _numbers(words), 1 if question.id == "factor" else 0  # a factor of 1 would allow no answer at all
    if len(found) != 1 or not found[0] > least:
        problem = f"is not one number above {least}"
        raise ParameterError(question.id, words, problem, f"write for instance {question.example}")
    if question.id in ("rows", "least_rows", "most_rows") and found[0] != int(found[0]):
        raise ParameterError(question.id, words, "is not a whole number", f"write for instance {question.example}")
    if question.id == "near" and "bounds" in answers and found[0] >= answers["bounds"][1] - answers["bounds"][0]:
        problem = "a guess that near is right whatever is true: the bounds are no further apart"
        raise ParameterError(question.id, words, problem, f"write for instance {question.example}")
    return found[0]


def _belief(question: Question, words: str, _: Answers, __: Sequence[str]) -> str:
    try:
        believed(words)
    except GuessproofError:
        found = _numbers(words)
        if len(found) != 2 or not found[0] < found[1]:
            remedy = "say between which two numbers half of people lie, as half between 10 and 30; or: no idea"
            raise ParameterError(question.id, words, "is not understood", remedy) from None
        return f"half between {found[0]:.15g} and {found[1]:.15g}"
    return words


def _shares(question: Question, words: str, answers: Answers, __: Sequence[str]) -> dict[str, float]:
    """A share for each value: in their order, or each after its name. The last may be left out."""
    levels: Sequence[str] = answers["levels"]
    parts = [part.strip() for part in words.split(",") if part.strip()]
    found: dict[str, float] = {}
    for place, part in enumerate(parts):
        told = (level for level in sorted(levels, key=len, reverse=True) if re.match(rf"{re.escape(level)}\s+\S", part))
        named = next((level for level in told if _numbers(part.removeprefix(level))), None)
        name = named if named is not None else levels[place] if place < len(levels) else None
        number = _numbers(part.removeprefix(named or ""))
        if name is None or name in found or len(number) != 1 or number[0] < 0:
            raise ParameterError(question.id, words, "is not a share for each value", _shares_remedy(levels))
        found[name] = number[0] / 100 if "%" in words else number[0]
    rest = [level for level in levels if level not in found]
    if len(rest) == 1:
        found[rest[0]] = round(1 - math.fsum(found.values()), 12)
    if set(found) != set(levels) or abs(math.fsum(found.values()) - 1) > 1e-9 or min(found.values()) < 0:
        raise ParameterError(question.id, words, "the shares do not sum to 1", _shares_remedy(levels))
    return {level: found[level] for level in levels}


def _shares_remedy(levels: Sequence[str]) -> str:
    each = [round(1 / len(levels), 2)] * (len(levels) - 1)
    shown = [*each, round(1 - sum(each), 2)]
    return "write for instance " + ", ".join(f"{level} {share:g}" for level, share in zip(levels, shown, strict=True))


def _percent(question: Question, words: str, _: Answers, __: Sequence[str]) -> float:
    found = _numbers(words)
    share = found[0] / 100 if len(found) == 1 and ("%" in words or found[0] >= 1) else (found or [0.0])[0]
    if len(found) != 1 or not 0 < share < 1:
        remedy = f"write a part of 100, as {question.example}"
        raise ParameterError(question.id, words, "is no part between 0 and 100 %", remedy)
    return share


def _numbers(words: str) -> list[float]:
    return [float(part.replace("_", "")) for part in re.findall(_NUMBER, words.replace("−", "-"))]


_READERS: Mapping[str, Callable[[Question, str, Answers, Sequence[str]], Any]] = {
    "choice": _choice,
    "column": _column,
    "range": _range,
    "labels": _labels,
    "label": _label,
    "number": _number,
    "target": _number,
    "belief": _belief,
    "shares": _shares,
    "percent": _percent,
}


def _asks(*kinds: str) -> Callable[[Answers], bool]:
    return lambda answers: answers.get("asked") in kinds


def _values(answers: Answers) -> bool:
    return answers.get("secret") == "values"


def several_rows(answers: Answers) -> bool:
    """Whether a person may have several rows: all of them are protected together then."""
    return answers.get("several") == "several"


def _hides_rows(answers: Answers) -> bool:
    """Whether it is secret who is in the table, and with it how many rows there are."""
    return answers.get("secret") == "records" or several_rows(answers)


AVERAGE, COUNT, GROUPS = "average", "count", "groups"
QUESTIONS: tuple[Question, ...] = (
    Question(
        "asked",
        "What do you want to publish?",
        "It decides what the query asks of the table.",
        "1",
        "choice",
        (
            (AVERAGE, "the average of a number, as how long people eat"),
            (COUNT, "how many have a certain value, as how many smoke"),
            (GROUPS, "how many there are of each value, as of each age group"),
        ),
    ),
    Question("column", "About which column of the table?", "Only its name is used.", "time", "column"),
    Question(
        "several",
        "Does one row belong to one person, or may a person have several rows?",
        "Several rows of a person tell more than one: they are protected together, whether there are any included.",
        "1",
        "choice",
        (
            ("one", "each row belongs to another person"),
            ("several", "a person may have several rows, as visits or orders"),
        ),
    ),
    Question(
        "person",
        "Which column says whose row it is?",
        "Rows with the same value in it are one person's. Only its name is used.",
        "patient_id",
        "column",
        when=several_rows,
    ),
    Question(
        "most_rows",
        "With how many rows may one person count at most?",
        "Of a person with more rows only so much counts; none is dropped. The larger it is, the more noise is needed.",
        "4",
        "number",
        when=several_rows,
    ),
    Question(
        "secret",
        "What must stay secret about one person?",
        "Protecting whether somebody is in the table at all needs more noise than protecting the value alone.",
        "1",
        "choice",
        (
            ("values", "the person's {column}; that the person is in the table may be known"),
            ("records", "even whether the person is in the table"),
        ),
        when=lambda answers: answers.get("several") == "one",
    ),
    Question(
        "bounds",
        "Between which two numbers does {column} surely lie? From public knowledge, not from the table.",
        "What lies outside is counted as the nearer of the two. The wider they are, the more noise is needed.",
        "0 and 120",
        "range",
        when=_asks(AVERAGE),
    ),
    Question(
        "levels",
        "Which values can {column} have? All of them, with commas, from public knowledge.",
        "Only these are counted. A value that is not listed would tell that somebody has it.",
        "yes, no",
        "labels",
        when=_asks(COUNT, GROUPS),
    ),
    Question(
        "counted",
        "Which of them is counted?",
        "The answer is how many have it.",
        "yes",
        "label",
        when=_asks(COUNT),
    ),
    Question(
        "rows",
        "How many rows does the table have, if that is public? Leave it empty if not.",
        "A public number makes an average much more exact. The release is refused if fewer are found.",
        "120",
        "number",
        optional=True,
        when=lambda answers: _asks(AVERAGE)(answers) and _values(answers),
    ),
    Question(
        "least_rows",
        "How many rows does the table have at least, as everybody may know? Leave it empty if nobody may.",
        "How exact an average will be depends on it. It is never compared with the table.",
        "100",
        "number",
        optional=True,
        when=lambda answers: _asks(AVERAGE)(answers) and _hides_rows(answers),
    ),
    Question(
        "belief",
        "Who might guess, and what does he think of {column} beforehand? Between which numbers do half of people lie?",
        "Take it from public statistics. “no idea” protects against every belief, at the price of more noise.",
        "half between 10 and 30",
        "belief",
        when=lambda answers: _asks(AVERAGE)(answers) and _values(answers),
    ),
    Question(
        "shares",
        "Who might guess, and how common does he think each value is? A share for each, from public statistics.",
        "The last share may be left out: they sum to 1.",
        "yes 0.1, no 0.9",
        "shares",
        when=lambda answers: _asks(COUNT, GROUPS)(answers) and _values(answers),
    ),
    Question(
        "near",
        "How near must his guess of one person's {column} come to count as right?",
        "A guess is right if it is off by no more than this.",
        "2",
        "number",
        when=lambda answers: _asks(AVERAGE)(answers) and _values(answers),
    ),
    Question(
        "limit",
        "How much surer than before may he become that his guess is right?",
        "2 % is cautious, 5 % is usual, 10 % is open: in 100 such guesses he is right so many times more often.",
        "5 %",
        "percent",
        when=_values,
    ),
    Question(
        "factor",
        "By what factor may anything become more likely to him through the answer?",
        "1.5 is cautious, 3 is usual, 6 is open.",
        "3",
        "number",
        when=_hides_rows,
    ),
    Question(
        "accuracy",
        "How far may the answer be off, in 95 of 100 cases? Leave it empty to get the best that is allowed.",
        "If this and the limit cannot both be had, guessproof says which single change would help.",
        "1.5",
        "target",
        optional=True,
        when=lambda answers: not _asks(AVERAGE)(answers) or _values(answers) or answers.get("least_rows") is not None,
    ),
)
