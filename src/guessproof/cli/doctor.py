"""`guessproof doctor`: which parts are ready, and the command that readies the others. Nothing is opened for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from guessproof.cli.printing import AsJson, print_json, say


@dataclass(frozen=True)
class InstallPart:
    """What can be there or not: the modules that it needs, and the extra of guessproof that brings them."""

    name: str
    what: str
    modules: tuple[str, ...]
    extra: str | None = None  # None: part of every install


JAVA = "java"
SPARK = ("pyspark", "pandas", "pyarrow", "grpc", "grpc_status", "google.protobuf")
PARTS = (
    InstallPart("noise", "noise that is safe in floating point", ("opendp", "flint")),
    InstallPart("duckdb", "tables in files: csv, parquet, duckdb", ("duckdb", "pyarrow")),
    InstallPart("postgres", "tables and ledgers on a PostgreSQL server (env:NAME)", ("psycopg",), "postgres"),
    InstallPart("spark", "tables that Spark reads, here or on a cluster", SPARK, "spark"),
    InstallPart(JAVA, "Spark on this machine (17 or 21); a cluster needs none here", ()),
    InstallPart("frames", "pandas and polars frames", ("pandas", "polars"), "frames"),
    InstallPart("charts", "pictures in reports", ("altair", "vl_convert")),
    InstallPart("web", "the local page (guessproof serve)", ("fastapi", "uvicorn"), "web"),
)


@dataclass(frozen=True)
class PartState:
    """A part as it is on this machine."""

    part: InstallPart
    missing: tuple[str, ...]
    version: str | None
    remedy: str | None

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "name": self.part.name,
            "for": self.part.what,
            "ready": not self.missing,
            "version": self.version,
            "missing": list(self.missing),
            "remedy": self.remedy,
        }


def doctor(as_json: AsJson = False) -> None:
    """Which engines and parts are ready, and the command that readies the others.

    Imports are tried, and java is asked for its version. No table is opened, nothing is sent, no address is read.

    Example: guessproof doctor
    """
    from guessproof import __version__

    found = [look(part) for part in PARTS]
    if as_json:
        print_json({"version": __version__, "parts": [one.to_dict() for one in found]})
        return
    say(f"guessproof {__version__}")
    for one in found:
        whose = (*one.part.modules, one.part.name)[0]
        mark, version = ("✗", "") if one.missing else ("✓", f" ({whose} {one.version})" if one.version else "")
        say(f"{mark} {one.part.name:<9} {one.part.what}{version}")
        if one.remedy is not None:
            say(f"            {', '.join(one.missing)} missing: {one.remedy}")


def look(part: InstallPart) -> PartState:
    """Try the imports of one part; the version is that of the first."""
    if part.name == JAVA:
        return _look_for_java(part)
    import importlib

    missing: list[str] = []
    for name in part.modules:
        try:
            importlib.import_module(name)
        except Exception:  # a part that breaks while it is imported is not ready either
            missing.append(name)
    return PartState(part, tuple(missing), _version(part.modules[0]), _install(part) if missing else None)


def _look_for_java(part: InstallPart) -> PartState:
    from guessproof.engines.spark_session import INSTALL_JAVA, OLDEST_JAVA, find_java

    found = find_java()
    is_ready = found is not None and found >= OLDEST_JAVA
    version = None if found is None else str(found)
    return PartState(part, () if is_ready else (f"{JAVA} {OLDEST_JAVA}",), version, None if is_ready else INSTALL_JAVA)


def _install(part: InstallPart) -> str:
    """The command that brings the part."""
    if part.extra is None:
        return "pip install --upgrade --force-reinstall guessproof"
    return f"pip install 'guessproof[{part.extra}]'"


def _version(name: str) -> str | None:
    """The version of a package that is installed under the name of its module."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return None
