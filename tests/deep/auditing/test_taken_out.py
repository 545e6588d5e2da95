"""Single safeguards taken out, one at a time: an audit of an innocent plan must fail for each.

Nothing here tells the audit where to look: it plays with the plan's own labels, on whatever a column can be stored as.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest
from auditing.plans import fast
from sqlglot import exp

from guessproof.auditing import Audit, audit
from guessproof.guarantee import Guarantee
from guessproof.intervals import EVERYTHING
from guessproof.noise import Noise
from guessproof.plan import loads_plan
from guessproof.sql import distances
from guessproof.sql.declared import DeclaredColumn
from guessproof.sql.movement import EITHER, NO, YES, ColumnChange, ColumnState, find_nulls
from guessproof.sql.rules import label as labels
from guessproof.sql.rules.label import LabelCondition
from guessproof.sql.rules.truth import TruthTest
from guessproof.sql.targets.duckdb import DuckDBTarget

rewriting = sys.modules["guessproof.sql.rewrite"]  # the package gives its function the same name
Patch = pytest.MonkeyPatch

START = """
[data]
name = "people"
source = "{source}"
protects = "{protects}"
[query]
sql = "{sql}"
"""
GROUPED = (
    START.format(source="no.duckdb", protects="records", sql="SELECT g, COUNT(*) AS n FROM t GROUP BY g")
    + '[columns.g]\nlevels = ["a", "b"]\n[release]\nepsilon = 1.0\n'
)
BLACK = (
    START.format(source="no.duckdb", protects="values", sql="SELECT COUNT(*) AS n FROM t WHERE colour = 'black'")
    + "[columns.colour]\nmissing = false\n"
    + "prior = { categorical = { black = 0.02, Black = 0.49, white = 0.49 } }\n"
    + '[attacker]\ngoal = "colour exactly"\nadvantage = 0.1\n'
)
SMOKER = (
    START.format(source="no.csv", protects="values", sql="SELECT COUNT(*) AS n FROM t WHERE smoker AND time > 10")
    + "[columns.smoker]\nmissing = false\nprior = { categorical = { yes = 0.5, no = 0.5 } }\n"
    + "[columns.time]\nbounds = [0, 120]\nmissing = false\nprior = { normal = { mean = 20, sd = 6.28 } }\n"
    + '[attacker]\ngoal = "smoker exactly and time within 10"\nadvantage = 0.1\nat = { smoker = "yes", time = 20 }\n'
)
UNKNOWN = (
    START.format(
        source="no.csv",
        protects="values",
        sql="SELECT SUM(CASE WHEN smoker IS NULL THEN 1000 WHEN smoker THEN 1 ELSE 0 END) AS s FROM t",
    )
    + '[columns.smoker]\nlevels = ["yes", "no", "unknown"]\nmissing = false\n[release]\nepsilon = 1.0\n'
)
TRUTHS = (
    START.format(
        source="no.duckdb",
        protects="values",
        sql="SELECT COUNT(*) AS n FROM t WHERE smoker = 'true' OR age > 30",
    )
    + "[columns.smoker]\nmissing = false\nprior = { categorical = { True = 0.5, False = 0.5 } }\n"
    + "[columns.age]\nbounds = [0, 99]\nmissing = false\nprior = { uniform = { low = 0, high = 99 } }\n"
    + '[attacker]\ngoal = "smoker exactly"\nadvantage = 0.1\n[release]\nepsilon = 1.0\n'
)
SIZES = (
    START.format(
        source="no.duckdb", protects="values", sql="SELECT COUNT(*) AS n FROM t WHERE size LIKE '1._' OR age > 30"
    )
    + '[columns.size]\nmissing = false\nprior = { categorical = { "1" = 0.5, "2" = 0.5 } }\n'
    + "[columns.age]\nbounds = [0, 99]\nmissing = false\nprior = { uniform = { low = 0, high = 99 } }\n"
    + '[attacker]\ngoal = "size exactly"\nadvantage = 0.1\n[release]\nepsilon = 1.0\n'
)
COUNTED = (
    START.format(source="no.duckdb", protects="records", sql="SELECT COUNT(*) AS n FROM t")
    + '[release]\nepsilon = 1.0\nmechanism = "laplace"\n'
)
SUMMED = (
    START.format(source="no.parquet", protects="values", sql="SELECT SUM(time) AS s FROM t")
    + "[columns.time]\nbounds = [0, 120]\nmissing = false\n[release]\nepsilon = 1.0\n"
)


LATE = (
    START.format(
        source="no.duckdb", protects="values", sql="SELECT COUNT(*) AS n FROM t WHERE colour = 'black' AND time > 5"
    )
    + BLACK.split("\n[query]")[1].split("\n", 2)[2].split("[attacker]")[0]
    + "[columns.time]\nbounds = [0, 120]\nmissing = false\nprior = { normal = { mean = 20, sd = 6.28 } }\n"
    + '[attacker]\ngoal = "colour exactly and time within 10"\nadvantage = 0.1\n'
    + 'at = { colour = "white", time = 20 }\n[release]\nepsilon = 3.0\n'
)


def no_collation(patch: Patch) -> None:
    """A text is compared as its column is."""
    honest = DuckDBTarget.label
    patch.setattr(DuckDBTarget, "label", lambda self, column: honest(self, column).this)


def unknown_truths(patch: Patch) -> None:
    """Labels other than true and false come out either way, which counts as the same."""
    known = {"true": YES, "false": NO}

    def outcomes(self: TruthTest, side: Any) -> Any:
        if side.labels is None:
            return EITHER
        return frozenset[Any]().union(*(known.get(str(label).lower(), EITHER) for label in side.labels))

    def kinds(contribution: Any, name: str, levels: Any) -> list[int]:
        tests = [node for node in distances.iterate_leaves(contribution) if name in node.columns]
        seen: list[Any] = []
        for level in levels:
            side = ColumnState(labels=frozenset((level,)))
            scene = {n: ColumnChange(ColumnState(EVERYTHING), ColumnState(EVERYTHING)) for n in contribution.columns}
            seen.append(tuple(t.follow({**scene, name: ColumnChange(side, side)}).before for t in tests))
        return [seen.index(outcome) for outcome in seen]

    patch.setattr(TruthTest, "_outcomes", outcomes)
    patch.setattr(distances, "_classify_levels", kinds)


def nothing_is_null(patch: Patch) -> None:
    """A label that means neither true nor false is there; to the engine it is NULL."""
    patch.setattr(DeclaredColumn, "holds_nothing", lambda self, column: find_nulls(column))


def any_type(patch: Patch) -> None:
    """A label is whatever text the engine makes of a value, and the engine compares it itself."""

    def label(self: DuckDBTarget, column: DeclaredColumn) -> Any:
        name, _ = self.stored(column)
        return exp.Cast(this=self.name(name), to=exp.DataType(this=exp.DType.VARCHAR))

    patch.setattr(DuckDBTarget, "label", label)
    patch.setattr(LabelCondition, "_write_test", lambda self, target: self.plain(target.label(self.column), target))
    patch.setattr(labels, "_check_level", lambda *_: None)


def counts_in_steps(patch: Patch) -> None:
    """Counts are brought to their grid by the engine, in its own whole numbers."""
    honest = rewriting.write_aggregate

    def aggregate(measurement: Any, exponent: int, target: Any) -> Any:
        found = honest(measurement, exponent, target)
        if measurement.kind != "count" or exponent >= 0:
            return found
        return exp.Mul(this=found, expression=exp.Literal.number(2**-exponent))

    patch.setattr(rewriting, "write_aggregate", aggregate)
    patch.setattr(rewriting.RewrittenQuery, "units", lambda self, index, found: found)


def capitals_count(patch: Patch) -> None:
    """A name in other capitals is another column to the ledger."""
    patch.setattr(Guarantee, "merged", lambda self: self)


CASES: dict[str, tuple[str, Callable[[Patch], None], set[str]]] = {
    "collation, groups": (GROUPED, no_collation, {"storage"}),
    "collation, values": (BLACK, no_collation, {"storage", "exact advantage", "exact belief"}),
    "truth values": (SMOKER + "[release]\nepsilon = 1.0\n", unknown_truths, {"storage", "advantage", "belief"}),
    "truth values that are neither": (UNKNOWN, nothing_is_null, {"storage"}),
    "truth values as labels": (TRUTHS, any_type, {"storage"}),
    "numbers as labels": (SIZES, any_type, {"storage"}),
    "counts in steps": (COUNTED, counts_in_steps, {"many rows"}),
    "two spellings": (SUMMED, capitals_count, {"two releases"}),
}


def audited(text: str, patch: Patch, folder: Path) -> Audit:
    patch.setattr(Noise, "draw", fast(61))
    return audit(loads_plan(text, folder=folder), trials=2000, seconds=1e5, seed=3, false_alarm=1e-7)


@pytest.mark.parametrize("name", CASES)
def test_an_audit_fails_without_the_safeguard(name: str, monkeypatch: Patch, tmp_path: Path) -> None:
    text, take_out, expected = CASES[name]
    take_out(monkeypatch)
    found = audited(text, monkeypatch, tmp_path)
    assert not found.passed
    assert expected <= {c.name for c in found.failures}


@pytest.mark.parametrize(
    "text", [GROUPED, BLACK, SMOKER, UNKNOWN, COUNTED, SUMMED, SUMMED.replace("columns.time", "columns.Time")]
)
def test_an_audit_passes_with_all_safeguards(text: str, monkeypatch: Patch, tmp_path: Path) -> None:
    found = audited(text, monkeypatch, tmp_path)
    assert found.passed, found.failures


@pytest.mark.parametrize("stored", ["VARCHAR COLLATE NOCASE", "VARCHAR COLLATE NOACCENT", "VARCHAR"])
def test_the_types_of_the_source_itself_decide(stored: str, monkeypatch: Patch, tmp_path: Path) -> None:
    """Without its safeguard a plan fails on a table whose own collation makes it leak, and on no other."""
    with duckdb.connect(str(tmp_path / "no.duckdb")) as con:
        con.execute(f"CREATE TABLE t (colour {stored})")
        con.execute("INSERT INTO t VALUES ('canary')")
    no_collation(monkeypatch)
    found = audited(BLACK, monkeypatch, tmp_path)
    assert found.passed == (stored == "VARCHAR"), found.failures
    assert "canary" not in repr(found)


def test_a_belief_is_reckoned_with_what_the_engine_says(monkeypatch: Patch, tmp_path: Path) -> None:
    """Plain arithmetic knows nothing of the collation: with its answers no trial would tell anything."""
    with duckdb.connect(str(tmp_path / "no.duckdb")) as con:
        con.execute("CREATE TABLE t (colour VARCHAR COLLATE NOCASE, time DOUBLE)")
    assert audited(LATE, monkeypatch, tmp_path).passed
    no_collation(monkeypatch)
    found = audited(LATE, monkeypatch, tmp_path)
    assert {"engine", "storage", "advantage", "belief"} <= {c.name for c in found.failures}
