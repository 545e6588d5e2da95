"""Several questions in one plan: what their tables must keep; only plans with [queries] enter it."""

from __future__ import annotations

from guessproof.guarantee.unit import UNITS
from guessproof.names import folded
from guessproof.plan.checks import check_accuracy
from guessproof.plan.places import Key, Place
from guessproof.plan.tables import AccuracyTable, PlanFile


def check_several(file: PlanFile, place: Place) -> None:
    """Names that can be told apart, targets beside their questions, no public count of secret rows."""
    seen: dict[str, str] = {}
    for name, question in file.queries.items():
        path: Key = ("queries", name)
        _check_name(name, path, place)
        other = seen.setdefault(folded(name), name)
        if other != name:
            raise place.error(path, name, f"differs from {other} in case only", "give it another name")
        if question.rows is not None and UNITS[file.data.protects].hides_presence:
            problem = f"the number of rows is secret where {file.data.protects} are protected"
            remedy = 'leave it out, or use protects = "values"'
            raise place.error((*path, "rows"), question.rows, problem, remedy)
        check_accuracy((*path, "accuracy"), question.accuracy, place)
    if file.accuracy != AccuracyTable.model_validate({}):
        problem, first = "each of several questions has targets of its own", next(iter(file.queries))
        raise place.error(("accuracy",), "[accuracy]", problem, f"write [queries.{first}.accuracy] instead")


def _check_name(name: str, path: Key, place: Place) -> None:
    """A name stands before each of its outputs, with a dot between."""
    if not name or name != name.strip() or not name.isprintable():
        problem = "is no name: it is empty, has spaces around it or cannot be printed"
        raise place.error(path, name, problem, "name the question, as [queries.mean_stay]")
    if "." in name:
        problem = "a dot stands between the name of a question and that of its output"
        raise place.error(path, name, problem, f"write {name.replace('.', '_')}")
