"""Priors from public files, and the confidential source that is never read."""

from __future__ import annotations

import builtins
import gzip
import io
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import guessproof as gp
from guessproof.errors import PlanError
from guessproof.plan import Plan, loads_plan

PLAN = """
data = {{ name = "x", source = "{source}", protects = "values" }}
query.sql = "SELECT SUM(a) AS s FROM t"
columns.a = {{ prior = {{ from = "{public}" }} }}
"""
CSV = "a,b\n1,x\n2,y\n2,\n,x\n"


def made(folder: Path, public: str, source: str = "secret.csv", text: str = PLAN) -> Plan:
    return loads_plan(text.format(source=source, public=public), folder=folder)


def refused(folder: Path, public: str, source: str = "secret.csv", text: str = PLAN) -> str:
    with pytest.raises(PlanError) as caught:
        made(folder, public, source, text)
    assert caught.value.line is not None
    return str(caught.value)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "secret.csv").write_text("a\n77\n")
    (tmp_path / "p.csv").write_text(CSV)
    return tmp_path


def test_every_kind_of_public_file_gives_the_same_prior(folder: Path) -> None:
    (folder / "p.tsv").write_text(CSV.replace(",", "\t"))
    (folder / "p.csv.gz").write_bytes(gzip.compress(CSV.encode()))
    (folder / "bom.CSV").write_bytes(b"\xef\xbb\xbf" + CSV.replace("\n", "\r\n").encode())
    pq.write_table(pa.table({"a": [1, 2, 2, None]}), folder / "p.parquet")
    expected = gp.empirical([1, 2, 2])
    for name in ("p.csv", "p.tsv", "p.csv.gz", "bom.CSV", "p.parquet"):
        assert made(folder, name).attributes()["a"].prior == expected


def test_categories_by_their_frequency(folder: Path) -> None:
    text = PLAN.replace('from = "{public}"', 'from = "{public}", column = "b"')
    assert made(folder, "p.csv", text=text).attributes()["a"].prior == gp.categorical({"x": 2 / 3, "y": 1 / 3})
    levels = text.replace("prior =", 'levels = ["x", "y", "z"], prior =')
    assert made(folder, "p.csv", text=levels).attributes()["a"].prior == gp.categorical({"x": 2 / 3, "y": 1 / 3})
    levels = text.replace("prior =", 'levels = ["x"], prior =')
    assert "not among the levels" in refused(folder, "p.csv", text=levels)


def test_declared_levels_decide_the_type(folder: Path) -> None:
    (folder / "codes.csv").write_text("a\n01\n02\n01\n01\n")
    numbers = made(folder, "codes.csv")
    assert numbers.attributes()["a"].prior == gp.empirical([1, 1, 1, 2])
    texts = made(folder, "codes.csv", text=PLAN.replace("prior =", 'levels = ["01", "02"], prior ='))
    assert texts.attributes()["a"].prior == gp.categorical({"01": 0.75, "02": 0.25})
    flags = PLAN.replace("prior =", "levels = [true, false], prior =")
    (folder / "flags.csv").write_text("a\ntrue\nfalse\ntrue\ntrue\n")
    assert made(folder, "flags.csv", text=flags).attributes()["a"].prior == gp.categorical({True: 0.75, False: 0.25})


def test_joint_priors_from_a_file_keep_rows_together(folder: Path) -> None:
    text = PLAN.replace('columns.a = {{ prior = {{ from = "{public}" }} }}', "columns = {{ a = {{}}, b = {{}} }}")
    text += 'prior."(a, b)" = {{ from = "{public}" }}\n'
    attributes = made(folder, "p.csv", text=text).attributes()
    joint = attributes["a"].prior.joint
    assert dict(zip(joint.rows, joint.weights, strict=True)) == {(1.0, "x"): 0.5, (2.0, "y"): 0.5}


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("none.csv", None, "does not exist"),
        ("empty.csv", b"", "no rows"),
        ("header.csv", b"a,b\n", "no rows"),
        ("ragged.csv", b"a,b\n1\n", "differ in length"),
        ("twice.csv", b"a,a\n1,2\n", "same name"),
        ("other.csv", b"c\n1\n", "no column a"),
        ("blank.csv", b"a,b\n,1\n,2\n", "no value"),
        ("latin.csv", "a\né\n".encode("latin-1"), "UTF-8"),
        ("nan.csv", b"a\n1\nnan\n", "not finite"),
        ("inf.csv", b"a\n1\n-inf\n", "not finite"),
        ("fake.parquet", b"PAR1", "parquet"),
        ("fake.csv.gz", b"a\n1\n", "gzip"),
        ("data.xlsx", b"x", "kind of file"),
        ("noname", b"x", "kind of file"),
    ],
)
def test_public_files_that_cannot_be_used(folder: Path, name: str, content: bytes | None, words: str) -> None:
    if content is not None:
        (folder / name).write_bytes(content)
    assert words in refused(folder, name)


def test_a_folder_is_no_file(folder: Path) -> None:
    (folder / "d.csv").mkdir()
    assert "is not a file" in refused(folder, "d.csv")


def test_the_confidential_source_is_refused_under_every_name(folder: Path) -> None:
    inner = folder / "inner"
    inner.mkdir()
    (folder / "link.csv").symlink_to(folder / "secret.csv")
    (inner / "chain.csv").symlink_to(folder / "link.csv")
    (folder / "door").symlink_to(folder)
    os.link(folder / "secret.csv", folder / "hard.csv")
    names = ["secret.csv", "./secret.csv", "inner/../secret.csv", str(folder / "secret.csv"), "link.csv", "hard.csv"]
    for name in [*names, "inner/chain.csv", "door/secret.csv"]:
        assert "which is confidential" in refused(folder, name), name
    for source in ("link.csv", "hard.csv", "door/secret.csv"):
        assert "which is confidential" in refused(folder, "secret.csv", source)
    joint = PLAN.replace('columns.a = {{ prior = {{ from = "{public}" }} }}', "columns = {{ a = {{}}, b = {{}} }}")
    assert "which is confidential" in refused(folder, "hard.csv", text=joint + 'prior."(a, b)".from = "{public}"\n')
    absent = folder / "absent.csv"
    assert "which is confidential" in refused(folder, "absent.csv", str(absent))


def test_every_file_of_a_confidential_folder_or_pattern_is_refused(folder: Path) -> None:
    parts = folder / "parts"
    (parts / "deep").mkdir(parents=True)
    for name in ("one.csv", "two.csv", "deep/three.csv"):
        (parts / name).write_text(CSV)
    os.link(parts / "deep/three.csv", folder / "hard.csv")
    (folder / "link.csv").symlink_to(parts / "one.csv")
    for name in ("parts/one.csv", "parts/deep/three.csv", "hard.csv", "link.csv"):
        assert "which is confidential" in refused(folder, name, "parts"), name
    for name in ("parts/one.csv", "link.csv"):
        assert "which is confidential" in refused(folder, name, "parts/*.csv"), name
    assert made(folder, "hard.csv", "parts/*.csv").attributes()
    assert made(folder, "p.csv", "parts").attributes()


def test_loading_never_opens_the_source(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []

    def watch(real: Any) -> Any:
        def opening(file: Any, *args: Any, **kwargs: Any) -> Any:
            opened.append(str(file))
            return real(file, *args, **kwargs)

        return opening

    monkeypatch.setattr(builtins, "open", watch(builtins.open))
    monkeypatch.setattr(io, "open", watch(io.open))
    monkeypatch.setattr(os, "open", watch(os.open))
    made(folder, "p.csv")
    with pytest.raises(PlanError):
        made(folder, "secret.csv")
    assert any(name.endswith("p.csv") for name in opened)
    assert not any("secret" in name for name in opened)


def test_a_plan_loads_without_its_source_or_with_an_unreadable_one(folder: Path) -> None:
    (folder / "secret.csv").unlink()
    assert made(folder, "p.csv").attributes()
    os.mkfifo(folder / "secret.csv")  # reading it would wait for ever
    assert made(folder, "p.csv").attributes()
    assert "which is confidential" in refused(folder, "secret.csv")
