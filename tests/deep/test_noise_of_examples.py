"""No example or how-to needs more than a twentieth more noise than when it was recorded."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import guessproof as gp

ROOT = Path(__file__).parents[2]
RECORDED = json.loads((ROOT / "tests" / "data" / "choices.json").read_text(encoding="utf-8"))
PLAN_BLOCK = re.compile(r"^```toml\n(# plan\.toml.*?)^```$", re.MULTILINE | re.DOTALL)
MORE = 1.05


def _plans() -> dict[str, Path | str]:
    plans: dict[str, Path | str] = {}
    for path in (ROOT / "examples").glob("*/*.toml"):
        plans[f"example-{path.parent.name}-{path.stem}"] = path
    for page in (ROOT / "docs/howto").glob("*.md"):
        for number, block in enumerate(PLAN_BLOCK.findall(page.read_text(encoding="utf-8")), 1):
            plans[f"howto-{page.stem}-{number}"] = block
    return plans


PLANS = _plans()


def test_every_example_is_recorded() -> None:
    assert set(PLANS) == {name for name in RECORDED if not name.startswith("workload")}


@pytest.mark.parametrize("name", sorted(PLANS))
def test_no_example_needs_much_more_noise(name: str) -> None:
    written = PLANS[name]
    plan = gp.load_plan(written) if isinstance(written, Path) else gp.loads_plan(written)
    choice = gp.choose(plan)
    noise = [part["noise_scale"] for part in choice.to_dict()["noise"]]
    assert len(noise) == len(RECORDED[name]["noise"])
    assert all(now <= MORE * before for now, before in zip(noise, RECORDED[name]["noise"], strict=True))
