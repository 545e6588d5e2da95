"""Hostile words in every place where words come from outside, through every command.

Whatever a plan, a label, an alias, a column or a file is called: no command crashes on it, no control character
reaches the terminal, markup is shown as it is written, and JSON parses.
"""

from __future__ import annotations

import contextlib
import json
import random
import unicodedata
from pathlib import Path

import pytest
from commands import run
from depth import cases

from guessproof.charts.plan import NARROW

WORDS = [
    "n[/b]", "[bold]x[/bold]", "[/]", "[link=file:///etc]y[/link]", "[release]", "a\\[b", ":smile:", "[red",
    "\x1b[31mred", "\x9b31m", "\x1b]0;title\x07", "a\u202eb", "two\nlines", "tab\there", "cr\rback",
    "\u200bzero", "\x7f", "{0}", "%s", "\u2028", "'quote\"", "\U000e0041", "naïve ε",
]  # fmt: skip
MARKUP = [word for word in WORDS if "[" in word and word.isprintable()]


def hidden(text: str) -> str:
    """In TOML, what cannot be printed is written as an escape."""
    return '"' + "".join(c if c.isprintable() and c not in '"\\' else f"\\U{ord(c):08x}" for c in text) + '"'


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


class Scene:
    """A folder with a table and a plan in which one place, or every place, holds a hostile word."""

    places = ("alias", "level", "column", "name", "source", "ledger", "goal", "label", "table")

    def __init__(self, folder: Path, place: str, word: str) -> None:
        self.folder, self.place, self.word = folder, place, word
        column, level = self.at("column", "g"), self.at("level", "a")
        other = "z" if self.at("label", "b") == level else self.at("label", "b")  # a filter may name levels only
        self.source = self.at("source", "t") + ".csv"
        self.plan = folder / "plan.toml"
        where = f"WHERE {quoted(column)} <> '{self.at('label', 'b').replace(chr(39), chr(39) * 2)}'"
        sql = f"SELECT SUM(x) AS {quoted(self.at('alias', 'total'))} FROM {quoted(self.at('table', 't'))} {where}"
        self.plan.write_text(
            f"[data]\nname = {hidden(self.at('name', 'd'))}\nsource = {hidden(self.source)}\n"
            f"table = {hidden(self.at('table', 't'))}\n"
            f'protects = "values"\n[query]\nsql = {hidden(sql)}\n[columns.x]\nbounds = [0, 10]\nmissing = false\n'
            f"prior = {{ uniform = {{ low = 0, high = 10 }} }}\n[columns.{hidden(column)}]\n"
            f"prior = {{ categorical = {{ {hidden(level)} = 0.5, {hidden(other)} = 0.5 }} }}\n"
            f"[attacker]\ngoal = {hidden(self.at('goal', 'x within 1'))}\nadvantage = 0.3\nat = {{ x = 5 }}\n"
            f"[release]\nledger = {hidden(self.at('ledger', 'l') + '.ledger')}\n",
            encoding="utf-8",
        )
        with contextlib.suppress(OSError, ValueError):
            lines = [f"x,{quoted(column)}", f"3,{quoted(level)}", "7,z"]
            (folder / self.source).write_text("\n".join(lines) + "\n", encoding="utf-8")

    def at(self, place: str, usual: str) -> str:
        return self.word if self.place == place else usual

    def commands(self) -> list[list[str]]:
        plan, ledger = str(self.plan), str(self.folder / (self.at("ledger", "l") + ".ledger"))
        name = self.at("name", "d")
        return [
            ["ledger", "open", name, "--budget", "100", "--ledger", ledger],
            ["choose", plan],
            ["explain", plan, "--epsilon", "1"],
            ["release", plan],
            ["report", plan, "-o", str(self.folder / "report.html")],
            ["ledger", "show", "--ledger", ledger],
            ["ledger", "verify", "--ledger", ledger],
            ["init", str(self.folder / self.source), "--column", "x", "--force", "-o", str(self.folder / "p.toml")],
            ["init", str(self.folder / self.source), "--column", self.word, "-o", str(self.folder / "q.toml")],
            ["scan", plan, "--epsilon", "0.1", "--by", self.at("column", "g")],
        ]


def clean(text: str) -> bool:
    """Nothing but characters that are seen, spaces and ends of lines."""
    return all(c.isprintable() or c == "\n" or unicodedata.category(c) == "Zs" for c in text)


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "2000")
    monkeypatch.setattr("guessproof.reporting.figures.WIDTHS", {"narrow": NARROW})  # the same words in every width


@pytest.mark.parametrize("seed", range(cases(9)))
def test_hostile_words_are_only_words(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    place = Scene.places[seed % len(Scene.places)]
    scene = Scene(tmp_path, place, draw.choice(WORDS))
    for words in scene.commands():
        as_json = draw.random() < 0.5
        code, out, err = run(*words, *(["--json"] if as_json else []))
        said = (scene.place, scene.word, words, code, err)
        assert code in (0, 2, 3, 4), said
        assert clean(out), said
        assert clean(err), said
        if as_json and code == 0:
            json.loads(out)


@pytest.mark.parametrize(
    ("place", "word"),
    [*(("alias", word) for word in MARKUP), *zip(["name", "label", "level", "column"], MARKUP, strict=False)],
)
def test_markup_is_shown_as_it_is_written(tmp_path: Path, place: str, word: str) -> None:
    scene = Scene(tmp_path, place, word)
    done = {
        words[0] if words[0] != "ledger" else words[1]: run(*words)
        for words in scene.commands()[:6]
        if words[0] != "report"
    }
    assert {command: code for command, (code, _, _) in done.items()} == dict.fromkeys(done, 0), done
    shown = {"alias": ["choose", "release"], "name": ["open", "show"], "label": ["release"], "column": ["release"]}
    for command in shown.get(place, []):
        assert word in done[command][1], (command, done[command])


def test_a_remedy_keeps_its_table(tmp_path: Path) -> None:
    scene = Scene(tmp_path, "alias", "total")
    run("ledger", "open", "d", "--budget", "0.001", "--ledger", str(tmp_path / "l.ledger"))
    assert "under [release]" in run("choose", str(scene.plan))[1]


def test_an_audit_and_its_progress(tmp_path: Path) -> None:
    scene = Scene(tmp_path, "alias", "n[/b]\x1b[31m")
    code, out, err = run("audit", str(scene.plan), "--trials", "2000", "--seconds", "100000")
    assert code in (0, 7), err
    assert clean(out)
