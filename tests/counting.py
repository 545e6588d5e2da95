"""How much work something is, in calls of Python functions: the same on a slow machine and on a busy one."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


class TooMuchWork(AssertionError):
    """Raised inside the work itself, so that what would never end does end."""


def calls(work: Callable[[], Any], limit: int) -> int:
    """The number of calls that the work takes; fails in the midst of it once there are more than `limit`."""
    count = 0

    def counted(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")
        if count > limit:
            sys.setprofile(None)
            raise TooMuchWork(f"more than {limit} calls")

    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count
