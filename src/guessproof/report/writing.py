"""Writing the page: whole or not at all, and never over the plan, the ledger or the table."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from guessproof.errors import ParameterError
from guessproof.plan import Plan
from guessproof.plan.public import is_source


def check_target(path: str | Path, plan: Plan, ledger: str | Path | None = None) -> Path:
    """A file that may be written, found out before anything is computed."""
    target = Path(path)
    folder = target.absolute().parent
    if target.is_dir():
        raise ParameterError("output", str(path), "is a folder", "name a file in it, as report.html")
    if not folder.is_dir():
        raise ParameterError("output", str(path), "its folder does not exist", "make the folder first")
    if target.exists() and not target.is_file():
        raise ParameterError("output", str(path), "is not a file", "name a file, as report.html")
    kept = [("the ledger", plan.ledger_path), ("the ledger", ledger), ("the plan", plan.path)]
    kept += [(f"the public file {name}", plan.folder / name) for name in plan.digests]
    for what, other in kept:
        if other is not None and _same(target, Path(other)):
            raise ParameterError("output", str(path), f"is {what}", "choose another name, as report.html")
    if is_source(target, Path(plan.source)):
        raise ParameterError("output", str(path), "is the table", "choose another name, as report.html")
    return target


def write_page(text: str, target: Path) -> None:
    """Beside the target first, then in its place at once; an earlier report is replaced."""
    scratch = target.absolute().with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with scratch.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(scratch, target)
    except OSError as error:
        with contextlib.suppress(OSError):
            scratch.unlink()
        problem = f"cannot be written ({error.strerror or 'no reason is known'})"
        raise ParameterError("output", str(target), problem, "choose another place") from None
    except BaseException:
        scratch.unlink(missing_ok=True)
        raise


def _same(one: Path, other: Path) -> bool:
    try:
        return one.resolve() == other.resolve() or os.path.samefile(one, other)
    except OSError:
        return False
