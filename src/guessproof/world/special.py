"""SciPy's special functions, read when one of them is first asked for.

They take longer to read than most plans take to answer, and whoever asks about labels needs none of them.
"""

from __future__ import annotations

import importlib
from typing import Any

from guessproof.world.compiled import read_compiled


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    compiled = read_compiled("scipy.special._ufuncs")
    home = compiled if hasattr(compiled, name) else importlib.import_module("scipy.special")
    value = getattr(home, name)
    globals()[name] = value
    return value
