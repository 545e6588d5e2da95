"""SciPy's special functions and other compiled parts, read alone when one of them is first asked for.

Of SciPy's packages most of the time goes into other array libraries, into what builds Fortran and into routines that
nobody asked for. What is compiled is read without them, where nobody else can notice, and not at all for those who ask
about labels.
"""

from __future__ import annotations

import importlib
import sys
import threading
import types
from typing import Any


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    compiled = read_compiled("scipy.special._ufuncs")
    home = compiled if hasattr(compiled, name) else importlib.import_module("scipy.special")
    value = globals()[name] = getattr(home, name)
    return value


def read_compiled(name: str) -> Any:
    """A compiled module of SciPy, alone where that can be; None where there is none by this name."""
    parents = name.split(".")[1:-1]
    packages = [".".join(["scipy", *parents[: k + 1]]) for k in range(len(parents))]
    if name in sys.modules or packages[0] in sys.modules or not _is_alone():
        return _read(name)
    scipy = importlib.import_module("scipy")
    for package in packages:  # where its parts are looked for while they are read
        stand_in = types.ModuleType(package)
        stand_in.__path__ = [
            f"{folder}/{'/'.join(package.split('.')[1:])}" for folder in scipy.__path__
        ]
        sys.modules[package] = stand_in
    try:
        found = _read(name)
        if found is None:  # another SciPy, with its parts elsewhere
            for read in [
                m for m in sys.modules if m.startswith(f"{packages[0]}.") and m not in packages
            ]:
                del sys.modules[read]
        return found
    finally:
        for package in packages:
            del sys.modules[package]
        vars(scipy).pop(parents[0], None)


def _read(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except Exception:
        return None


def _is_alone() -> bool:
    """Whether no other thread could read the package meanwhile: those that draw a progress bar read nothing."""
    others = set(threading.enumerate()) - {threading.current_thread()}
    return all(type(thread).__module__ == "rich.live" for thread in others)
