"""Every way a source can be written, and every way it can be broken."""

from __future__ import annotations

import gzip
import math
import shutil
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

import duckdb
import pytest
from each import check_each

from engines.tables import FORMS, opened, write
from guessproof.engines import open_engine
from guessproof.errors import SourceError

SECRET = "s3cr3t4711"
ROWS: list[dict[str, Any]] = [
    {"faculty": "math", "time": 20.5, "here": True},
    {"faculty": "law", "time": None, "here": False},
    {"faculty": None, "time": math.nan, "here": None},
    {"faculty": 'a "quoted", word', "time": math.inf, "here": True},
]
AWKWARD = (
    "it's.csv",
    'q"uo"te.csv',
    "spa ce ü.csv",
    "new\nline.csv",
    "a*b?[c].csv",
    "back\\slash.csv",
    "{a,b}.csv",
    "~.csv",
)


def refusal(source: str, table: str = "t", **options: Any) -> str:
    """The message, made sure that nothing of the file or of DuckDB's own words comes with it."""
    with pytest.raises(SourceError) as caught:
        open_engine(source, table, **options)
    error = caught.value
    assert error.__cause__ is None
    assert error.__context__ is None
    assert SECRET not in "".join(traceback.TracebackException.from_exception(error, capture_locals=True).format())
    return str(error)


@pytest.mark.parametrize("form", FORMS)
def test_each_form_gives_the_same_table(tmp_path: Path, form: str) -> None:
    with opened(tmp_path, ROWS, form) as engine:
        engine.check()
        assert engine.dialect == "duckdb"
        kinds = {"faculty": "text", "time": "number", "here": "boolean"}
        assert engine.schema() == (dict.fromkeys(kinds, "text") if form == "csv" else kinds)
        query = "SELECT COUNT(*), COUNT(faculty), COUNT(time), MIN(TRY_CAST(time AS DOUBLE)), MAX(faculty), "
        query += "COUNT_IF(TRY_CAST(here AS BOOLEAN)) FROM t"
        engine.prepare(query)
        assert engine.aggregates(query) == [(4, 3, 3, 20.5, "math", 2)]


@pytest.mark.parametrize("form", FORMS)
def test_a_table_without_rows(tmp_path: Path, form: str) -> None:
    with opened(tmp_path, [], form, types={"x": "DOUBLE", "s": "VARCHAR"}) as engine:
        engine.check()
        assert engine.schema() == {"x": "text" if form == "csv" else "number", "s": "text"}
        assert engine.aggregates("SELECT COUNT(*), SUM(TRY_CAST(x AS DOUBLE)) FROM t") == [(0, None)]
        assert sum(batch.num_rows for batch in engine.batches("SELECT x FROM t")) == 0


@pytest.mark.parametrize("form", FORMS)
def test_awkward_paths_mean_one_file(tmp_path: Path, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for other in ("aXbYc", "a", "b"):  # files that a pattern would also take
        write(tmp_path, [{"x": 2.0}] * 9, form, name=f"{other}.{form}")
    plain = write(tmp_path, [{"x": 1.5}], form, name=f"plain.{form}")

    def check(name: str) -> None:
        if form == "duckdb":
            name = name.replace("\\", "")  # DuckDB itself takes it for a slash
        name = name.removesuffix("csv") + form
        shutil.copy(plain, name)
        for source in (name, str(tmp_path / name)):
            with open_engine(source, "t") as engine:
                assert engine.aggregates("SELECT SUM(TRY_CAST(x AS DOUBLE)) FROM t") == [(1.5,)]

    check_each({name: name for name in AWKWARD}, check)


def test_links_and_parquet_folders_and_patterns(tmp_path: Path) -> None:
    folder = tmp_path / "many [1]*"  # a folder's name is never a pattern
    (folder / "deep").mkdir(parents=True)
    for place, name in enumerate(("one.parquet", "two.parquet", "deep/three.parquet")):
        write(folder, [{"x": 10.0**place}], "parquet", name=name)
    link = tmp_path / "link.parquet"
    link.symlink_to(folder / "two.parquet")
    for source, total in ((folder, 111), (tmp_path / "many ?1?*" / "t*.parquet", 10), (link, 10)):
        with open_engine(str(source), "t") as engine:
            assert engine.aggregates("SELECT SUM(x) FROM t") == [(total,)]
    assert "no Parquet file" in refusal(str(tmp_path / "*.none.parquet"))


@pytest.mark.parametrize(
    ("name", "text", "names"),
    [
        ("a.csv", "x;y\n1;2\n", ["x", "y"]),
        ("a.csv", "x|y|z,a\n1|2|3\n", ["x", "y", "z,a"]),
        ("a.tsv", "x\ty,z\n1\t2\n", ["x", "y,z"]),
        ("a.csv", "\ufeffx,y\r\n1,2\r\n", ["x", "y"]),
        ("a.csv", '"a ""b""","c\nd","e,f"\n1,2,3\n', ['a "b"', "c\nd", "e,f"]),
        ("a.csv", ",x\n0,1\n", ["column0", "x"]),
        ("a.csv", "x'y,ü\n1,2\n", ["x'y", "ü"]),
        ("a.csv", "x\n1\n", ["x"]),
        ("a.csv", "x,y", ["x", "y"]),
    ],
)
def test_names_come_from_the_first_line(tmp_path: Path, name: str, text: str, names: list[str]) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8", newline="")
    zipped = tmp_path / f"{name}.gz"
    zipped.write_bytes(gzip.compress(path.read_bytes()))
    for source in (path, zipped):
        with open_engine(str(source), "t") as engine:
            engine.check()
            assert engine.schema() == dict.fromkeys(names, "text")
            assert engine.aggregates("SELECT COUNT(*) FROM t") == [(int("\n" in text),)]


def test_the_columns_of_a_csv_file_are_texts_whatever_they_hold(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("age,time\n30,12:00\n41,13:00\n")
    with open_engine(str(path), "t") as engine:
        assert engine.schema() == {"age": "text", "time": "text"}
        assert engine.types() == {"age": "VARCHAR", "time": "VARCHAR"}


def test_every_type_has_a_kind(tmp_path: Path) -> None:
    path = tmp_path / "t.duckdb"
    with duckdb.connect(str(path)) as con:
        con.execute(
            "CREATE TABLE t AS SELECT 1::TINYINT a, 1::UHUGEINT b, 1.5::DECIMAL(9,2) c, 'x'::ENUM('x', 'y') d, "
            "DATE '2020-01-01' e, TIMESTAMPTZ '2020-01-01' f, TIME '10:00' g, INTERVAL 1 DAY h, [1] i, "
            "{'a': 1} j, 'x'::BLOB k, uuid() l, 1.5::FLOAT m, '1'::JSON n, true o, MAP {'a': 1} p, "
            "'2020-01-01'::TIMESTAMP_NS q, '2020-01-01'::TIMESTAMP_S r, '2020-01-01'::TIMESTAMP_MS s, "
            "'10:00:00+01'::TIMETZ t, 1::BIGNUM u, '01'::BIT v, 1::USMALLINT w, 1.5::DECIMAL(38,0) x, 0::DECIMAL(4,4) y"
        )
    with open_engine(str(path), "t") as engine:
        kinds = "number number number text time time time other other other other other number other boolean other"
        kinds += " time time time time number other number number number"
        assert list(engine.schema().values()) == kinds.split()
        engine.prepare("SELECT COUNT(*) FROM t")


def test_broken_sources_are_refused_without_their_contents(tmp_path: Path) -> None:
    def file(name: str, data: bytes) -> str:
        (tmp_path / name).write_bytes(data)
        return str(tmp_path / name)

    garbage = bytes(range(256)) * 40 + SECRET.encode()
    for name in ("a.parquet", "a.duckdb", "a.db"):
        assert "check the file" in refusal(file(name, garbage))
        assert "the file is empty" in refusal(file(name, b""))
    assert "UTF-8" in refusal(file("a.csv", garbage))
    assert "UTF-8" in refusal(file("a.csv", b"\x00\x00\x00"))
    assert "UTF-8" in refusal(file("a.csv", b"\n1,2\n"))
    assert "UTF-8" in refusal(file("a.csv.gz", f"a,{SECRET}\n".encode()))
    assert "UTF-8" in refusal(file("long.csv", b"a" * 300_000))
    assert "the file is empty" in refusal(file("b.csv", b""))
    assert "holds numbers" in refusal(file("c.csv", f"{SECRET},3.5\nx,4\n".encode()))
    assert "same name" in refusal(file("d.csv", b"a,b,A\n1,2,3\n"))
    assert "no such file" in refusal(str(tmp_path / "none.csv"))
    assert "not a file" in refusal(str(tmp_path.joinpath("dir.csv").mkdir() or tmp_path / "dir.csv"))
    assert "use .csv" in refusal(file("a.xlsx", b"x"))
    assert "use .csv" in refusal(file("a.parquet.gz", b"x"))
    assert "cannot be opened" in refusal(str(tmp_path / ("x" * 300 + ".csv")))
    assert "use .csv" in refusal("nothing")
    assert "cannot be the name" in refusal("")
    assert "cannot be the name" in refusal("a\0b.csv")
    loop = tmp_path / "loop.csv"
    loop.symlink_to(loop)
    assert "cannot be opened" in refusal(str(loop))


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = write(tmp_path, [{"x": 1.0}])

    def denied(*_: Any, **__: Any) -> None:  # root may read everything, so chmod would not do
        raise PermissionError(SECRET)

    monkeypatch.setattr(Path, "open", denied)
    assert "may not be read" in refusal(source)


def test_database_files_say_what_is_missing(tmp_path: Path) -> None:
    source = write(tmp_path, [{"x": 1.0}], "duckdb", table=SECRET, name="a.duckdb")
    assert "no table 'other'" in refusal(source, "other")
    lite = tmp_path / "lite.db"
    lite.write_bytes(b"SQLite format 3\x00" + bytes(200))
    assert "not a DuckDB database" in refusal(str(lite))
    outside = tmp_path / "outside.csv"
    outside.write_text(f"{SECRET}\n1\n")
    with duckdb.connect(source) as con:
        con.execute(f"CREATE VIEW reaching AS SELECT * FROM read_csv('{outside}')")
    assert "check the file" in refusal(source, "reaching")  # a view of the database that reads another file


@pytest.mark.parametrize(
    ("made", "is_stored"),
    [
        ("CREATE TABLE o AS SELECT * FROM t", True),
        ("CREATE TABLE o AS SELECT x AS RowId FROM t", True),
        ("CREATE VIEW o AS FROM t", False),
        ("CREATE VIEW o AS SELECT *, rowid FROM t", False),
        ("CREATE VIEW o AS SELECT {'rowid': x} AS gp FROM t", False),
        ('CREATE VIEW "rowid" AS FROM t', False),
        ("CREATE SCHEMA s; CREATE TABLE s.o AS FROM t; CREATE VIEW o AS FROM s.o", False),
    ],
)
def test_a_view_of_a_database_file_is_no_table_whatever_it_is_called(
    tmp_path: Path, made: str, is_stored: bool
) -> None:
    source = write(tmp_path, [{"x": 1.0}], "duckdb")
    with duckdb.connect(source) as con:
        con.execute(made)
    with open_engine(source, "rowid" if '"rowid"' in made else "o") as engine:
        assert engine.is_stored is is_stored


def test_a_database_that_another_program_writes_to(tmp_path: Path) -> None:
    source = write(tmp_path, [{"x": 1.0}], "duckdb")
    holding = f"import duckdb; con = duckdb.connect({source!r}); print('open', flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", holding], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "open\n"
        assert "another program" in refusal(source)
        other.communicate("\n")
    open_engine(source, "t").close()


def test_an_address_is_refused_and_its_password_hidden() -> None:
    with pytest.raises(SourceError) as caught:
        open_engine("postgresql://me:password@host/db", "t")
    assert "password" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        f"a,b\n1,2\n{SECRET}\n",
        f"a,b\n1,2\n{SECRET},2,3\n",
        f'a,b\n1,2\n"{SECRET},2\n',
        f"a,b\n1,2\n{SECRET},\udcff\n",
    ],
)
def test_a_broken_line_is_found_before_the_charge(tmp_path: Path, text: str) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with open_engine(str(path), "t") as engine:
        with pytest.raises(SourceError, match="some line") as caught:
            engine.check()
        assert caught.value.__context__ is None
        assert SECRET not in str(caught.value)
