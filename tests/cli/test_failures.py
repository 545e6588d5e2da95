"""Every way in which a command can fail gives its exit code, its words and its error object, as the page says."""

from __future__ import annotations

import json
import shlex
import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from guessproof.cli import app as room
from guessproof.errors import LedgerError
from guessproof.ledger import Budget, Ledger
from guessproof.ledger import ledger as ledger_room
from guessproof.releasing import run as releasing
from guessproof.schemas import schemas

from .failures import FAILURES, PLAN_FAILURES, PLANNED, Failure, page

ROOT = Path(__file__).parents[2]
PLANS: dict[str, tuple[str, str]] = {  # what is changed in a sound plan
    "plan": ("", ""),
    "key": ("[attacker]", "[atacker]"),
    "much": ("advantage = 0.1", "advantage = 10"),
    "sql": ("COUNT(*)", "COUNTS(*)"),
    "gone": ("cats.csv", "gone.csv"),
    "kind": ("cats.csv", "cats.xyz"),
    "column": ("colour", "color"),
    "unset": ("cats.csv", "env:NOT_SET"),
    "away": ("cats.csv", "env:AWAY"),
    "spark": ('table    = "cats"', 'table    = "cats"\nengine = "spark"'),
    "exact": ("[release]", "[accuracy]\nwithin = 0.001\n[release]"),
    "warned": ("advantage = 0.1", "advantage = 0.9"),
    "dogs": ('name     = "cats"', 'name     = "dogs"'),
    "elsewhere": ("guessproof.ledger", "none.ledger"),
    "small": ("guessproof.ledger", "small.ledger"),
    "sealed": ("guessproof.ledger", "sealed.ledger"),
    "junk": ("guessproof.ledger", "junk.ledger"),
    "edited": ("guessproof.ledger", "edited.ledger"),
}


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with everything that can go wrong in it."""
    place = tmp_path_factory.mktemp("failures") / "cats"
    shutil.copytree(ROOT / "examples" / "cats", place)
    shutil.copytree(ROOT / "examples" / "visits", place / "visits")
    text = (place / "either.toml").read_text(encoding="utf-8")
    for name, (old, new) in PLANS.items():
        assert old in text
        (place / f"{name}.toml").write_text(text.replace(old, new) if old else text, encoding="utf-8")
    average = (ROOT / "examples" / "cafeteria" / "plan.toml").read_text(encoding="utf-8")
    shutil.copy(ROOT / "examples" / "cafeteria" / "cafeteria.csv", place)
    (place / "rows.toml").write_text(average.replace("= 120  ", "= 100000"), encoding="utf-8")
    (place / "empty.toml").write_text("")
    (place / "toml.toml").write_text("[data\nname = 1\n")
    (place / "latin.toml").write_bytes(b'[data]\nname = "caf\xe9"\n')
    (place / "folder").mkdir()
    (place / "key").write_bytes(b"another key, long enough")
    (place / "junk.ledger").write_bytes(b"no ledger at all" * 99)
    Ledger.create(place / "guessproof.ledger", "cats", Budget("20"))
    Ledger.create(place / "guessproof.ledger", "cafeteria", Budget("20"))
    Ledger.create(place / "small.ledger", "cats", Budget("0.001"))
    Ledger.create(place / "sealed.ledger", "cats", Budget("20"), b"the key, which is long enough")
    Ledger.create(place / "edited.ledger", "cats", Budget("20"))
    book = sqlite3.connect(place / "edited.ledger")
    book.execute("DROP TRIGGER no_update")
    book.close()
    Ledger.create(place / "visits" / "guessproof.ledger", "visits", Budget("5"))
    return place


@pytest.fixture
def place(sound: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder, as it was: what is charged in a test is charged in its own copy of the ledger."""
    monkeypatch.chdir(sound)
    monkeypatch.setenv("AWAY", "postgresql://nobody@127.0.0.1:1/none")
    kept = (sound / "guessproof.ledger").read_bytes()
    yield sound
    (sound / "guessproof.ledger").write_bytes(kept)


def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "argv", ["guessproof", *words])
    capsys.readouterr()
    with pytest.raises(SystemExit) as stopped:
        room.main()
    shown = capsys.readouterr()
    return int(stopped.value.code or 0), shown.out, shown.err


# What is broken from outside ----------------------------------------------------------------------------------------


def _raising(error: Callable[[], BaseException]) -> Callable[..., Any]:
    def broken(*_: Any, **__: Any) -> Any:
        raise error()

    return broken


def _at_printing(error: Callable[[], BaseException]) -> Callable[[pytest.MonkeyPatch], None]:
    """The answer is there and is being printed."""

    def breaks(patch: pytest.MonkeyPatch) -> None:
        for module in ("check", "releasing"):
            patch.setattr(f"guessproof.cli.{module}.print_json", _raising(error))
        if not isinstance(error(), KeyboardInterrupt):
            patch.setattr("guessproof.cli.refusing.os.dup2", lambda *_: None)  # the output is the tests' own
        if isinstance(error(), OSError) and not isinstance(error(), BrokenPipeError):
            patch.setattr("guessproof.cli.refusing.print_json", _raising(error))

    return breaks


def _locked(patch: pytest.MonkeyPatch) -> None:
    other = sqlite3.connect("guessproof.ledger", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    opened = ledger_room.open_store
    patch.setattr(ledger_room, "open_store", lambda path, *_: opened(path, 0.05))
    _HELD.append(other)


def _engine(patch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    honest = releasing.add_noise

    def second(*given: Any) -> Any:  # the first call is the rehearsal
        calls.append(1)
        if len(calls) > 1:
            raise ValueError("SECRET")
        return honest(*given)

    patch.setattr(releasing, "add_noise", second)


def _audit(patch: pytest.MonkeyPatch) -> None:
    class Found:
        passed = False

        def to_dict(self) -> dict[str, Any]:
            return {}

    patch.setattr("guessproof.cli.audit.audited_with_progress", lambda *_, **__: Found())


_HELD: list[sqlite3.Connection] = []
BREAKS: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "": lambda patch: None,
    "away": lambda patch: None,
    "postgres": lambda patch: patch.setitem(sys.modules, "psycopg", None),
    "spark": lambda patch: patch.setitem(sys.modules, "pyspark", None),
    "locked": _locked,
    "stopped": _at_printing(KeyboardInterrupt),
    "gone": _at_printing(BrokenPipeError),
    "full": _at_printing(lambda: OSError(28, "SECRET")),
    "unexpected": lambda patch: patch.setattr(
        "guessproof.cli.check.print_json", _raising(lambda: ValueError("SECRET"))
    ),
    "engine": _engine,
    "record": lambda patch: patch.setattr(
        Ledger, "record", _raising(lambda: LedgerError("the disk is full; make room"))
    ),
    "lost": lambda patch: patch.setattr(Ledger, "record", _raising(lambda: ValueError("SECRET"))),
    "audit": _audit,
}


# The list -----------------------------------------------------------------------------------------------------------


def listed() -> Iterator[Failure]:
    for failure in PLAN_FAILURES:
        for command in PLANNED:
            more = " --epsilon 1" if command == "bounds" else ""
            yield Failure(**{**failure.__dict__, "words": f"{command} {failure.words}{more}"})
    yield from FAILURES


@pytest.mark.parametrize("failure", list(listed()), ids=lambda f: f"{f.words}{f.broken and ' ' + f.broken}")
def test_each_failure_has_its_code_and_words(
    place: Path, failure: Failure, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = Ledger("guessproof.ledger").accounts()
    with monkeypatch.context() as patch:
        BREAKS[failure.broken](patch)
        code, printed, said = run(patch, capsys, *shlex.split(failure.words), *(["--json"] if failure.json else []))
    while _HELD:
        _HELD.pop().close()
    assert code == failure.code, said
    assert "SECRET" not in printed + said
    assert "Traceback" not in said
    if failure.kind:
        document = json.loads(printed)
        jsonschema.Draft202012Validator({**schemas(), "$ref": "#/$defs/error"}).validate(document)
        error = document["error"]
        assert (error["kind"], error["charged"]) == (failure.kind, failure.charged)
        assert error["field"] == failure.field
        assert failure.line is None or error["line"] == failure.line
        assert failure.line is None or f"line {failure.line}: " in said, "people are told the line too"
        assert failure.problem in error["problem"]
        assert failure.remedy in error["remedy"]
        assert error["remedy"] or failure.charged
    else:
        assert failure.problem in said
        assert failure.remedy in said
    spent = {name: account.epsilon for name, account in Ledger("guessproof.ledger").accounts().items()}
    assert (spent != {name: account.epsilon for name, account in before.items()}) == failure.charged == (code == 5)


def test_the_page_is_current() -> None:
    published = (ROOT / "docs" / "failures.md").read_text(encoding="utf-8")
    assert published == page(), "run: python tests/cli/failures.py > docs/failures.md"
