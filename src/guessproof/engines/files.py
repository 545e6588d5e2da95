"""Finding the file that a plan names, and reading the first line of a CSV file: its names, nothing else."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING

from guessproof.addresses import FORMS, Form, find_form
from guessproof.errors import SourceError
from guessproof.outputs import list_files

if TYPE_CHECKING:
    import pyarrow as pa

DELIMITERS = (",", ";", "\t", "|")
HEADER_LIMIT = 1 << 17  # characters; a longer line is no header


@dataclass(frozen=True)
class Source:
    """Files that exist, by their real paths, and how they are written; or a frame in memory.

    `is_stored` says whether each row is stored as such; None where only the database itself can tell.
    """

    said: str
    form: Form
    paths: tuple[Path, ...]
    tabs: bool = False
    zipped: bool = False
    is_stored: bool | None = True
    frame: pa.Table | None = field(default=None, repr=False)


def is_text_table(source: str) -> bool:
    """Whether a source is a text file by its name; nothing in it says whether its first line is one of names."""
    return FORMS.get(Path(source.lower().removesuffix(".gz")).suffix) == "csv"


def find(source: str) -> Source:
    """The file (for Parquet also the folder or the pattern) that a plan's `source` names."""
    form, tabs, zipped = find_form(source)
    if form is None and Path(source).is_dir():
        form = "parquet"
    if form is None or (zipped and form != "csv"):
        raise SourceError(
            f"source {source!r}: the end of the name does not say what it is; "
            "use .csv, .tsv (also with .gz), .parquet, .duckdb or .db"
        )
    paths = _once(_real(path, source) for path in _paths(source, form))
    stored = None if form == "duckdb" else True
    return Source(source, form, paths, tabs=tabs, zipped=zipped, is_stored=stored)


def _once(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Each file once, by whatever names it was found: a second name of a file must not repeat its records."""
    found: dict[tuple[int, int], Path] = {}
    for path in paths:
        status = path.stat()
        found.setdefault((status.st_dev, status.st_ino), path)
    return tuple(found.values())


def _paths(source: str, form: Form) -> list[Path]:
    if not source or "\0" in source:
        raise SourceError("source: this cannot be the name of a file; write its path")
    place = Path(source)
    if form != "parquet" or place.is_file():
        return [place]
    found = list_files(place)
    if not found:
        raise SourceError(
            f"source {source!r}: there is no Parquet file there; check the path, relative to {Path.cwd()}"
        )
    return found


def _real(path: Path, source: str) -> Path:
    """Where the file truly is, made sure that it can be read and is not empty."""
    problem = ""
    try:
        real = path.resolve(strict=True)
        if not real.is_file():
            problem = "it is not a file; write the path of one"
        else:
            with real.open("rb") as file:
                problem = "" if file.read(1) else "the file is empty; write the path of a table"
        if not problem:
            return real
    except FileNotFoundError:
        problem = f"there is no such file; check the path, relative to {Path.cwd()}"
    except PermissionError:
        problem = "the file may not be read; ask its owner for the permission"
    except (OSError, RuntimeError, ValueError):  # loops of links, names too long
        problem = "the file cannot be opened; check the path"
    raise SourceError(f"source {source!r}: {problem}")


def header(source: Source) -> tuple[str, list[str]]:
    """The delimiter and the column names of a CSV file, from its first line alone."""
    delimiter, names = _first_line(source)
    problem = find_header_fault(names)
    if problem:
        del names  # they may be values, and some tools print the variables of a traceback
        raise SourceError(f"source {source.said!r}: {problem}")
    return delimiter, names


def _first_line(source: Source) -> tuple[str, list[str]]:
    """The delimiter that cuts it into most parts, and the parts."""
    found = [(delimiter, _names(source, delimiter)) for delimiter in (("\t",) if source.tabs else DELIMITERS)]
    return max(found, key=lambda pair: len(pair[1]))


def find_header_fault(names: list[str]) -> str | None:
    """Why a first line cannot be one of column names."""
    if not names:
        return "its first line is not CSV in UTF-8; save the table as CSV (UTF-8)"
    if any(map(_is_number, names)):  # a row of values must not be taken for names and shown
        return "its first line holds numbers, so it is not a line of column names; add one"
    if len({name.lower() for name in names}) < len(names):
        return "two columns have the same name (capitals do not count); rename one"
    return None


def _names(source: Source, delimiter: str) -> list[str]:
    """The parts of the first line, cut at a delimiter; none if it cannot be cut."""
    try:
        with _opened(source) as file:
            names = next(csv.reader(_lines(file), delimiter=delimiter, strict=True), [])
    except (OSError, EOFError, csv.Error):  # not gzip, an open quote, no end of line
        return []
    if any(c == "\0" or "\ud800" <= c <= "\udfff" for name in names for c in name):
        return []
    return [name or f"column{place}" for place, name in enumerate(names)]


def line_end(source: Source) -> str:
    """What ends the first line of a CSV file whose header was read: in \\r\\n, \\n or \\r."""
    with _opened(source) as file:
        line = file.readline(HEADER_LIMIT)
    return line[len(line.rstrip("\r\n")) :] or "\n"


def _lines(file: IO[str]) -> Iterator[str]:
    while line := file.readline(HEADER_LIMIT):
        if len(line) == HEADER_LIMIT:
            raise csv.Error
        yield line


def _opened(source: Source) -> IO[str]:
    path = source.paths[0]  # what is not UTF-8 below the first line is not looked at here
    if source.zipped:
        return gzip.open(path, "rt", encoding="utf-8-sig", errors="surrogateescape", newline="")
    return path.open(encoding="utf-8-sig", errors="surrogateescape", newline="")


def _is_number(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True
