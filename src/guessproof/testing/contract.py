"""The contract as a list of checks, and how an engine is held to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from guessproof.testing import door, model, persons, releases, same
from guessproof.testing.harness import Harness


@dataclass(frozen=True)
class EngineCheck:
    """One thing that every engine does; its name is the function's, its words are the docstring's."""

    run: Callable[[Harness], None]

    @property
    def name(self) -> str:
        """How the table of gaps calls it."""
        return self.run.__name__

    @property
    def says(self) -> str:
        """What is checked, in one line."""
        return (self.run.__doc__ or "").partition("\n")[0].rstrip(".")

    def hold(self, harness: Harness) -> None:
        """Fail unless the engine passes, or unless it fails where a reason for that is written down."""
        reason = harness.gaps.get(self.name)
        if reason is None:
            self.run(harness)
            return
        if len(reason) < 10:
            raise AssertionError(f"{harness.name} cannot do {self.name!r}: write the reason")
        try:
            self.run(harness)
        except Exception:
            return
        raise AssertionError(f"{harness.name} does {self.name!r} now: take its line out of the gaps ({reason})")


CHECKS: tuple[EngineCheck, ...] = tuple(
    EngineCheck(check)
    for room in (door.CHECKS, same.CHECKS, model.CHECKS, persons.CHECKS, releases.CHECKS)
    for check in room
)


class EngineContract:
    """A test for each check; a subclass has a fixture called `harness`. It needs pytest only to be run by it."""


def _as_test(check: EngineCheck) -> Callable[[Any, Harness], None]:
    def test(self: Any, harness: Harness) -> None:
        check.hold(harness)

    test.__doc__ = check.says
    return test


for _check in CHECKS:
    setattr(EngineContract, f"test_{_check.name}", _as_test(_check))
