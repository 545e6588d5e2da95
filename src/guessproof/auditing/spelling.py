"""The same plan with its columns spelt otherwise: SQL does not tell capitals apart, and neither may the ledger."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from guessproof.choosing import Choice, asked
from guessproof.guarantee import Guarantee, guarantee_to_dict, total_of_dicts
from guessproof.plan import Plan, plan_of
from guessproof.plan.grammar import read_names


def guarantee_of_both(choice: Choice) -> Guarantee:
    """What the ledger makes of two releases: this choice, and the same from a plan with other capitals."""
    plan = respelt_plan(choice.plan)
    question = asked(plan)
    pairs = zip(choice.noises, question.measurements, strict=True)
    other = replace(choice, plan=plan, question=question, noises=tuple(replace(n, measurement=m) for n, m in pairs))
    return total_of_dicts([guarantee_to_dict(c.guarantee) for c in (choice, other)], tuple(choice.plan.columns))


def respelt_plan(plan: Plan) -> Plan:
    """The same columns in other capitals, without the attacker: what a release promises does not depend on him."""
    written = plan.file.model_dump(by_alias=True, exclude_none=True, exclude_unset=True)
    columns: Mapping[str, Any] = written.get("columns", {})
    joints: Mapping[str, Any] = written.get("prior", {})
    tables = {name: written[name] for name in ("data", "query", "accuracy") if name in written}
    tables["columns"] = {_otherwise(name): column for name, column in columns.items()}
    tables["prior"] = {_list(read_names(names)): joint for names, joint in joints.items()}
    tables["release"] = {**written.get("release", {}), "epsilon": 1.0}
    return plan_of(tables, folder=plan.folder)


def _otherwise(name: str) -> str:
    """A name in other capitals that SQL takes for the same.

    >>> _otherwise("time"), _otherwise("TIME"), _otherwise("ß1")
    ('TIME', 'time', 'ß1')
    """
    found = name.upper() if name != name.upper() else name.lower()
    return found if found.casefold() == name.casefold() and len(found) == len(name) else name


def _list(names: tuple[str, ...]) -> str:
    return f"({', '.join(repr(_otherwise(name)) for name in names)})"
