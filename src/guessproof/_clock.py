"""The one place that reads a clock, for time limits."""

from __future__ import annotations

from time import perf_counter as now

__all__ = ["now"]
