"""Every check in turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from guessproof.checking.answers import (
    bias_is_unknown,
    confidence_is_low,
    error_is_wider_than_the_range,
    filter_never_changes,
    pattern_matches_nothing,
)
from guessproof.checking.beliefs import (
    bounds_are_wide,
    goal_is_decided,
    goal_is_never_read,
    limit_cannot_be_broken,
    limit_is_certainty,
    prior_lies_outside,
    truth_is_unlikely,
)
from guessproof.checking.concern import Checked, Concern
from guessproof.checking.sources import column_is_missing, source_is_missing
from guessproof.checking.wishes import label_names_nothing, limit_is_loose, nothing_is_limited
from guessproof.choosing import Choice
from guessproof.plan import Plan, check_plan

Check = Callable[[Checked], Iterator[Concern]]

# In the order in which they are said; a new check is one function and one entry here.
OF_THE_TABLE: tuple[Check, ...] = (source_is_missing, column_is_missing)
OF_THE_PLAN: tuple[Check, ...] = (
    nothing_is_limited,
    prior_lies_outside,
    bounds_are_wide,
    pattern_matches_nothing,
    filter_never_changes,
    goal_is_never_read,
    goal_is_decided,
    truth_is_unlikely,
    limit_is_certainty,
    limit_is_loose,
    confidence_is_low,
    label_names_nothing,
)
ALWAYS: tuple[Check, ...] = (bias_is_unknown,)  # whatever else is found
OF_THE_CHOICE: tuple[Check, ...] = (limit_cannot_be_broken, error_is_wider_than_the_range)
CHECKS = (*OF_THE_TABLE, *OF_THE_PLAN, *OF_THE_CHOICE, *ALWAYS)


def check(plan: Plan, *, strict: bool = False, opens: bool = True, choice: Choice | None = None) -> tuple[Concern, ...]:
    """What the plan probably means otherwise; empty where nothing is found. Never reads a value of the table.

    `strict` refuses with the first of them. `opens = False` does not open the source even for its column names.
    `choice` is one that was made of this plan before.
    """
    check_plan(plan)
    case = Checked(plan, opens, choice)
    table, plan_itself = _say(OF_THE_TABLE, case), _say(OF_THE_PLAN, case)
    # What is chosen from a mistake says nothing of the plan that was meant.
    mistakes = plan_itself or _say(OF_THE_CHOICE, case)
    if not mistakes and case.refusal is not None:
        raise case.refusal
    every = [*table, *mistakes, *_say(ALWAYS, case)]
    found = tuple({(c.kind, c.field, c.problem): c for c in every}.values())  # a filter may serve several aggregates
    if strict and found:
        raise found[0].to_error(plan.place.file)
    return found


def _say(checks: tuple[Check, ...], case: Checked) -> list[Concern]:
    return [concern for each in checks for concern in each(case)]
