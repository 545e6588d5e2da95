"""A second list of ways to read, replace or reach what is confidential, each tried by whatever takes a name.

The list was written without a look at `test_confidential.py`; the counts of ways are asserted, so that none gets lost.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import pytest
from commands import run
from servers import Place
from web.running import serving

from guessproof.errors import GuessproofError, SourceError
from guessproof.ledger import Budget, Ledger
from guessproof.plan import loads_plan
from guessproof.plan.beside import read_rows

TABLE = "id,a,b\n" + "".join(f"{i},{i % 3},{i % 2}\n" for i in range(60))
PLAN = """
query.sql = "SELECT COUNT(*) AS n FROM t"
release.epsilon = 1
columns.a = {{ {prior} }}
columns.b = {{}}
[data]
name = "staff"
source = "{source}"
table = "{own}"
protects = "persons"
person = "id"
max_rows = 1
{more}
"""
MOST_SECONDS = 10  # of computing: everything is answered in hundredths of one, and a pattern took minutes
PUBLIC = "[tables.'{}']\nkey = ['a']\n"


# Files: every name of one file, as a prior, a joint prior, a public table.


def hard_link(folder: Path) -> str:
    os.link(folder / "secret/t.csv", folder / "hard.csv")
    return "hard.csv"


def linked(folder: Path, name: str, to: str) -> str:
    (folder / name).symlink_to(to)
    return name


def in_file_folder(folder: Path) -> str:
    """A decoy in a folder that is called as an address begins."""
    decoy = folder / f"file:{folder}" / "secret/t.csv"
    decoy.parent.mkdir(parents=True)
    decoy.write_text("a,b\n1,1\n2,2\n")
    return f"file:{folder}/secret/t.csv"


def opened(folder: Path) -> str:
    os.symlink(f"/proc/self/fd/{os.open(folder / 'secret/t.csv', os.O_RDONLY)}", folder / "opened.csv")
    return "opened.csv"


NAMES: dict[str, Callable[[Path], str]] = {
    "hard link": hard_link,
    "link": lambda f: linked(f, "l.csv", "secret/t.csv"),
    "link to a link": lambda f: linked(f, "m.csv", linked(f, "l.csv", "secret/t.csv")),
    "link to a folder": lambda f: linked(f, "d", "secret") + "/t.csv",
    "folder of links to folders": lambda f: linked(f, "e", linked(f, "d", "secret")) + "/../secret/t.csv",
    "open file": opened,
    "/proc/self/cwd": lambda _: "/proc/self/cwd/secret/t.csv",
    "/proc/self/root": lambda f: f"/proc/self/root{f}/secret/t.csv",
    "slash at the end": lambda _: "secret/t.csv/",
    "dot at the end": lambda _: "secret/t.csv/.",
    "bare dot": lambda _: "secret/t.csv.",
    "two slashes": lambda _: "secret//t.csv",
    "two slashes first": lambda f: f"/{f}/secret/t.csv",
    "dots": lambda f: f"../{f.name}/secret/./t.csv",
    "capitals": lambda _: "Secret/T.csv",
    "percent": lambda _: "secret%2Ft.csv",
    "home": lambda _: "~/secret/t.csv",
    "variable": lambda _: "$PWD/secret/t.csv",
    "file:": lambda f: f"file:{f}/secret/t.csv",
    "file:, a decoy": in_file_folder,
    "file://": lambda f: f"file://{f}/secret/t.csv",
    "file:///": lambda f: f"file:///{f}/secret/t.csv",
    "FILE:": lambda f: f"FILE:{f}/secret/t.csv",
    "file:, a host": lambda f: f"file://localhost{f}/secret/t.csv",
    "file:, relative": lambda _: "file:secret/t.csv",
    "backslash": lambda _: "secret\\\\t.csv",
    "space at the end": lambda _: "secret/t.csv ",
    "NUL": lambda _: "secret/t.csv\\u0000.csv",
    "pattern": lambda _: "secret/[t].csv",
    "a name of the environment": lambda _: "env:TABLE",
    "a statement": lambda _: "t.csv') UNION SELECT * FROM read_csv('secret/t.csv",
}
USES = {
    "prior": lambda name: {"prior": f'prior.from = "{name}"', "more": ""},
    "joint prior": lambda name: {"prior": "", "more": f'[prior."(a, b)"]\nfrom = "{name}"'},
    "public table": lambda name: {"prior": "", "more": PUBLIC.format("p") + f'source = "{name}"'},
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret/t.csv").write_text(TABLE)
    (tmp_path / "wards.csv").write_text("a,b\n0,1\n1,1\n")
    return tmp_path


@pytest.mark.parametrize(("name", "use"), list(product(NAMES, USES)))
def test_no_name_of_the_table_is_read(folder: Path, name: str, use: str) -> None:
    called = NAMES[name](folder)
    for source in ("secret/t.csv", f"{folder}/secret/../secret/t.csv"):
        with pytest.raises(GuessproofError):
            loads_plan(PLAN.format(source=source, own="t", **USES[use](called)), folder=folder)


def test_what_is_public_is_read(folder: Path) -> None:
    for use in USES.values():
        loads_plan(PLAN.format(source="secret/t.csv", own="t", **use("wards.csv")), folder=folder)


# Databases: whatever shows rows of a table.

VIEWS = {  # in DuckDB and PostgreSQL alike
    "grouped": "SELECT a, COUNT(*) AS n FROM people GROUP BY a",
    "of a view": "SELECT * FROM v0",
    "EXISTS": "SELECT a FROM wards w WHERE EXISTS (SELECT 1 FROM people p WHERE p.a = w.a)",
    "scalar subquery": "SELECT a, (SELECT COUNT(*) FROM people) AS n FROM wards",
    "WITH": "WITH x AS (SELECT a FROM people) SELECT a FROM x",
    "unused WITH column": "SELECT w.a FROM wards w LEFT JOIN people p ON p.a = w.a",
    "UNION": "SELECT a FROM wards UNION ALL SELECT a FROM people",
    "LIMIT 0": "SELECT a FROM wards WHERE a IN (SELECT a FROM people LIMIT 0)",
    "nothing": "SELECT a FROM people WHERE 1 = 0",
    "recursive": "WITH RECURSIVE r AS (SELECT a FROM people UNION SELECT a + 1 FROM r WHERE a < 2) SELECT a FROM r",
    "window": "SELECT a, COUNT(*) OVER () AS n FROM people",
    "ORDER BY": "SELECT a FROM wards ORDER BY (SELECT MAX(id) FROM people)",
    "other capitals": "SELECT A FROM PEOPLE",
}
OF_DUCKDB = {
    "table macro": "SELECT * FROM everybody()",
    "scalar macro": "SELECT counted() AS a",
    "query": "SELECT * FROM query('FROM people')",
    "query_table": "SELECT * FROM query_table('people')",
    "sizes": "SELECT estimated_size AS a FROM duckdb_tables()",
    "catalogue": "SELECT table_name AS a FROM information_schema.tables",
    "storage": "SELECT min_value AS a FROM (SELECT stats AS min_value FROM pragma_storage_info('people'))",
    "another schema": "SELECT a FROM other.shown",
    "summarised": "SELECT * FROM (SUMMARIZE people)",
    "pivoted": "SELECT * FROM (PIVOT people ON b IN (0, 1) USING COUNT(*) GROUP BY a)",
    "sampled": "SELECT a FROM people USING SAMPLE 5",
    "positional": "SELECT wards.a FROM wards POSITIONAL JOIN people",
    "as of": "SELECT w.a FROM wards w ASOF JOIN people p ON w.a >= p.a",
    "lateral": "SELECT w.a, n FROM wards w, LATERAL (SELECT COUNT(*) AS n FROM people p WHERE p.a = w.a)",
    "file": "SELECT * FROM read_csv('secret/t.csv')",
}
OF_POSTGRES = {
    "function": "SELECT * FROM everybody()",
    "operator": "SELECT a === b AS a FROM wards",
    "XML": "SELECT query_to_xml('TABLE people', true, true, '')::text AS a",
    "statistics": "SELECT n_live_tup AS a FROM pg_stat_user_tables",
    "rows of the catalogue": "SELECT reltuples AS a FROM pg_class",
    "size": "SELECT pg_relation_size('people') AS a",
    "words": "SELECT nentry AS a FROM ts_stat('SELECT to_tsvector(a::text) FROM people')",
    "sequence": "SELECT last_value AS a FROM counter",
    "lateral": "SELECT w.a, n FROM wards w, LATERAL (SELECT COUNT(*) AS n FROM people p WHERE p.a = w.a) AS x",
    "partition": "SELECT a FROM part",
    "materialized": "SELECT a FROM kept",
}
BASE = """
CREATE TABLE people (id integer, a integer, b integer);
INSERT INTO people VALUES (1, 1, 0), (2, 2, 1), (3, 2, 1);
CREATE TABLE wards (a integer, b integer);
INSERT INTO wards VALUES (1, 1), (2, 2);
CREATE VIEW v0 AS SELECT a FROM people;
"""
MADE_IN_DUCKDB = """
CREATE MACRO everybody() AS TABLE SELECT * FROM people;
CREATE MACRO counted() AS (SELECT COUNT(*) FROM people);
CREATE SCHEMA other;
CREATE VIEW other.shown AS SELECT a FROM people;
"""
MADE_IN_POSTGRES = """
CREATE FUNCTION everybody() RETURNS SETOF people LANGUAGE sql STABLE AS 'SELECT * FROM {schema}.people';
CREATE FUNCTION both_of(integer, integer) RETURNS bigint LANGUAGE sql AS 'SELECT COUNT(*) FROM {schema}.people';
CREATE OPERATOR === (LEFTARG = integer, RIGHTARG = integer, FUNCTION = both_of);
CREATE SEQUENCE counter OWNED BY people.id;
CREATE MATERIALIZED VIEW kept AS SELECT a FROM people;
CREATE TABLE whole (id integer, a integer, b integer) PARTITION BY LIST (a);
CREATE TABLE part PARTITION OF whole DEFAULT;
CREATE TABLE above (id integer, a integer, b integer);
CREATE TABLE heir () INHERITS (above);
"""
PAIRS = [  # (what is protected, what is called public)
    *(("whole", "part"), ("part", "whole"), ("above", "heir"), ("heir", "above"), ("kept", "people"), ("v0", "people")),
    *(("people", f"pg_catalog.{name}") for name in ("pg_stats", "pg_class", "pg_statistic", "pg_stat_user_tables")),
    *(("people", "pg_stats"), ("people", "information_schema.tables"), ("people", "SCHEMA.people")),
    *(("people", "SCHEMA.People"), ("people", "kept"), ("people", "counter")),
]


def refused(folder: Path, source: str, own: str, public: str) -> None:
    text = PLAN.format(source=source, own=own, prior="", more=PUBLIC.format(public))
    with pytest.raises(SourceError) as found:
        read_rows(loads_plan(text, folder=folder), public)
    assert "people" not in str(found.value).replace(f"{public!r}", "")


@pytest.mark.parametrize("view", [*VIEWS, *OF_DUCKDB])
def test_no_view_of_duckdb_is_public(folder: Path, view: str) -> None:
    with duckdb.connect(str(folder / "s.duckdb")) as con:
        con.execute(BASE + MADE_IN_DUCKDB)
        con.execute(f"CREATE VIEW shown AS {(VIEWS | OF_DUCKDB)[view]}")
    refused(folder, "s.duckdb", "people", "shown")


@pytest.mark.parametrize("view", [*VIEWS, *OF_POSTGRES])
def test_no_view_of_postgres_is_public(folder: Path, postgres: Place, view: str) -> None:
    run_sql(postgres, BASE + MADE_IN_POSTGRES)
    run_sql(postgres, f"CREATE VIEW shown AS {(VIEWS | OF_POSTGRES)[view]}")
    refused(folder, "env:DATABASE_URL", "whole" if view == "partition" else "people", "shown")


@pytest.mark.parametrize(("own", "public"), PAIRS)
def test_no_relative_of_a_table_of_postgres_is_public(folder: Path, postgres: Place, own: str, public: str) -> None:
    run_sql(postgres, BASE + MADE_IN_POSTGRES)
    refused(folder, "env:DATABASE_URL", own, public.replace("SCHEMA", postgres.schema))


def run_sql(place: Place, sql: str) -> None:
    place.con.execute(sql.replace("{schema}", place.schema))  # pyright: ignore[reportArgumentType, reportCallIssue]


# Commands: nothing that is read is replaced.

KEPT = ("secret/t.csv", "wards.csv", "plan.toml", "guessproof.ledger", "orders.csv")
WRITERS = {
    "release": ("release", "plan.toml", "-o", "TARGET"),
    "report": ("report", "plan.toml", "-o", "TARGET"),
    "registry": ("report", "plan.toml", "-o", "fine.html", "--registry", "TARGET"),
    "scan": ("scan", "plan.toml", "-o", "TARGET"),
    "chart": ("scan", "plan.toml", "--chart", "TARGET"),
    "init": ("init", "secret/t.csv", "--column", "a", "-o", "TARGET"),
    "open": ("ledger", "open", "other", "--budget", "1", "--ledger", "TARGET"),
    "copy": ("ledger", "copy", "guessproof.ledger", "TARGET"),
    "demo": ("demo", "--folder", "TARGET"),
}
CALLED: dict[str, Callable[[str], str]] = {
    "itself": lambda name: name,
    "absolute": lambda name: str(Path(name).absolute()),
    "link": lambda name: linked(Path.cwd(), f"link{Path(name).suffix}", name),
    "hard link": lambda name: hard(name),
    "dots": lambda name: f"secret/../{name}",
    "/proc/self/cwd": lambda name: f"/proc/self/cwd/{name}",
}


def hard(name: str) -> str:
    os.link(name, f"hard{Path(name).suffix}")
    return f"hard{Path(name).suffix}"


@pytest.mark.parametrize(("writer", "kept"), list(product(WRITERS, KEPT)))
def test_no_command_replaces_what_it_reads(folder: Path, writer: str, kept: str) -> None:
    more = PUBLIC.format("p") + 'source = "wards.csv"\n[tables.orders]\nperson = "id"\nsource = "orders.csv"\n'
    (folder / "plan.toml").write_text(PLAN.format(source="secret/t.csv", own="t", prior="", more=more))
    (folder / "orders.csv").write_text(TABLE)
    Ledger.create(folder / "guessproof.ledger", "staff", Budget("9"))
    before = {name: (folder / name).read_bytes() for name in KEPT}
    for called in CALLED.values():
        target = called(kept)
        done = run(*(target if word == "TARGET" else word for word in WRITERS[writer]))
        assert done.returncode != 0 or (writer, kept) == ("open", "guessproof.ledger"), done
        if writer != "open" or kept != "guessproof.ledger":
            assert {name: (folder / name).read_bytes() for name in KEPT} == before, (writer, target)


# The page: what it is asked to read.

OUTSIDE = {
    **{f"source {name}": {"data": {"source": name}} for name in ("../t.csv", "/etc/passwd.csv", "file:/etc/x.csv")},
    **{f"link {name}": {"data": {"source": name}} for name in ("out.csv", "out/t.csv", "*/t.parquet", "out")},
    "public": {"tables": {"p": {"source": "out.csv", "key": ["a"]}}},
    "prior": {"columns": {"a": {"prior": {"from": "out.csv"}}}},
    "joint": {"prior": {"(a, b)": {"from": "out.csv"}}},
    "ledger": {"release": {"ledger": "../guessproof.ledger"}},
    "linked ledger": {"release": {"ledger": "out/guessproof.ledger"}},
    "Spark": {"data": {"engine": "spark", "source": "s3a://b/t"}},
    "cluster": {"data": {"engine": "spark", "source": "in.csv", "remote": "env:X"}},
    "catalogue": {"data": {"engine": "spark", "source": None, "table": "parquet.`/etc`"}},
    "an environment variable": {"data": {"source": "env:PATH"}},
    "NUL": {"data": {"source": "in.csv\0.csv"}},
    "a date": {"data": {"source": {"$date": "2024-01-01"}}},
    "a list": {"data": {"source": ["in.csv"]}},
    "a name for an object": {"data": {"source": {"source": "out.csv"}}},
}
ROUTES = ("question", "shape", "live", "charts", "budget", "sketch", "release/offer")
STATE = {
    "data": {"name": "staff", "source": "in.csv", "protects": "records"},
    "query": {"sql": "SELECT COUNT(*) AS n FROM t"},
    "columns": {"a": {}, "b": {}},
    "release": {"epsilon": 1},
}


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    root = tmp_path_factory.mktemp("outside")
    inner = root / "page"
    inner.mkdir()
    (root / "t.csv").write_text("a,b\nhidden,1\n")
    (root / "t.parquet").write_bytes(b"PAR1 hidden")
    (inner / "in.csv").write_text("a,b\n1,1\n")
    (inner / "out.csv").symlink_to(root / "t.csv")
    (inner / "out").symlink_to(root)
    with serving(inner) as served:
        yield served


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("way", OUTSIDE)
def test_the_page_reads_nothing_outside(page: Any, way: str, route: str) -> None:
    state = {key: {**STATE.get(key, {}), **OUTSIDE[way].get(key, {})} for key in {**STATE, **OUTSIDE[way]}}
    status, found = page.ask("POST", f"/api/{route}", {"state": state})
    assert status < 500
    assert "hidden" not in str(found)
    is_called_later = way == "an environment variable" and route != "release/offer"
    assert status >= 400 or found.get("accepted") is False or is_called_later, found


# The page: what stops it, or is no question at all.

BODIES = {
    "brackets": "[" * 900_000 + "]" * 900_000,
    "braces": '{"a":' * 300_000 + "1" + "}" * 300_000,
    "nested": '{"data":' * 90 + "1" + "}" * 90,
    "a number beyond all": "1e999999",
    "an epsilon beyond all": '{"release": {"epsilon": 1e999}}',
    "digits": '{"release": {"epsilon": 1' + "0" * 300_000 + "}}",
    "NaN": '{"data": {"rows": NaN}}',
    "half a character": '{"data": {"name": "\\ud800"}}',
    "a date": '{"$date": "2024-01-01"}',
    "a date as a table": '{"data": {"$date": "2024-01-01"}}',
    "long goal": '{"attacker": {"goal": "age within ' + "1" * 30_000 + '"}}',
    "goal of parentheses": '{"attacker": {"goal": "' + "(" * 30_000 + '"}}',
    "goal of names": '{"attacker": {"goal": "(' + "a, " * 10_000 + 'b) within 2"}}',
    "query of parentheses": '{"query": {"sql": "SELECT ' + "(" * 99_000 + '"}}',
    "query of comments": '{"query": {"sql": "SELECT 1 ' + "/*" * 49_000 + '"}}',
}


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("body", BODIES)
def test_nothing_that_is_sent_is_an_error_of_ours(page: Any, body: str, route: str) -> None:
    begun = time.process_time()
    status, found = page.ask("POST", f"/api/{route}", f'{{"state": {BODIES[body]}}}'.encode())
    assert status in (200, 413, 422), found
    assert status != 200 or found.get("accepted") is not True
    assert time.process_time() - begun < MOST_SECONDS


def test_a_release_that_takes_long_stops_no_dragging(page: Any) -> None:
    believed = {"bounds": [0, 9], "missing": False, "prior": {"normal": {"mean": 4, "sd": 1}}}
    asked = {"sql": "SELECT AVG(a) AS m FROM t"}
    data = {"name": "staff", "source": "in.csv", "protects": "values", "rows": 9}
    state = {"data": data, "query": asked, "columns": {"a": believed}}
    answered: list[int] = []
    with page.shop.ledger_lock:  # as a release holds it while its query runs
        for limit in (0.03, 0.04, 0.05):
            dragged = {**state, "attacker": {"goal": "a within 1", "advantage": limit}}
            ask = threading.Thread(
                target=lambda sent=dragged: answered.append(page.ask("POST", "/api/live", {"state": sent})[0])
            )
            ask.start()
            ask.join(timeout=60)
    assert answered == [200, 200, 200]


# Spark: an address of a file is that file, whatever it is called by.

ADDRESSES = (
    "secret/t.csv",
    "file:FOLDER/secret/t.csv",
    "FILE://FOLDER/secret/t.csv",
    "file://localhostFOLDER/secret/t.csv",
)


@pytest.mark.parametrize("called", CALLED)
@pytest.mark.parametrize("address", ADDRESSES)
def test_no_release_of_spark_replaces_its_own_file(folder: Path, address: str, called: str) -> None:
    source = f'{address.replace("FOLDER", str(folder))}"\nengine = "spark'
    (folder / "plan.toml").write_text(PLAN.format(source=source, own="t", prior="", more=""))
    Ledger.create(folder / "guessproof.ledger", "staff", Budget("9"))
    before = (folder / "secret/t.csv").read_bytes()
    done = run("release", "plan.toml", "-o", CALLED[called]("secret/t.csv"))
    assert done.returncode == 2, done.output
    assert "is the table" in done.output
    assert (folder / "secret/t.csv").read_bytes() == before


# The ledger: what a first release says of its units is what later ones keep.

SIZES = {"linked_records": 2, "copies": 3}
OTHERS = (("linked_records", 1), ("linked_records", 5), ("linked_records", None), ("copies", 2), ("copies", None))


@pytest.mark.parametrize(("key", "size"), OTHERS)
def test_no_later_release_protects_less(folder: Path, key: str, size: int | None) -> None:
    Ledger.create(folder / "guessproof.ledger", "staff", Budget("9"))
    for epsilon, sizes in ((0.5, SIZES), (0.4, {**SIZES, key: size})):
        written = "".join(f"{name} = {value}\n" for name, value in sizes.items() if value is not None)
        asked = '[query]\nsql = "SELECT COUNT(*) AS n FROM t"\n'
        text = f'[data]\nname = "staff"\nsource = "secret/t.csv"\nprotects = "records"\n{written}{asked}'
        (folder / "plan.toml").write_text(f"{text}[release]\nepsilon = {epsilon}\n")
        done = run("release", "plan.toml")
        assert done.returncode == (0 if sizes == SIZES else 4), done.output
    assert f"{key} = {SIZES[key]}" in done.output
    assert "Nothing was charged" in done.output


def test_no_way_got_lost() -> None:
    assert len(NAMES) * len(USES) == 93
    assert len(VIEWS) * 2 + len(OF_DUCKDB) + len(OF_POSTGRES) + len(PAIRS) == 68
    assert len(WRITERS) * len(KEPT) * len(CALLED) == 270
    assert len(OUTSIDE) * len(ROUTES) == 140
    assert len(BODIES) * len(ROUTES) == 105
    assert len(ADDRESSES) * len(CALLED) == 24
    assert len(OTHERS) == 5
