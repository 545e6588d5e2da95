"""The table, the JSON, the page and the pictures come from the same verdicts."""

from __future__ import annotations

import functools
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from guessproof.papers import ids, render, verdict, verdicts

PAGE = Path(__file__).parents[2] / "docs" / "papers.md"
NUMBER = re.compile(r"[−-]?\d+(?:\.\d+)?(?:e[−-]?\d+)?")


found = functools.cache(verdicts)  # working them out takes seconds


@pytest.fixture(autouse=True)
def worked_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(render, "verdicts", found)


def numbers_and_words(text: str) -> tuple[list[float], str]:
    values = [float(found.replace("−", "-")) for found in NUMBER.findall(text)]
    return values, NUMBER.sub("#", text)


def test_the_page_is_up_to_date() -> None:
    """Words must agree to the letter, numbers to their digits: the last digit may differ between machines."""
    now, written = (numbers_and_words(text) for text in (render.page(found()), PAGE.read_text(encoding="utf-8")))
    remedy = "run: python -m guessproof.papers --write-docs docs/papers.md"
    assert now[1] == written[1], remedy
    assert now[0] == pytest.approx(written[0], rel=2e-5, abs=1e-9), remedy


def test_the_page_names_versions_and_links_to_headings() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert "draft of 23 April 2023" in text
    headings = {line[4:].replace(".", "").lower() for line in text.splitlines() if line.startswith("### ")}
    links = set(re.findall(r"\]\(#([^)]+)\)", text))
    assert links == headings
    assert len(headings) == len(ids())


def test_the_command_prints_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert render.run([]) == 0
    printed = capsys.readouterr().out
    for name in ids():
        assert name in printed
    assert f"{len(ids())} results" in printed


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert render.run(["--json", "--id", "lp-thm2"]) == 0
    (one,) = json.loads(capsys.readouterr().out)
    assert one["verdict"] == "unsound"
    assert one["figures"]["ε₀"] == "inf"
    assert set(one) == {"id", "work", "version", "result", "says", "verdict", "truth", "right", "doubt", "figures"}


def test_one_in_full(capsys: pytest.CaptureFixture[str]) -> None:
    assert render.run(["--id", "kr-16-root"]) == 0
    printed = capsys.readouterr().out
    for words in ("misprint", "says", "truth", "right", "doubt", "−0.0795157"):
        assert words in printed


def test_an_unknown_id_is_an_error_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert render.run(["--id", "lp-99"]) == 2
    assert "no result has this id" in " ".join(capsys.readouterr().err.split())


def test_the_list_and_the_written_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert render.run(["--list"]) == 0
    assert capsys.readouterr().out.split() == ids()
    assert render.run(["--write-docs", str(tmp_path / "papers.md")]) == 0
    assert (tmp_path / "papers.md").read_text(encoding="utf-8").startswith("# What the papers say")


def test_the_module_runs() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "guessproof.papers", "--id", "lp-6.1-and", "--json"], capture_output=True, check=True
    )
    assert json.loads(done.stdout)[0]["verdict"] == "tight"


def test_a_wide_screen_shows_figures() -> None:
    screen = Console(file=io.StringIO(), width=160)
    screen.print(render.table([verdict("lp-6.2")], wide=True))
    assert "printed prior: 0.42" in screen.file.getvalue()  # type: ignore[attr-defined]
