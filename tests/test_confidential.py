"""Whatever a plan calls confidential, under whatever name: no prior, public table, output or page leads to it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import chdir
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from each import check_each

from guessproof.errors import ParameterError, PlanError
from guessproof.plan import Plan, load_plan, loads_plan
from guessproof.web.folder import Folder
from guessproof.web.refusals import WebError
from guessproof.web.shop import Shop
from guessproof.writing import check_target

PLAN = """
query.sql = "SELECT COUNT(*) AS n FROM t"
release = {{ epsilon = 1, ledger = '{ledger}' }}
columns.a = {{ {prior} }}
columns.b = {{}}
[data]
name = "people"
protects = "persons"
person = "id"
max_rows = 1
{data}
[tables.orders]
key = ["o"]
person = "id"
{orders}
[tables.items]
key = ["i"]
owner = "orders"
{items}
{more}
"""
HOME = "source = 'other.csv'"


class Confidential:
    """A plan, the file that it makes confidential, and a folder that holds or links to that file."""

    def __init__(self, file: str, data: str = HOME, orders: str = HOME, items: str = HOME) -> None:
        self.file, self.data, self.orders, self.items = file, data, orders, items

    def plan(self, folder: Path, prior: str = "", more: str = "", ledger: str = "l.ledger") -> Plan:
        """The plan with something that names a file in it."""
        tables = {"data": self.data, "orders": self.orders, "items": self.items}
        written = {key: text.replace("FOLDER", str(folder)) for key, text in tables.items()}
        return loads_plan(PLAN.format(prior=prior, more=more, ledger=ledger, **written), folder=folder)


SPARK = "engine = 'spark'\nsource = '{}'"
FAR = "engine = 'spark'\nremote = 'env:SPARK_REMOTE'\nsource = '{}'"
PLACES = {
    "the table": Confidential("secret/t.csv", "source = 'secret/t.csv'"),
    "the table, by an absolute path": Confidential("secret/t.csv", "source = 'FOLDER/secret/t.csv'"),
    "the table, by a link": Confidential("secret/t.csv", "source = 'link-to-t.csv'"),
    "the table, zipped": Confidential("secret/t.csv.gz", "source = 'secret/t.csv.gz'"),
    "a table of the same persons": Confidential("secret/t.csv", orders="source = 'secret/t.csv'"),
    "a table of the same persons, by a link": Confidential("secret/t.csv", orders="source = 'link-to-t.csv'"),
    "a table of the same persons, a folder": Confidential("secret/t.parquet", orders="source = 'secret'"),
    "a table with an owner": Confidential("secret/t.csv", items="source = 'secret/t.csv'"),
    "a folder": Confidential("secret/t.parquet", "source = 'secret'"),
    "a folder with a link": Confidential("secret/t.parquet", "source = 'links'"),
    "a folder with a link to a folder": Confidential("secret/t.parquet", "source = 'deep'"),
    "a pattern": Confidential("secret/t.parquet", "source = 'secret/*.parquet'"),
    "a pattern for folders": Confidential("secret/t.parquet", "source = 'se*/t.parquet'"),
    "a pattern through a link": Confidential("secret/t.parquet", "source = 'deep/*/t.parquet'"),
    "what DuckDB has not yet stored": Confidential("secret/t.duckdb.wal", "source = 'secret/t.duckdb'"),
    "what DuckDB has not yet stored, by a link": Confidential("secret/t.duckdb.wal", "source = 'link.duckdb'"),
    "the table of Spark": Confidential("secret/t.csv", SPARK.format("secret/t.csv")),
    **{
        f"{address} of Spark": Confidential("secret/t.csv", SPARK.format(address))
        for address in (
            "file://FOLDER/secret/t.csv",
            "FILE://FOLDER/secret/t.csv",
            "file:FOLDER/secret/t.csv",
            "file://localhostFOLDER/secret/t.csv",
            "file:////FOLDER/secret/../secret/t.csv",
            "file://FOLDER/link-to-t.csv",
        )
    },
    "an address of a folder of Spark": Confidential("secret/t.parquet", SPARK.format("file://FOLDER/secret")),
    "a file of a cluster": Confidential("secret/t.csv", FAR.format("FOLDER/secret/t.csv")),
    "a relative file of a cluster": Confidential("secret/t.csv", FAR.format("secret/t.csv")),
    "an address of a file of a cluster": Confidential("secret/t.csv", FAR.format("file://FOLDER/secret/t.csv")),
}


def link(folder: Path, file: Path) -> str:
    """A link to a file; its name ends as the file's does, or as that of a table."""
    kind = "".join(file.suffixes) if file.suffix != ".wal" else ".csv"
    (folder / f"other-link{kind}").symlink_to(file)
    return f"other-link{kind}"


def chain(folder: Path, file: Path) -> str:
    first = link(folder, file)
    (folder / f"chain-{first}").symlink_to(first)
    return f"chain-{first}"


def second_name(folder: Path, file: Path) -> str:
    kind = "".join(file.suffixes) if file.suffix != ".wal" else ".csv"
    os.link(file, folder / f"second-name{kind}")
    return f"second-name{kind}"


def linked_folder(folder: Path, file: Path) -> str:
    (folder / "linked").symlink_to(file.parent)
    return f"linked/{file.name}"


NAMES: dict[str, Callable[[Path, Path], str]] = {
    "itself": lambda folder, file: str(file.relative_to(folder)),
    "absolute": lambda _, file: str(file),
    "dots": lambda folder, file: f"secret/../{file.relative_to(folder)}",
    "dots through a link": lambda folder, file: f"deep/door/../{file.parent.name}/{file.name}",
    "link": link,
    "chain of links": chain,
    "linked folder": linked_folder,
    "second name": second_name,
    "other capitals": lambda _, file: str(file.with_name(file.name.upper())),
    "second name of a link": lambda folder, file: chain(folder, folder / second_name(folder, file)),
}
WIDE: dict[str, Callable[[Path, Path], str]] = {  # names of several files: only tables have them
    "its folder": lambda _, file: str(file.parent),
    "a folder around it": lambda folder, _: str(folder),
    "a pattern": lambda _, file: f"{file.parent}/*.parquet",
    "a pattern of one": lambda _, file: f"{file.parent}/[t].parquet",
    "a pattern of folders": lambda folder, _: f"{folder}/*/*.parquet",
    "a folder with a link": lambda _, __: "links",
    "a folder with a linked folder": lambda _, __: "deep",
}


def as_prior(found: Confidential, folder: Path, name: str) -> None:
    found.plan(folder, prior=f"prior.from = '{name}'")


def as_joint_prior(found: Confidential, folder: Path, name: str) -> None:
    found.plan(folder, more=f"[prior.\"(a, b)\"]\nfrom = '{name}'")


def as_public_table(found: Confidential, folder: Path, name: str) -> None:
    found.plan(folder, more=f"[tables.public]\nkey = ['a']\nsource = '{name}'")


def as_output(found: Confidential, folder: Path, name: str) -> None:
    check_target(str(folder / name), found.plan(folder))


USES = {"prior": as_prior, "joint prior": as_joint_prior, "public table": as_public_table, "output": as_output}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return laid_out(tmp_path)


def laid_out(tmp_path: Path) -> Path:
    """Files to name, links to them, and one public file beside them."""
    secret = tmp_path / "secret"
    for place in (secret, tmp_path / "links", tmp_path / "deep", tmp_path / "public"):
        place.mkdir()
    for name in ("secret/t.csv", "other.csv", "secret/t.csv.gz", "secret/t.duckdb", "secret/t.duckdb.wal"):
        (tmp_path / name).write_text("id,a,b,o,i\n1,1,1,1,1\n2,2,2,2,2\n")
    (tmp_path / "public.csv").write_text("a,b\n1,1\n2,3\n")
    pq.write_table(pa.table({"a": [1, 2], "b": [1, 3]}), secret / "t.parquet")
    pq.write_table(pa.table({"a": [1, 2], "b": [1, 3]}), tmp_path / "public" / "u.parquet")
    (tmp_path / "link-to-t.csv").symlink_to(secret / "t.csv")
    (tmp_path / "link.duckdb").symlink_to(secret / "t.duckdb")
    (tmp_path / "links" / "t.parquet").symlink_to(secret / "t.parquet")
    (tmp_path / "deep" / "door").symlink_to(secret)
    return tmp_path


@pytest.mark.parametrize("place", PLACES)
def test_nothing_leads_to_a_confidential_file(tmp_path: Path, place: str) -> None:
    found = PLACES[place]

    def check(name: Callable[[Path, Path], str]) -> None:
        folder = laid_out(Path(mkdtemp(dir=tmp_path)))
        called = name(folder, folder / found.file)
        for use, attempt in USES.items():
            if use == "output" and not called.lower().endswith((".csv", ".parquet")):
                continue  # no answers are written so
            with (
                chdir(folder),
                pytest.raises((PlanError, ParameterError), match=r"is (the table|a part of the table)"),
            ):
                attempt(found, folder, called)

    check_each(NAMES, check)


@pytest.mark.parametrize("place", [place for place, found in PLACES.items() if found.file.endswith(".parquet")])
def test_no_public_folder_or_pattern_holds_a_confidential_file(folder: Path, place: str) -> None:
    def check(name: Callable[[Path, Path], str]) -> None:
        with pytest.raises(PlanError, match="which is confidential"):
            as_public_table(PLACES[place], folder, name(folder, folder / PLACES[place].file))

    check_each(WIDE, check)


@pytest.mark.parametrize("place", PLACES)
def test_what_is_public_is_still_read(folder: Path, place: str) -> None:
    found = PLACES[place]
    as_prior(found, folder, "public.csv")
    as_joint_prior(found, folder, "public.csv")
    as_public_table(found, folder, "public.csv")
    as_public_table(found, folder, "public")
    as_output(found, folder, "answers.csv")


@pytest.mark.parametrize("name", ["secret/t.csv", "SECRET.CSV", "t.csv.gz", "t.tsv", "t.parquet", "t.duckdb", "t.db"])
def test_no_table_is_read_as_a_plan(tmp_path: Path, name: str) -> None:
    """A refusal of a plan quotes its line, which would be a record where a table is named by mistake."""
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("hidden,1\n")
    with pytest.raises(PlanError, match="is called as a table is") as found:
        load_plan(path)
    assert "hidden" not in str(found.value)


@pytest.mark.parametrize("ledger", ["secret/t.duckdb.wal", "secret/../secret/T.DUCKDB.WAL", "link.ledger"])
def test_no_ledger_begins_where_duckdb_looks_for_a_part_of_a_table(folder: Path, ledger: str) -> None:
    (folder / "secret/t.duckdb.wal").unlink()
    (folder / "link.ledger").symlink_to(folder / "secret/t.duckdb.wal")
    found = Confidential("secret/t.duckdb.wal", "source = 'secret/t.duckdb'")
    with pytest.raises(PlanError, match="is a part of the table"):
        found.plan(folder, ledger=ledger)


OUTSIDE = {  # what a page in the folder `page` is asked to read
    "dots": "../secret/t.csv",
    "absolute": "FOLDER/secret/t.csv",
    "link": "link.csv",
    "chain of links": "chain.csv",
    "linked folder": "linked/t.csv",
    "folder with a link": "links",
    "folder with a linked folder": "deep",
    "pattern": "../secret/*.parquet",
    "pattern through a link": "deep/d*/*.parquet",
    "pattern of links": "links/*.parquet",
    "pattern and dots": "*/../../secret/t.parquet",
    "address": "file://FOLDER/secret/t.csv",
    "address in capitals": "FILE:/FOLDER/secret/t.csv",
    "address with dots": "file://FOLDER/page/../secret/t.csv",
    "address with a host": "file://localhost/FOLDER/secret/t.csv",
    "address of a link": "file://FOLDER/page/link.csv",
    "address of a folder with a link": "file://FOLDER/page/links",
}
WANTED: dict[str, Callable[[str], dict[str, Any]]] = {
    "table": lambda name: {"data": {"source": name}},
    "table of Spark": lambda name: {"data": {"source": name, "engine": "spark"}},
    "public table": lambda name: {"tables": {"p": {"source": name, "key": ["a"]}}},
    "table of the same persons": lambda name: {"tables": {"p": {"source": name, "person": "id"}}},
    "prior": lambda name: {"columns": {"a": {"prior": {"from": name}}}},
    "joint prior": lambda name: {"prior": {"(a, b)": {"from": name}}},
    "ledger": lambda name: {"release": {"ledger": name}},
}
ELSEWHERE: dict[str, dict[str, Any]] = {
    "a port of this machine": {"source": "webhdfs://127.0.0.1:9870/etc"},
    "a cluster": {"source": "s3a://bucket/t", "remote": "env:SPARK_REMOTE"},
    "a file of a cluster": {"source": "t.csv", "remote": "env:SPARK_REMOTE"},
    "a catalogue": {"remote": "env:SPARK_REMOTE"},
    "the catalogue of this machine": {"table": "parquet.`/etc`"},
}


@pytest.fixture
def page(folder: Path) -> Iterator[Folder]:
    """The folder of a page, and links in it that lead out."""
    root = folder / "page"
    for inner in (root, root / "links", root / "deep"):
        inner.mkdir()
    (root / "link.csv").symlink_to("../secret/t.csv")
    (root / "chain.csv").symlink_to("link.csv")
    (root / "linked").symlink_to("../secret")
    (root / "links/t.parquet").symlink_to("../../secret/t.parquet")
    (root / "deep/door").symlink_to("../../secret")
    pq.write_table(pa.table({"a": [1, 2]}), root / "inside.parquet")
    opened = Folder.opened(root)
    yield opened
    opened.close()


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_page_reads_nothing_outside_its_folder(folder: Path, page: Folder, name: str) -> None:
    called = OUTSIDE[name].replace("FOLDER", str(folder))

    def check(wanted: Callable[[str], dict[str, Any]]) -> None:
        with pytest.raises(WebError, match="lies outside the folder"):
            page.check(wanted(called))

    check_each(WANTED, check)
    with pytest.raises(WebError, match="lies outside the folder"):
        page.source_of(called)


@pytest.mark.parametrize("wanted", WANTED)
def test_a_page_reads_what_is_inside_its_folder(page: Folder, wanted: str) -> None:
    for name in ("inside.parquet", "in*.parquet", "links/../inside.parquet", f"file://{page.root}/inside.parquet"):
        page.check(WANTED[wanted](name))


@pytest.mark.parametrize("place", ELSEWHERE)
def test_a_page_reads_elsewhere_only_what_it_was_started_with(tmp_path: Path, place: str) -> None:
    asked = {"data": {"engine": "spark", **ELSEWHERE[place]}}
    for started in (None, {"data": {"source": "t.csv"}}, {"data": {"engine": "spark", "source": "s3a://other/t"}}):
        shop = Shop.opened(tmp_path, started)
        try:
            with pytest.raises(WebError, match="not started with"):
                shop.folder.check(asked)
        finally:
            shop.close()
    shop = Shop.opened(tmp_path, asked)
    shop.folder.check(asked)
    shop.close()
