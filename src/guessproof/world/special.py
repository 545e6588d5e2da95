"""Special functions: what numpy says by itself, and SciPy's, which are read when one of them is first asked for.

SciPy's take longer to read than most plans take to answer, and whoever asks about labels needs none of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike


def expit(x: ArrayLike) -> Any:
    """1/(1 + e^{−x}): a belief from its log-odds.

    >>> expit(0.0), expit(-1e9), expit(1e9)
    (0.5, 0.0, 1.0)
    """
    with np.errstate(over="ignore"):
        return 1.0 / (1.0 + np.exp(-np.asarray(x, dtype=np.float64)))


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    import scipy.special

    value = getattr(scipy.special, name)
    globals()[name] = value
    return value
