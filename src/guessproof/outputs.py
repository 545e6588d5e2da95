"""Files that are written for people: whole or not at all, and never over anything that was read.

Everything that writes a file asks `check_output` before it computes (or charges) anything, and hands the finished
bytes to `write_output`.
"""

from __future__ import annotations

import contextlib
import fnmatch
import glob
import os
import uuid
from collections.abc import Iterable, Sequence
from pathlib import Path

from guessproof.errors import ParameterError

Kept = tuple[str, Path]  # what it is, in words, and where: a file, a folder or a pattern
DATABASES = ((0, b"SQLite format 3\0"), (8, b"DUCK"))  # where a ledger and a DuckDB file say what they are


def check_output(field: str, path: str | Path, kinds: Sequence[str] = (), kept: Iterable[Kept] = ()) -> Path:
    """A file that may be written: of a known kind, in a folder that takes it, and none of what is to be kept."""
    said, target = str(path), Path(path)
    if not said or "\0" in said:
        raise ParameterError(field, said, "cannot be the name of a file", "name a file")
    if kinds and target.suffix.lower() not in kinds:
        raise ParameterError(field, said, "is no kind of file that can be written here", f"use {', '.join(kinds)}")
    folder = target.absolute().parent
    if target.is_dir():
        raise ParameterError(field, said, "is a folder", "name a file in it")
    if not folder.is_dir():
        raise ParameterError(field, said, "its folder does not exist", "make the folder first")
    if target.exists() and not target.is_file():
        raise ParameterError(field, said, "is not a file", "name a file in a folder of your own")
    what = find_kept(target, kept)
    if what is not None:
        raise ParameterError(field, said, f"is {what}", "choose another name: what was read is never replaced")
    if _is_database(target):
        raise ParameterError(field, said, "is a database, perhaps a ledger", "choose another name, or remove it first")
    _try_folder(field, said, folder)
    return target


def _try_folder(field: str, said: str, folder: Path) -> None:
    """Whether a file can be made there: rights alone do not say it, and what was paid for must find its place."""
    scratch = _scratch(folder)
    try:
        os.close(os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        scratch.unlink()
    except OSError as error:
        problem = f"its folder cannot be written to ({error.strerror or 'no reason is known'})"
        raise ParameterError(field, said, problem, "choose another folder") from None


def _scratch(folder: Path) -> Path:
    return folder / f".guessproof-{uuid.uuid4().hex}"


def write_output(
    target: Path, content: bytes, *, private: bool = False, replaces: bool = True, field: str = "output"
) -> None:
    """Write beside the target first, then put it in its place at once. A private file is its owner's from the start.

    A file that is replaced keeps its permissions, unless it becomes private.
    """
    scratch = _scratch(target.absolute().parent)
    try:
        handle = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if private else 0o666)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if not private and target.is_file():
            scratch.chmod(target.stat().st_mode & 0o777)
        _placed(scratch, target, replaces)
    except FileExistsError:
        problem, remedy = "there is a file already", "choose another name, or ask for it to be replaced"
        raise ParameterError(field, str(target), problem, remedy) from None
    except OSError as error:
        problem = f"cannot be written ({error.strerror or 'no reason is known'})"
        raise ParameterError(field, str(target), problem, "choose another place") from None
    finally:
        with contextlib.suppress(OSError):
            scratch.unlink(missing_ok=True)


def _placed(scratch: Path, target: Path, replaces: bool) -> None:
    if replaces:
        os.replace(scratch, target)
    elif os.path.lexists(target):
        raise FileExistsError
    else:
        try:
            os.link(scratch, target)  # fails if somebody was faster
        except FileExistsError:
            raise
        except OSError:  # a file system without second names
            os.replace(scratch, target)


def leads_to(path: Path, other: Path) -> bool:
    """Whether a path is another one, or a place in it: by its name, a link, a second name, or other capitals.

    Both may be folders, or patterns such as part-*.parquet. A new file could become part of the other.
    """
    return find_kept(path, [("it", other)]) is not None


def find_kept(path: Path, kept: Iterable[Kept]) -> str | None:
    """The words of the first thing that a path leads to; None where it leads to none of them."""
    try:
        paths = [path, *list_files(path)]
        reals = [one.resolve() for one in paths]
    except (OSError, RuntimeError, ValueError):  # a loop of links is no file
        return None
    names, numbers = {*map(_folded, reals)}, {*map(_number, paths)} - {None}
    for words, other in kept:
        stands_for = [other, *list_files(other)] if glob.has_magic(str(other)) else [other]
        if numbers.intersection(map(_number, stands_for)) or _folded(_resolved(other)) in names:
            return words
        if any(_is_part(one, real, other) for one, real in zip(paths, reals, strict=True)):
            return words
    return None


def list_files(name: Path) -> list[Path]:
    """The files that a path, a folder of Parquet files or a pattern stands for now, after links; none if none exist."""
    try:
        if name.is_file():
            return [name.resolve()]
        pattern = os.path.join(glob.escape(str(name)), "**", "*.parquet") if name.is_dir() else str(name)
        found = map(Path, glob.glob(pattern, recursive=True))
        return sorted({path.resolve() for path in found if path.is_file()})
    except (OSError, RuntimeError, ValueError):  # loops of links, names that cannot be
        return []


def _is_part(path: Path, real: Path, other: Path) -> bool:
    """Whether a path lies in a folder, or a pattern would find it."""
    if glob.has_magic(str(other)) and _fits(real, other):
        return True
    return other.is_dir() and (_resolved(other) in real.parents or _has_second_name(path, other))


def _has_second_name(path: Path, folder: Path) -> bool:
    """Whether a file is also called by another name somewhere in a folder."""
    number = _number(path)
    return number is not None and path.stat().st_nlink > 1 and any(_number(p) == number for p in folder.rglob("*"))


def _number(path: Path) -> tuple[int, int] | None:
    """What tells files apart under whatever names; None where there is none."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):
        return path


def _fits(real: Path, pattern: Path) -> bool:
    """Whether a pattern would find the file, once it is there."""
    return fnmatch.fnmatchcase(_folded(real), _folded(Path(os.path.realpath(pattern.parent)) / pattern.name))


def _folded(path: Path) -> str:
    return str(path).casefold()


def _is_database(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            start = file.read(64)
    except OSError:
        return False
    return any(start[place:].startswith(sign) for place, sign in DATABASES)
