"""Many small cases in one test: a test of its own for each costs more than the case, and all that fail are named."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

import pytest

Case = TypeVar("Case")


def check_each(cases: Mapping[str, Case], check: Callable[[Case], None]) -> None:
    """Fail with the names of all cases that a check fails for, and why."""
    faults: dict[str, str] = {}
    for name, case in cases.items():
        try:
            check(case)
        except (Exception, pytest.fail.Exception) as error:  # the latter where nothing was raised
            faults[name] = f"{type(error).__name__}: {error}"
    assert cases
    assert not faults, f"{len(faults)} of {len(cases)}:\n" + "\n".join(f"{name}: {why}" for name, why in faults.items())
