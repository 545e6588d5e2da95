"""Which files the page may touch: those of the folder it was started in, and uploads in a private folder of its own."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from guessproof.addresses import FORMS, is_address, is_elsewhere, local_path
from guessproof.errors import GuessproofError
from guessproof.outputs import list_files
from guessproof.plain import plain
from guessproof.web.refusals import WebError

UPLOADED = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet")  # no databases: they can hold more than tables
MOST_FILES = 200
MOST_UPLOADS = 16
Remote = tuple[Any, Any]  # where Spark is (None: here), and what it reads there (None: a table of its catalogue)


@dataclass(frozen=True)
class Folder:
    """The folder that was opened, and the one for uploads, which is deleted at the end."""

    root: Path
    uploads: Path
    cluster: Remote | None = None  # what the page may read elsewhere: only what it was started with

    @classmethod
    def opened(cls, root: Path, cluster: Remote | None = None) -> Folder:
        """A folder with a private one for uploads beside it."""
        uploads = Path(tempfile.mkdtemp(prefix="guessproof-page-")).resolve()
        os.chmod(uploads, 0o700)
        return cls(root.resolve(), uploads, cluster)

    def close(self) -> None:
        """Delete what was uploaded."""
        shutil.rmtree(self.uploads, ignore_errors=True)

    def tables(self) -> list[dict[str, Any]]:
        """Names of the data files that can be opened; nothing is read."""
        kept = [{"name": name, "uploaded": True} for name in self._named(self.uploads)]
        return kept + [{"name": name, "uploaded": False} for name in self._named(self.root)]

    def _named(self, place: Path) -> list[str]:
        try:
            names = sorted(entry.name for entry in os.scandir(place) if entry.is_file() and is_table(entry.name))
        except OSError:
            return []
        return names[:MOST_FILES]

    def place_of(self, source: str) -> Path:
        """The folder in which a source is looked for: that of the uploads, where one is called so."""
        return self.uploads if not is_elsewhere(source) and self._is_uploaded(source) else self.root

    def _is_uploaded(self, source: str) -> bool:
        try:
            return os.path.basename(source) == source and (self.uploads / source).is_file()
        except (OSError, ValueError):  # a name that is too long, or that cannot be one
            return False

    def source_of(self, source: str) -> str:
        """A source as an engine opens it."""
        self.check({"data": {"source": source}})
        return source if is_elsewhere(source) else str(local_path(source, self.place_of(source)))

    def check(self, tables: Mapping[str, Any]) -> None:
        """Refuse a plan that names a file outside; folders, patterns and links that lead outside are outside."""
        data = tables.get("data")
        source = data.get("source") if isinstance(data, Mapping) else None
        cluster = remote_of(data) if isinstance(data, Mapping) else None
        if cluster is not None and cluster != self.cluster:
            problem = "this page was not started with what Spark is to read elsewhere"
            raise WebError(422, problem, "start guessproof serve with a plan that names it", "data.source")
        place = self.place_of(source) if isinstance(source, str) else self.root
        for key, path in _paths(tables):
            home = self.root if key == "release.ledger" else place
            if is_elsewhere(path) or (cluster is not None and key == "data.source"):
                continue
            if "\0" in path or not _inside(local_path(path, home), home):
                problem = f"{plain(path)!r} lies outside the folder that was opened"
                raise WebError(422, problem, "start guessproof serve in a folder that holds it", key)

    async def keep(self, name: str, parts: AsyncIterator[bytes]) -> str:
        """Store an upload under its own name, whole or not at all."""
        name = self._upload_name(name)
        scratch = self.uploads / f".{os.urandom(8).hex()}"
        try:
            with open(os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                async for part in parts:
                    file.write(part)
            self._check_upload(scratch, name)
            os.replace(scratch, self.uploads / name)
        finally:
            scratch.unlink(missing_ok=True)
        return name

    def _upload_name(self, name: str) -> str:
        if not is_upload(name) or os.path.basename(name) != name or not name.isprintable() or name.startswith("."):
            remedy = f"use {', '.join(UPLOADED)} and a name without folders"
            raise WebError(422, f"{plain(name[:80])!r} is no name of a table", remedy, "name")
        if len(name.encode()) > 200 or "\\" in name or ":" in name:
            raise WebError(422, "the name is too long or holds odd characters", "rename the file", "name")
        if len(self._named(self.uploads)) >= MOST_UPLOADS and not (self.uploads / name).exists():
            raise WebError(422, f"{MOST_UPLOADS} files were uploaded already", "start the page again", "name")
        return name

    def _check_upload(self, scratch: Path, name: str) -> None:
        """Its columns can be read; a file that is no table is not kept."""
        from guessproof.starting import read_schema

        trial = scratch.with_name(f"{scratch.name}-{name}")
        os.link(scratch, trial)
        try:
            read_schema(str(trial))
        except GuessproofError:
            problem = "this is not a table that can be read"
            raise WebError(422, problem, "use CSV with a first line of names, or Parquet", "name") from None
        finally:
            trial.unlink(missing_ok=True)


def is_table(name: str) -> bool:
    """Whether a file is a table by its name."""
    return Path(name.lower().removesuffix(".gz")).suffix in FORMS


def is_upload(name: str) -> bool:
    """Whether a file of this name may be uploaded."""
    return name.lower().endswith(UPLOADED)


def remote_of(data: Mapping[str, Any]) -> Remote | None:
    """Where Spark reads something that is no file of this machine, and what; None for all other sources."""
    source, remote = data.get("source"), data.get("remote")
    if data.get("engine") != "spark" or (remote is None and source is not None and not is_address(str(source))):
        return None
    return remote, source


def _inside(path: Path, home: Path) -> bool:
    """Whether a path, and every file that a folder or a pattern stands for, is in a folder after all links."""
    try:
        return all(file.is_relative_to(home) for file in (path.resolve(), *list_files(path)))
    except (OSError, RuntimeError, ValueError):
        return False


def _paths(tables: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Everything in a plan that names a file."""
    for table, key in (("data", "source"), ("release", "ledger")):
        found = tables.get(table)
        if isinstance(found, Mapping) and isinstance(found.get(key), str):
            yield f"{table}.{key}", found[key]
    yield from _named_files(tables, "")


def _named_files(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            here = f"{path}.{key}" if path else str(key)
            known = here in ("data.source", "release.ledger")
            if key in ("from", "source") and isinstance(item, str) and not known:
                yield here, item
            yield from _named_files(item, here)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _named_files(item, path)
