"""Where Spark's rows come from: files that it reads, a table of its catalogue, a frame; each behind a temporary view.

A view is the session's own, has a name that nobody guesses, and goes when the engine is closed.
"""

from __future__ import annotations

import re
import stat
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from guessproof.addresses import find_form, is_address
from guessproof.engines.base import BITS, FLOATS, SHOWS_CONFIDENTIAL, UNTOLD, WORDS, pick_columns, text_rows
from guessproof.engines.files import DELIMITERS, Source, find, find_header_fault, header, line_end
from guessproof.engines.spark_session import SettledSession, attempt_quietly
from guessproof.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pyspark.sql import DataFrame

MOST_ROWS = 200_000  # of a public table
CSV = {
    "header": True,
    "quote": '"',
    "escape": '"',
    "multiLine": True,
    "mode": "FAILFAST",
    "enforceSchema": False,
    "encoding": "UTF-8",
    "unescapedQuoteHandling": "RAISE_ERROR",
}
# Cells in which Spark keeps what DuckDB leaves out or refuses: a blank before a quote, a line that ends otherwise than
# the first, bytes that are not UTF-8.
ODD_CELL = '^ "|\\r(?!\\n)|\ufffd'
STORED = ("MANAGED", "EXTERNAL")
# What reads rows from something stored, by Spark's names of the node; any other frame is a query, as a view is.
STORED_PLANS = {
    *("LogicalRelation", "LocalRelation", "LogicalRDD", "DataSourceV2Relation", "Range"),
    *("DataSource", "CachedLocalRelation"),
}
UNREADABLE = {  # by the condition that Spark names
    "CANNOT_MERGE": "a column has one type in some of its files and another in others; save them with the same types",
    "COLUMN_ALREADY_EXISTS": "two columns have the same name (capitals do not count); rename one",
    "PARQUET_TYPE": "a column has a type that Spark does not read; save the files without it, or leave out engine",
}
NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")


@dataclass(frozen=True)
class ViewedTable:
    """A table behind a view of the session."""

    view: str
    types: Mapping[str, str]
    is_stored: bool
    is_text: bool = False  # a CSV file: only reading it shows whether it is whole
    called: str | None = None  # of a table of the catalogue: its whole name, in small letters

    @property
    def columns(self) -> str:
        return ", ".join(map(quote_name, self.types))

    def fragile(self, wanted: Collection[str] | None) -> list[str]:
        """The columns that must be read to know that they can be: milliseconds may lie beyond all microseconds."""
        names = pick_columns(self.types, wanted)
        return [name for name in names if self.is_stored and self.types[name].startswith("timestamp")]

    def count_odd(self) -> str:
        """A query for how many rows of a CSV file have a cell that another reader would take for something else."""
        odd = " OR ".join(f"{quote_name(name)} RLIKE '{ODD_CELL}'" for name in self.types)
        return f"SELECT COUNT_IF({odd}) FROM {quote_name(self.view)}"  # noqa: S608

    @property
    def whole(self) -> str:
        """All its rows."""
        return f"SELECT {self.columns} FROM {quote_name(self.view)}"  # noqa: S608

    @property
    def empty(self) -> str:
        """A table of the same columns that reads nothing."""
        return f"SELECT {self._typed} FROM (SELECT 1) AS gp_none WHERE FALSE"  # noqa: S608

    @property
    def hostile(self) -> str:
        """The same with values of the types of its columns that are hard to compute with."""
        known = {name: stored for name, stored in self.types.items() if hostile_values(stored)}
        if not known:
            return self.empty
        places = {name: f"c{place}" for place, name in enumerate(known)}  # one cast a column: a cast a cell is slow
        cells = {name: f"CAST({place} AS {_plain(known[name])})" for name, place in places.items()}
        own = ", ".join(f"{cells.get(name, 'NULL')} AS {quote_name(name)}" for name in self.types)
        rows = text_rows([hostile_values(stored) for stored in known.values()])
        return f"SELECT {own} FROM (VALUES {rows}) AS gp_hard ({', '.join(places.values())})"  # noqa: S608

    @property
    def _typed(self) -> str:
        parts = (f"CAST(NULL AS {_plain(stored)})" if _is_known(stored) else "NULL" for stored in self.types.values())
        return ", ".join(f"{part} AS {quote_name(name)}" for part, name in zip(parts, self.types, strict=True))


def view_of(own: SettledSession, frame: DataFrame, *, is_stored: bool, is_text: bool = False) -> ViewedTable:
    """A frame under a name of its own."""
    types = {field.name: _stored_type(field) for field in frame.schema.fields}
    if len({name.lower() for name in types}) < len(frame.schema.fields):
        raise SourceError("source: two columns have the same name (capitals do not count); rename one")
    return ViewedTable(own.view(frame), types, is_stored, is_text)


def read_files(own: SettledSession, source: str, *, remote: bool) -> ViewedTable:
    """Files: on this machine for a local session, wherever the cluster finds them for a remote one."""
    found = _far_files(source) if remote or is_address(source) else find(source)
    if found.form == "duckdb":
        raise SourceError(
            f"source {found.said!r}: Spark does not read DuckDB's files; leave out engine, or use Parquet"
        )
    table, failure = attempt_quietly(lambda: _read(own, found, far=not found.paths))
    if failure or table is None:
        raise SourceError(f"source {found.said!r}: {_unreadable(found, failure or '')}")
    return table


def _unreadable(found: Source, failure: str) -> str:
    told = (words for condition, words in UNREADABLE.items() if failure.startswith(condition))
    form = "CSV" if found.form == "csv" else "Parquet"
    return next(told, f"Spark cannot read it as {form}; check the path and the file")


def _far_files(source: str) -> Source:
    """Files that only the cluster can see: what they are is read from the end of the name."""
    form, tabs, zipped = find_form(source)
    return Source(source, form or "parquet", (), tabs=tabs, zipped=zipped)


def _read(own: SettledSession, source: Source, *, far: bool) -> ViewedTable:
    paths = [source.said] if far else [f"file://{_literally(str(path))}" for path in source.paths]
    if source.form == "parquet":
        # All footers are read: a file of other types would otherwise be found after the charge.
        several = far or len(paths) > 1
        reader = own.session.read.option("recursiveFileLookup", True).option("mergeSchema", several)
        if far and not source.said.lower().endswith(".parquet"):
            reader = reader.option("pathGlobFilter", "*.parquet")
        state = None if far else files_state(source.paths)
        frame = (reader.schema(_SCHEMAS[state]) if state in _SCHEMAS else reader).parquet(*paths)
        if state is not None:
            _keep_schema(state, frame.schema)
        return view_of(own, frame, is_stored=True)
    delimiter, names = _far_header(own.session, source, paths) if far else header(source)
    if len(names) == 1:
        raise SourceError(
            f"source {source.said!r}: it has one column, and Spark leaves out lines in which nothing stands; "
            "save it as Parquet, or leave out engine"
        )
    # Where it is left to Spark to find, it also changes the ends of lines inside quotes.
    end = _far_end(own.session, paths) if far else line_end(source)
    from pyspark.sql.types import StringType, StructField, StructType

    schema = StructType([StructField(name, StringType()) for name in names])
    frame = own.session.read.csv(paths, schema=schema, sep=delimiter, lineSep=end, **CSV)
    return view_of(own, frame, is_stored=True, is_text=True)


FilesState = tuple[tuple[str, int, int, int, int], ...]
_SCHEMAS: dict[FilesState | None, Any] = {}  # of files that were read in this process, as they were then
MOST_SCHEMAS = 64
SETTLED = 2.0  # seconds after which a clock tells two writes of a file apart


def files_state(paths: Sequence[Path]) -> FilesState | None:
    """What changes whenever a file does; None where one is too young to be sure of it."""
    try:
        found = [(str(path), path.stat()) for path in paths]
    except OSError:
        return None
    if not all(stat.S_ISREG(s.st_mode) and max(s.st_mtime, s.st_ctime) < time.time() - SETTLED for _, s in found):
        return None
    return tuple((name, s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns) for name, s in found)


def _keep_schema(state: FilesState, schema: Any) -> None:
    """Spark reads the end of every file for it, in a job of its own: once for files that stay as they are."""
    if len(_SCHEMAS) >= MOST_SCHEMAS:
        _SCHEMAS.clear()
    _SCHEMAS[state] = schema


def _far_header(session: Any, source: Source, paths: Sequence[str]) -> tuple[str, list[str]]:
    """The delimiter that cuts the first line into most parts, and the parts: names, nothing else."""
    mild = {**CSV, "unescapedQuoteHandling": "STOP_AT_DELIMITER"}  # cut at another delimiter, quotes are anywhere
    tried = [(d, session.read.csv(paths, sep=d, **mild).columns) for d in (("\t",) if source.tabs else DELIMITERS)]
    delimiter, names = max(tried, key=lambda pair: len(pair[1]))
    problem = find_header_fault(names)
    if problem:
        del names, tried  # they may be values, and some tools print the variables of a traceback
        raise SourceError(f"source {source.said!r}: {problem}")
    return delimiter, names


def _far_end(session: Any, paths: Sequence[str]) -> str:
    """What ends the first line; of that line nothing else is fetched."""
    first = session.read.text(list(paths), lineSep="\n").limit(1)
    return "\r\n" if first.selectExpr("ENDSWITH(value, '\\r') AS e").toArrow()["e"].to_pylist() == [True] else "\n"


def _literally(path: str) -> str:
    """A path that stands for itself where Hadoop expects a pattern."""
    return re.sub(r"([\\*?\[\]{}])", r"\\\1", path)


def read_catalog(own: SettledSession, name: str) -> ViewedTable:
    """A table of the catalogue, by a name of one to three parts."""
    found, failure = attempt_quietly(lambda: _read_catalog(own, name))
    if failure or found is None:
        raise SourceError(
            f"table {name!r}: Spark's catalogue has no such table, or you may not read it; write its name as "
            '[data] table, with schema and catalogue where it needs them: table = "clinic.visits"'
        )
    return found


def _read_catalog(own: SettledSession, name: str) -> ViewedTable:
    qualified = name if "`" in name else ".".join(map(quote_name, name.split(".")))
    known = own.session.catalog.getTable(qualified)
    found = view_of(own, own.session.table(qualified), is_stored=not known.isTemporary and known.tableType in STORED)
    parts = (known.catalog, *(known.namespace or ()), known.name)
    return replace(found, called=".".join(map(str, parts)).lower())


def read_frame(own: SettledSession, frame: Any) -> ViewedTable:
    """A frame that is at hand, as its own session understands it."""
    found, failure = attempt_quietly(lambda: view_of(own, frame, is_stored=_is_stored(frame)))
    if failure or found is None:
        raise SourceError("source: this Spark frame cannot be read as a table; try frame.schema, and rename columns")
    return found


def _is_stored(frame: Any) -> bool:
    if hasattr(frame, "_jdf"):
        return str(frame._jdf.queryExecution().analyzed().getClass().getSimpleName()) in STORED_PLANS
    return type(frame._plan).__name__ in STORED_PLANS


def copy_public(own: SettledSession, name: str, file: str | None, confidential: Sequence[ViewedTable]) -> ViewedTable:
    """A public table, read once: what is checked is what is asked."""
    schema = None
    if file is None:
        named = read_catalog(own, name)
        _refuse_confidential(own, name, named, confidential)
        source = own.session.table(quote_name(named.view))
        rows, _ = attempt_quietly(lambda: source.limit(MOST_ROWS + 1).toArrow())
        schema = source.schema
    else:
        rows = _rows_of_file(name, file)
    if rows is None:
        raise SourceError(f"table {name!r}: it cannot be read; check it, and your right to read it")
    if rows.num_rows > MOST_ROWS:
        raise SourceError(
            f"table {name!r}: a public table of more than {MOST_ROWS} rows is not copied to Spark with each release; "
            "join a smaller one, without rows that nothing matches"
        )
    made, failure = attempt_quietly(
        lambda: view_of(own, own.session.createDataFrame(rows, schema=schema), is_stored=True)
    )
    if failure or made is None:
        raise SourceError(f"table {name!r}: its types are not known to Spark; store it in plain columns")
    return made


def _refuse_confidential(
    own: SettledSession, name: str, public: ViewedTable, confidential: Sequence[ViewedTable]
) -> None:
    """A public table of the catalogue is stored, and none of its files is one of a confidential table."""
    if any(public.called == other.called for other in confidential):
        raise SourceError(f"table {name!r}: {SHOWS_CONFIDENTIAL}")
    if not public.is_stored:
        raise SourceError(f"table {name!r}: {UNTOLD}")
    secret_files = {file for table in confidential for file in _files_of(own, name, table)}
    if secret_files & _files_of(own, name, public):
        raise SourceError(f"table {name!r}: {SHOWS_CONFIDENTIAL}")


def _files_of(own: SettledSession, name: str, table: ViewedTable) -> set[str]:
    """The files that a table's rows come from, as Spark knows them."""
    files, failure = attempt_quietly(lambda: own.session.table(quote_name(table.view)).inputFiles())
    if failure or files is None:
        raise SourceError(f"table {name!r}: {UNTOLD}")
    return {re.sub(r"\Afile:/+", "file:/", file) for file in files}


def _rows_of_file(name: str, file: str) -> Any:
    """The rows of a public file."""
    import pyarrow as pa

    from guessproof.engines.base import open_engine
    from guessproof.engines.public_file import held_as, write_public

    with open_engine(file, name) as engine:
        if engine.dialect != "duckdb":
            raise SourceError(f"table {name!r}: {file!r} is no file; name a csv or parquet file")
        kinds = {"double": pa.float64(), "boolean": pa.bool_(), "text": pa.string()}
        schema = pa.schema([(column, kinds[held_as(stored)]) for column, stored in engine.types().items()])
        return pa.Table.from_batches(engine.batches(write_public(name, engine.types())), schema)


def hostile_values(stored: str) -> Sequence[str]:
    """Values of one type that are hard to compute with.

    >>> hostile_values("tinyint"), hostile_values("decimal(4,2)")
    (('-128', '127', '0', '-1'), ('99.99', '-99.99', '0'))
    """
    kind, _, rest = stored.partition("(")
    kind = kind.partition(" collate ")[0]
    if bits := BITS.get("INTEGER" if kind == "int" else kind.upper()):
        return str(-(1 << bits - 1)), str((1 << bits - 1) - 1), "0", "-1"
    if kind == "decimal":
        digits, places = map(int, rest.rstrip(")").split(","))
        most = "9" * (digits - places) + "." + "9" * places
        return most.rstrip("."), "-" + most.rstrip("."), "0"
    if kind in ("float", "double"):
        most, least = ("3.4e38", "1e-44") if kind == "float" else ("1.7e308", "5e-324")
        return (*FLOATS, least, most, "-" + most)
    if kind in ("string", "char", "varchar"):
        return (*WORDS, "1e-400", "1_000", "12d", "2020-02-30", "TRUE ")
    times = "+294247-01-10 04:00:54.775807", "-290308-12-21 19:59:05.224192", "1970-01-01 00:00:00"
    return {
        "boolean": ("true", "false"),
        "date": ("+5881580-07-10", "-5877641-06-23", "1970-01-01"),
        "timestamp": times,
        "timestamp_ntz": times,
    }.get(kind, ())


def kind_of(stored: str) -> str:
    """The kind of a column by the name of its type.

    >>> [kind_of(s) for s in ("decimal(9,2)", "char(3)", "string collate UNICODE_CI", "timestamp_ntz", "array<int>")]
    ['number', 'text', 'text', 'time', 'other']
    """
    if "<" in stored:
        return "other"
    plain = stored.partition("(")[0].partition(" ")[0]
    if plain in NUMBERS:
        return "number"
    if plain in ("string", "char", "varchar"):
        return "text"
    if plain == "boolean":
        return "boolean"
    return "time" if plain in ("date", "timestamp", "timestamp_ntz") else "other"


def quote_name(name: str) -> str:
    """An identifier, quoted."""
    return "`" + name.replace("`", "``") + "`"


def _stored_type(field: Any) -> str:
    """The type; that of a char(n) stands beside it."""
    beside = (field.metadata or {}).get("__CHAR_VARCHAR_TYPE_STRING")
    return str(beside or field.dataType.simpleString())


def _is_known(stored: str) -> bool:
    return bool(hostile_values(stored))


def _plain(stored: str) -> str:
    """The type in which Spark hands the values on: a char(n) is a string."""
    return "string" if stored.startswith(("char", "varchar")) else stored
