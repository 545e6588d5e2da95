"""The how-tos, run as they are written: every command, the output that they show, and the plain answer beside it."""

from __future__ import annotations

import itertools
import json
import re
import shlex
import tomllib
import warnings
from pathlib import Path
from typing import Any

import commands
import duckdb
import pytest

from guessproof.charts.plan import NARROW

FOLDER = Path(__file__).parents[2] / "docs/howto"
PAGES = sorted(path for path in FOLDER.glob("*.md") if path.name != "README.md")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FRAMES = re.compile(r"[┏┓┗┛┡┩╇┳━┃│┌┐└┘─├┤┬┴┼\s]+")
# Questions whose plain form is another one: what is cut off per person, and a value that is picked by its rank.
OTHERWISE = {"several-rows-of-a-person", "median-and-quantiles"}


def told(text: str) -> str:
    """Words without the frames of tables, and without what line ends do to them."""
    return FRAMES.sub(" ", text).strip()


def obey(command: str) -> str:
    """What a command prints; it must be one that a reader can type, and succeed unless the page says otherwise."""
    words, code = shlex.split(command, comments=True), 0
    found = re.search(r"# exit code (\d)$", command)
    if found is not None:
        code = int(found[1])
    if words[:2] == ["python", "-c"]:
        with warnings.catch_warnings():  # of the packages that the tables come from
            warnings.simplefilter("ignore")
            exec(words[2], {})
        return ""
    assert words[0] == "guessproof", command
    done = commands.run(*words[1:], COLUMNS="120")
    assert done.returncode == code, (command, done)
    return done.output


def run(page: Path) -> None:
    for kind, block in BLOCK.findall(page.read_text(encoding="utf-8")):
        if kind == "toml" and block.startswith("# plan.toml"):
            Path("plan.toml").write_text(block, encoding="utf-8")
        if kind != "console":
            continue
        printed = ""
        for line in block.replace("\\\n", "").splitlines():
            if line.startswith("$ "):
                printed = told(obey(line[2:]))
                continue
            for piece in filter(None, map(str.strip, told(line).split("…"))):
                assert piece in printed, (line, printed)
                printed = printed.partition(piece)[2]


def check_how_to(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its commands work as written, `check` finds nothing, and the answer is as near as it says."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("guessproof.reporting.figures.WIDTHS", {"narrow": NARROW})  # the harder one; both elsewhere
    assert re.search(
        r"^\$ guessproof check plan.toml\nplan.toml: nothing to mend", page.read_text("utf-8"), re.MULTILINE
    )
    run(page)
    assert Path("report.html").stat().st_size > 10_000
    asked = tomllib.loads(Path("plan.toml").read_text(encoding="utf-8"))
    answer = json.loads(commands.run("release", "plan.toml", "--json").stdout)
    assert answer["replayed"] is True
    if page.stem not in OTHERWISE:
        near(asked, answer["answers"])


def near(plan: dict[str, Any], answers: list[dict[str, Any]]) -> None:
    """Each number lies within eight errors of the plain answer of the database."""
    questions = plan.get("queries", {"": plan.get("query")})
    for name, question in questions.items():
        table = plan["data"].get("table", "t")
        own = duckdb.connect()
        own.execute(f"CREATE VIEW {table} AS SELECT * FROM read_csv('{plan['data']['source']}')")
        rows = own.sql(_plain(question["sql"], plan))
        keys = [c for c in rows.columns if any(c in a["group"] for a in answers)]
        places = [rows.columns.index(key) for key in keys]
        truth = {
            tuple(f"{r[i]:g}" if isinstance(r[i], float) else str(r[i]) for i in places): r for r in rows.fetchall()
        }
        for found in (a for a in answers if a.get("question", "") in (name, None, "")):
            row = truth.get(tuple(str(found["group"][k]) for k in keys))
            exact = 0 if row is None else row[rows.columns.index(found["name"].rpartition(".")[2])]
            assert abs(found["value"] - exact) <= 8 * found["error"], found


def _plain(sql: str, plan: dict[str, Any]) -> str:
    """The question in the words of DuckDB, which has points of its own and no bins by declared edges."""
    sql = re.sub(r"POINT\((\w+), (\w+)\) <@> POINT\(([^,]+), ([^)]+)\)", r"sqrt((\1-(\3))^2+(\2-(\4))^2)", sql)
    for column, told in plan.get("columns", {}).items():
        if "edges" in told:
            ends = told["edges"]
            arms = "".join(
                f"WHEN {column} >= DATE '{a}' AND {column} {'<=' if b == ends[-1] else '<'} DATE '{b}' "
                f"THEN '[{a}, {b}{']' if b == ends[-1] else ')'}' "
                for a, b in itertools.pairwise(ends)
            )
            sql = sql.replace(f"SELECT {column},", f"SELECT CASE {arms} END AS {column},")
            sql = re.sub(rf"GROUP BY {column}\b", "GROUP BY ALL", sql)
    return sql
