"""The projects of the fast tests: every table, its plan and an open budget."""

from matrix.conftest import prepared, project

__all__ = ["prepared", "project"]
