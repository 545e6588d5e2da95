"""SciPy's special functions, read when one of them is first asked for.

They take longer to read than most plans take to answer, and whoever asks about labels needs none of them.
"""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    import scipy.special

    value = getattr(scipy.special, name)
    globals()[name] = value
    return value
