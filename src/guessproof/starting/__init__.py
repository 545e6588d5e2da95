"""A first plan: templates, ready attackers, presets and a helper for priors. Only a table's schema is ever read."""

from guessproof.starting.origin import find_table
from guessproof.starting.start import (
    Wishes,
    check_plan_path,
    first_plan,
    lacks_names,
    pick_table,
    read_schema,
    write_plan,
)
from guessproof.starting.templates import TEMPLATES

__all__ = [
    "TEMPLATES",
    "Wishes",
    "check_plan_path",
    "find_table",
    "first_plan",
    "lacks_names",
    "pick_table",
    "read_schema",
    "write_plan",
]
