"""Whatever is done to the text of a plan, only our own refusals come out."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from depth import cases
from hypothesis import given, settings
from hypothesis import strategies as st

from guessproof.errors import PlanError
from guessproof.plan import Plan, loads_plan

HERE = Path(__file__).parent
TEXTS = [path.read_text(encoding="utf-8") for path in sorted((HERE / "good").glob("*.toml"))]
PIECES = st.sampled_from(
    ['"', "'", "[", "]", "{", "}", "=", ",", ".", "\n", "#", "\\", '"""', "0", "-1", "nan", "inf", "1e400", "true", "?",
     '"?"', "prior", "[data]", "[[columns]]", "unknown", "categorical", "from", "(", ")", "%", "9" * 50, "\x00", "é",
     "1979-05-27", "within", "and not", "{}", "[]", "[risk]\nconstant=1\n", '"env:"', '"a"="b"\n', " "]
)  # fmt: skip


def loaded(text: str) -> Plan | None:
    refusal = None
    try:
        return loads_plan(text, folder=HERE / "good")
    except PlanError as error:
        refusal = error
    assert "Input should" not in str(refusal)
    assert refusal.line is None or 1 <= refusal.line <= text.count("\n") + 1
    return None


@settings(max_examples=cases(150))
@given(st.data())
def test_mutated_plans(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(TEXTS))
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        end = min(len(text), start + data.draw(st.integers(0, 12)))
        text = text[:start] + data.draw(st.one_of(st.just(""), PIECES, st.text(max_size=3))) + text[end:]
    plan = loaded(text)
    if plan is not None:
        plan.canonical()
        if plan.attacker is not None:
            plan.goal()


VALUES: Any = st.one_of(
    st.sampled_from(
        ["0", "-1", "1e308", "1e-320", "nan", "-inf", "true", '""', '" "', '"?"', "[]", "{}", "[1]", "[[]]", "[{}]",
         "1979-05-27", '"unknown"', '"1 in 0"', "9" * 400, "[nan, nan]", '{ from = "." }', '{ from = "\\u0000" }',
         '{ normal = {} }', '{ categorical = [] }', '{ categorical = {} }', '{ categorical = [[[], 1]] }', "0x10",
         '"a\\nb"']
    ),
    st.floats().map(lambda x: f"{x!r}" if math.isfinite(x) else "nan"),
    st.lists(st.sampled_from(["1", '"a"', "true", "0.5", "[1, 2]"]), max_size=3).map(lambda v: f"[{', '.join(v)}]"),
)  # fmt: skip


@settings(max_examples=cases(200))
@given(st.data())
def test_any_value_for_any_key(data: st.DataObject) -> None:
    lines = data.draw(st.sampled_from(TEXTS)).split("\n")
    keyed = [i for i, line in enumerate(lines) if "=" in line and not line.lstrip().startswith(("#", "["))]
    at = data.draw(st.sampled_from(keyed))
    lines[at] = lines[at].split("=")[0] + "= " + data.draw(VALUES)
    loaded("\n".join(lines))


@given(st.one_of(st.text(), st.binary().map(lambda b: b.decode("latin-1"))))
def test_any_text(text: str) -> None:
    loaded(text)
