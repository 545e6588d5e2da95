"""SciPy's special functions, read when one of them is first asked for: who asks about labels needs none."""

from __future__ import annotations

import importlib
from typing import Any


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    value = globals()[name] = getattr(importlib.import_module("scipy.special"), name)
    return value
