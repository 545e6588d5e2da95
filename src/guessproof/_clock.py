"""The clock of time limits: handed in when the package is imported, so that the pure rooms import none."""

from __future__ import annotations

from collections.abc import Callable

now: Callable[[], float]
