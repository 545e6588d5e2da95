"""Spark as the contract reaches it: files that a session writes, and a wire that can be cut."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from depth import cases
from pyspark.sql.connect.session import SparkSession as Remote

from guessproof.addresses import SPARK, Address, read_address
from guessproof.engines import spark as engine_of_spark
from guessproof.engines.base import SparkSource
from guessproof.engines.spark_session import SettledSession, open_remote
from guessproof.engines.spark_tables import quote_name
from guessproof.testing.harness import Cells, Harness
from guessproof.testing.values import (
    DAYS,
    MOMENTS,
    NUMBERS,
    SINGLES,
    TEXTS,
    ZONED,
    Shelf,
    StoredType,
    as_day,
    as_moment,
    as_single,
    as_truth,
    named,
    whole,
)

REMOTE = "env:SPARK_REMOTE"
MORE_TEXTS = ("1e-400", "-1e400", "1e99999", ".5", "1_", "_1", "1__0", "nan(1)", "3f", "1D", "0x10", "\\")
TYPES = (
    StoredType("string", (*TEXTS, *MORE_TEXTS), str),
    *(StoredType(f"string COLLATE {name}", TEXTS, str) for name in ("UTF8_LCASE", "UNICODE_CI")),
    StoredType("double", (*NUMBERS, "5e-324", "1e-200"), float),
    StoredType("float", SINGLES, as_single),
    StoredType("tinyint", whole("-128", "127"), int),
    StoredType("smallint", whole("-32768"), int),
    StoredType("int", whole("-3", "2147483647"), int),
    StoredType("bigint", whole("-9223372036854775808", "9223372036854775807"), int),
    StoredType("decimal(9,2)", ("0", "1", "2", "2.5", "-3", "12.34", "9999999.99"), Decimal),
    StoredType("decimal(38,10)", ("0", "1", "2.5", "-3", "0.1", "12.0000000001"), Decimal),
    StoredType("boolean", ("true", "false"), as_truth),
    StoredType("date", DAYS, as_day),
    StoredType("timestamp_ntz", MOMENTS, as_moment),
    StoredType("timestamp", ZONED, as_moment),
    StoredType("binary", ("black", "1"), str.encode),
)
SHELF = Shelf(
    TYPES,
    {
        "number": ("string", "double", "float", "tinyint", "smallint", "int", "bigint", "decimal"),
        "label": ("string", "int", "boolean", "date"),
        "truth": ("string", "boolean", "tinyint"),
        "time": ("string", "date", "timestamp"),
    },
    doubles=named(TYPES, "double"),
    longs=named(TYPES, "bigint"),
    texts=named(TYPES, "string"),
)
# Types that need no Spark to be stored.
PLAIN: dict[str, tuple[Any, Callable[[str], Any]]] = {
    "double": (pa.float64(), float),
    "string": (pa.string(), str),
    "bigint": (pa.int64(), int),
}


class Wire:
    """A way to the server that can be cut: it passes on what comes, both ways."""

    def __init__(self, address: str) -> None:
        host, _, port = address.removeprefix("sc://").partition(":")
        self._server = host, int(port)
        self._door = socket.create_server(("127.0.0.1", 0))
        self.url = f"sc://127.0.0.1:{self._door.getsockname()[1]}"
        self._open: list[socket.socket] = []
        threading.Thread(target=self._listen, daemon=True).start()

    def cut(self) -> None:
        for end in (self._door, *self._open):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def _listen(self) -> None:
        with suppress(OSError):
            while True:
                here, _ = self._door.accept()
                there = socket.create_connection(self._server)
                self._open += [here, there]
                for ends in ((here, there), (there, here)):
                    threading.Thread(target=_pass_on, args=ends, daemon=True).start()


def _pass_on(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(1 << 16):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)


class SparkHarness(Harness):
    """Files, opened through a server that env:SPARK_REMOTE names."""

    name, shelf = "spark", SHELF
    patience = 5.0
    drawn = cases(3)  # what a query costs here is its planning
    crossed = 3  # with more, the innermost rows keep a task from looking whether it is to end

    def __init__(self, server: str) -> None:
        self._server = server
        self._opened: list[Any] = []
        self._open_remote = engine_of_spark.open_remote
        engine_of_spark.open_remote = self._remember
        self.wire = Wire(server)
        os.environ["SPARK_REMOTE"] = self.wire.url
        self._number = 0
        self._session: Any = None

    def keep(self, table: str, columns: Mapping[str, str], rows: Sequence[Cells]) -> SparkSource:
        self._number += 1
        path = str(self.folder / f"{self._number}.parquet")
        if set(columns.values()) <= PLAIN.keys():
            kinds = [PLAIN[stored] for stored in columns.values()]
            values = [
                pa.array([None if row[i] is None else read(str(row[i])) for row in rows], kind)
                for i, (kind, read) in enumerate(kinds)
            ]
            pq.write_table(pa.table(values, names=[*columns]), path)
        else:
            self._write(path, columns, rows)
        return SparkSource(path, REMOTE)

    def _write(self, path: str, columns: Mapping[str, str], rows: Sequence[Cells]) -> None:
        if self._session is None:
            self._session = open_remote(read_address(REMOTE, what="remote", server=SPARK))
        names = [f"c{i}" for i in range(len(columns))]
        texts = pa.table([pa.array([row[i] for row in rows], pa.string()) for i in range(len(names))], names=names)
        casts = [f"CAST({c} AS {t}) AS {quote_name(n)}" for c, (n, t) in zip(names, columns.items(), strict=True)]
        self._session.session.createDataFrame(texts).selectExpr(*casts).coalesce(1).write.parquet(path)

    def _remember(self, address: Address) -> SettledSession:
        found = self._open_remote(address)
        self._opened.append(found.session)
        return found

    def cut(self) -> None:
        """The query that is sent takes a moment to begin. A server does not see the cut: it would run on for years."""
        time.sleep(4)
        self.wire.cut()
        lost = self._opened[-1]
        again: Any = Remote(f"{self._server}/;session_id={lost.session_id};user_id={lost.client._user_id or ''}")
        assert again.interruptAll()
        again.client._channel.close()

    def close(self) -> None:
        engine_of_spark.open_remote = self._open_remote
        if self._session is not None:
            self._session.close()
        self.wire.cut()
