"""The plan file: what is asked, what is protected, from whom, and how accurate the answer must be."""

from __future__ import annotations

from typing import Any

from guessproof.plan.plan import Plan, PlanQuestion, check_plan, load_plan, loads_plan, plan_of
from guessproof.plan.tables import PlanFile

__all__ = ["Plan", "PlanQuestion", "check_plan", "load_plan", "loads_plan", "plan_of", "schema"]


def schema() -> dict[str, Any]:
    """The JSON schema of a plan file."""
    found = PlanFile.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **found, "title": "guessproof plan"}
