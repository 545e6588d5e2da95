"""The page and the schema describe the plan as it is."""

from __future__ import annotations

import datetime
import json
import re
import tomllib
from pathlib import Path
from typing import Any, get_args

import jsonschema
import pytest
from each import check_each

from guessproof.plan import loads_plan, schema
from guessproof.plan.table import PlanTable
from guessproof.plan.tables import PlanFile

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "plan.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)


def tables(model: type[PlanTable] = PlanFile) -> dict[str, type[PlanTable]]:
    """Every table of a plan, by the name of its model."""
    found = {model.__name__: model}
    for info in model.model_fields.values():
        for inner in _inside(info.annotation):
            found |= tables(inner)
    return found


def _inside(annotation: Any) -> list[type[PlanTable]]:
    parts = get_args(annotation)
    if not parts:
        return [annotation] if isinstance(annotation, type) and issubclass(annotation, PlanTable) else []
    return [table for part in parts for table in _inside(part)]


SECTIONS = {
    name: next(part for part in re.split(r"^##+ ", PAGE, flags=re.MULTILINE) if part.startswith(start))
    for name, start in {
        "Data": "`[data]", "Query": "`[query]", "Question": "`[queries", "Column": "`[columns",
        "Prior": "Priors", "JointPrior": "`[prior",
        "Attacker": "`[attacker]", "Risk": "`[risk]", "Target": "`[accuracy]", "Accuracy": "`[accuracy]",
        "Release": "`[release]",
    }.items()
}  # fmt: skip
KEYS = sorted({(name, info.alias or key) for name, t in tables().items() for key, info in t.model_fields.items()})


EACH_KEY = {f"{table}.{key}": (table, key) for table, key in KEYS}


def test_every_key_is_documented() -> None:
    check_each(EACH_KEY, _check_documented)


def _check_documented(names: tuple[str, str]) -> None:
    table, key = names
    if table == "PlanFile":
        assert re.search(rf"^## `\[{key}[^`]*\]`", PAGE, re.MULTILINE)
    elif table in SECTIONS:
        assert f"\n| `{key}` |" in SECTIONS[table] or (table, key) == ("Prior", "column")
    else:
        assert f"`{key}`" in PAGE


def test_every_key_is_described_for_editors() -> None:
    for table, key in KEYS:
        fields = {info.alias or name: info for name, info in tables()[table].model_fields.items()}
        assert fields[key].description, (table, key)


def test_every_row_of_the_page_is_a_key_or_a_goal() -> None:
    known = {key for _, key in KEYS}
    rows = re.findall(r"^\| `([^`]+)` \|", PAGE, re.MULTILINE)
    assert len(rows) > 40
    assert [row for row in rows if row not in known and " " not in row] == []


@pytest.mark.parametrize("block", BLOCKS)
def test_every_block_of_the_page_loads(block: str, tmp_path: Path) -> None:
    (tmp_path / "grades.csv").write_text("grade,rate\na,1\n")
    if "[data]" not in block:
        protects = "records" if "[risk]" in block else "values"
        start = f'data = {{ name = "x", source = "x.csv", protects = "{protects}" }}\n'
        rest = "" if "[columns" in block else "[columns.extra]\n"
        block = start + 'query = { sql = "SELECT COUNT(*) AS n FROM t" }\n' + rest + block
    assert loads_plan(block, folder=tmp_path).data.name


def test_every_example_of_a_key_is_valid() -> None:
    """`{ normal = … }` and its like, as the tables of the page show them."""
    priors = re.findall(r"`(\{ (?:normal|uniform|exp|laplace|hist|cat|emp|unknown|partly).*?\})` \|", PAGE)
    assert len(priors) >= 9
    for prior in priors:
        bounds = "" if "categorical" in prior else "bounds = [0, 120]\n"
        loads_plan(
            'data = { name = "x", source = "x.csv", protects = "values" }\nquery.sql = "SELECT 1"\n'
            f"[columns.a]\n{bounds}prior = {prior}"
        )


def test_the_published_schema_is_current() -> None:
    published = json.loads((DOCS / "plan.schema.json").read_text(encoding="utf-8"))
    assert published == json.loads(json.dumps(schema())), "run: python -m guessproof.plan > docs/plan.schema.json"


def test_the_schema_knows_the_plan() -> None:
    found = schema()
    assert set(found["properties"]) == {
        "data", "query", "queries", "columns", "tables", "prior", "attacker", "risk", "accuracy", "release",
        "labels",
    }  # fmt: skip
    assert found["required"] == ["data"]  # and either query or queries
    assert found["additionalProperties"] is False
    forms = found["$defs"]["ColumnTable"]["properties"]["prior"]["anyOf"]
    assert {"const": "unknown", "type": "string"} in forms
    assert found["$defs"]["AccuracyTable"]["additionalProperties"] == {"$ref": "#/$defs/TargetTable"}


def as_editors_see(value: Any) -> Any:
    """JSON has no dates: editors hand them on as texts."""
    if isinstance(value, dict):
        return {key: as_editors_see(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [as_editors_see(inner) for inner in value]
    return value.isoformat() if isinstance(value, datetime.date) else value


@pytest.mark.parametrize("written", ["[1920-01-01, 2025-12-31]", "[1920-01-01T10:30:00, 2025-12-31]", "[0, 1.5]"])
def test_bounds_may_be_dates(written: str) -> None:
    good = (Path(__file__).parent / "good" / "dates.toml").read_text(encoding="utf-8")
    text = good.replace("bounds = [1920-01-01, 2025-12-31]", f"bounds = {written}", 1)
    assert written in text
    jsonschema.validate(as_editors_see(tomllib.loads(text)), schema())


@pytest.mark.parametrize(
    ("key", "bad"), [("bounds", '["soon", 2025-12-31]'), ("prior", '{ normal = { mean = 1980-06-01, sd = "long" } }')]
)
def test_not_any_text_is_a_date(key: str, bad: str) -> None:
    good = tomllib.loads((Path(__file__).parent / "good" / "dates.toml").read_text(encoding="utf-8"))
    good["columns"]["born"] |= tomllib.loads(f"{key} = {bad}")
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(as_editors_see(good), schema())


@pytest.mark.parametrize("path", sorted((Path(__file__).parent / "good").glob("*.toml")), ids=lambda path: path.stem)
def test_good_plans_fit_the_schema(path: Path) -> None:
    jsonschema.validate(as_editors_see(tomllib.loads(path.read_text(encoding="utf-8"))), schema())


@pytest.mark.parametrize(
    "name", ["key_data", "type_rows_text", "bounds_blank", "missing_name", "or_value", "key_accuracy"]
)
def test_bad_plans_do_not(name: str) -> None:
    text = (Path(__file__).parent / "gallery" / f"{name}.toml").read_text(encoding="utf-8")
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(tomllib.loads(text), schema())
