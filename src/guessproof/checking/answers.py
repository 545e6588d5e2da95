"""Checks of what is asked, and of what the answer will be worth."""

from __future__ import annotations

import math
from collections.abc import Iterator

from guessproof.checking.concern import Checked, Concern
from guessproof.choosing import Choice
from guessproof.choosing.bias import UNKNOWN, bias_note, paid_bounds
from guessproof.plan.places import Key
from guessproof.plan.tables import TargetTable
from guessproof.rounded import margin, near
from guessproof.sql.formula import Output, read_ratio
from guessproof.sql.rules.comparison import NumberTest
from guessproof.sql.rules.matching import Like
from guessproof.sql.rules.membership import NumberAmong


def pattern_matches_nothing(case: Checked) -> Iterator[Concern]:
    """A pattern that no declared level has, or that all of them have. (A label that is no level is refused.)"""
    for path, question in case.questions.items():
        for node in question.nodes:
            if not isinstance(node, Like) or node.column.levels is None:
                continue
            matched = [level for level in node.column.levels if node.holds(level)]
            if not matched:
                shown = ", ".join(node.column.levels[:8])
                problem = f"no level of {node.column.name} is like {node.pattern!r}; they are {shown}"
                yield case.concern("filter_without_match", path, node.pattern, problem, "write a pattern that one has")


def filter_never_changes(case: Checked) -> Iterator[Concern]:
    """A filter by a number outside the bounds: it keeps everybody or nobody. Often another unit."""
    for path, question in case.questions.items():
        for node in question.nodes:
            if not isinstance(node, (NumberTest, NumberAmong)) or node.column.bounds is None:
                continue
            low, high = node.column.bounds
            values = (node.value,) if isinstance(node, NumberTest) else node.values
            for value in values:
                if math.isfinite(value) and not low <= value <= high:
                    problem = f"the filter compares {node.column.name} with {value:g}, outside its bounds"
                    remedy = f"compare with a number of {low:g} … {high:g}, or widen the bounds"
                    yield case.concern("filter_outside_bounds", path, value, problem, remedy)


def confidence_is_low(case: Checked) -> Iterator[Concern]:
    """How surely an answer is near: below one half it is rather not. Probably its opposite was meant."""
    targets: dict[Key, TargetTable] = {}
    for question in case.plan.questions:
        key = question.accuracy_key
        targets |= {key: question.accuracy, **{(*key, n): t for n, t in question.accuracy.outputs.items()}}
    for path, target in targets.items():
        if target.confidence is not None and target.confidence < 0.5:
            problem = "the error would be larger more often than not"
            remedy = f"for an error in {100 * target.confidence:g} of 100 answers write {1 - target.confidence:g}"
            yield case.concern("confidence_low", (*path, "confidence"), target.confidence, problem, remedy)


def error_is_wider_than_the_range(case: Checked) -> Iterator[Concern]:
    """An answer that tells less than its range does: whoever names the middle is as near without asking."""
    choice = case.choice
    if choice is None or not choice.feasible or not choice.noises:
        return
    errors = choice.errors()
    for output in choice.asked.outputs:
        error, width = errors.get(output.name), _width(choice, output)
        if error is None or width is None or error < width / 2:
            continue
        problem = (
            f"{output.name} lies in a range {near(width)} wide anyway, and its error is {margin(error, 3)}: the middle "
            "of the range is as near without asking"
        )
        path, sql = _places(choice, output)
        asks = output.name in choice.targets
        remedy = (
            "ask for less error" if asks else "ask for an error that is of use, as within = …, and see what it takes"
        )
        yield case.concern("error_beyond_range", path if asks else sql, output.name, problem, remedy)


def bias_is_unknown(case: Checked) -> Iterator[Concern]:
    """A bound on the rows of a person of which nobody said how many it cuts off: no error counts that."""
    plan = case.plan
    if plan.unit.identity is None or bias_note(plan, case.asked, paid_bounds(plan)) != UNKNOWN:
        return
    problem = f"{UNKNOWN[:1].lower()}{UNKNOWN[1:]}: rows of a person beyond max_rows are cut off, or weigh less"
    remedy = "declare rows_each, how many rows persons have as far as it is public, or pay for it: guessproof bounds"
    yield case.concern("bias_unknown", ("data", "max_rows"), plan.data.max_rows, problem, remedy)


def _places(choice: Choice, output: Output) -> tuple[Key, Key]:
    """Where the target of an output stands, and where its query."""
    for question, part in zip(choice.plan.questions, choice.asked.parts, strict=True):
        own = next((o.name for o in part.query.outputs if part.label(o.name) == output.name), None)
        if own is not None:
            key = question.accuracy_key
            return (*key, own) if own in question.accuracy.outputs else key, (*question.key, "sql")
    raise KeyError(output.name)


def _width(choice: Choice, output: Output) -> float | None:
    """How wide the answer's own range is; None where nobody knows."""
    ratio = read_ratio(output.formula)
    if ratio is not None:
        return ratio[3] - ratio[2]
    if not output.is_plain:
        return None
    measurement = choice.asked.measurements[output.measured[0]]
    is_average = measurement.kind == "sum" and measurement.divisor != 1
    if measurement.picks or not (is_average or measurement.kind in ("min", "max")):
        return None
    width = measurement.range.width
    return width if math.isfinite(width) else None
