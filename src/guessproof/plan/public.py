"""Public files behind priors. What is confidential is never read, under whatever name it is given."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import math
import stat
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from guessproof.addresses import local_path
from guessproof.errors import PriorError
from guessproof.names import suggest_name
from guessproof.outputs import Kept, find_kept

LARGEST_FILE = 256 * 1024 * 1024
_REMEDY = "name a public csv, tsv or parquet file"


@dataclass(frozen=True)
class PublicFile:
    """Some columns of a public file, as texts or numbers, and a digest of the whole file."""

    name: str
    columns: dict[str, list[Any]]
    digest: str

    def column(self, name: str) -> list[Any]:
        """All values of a column, missing ones as None."""
        if name not in self.columns:
            hint = suggest_name(name, self.columns, f"it has {', '.join(list(self.columns)[:8])}")
            raise PriorError("from", self.name, f"the file has no column {name}", f"{hint} Say it with column = …")
        return self.columns[name]


def read_public(name: str, folder: Path, confidential: Iterable[Kept]) -> PublicFile:
    """A public file, relative to the plan's folder; refused if it is confidential, by whatever name."""
    path = local_path(name, folder)
    words = find_kept(path, confidential)
    if words is not None:
        problem = (
            f"is {words}, which is confidential: a prior read from it would tell about the data without being charged"
        )
        raise PriorError("from", name, problem, _REMEDY)
    content = _bytes(name, path)
    digest = hashlib.sha256(content).hexdigest()
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes[-1:] == [".gz"]:
        content, suffixes = _unpack(name, content), suffixes[:-1]
    kind = suffixes[-1] if suffixes else ""
    if kind == ".parquet":
        return PublicFile(name, _parquet(name, content), digest)
    if kind in (".csv", ".tsv"):
        return PublicFile(name, _csv(name, content, "\t" if kind == ".tsv" else ","), digest)
    raise PriorError("from", name, "is not a kind of file that can be read here", _REMEDY)


def numbers_or_texts(values: list[Any]) -> list[Any]:
    """The values that are there, as numbers if all of them are.

    >>> numbers_or_texts(["1", None, "2.5"]), numbers_or_texts(["1", "two"])
    ([1.0, 2.5], ['1', 'two'])
    """
    there = [value for value in values if value is not None]
    if any(isinstance(value, bool) for value in there):
        return there
    try:
        found = [float(value) for value in there]
    except (TypeError, ValueError, OverflowError):
        return [value if isinstance(value, (int, float)) else str(value) for value in there]
    if not all(math.isfinite(value) for value in found):
        raise PriorError("from", "NaN or infinity", "the file holds numbers that are not finite", "leave them empty")
    return found


def _bytes(name: str, path: Path) -> bytes:
    try:
        content = None
        if stat.S_ISREG(path.stat().st_mode):
            with path.open("rb") as file:
                content = file.read(LARGEST_FILE + 1)
    except FileNotFoundError:
        remedy = "check the name; it is relative to the plan"
        raise PriorError("from", name, "the public file does not exist", remedy) from None
    except (OSError, ValueError):
        raise PriorError("from", name, "the public file cannot be read", "check its name and permissions") from None
    if content is None:
        raise PriorError("from", name, "is not a file", _REMEDY)
    if len(content) > LARGEST_FILE:
        raise PriorError("from", name, "is larger than 256 MB", "give a sample or a histogram of it")
    return content


def _unpack(name: str, content: bytes) -> bytes:
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
            plain = file.read(LARGEST_FILE + 1)
    except (OSError, EOFError, zlib.error):
        raise PriorError("from", name, "is not a gzip file", _REMEDY) from None
    if len(plain) > LARGEST_FILE:
        raise PriorError("from", name, "is larger than 256 MB when unpacked", "give a sample or a histogram of it")
    return plain


def _csv(name: str, content: bytes, delimiter: str) -> dict[str, list[Any]]:
    try:
        rows = list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""), delimiter=delimiter))
    except (UnicodeDecodeError, csv.Error):
        raise PriorError("from", name, "is not a table of text in UTF-8", "save it as UTF-8 csv") from None
    rows = [row for row in rows if row]
    if len(rows) < 2:
        raise PriorError("from", name, "holds no rows", "give a header and at least one row")
    header, body = rows[0], rows[1:]
    if any(len(row) != len(header) for row in body):
        raise PriorError("from", name, "its rows differ in length", "give each row as many cells as the header")
    if len(set(header)) < len(header):
        raise PriorError("from", name, "two of its columns have the same name", "rename one")
    cells = [[cell if cell.strip() else None for cell in row] for row in body]
    return {column: [row[i] for row in cells] for i, column in enumerate(header)}


def _parquet(name: str, content: bytes) -> dict[str, list[Any]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table: Any = pq.read_table(pa.BufferReader(content))  # pyright: ignore[reportUnknownMemberType]
        return {str(column): table.column(column).to_pylist() for column in table.column_names}
    except (pa.ArrowException, OSError, KeyError):
        raise PriorError("from", name, "is not a parquet file that can be read", _REMEDY) from None
