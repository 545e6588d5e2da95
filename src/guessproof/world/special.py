"""SciPy's special functions, read when one of them is first asked for.

They take longer to read than most plans take to answer, and whoever asks about labels needs none of them. Of SciPy's
package itself, most of the time goes into other array libraries and into what builds Fortran: the compiled functions
are read without it, where nobody else can notice.
"""

from __future__ import annotations

import importlib
import sys
import threading
import types
from typing import Any

_PACKAGE, _COMPILED = "scipy.special", "scipy.special._ufuncs"


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    compiled = _compiled()
    value = getattr(compiled, name) if hasattr(compiled, name) else getattr(importlib.import_module(_PACKAGE), name)
    globals()[name] = value
    return value


def _compiled() -> Any:
    """The compiled functions alone, or the whole package where they cannot be read on their own."""
    if _COMPILED in sys.modules:
        return sys.modules[_COMPILED]
    if _PACKAGE in sys.modules or not _alone():
        return importlib.import_module(_PACKAGE)
    scipy = importlib.import_module("scipy")
    stand_in = types.ModuleType(_PACKAGE)  # where its parts are looked for while they are read
    stand_in.__path__ = [f"{folder}/special" for folder in scipy.__path__]
    sys.modules[_PACKAGE] = stand_in
    try:
        return importlib.import_module(_COMPILED)
    except Exception:  # another SciPy, with its parts elsewhere
        for read in [m for m in sys.modules if m.startswith(f"{_PACKAGE}.")]:
            del sys.modules[read]
        return None
    finally:
        del sys.modules[_PACKAGE]
        vars(scipy).pop("special", None)


def _alone() -> bool:
    """Whether no other thread could read the package meanwhile: those that draw a progress bar read nothing."""
    others = [thread for thread in threading.enumerate() if thread is not threading.current_thread()]
    return all(type(thread).__module__ == "rich.live" for thread in others)
