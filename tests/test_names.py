"""One name, one thing; and the pages name what there is."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src/guessproof"
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
FILES = {
    str(path.relative_to(ROOT))
    for part in ("src", "tests", "benchmarks", "tools", "examples")
    for path in (ROOT / part).rglob("*.py")
}


def test_no_class_name_means_two_things() -> None:
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in SOURCE.rglob("*.py")]
    names = Counter(node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    assert [name for name, times in names.items() if times > 1] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_module_that_a_page_names_is_there(page: Path) -> None:
    """What was there before a change is told in sentences that begin with "Before"."""
    text = re.sub(r"Before[:,].*?\.\n\n", "", page.read_text(encoding="utf-8") + "\n\n", flags=re.DOTALL)
    named = set(re.findall(r"[\w/]*\w\.py\b", text))
    assert [name for name in sorted(named) if not any(f"/{path}".endswith(f"/{name}") for path in FILES)] == []
