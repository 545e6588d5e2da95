"""A ledger on PostgreSQL: what only a server can do to it, and what nobody may learn of its address."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import commands
import psycopg
import pytest
from servers import Place

from guessproof.errors import EditedError, LedgerError, UnsureError
from guessproof.ledger import Budget, Cost, Ledger, Recorded, copy_ledger, store_postgres, verify
from ledger.conftest import SERVER
from ledger.making import DESCRIBE, GUARANTEE, KEY, Clock, filled, opened, pay

NO_TRIGGERS = "ALTER TABLE guessproof_entries DISABLE TRIGGER USER"
TRIGGERS = "ALTER TABLE guessproof_entries ENABLE TRIGGER USER"


def found(key: bytes | None = None) -> str:
    return "; ".join(map(str, verify(SERVER, key=key).defects))


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE guessproof_entries SET time = 'x' WHERE seq = 2",
        "DELETE FROM guessproof_entries WHERE seq = 3",
        "TRUNCATE guessproof_entries",
        "INSERT INTO guessproof_entries SELECT seq + 10, time, name, kind, body, previous, digest, seal "
        "FROM guessproof_entries LIMIT 1",
    ],
)
def test_sql_that_would_change_the_past_is_refused_by_the_server(ledger_server: Place, sql: str) -> None:
    filled(SERVER)
    with pytest.raises(psycopg.Error, match="append-only"):
        ledger_server.con.execute(sql)
    assert verify(SERVER).ok


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        (NO_TRIGGERS, "was dropped or changed"),
        ("DROP TRIGGER guessproof_only_next ON guessproof_entries", "trigger guessproof_only_next of"),
        (
            "CREATE OR REPLACE FUNCTION guessproof_no_change() RETURNS trigger LANGUAGE plpgsql "
            "AS 'BEGIN RETURN NULL; END'",
            "trigger guessproof_no_change of",
        ),
        (
            "CREATE TRIGGER aside BEFORE INSERT ON guessproof_entries FOR EACH ROW "
            "EXECUTE FUNCTION suppress_redundant_updates_trigger()",
            "trigger aside, which is no part",
        ),
        ("CREATE RULE aside AS ON INSERT TO guessproof_lookups DO INSTEAD NOTHING", "rule aside"),
        ("ALTER TABLE guessproof_entries ENABLE ROW LEVEL SECURITY", "table of guessproof_entries"),
        ("ALTER TABLE guessproof_entries ADD COLUMN x int", "column x"),
        ("ALTER TABLE guessproof_entries ALTER COLUMN seal TYPE varchar", "column seal of"),
    ],
)
def test_tables_and_triggers_that_were_changed_are_found(ledger_server: Place, sql: str, words: str) -> None:
    ledger = filled(SERVER)
    ledger_server.con.execute(sql)
    assert words in found()
    with pytest.raises(EditedError, match="Run: guessproof ledger verify --ledger env:LEDGER_URL"):
        pay(ledger, "more")


@pytest.mark.parametrize("column", ["time", "name", "kind", "body", "previous", "digest", "seal"])
def test_an_edited_row_is_found_and_not_used(ledger_server: Place, column: str) -> None:
    ledger = filled(SERVER)
    change = f"UPDATE guessproof_entries SET {column} = coalesce({column}, '') || ' ' WHERE seq = 3"
    for sql in (NO_TRIGGERS, change, TRIGGERS):
        ledger_server.con.execute(sql)
    assert found()
    with pytest.raises(EditedError):
        pay(ledger, "more")


def test_a_rollback_of_the_server_is_seen_by_a_running_process_and_by_a_head(ledger_server: Place) -> None:
    ledger = filled(SERVER)
    head = ledger.head
    for sql in (NO_TRIGGERS, "DELETE FROM guessproof_entries WHERE seq = 9", TRIGGERS):
        ledger_server.con.execute(sql)
    ledger_server.con.execute("DELETE FROM guessproof_lookups WHERE seq = 9")
    assert verify(SERVER).ok
    assert not verify(SERVER, head).ok
    with pytest.raises(EditedError, match="truncated or replaced"):
        pay(ledger, "more")


def test_rights_to_read_and_append_are_enough_and_reading_alone_charges_nothing(
    ledger_server: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(SERVER)
    usage, tables = f"USAGE ON SCHEMA {ledger_server.schema}", "guessproof_entries, guessproof_lookups"
    monkeypatch.setenv("LEDGER_URL", ledger_server.role(usage, f"SELECT, INSERT ON {tables}"))
    ledger = Ledger(SERVER, clock=Clock())
    ledger.record(pay(ledger, "from a role"), {"value": 1})
    assert verify(SERVER, ledger.head).ok
    monkeypatch.setenv("LEDGER_URL", ledger_server.role(usage, f"SELECT ON {tables}"))
    reader = Ledger(SERVER, clock=Clock())
    assert isinstance(reader.settled("cafeteria", ["from a role"]), Recorded)
    with pytest.raises(LedgerError, match="this role may not use the ledger"):
        pay(reader, "more")
    monkeypatch.setenv("LEDGER_URL", ledger_server.role())
    with pytest.raises(LedgerError):
        Ledger(SERVER)


def _said(error: BaseException) -> str:
    """All that an error can tell, and what it was raised from."""
    words = f"{error!r} {error} {vars(error)}"
    for other in (error.__cause__, error.__context__):
        words += "" if other is None else _said(other)
    return words


def test_no_failure_says_anything_of_the_address(ledger_server: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(SERVER)
    good = ledger_server.url
    wrong = {
        "": "is not set",
        "hunter2": "no address",
        "mysql://me:hunter2@host/db": "no address",
        "postgresql://me:hunter2@127.0.0.1:1/secretdb": "cannot be reached",
        "postgresql://me:hunter2@%%%/secretdb": "cannot be reached",
        good.replace("://postgres:@", "://nobody:hunter2@"): "cannot be reached",
    }
    for url, words in wrong.items():
        monkeypatch.setenv("LEDGER_URL", url)
        for use in (lambda: Ledger(SERVER), lambda: verify(SERVER), lambda: Ledger.create(SERVER, "x", Budget(1))):
            with pytest.raises(LedgerError, match=words) as caught:
                use()
            told = _said(caught.value)
            assert not [secret for secret in ("hunter2", "secretdb", "nobody", "127.0.0.1") if secret in told]
    monkeypatch.setenv("LEDGER_URL", good)
    ledger = Ledger(SERVER)
    assert good not in repr(vars(ledger)) + repr(ledger._store)


# A connection that is lost -------------------------------------------------------------------------------------------


def killed(con: psycopg.Connection[Any], place: Place) -> None:
    place.con.execute("SELECT pg_terminate_backend(%s)", [con.info.backend_pid])
    con.close()


def test_a_commit_whose_acknowledgement_is_lost_is_charged_once(
    ledger_server: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = opened(SERVER)
    commit: Callable[[Any], Any] = store_postgres._commit

    def lost(con: Any) -> Any:
        commit(con)
        killed(con, ledger_server)
        monkeypatch.setattr(store_postgres, "_commit", commit)
        raise psycopg.OperationalError("the connection is gone, hunter2")

    monkeypatch.setattr(store_postgres, "_commit", lost)
    charged = pay(ledger, "one")
    ledger.record(charged, {"value": 1})
    assert [entry.kind for entry in ledger.entries()] == ["open", "charge", "answer"]


def test_a_connection_lost_before_the_commit_charges_nothing(
    ledger_server: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = opened(SERVER)
    commit = store_postgres._commit

    def lost(con: Any) -> Any:
        killed(con, ledger_server)
        monkeypatch.setattr(store_postgres, "_commit", commit)
        return commit(con)

    monkeypatch.setattr(store_postgres, "_commit", lost)
    with pytest.raises(LedgerError, match="nothing was written or charged"):
        pay(ledger, "one")
    assert [entry.kind for entry in ledger.entries()] == ["open"]
    pay(ledger, "one")
    assert [entry.kind for entry in ledger.entries()] == ["open", "charge"]


@pytest.mark.parametrize("is_written", [True, False])
def test_where_nobody_can_tell_it_counts_as_charged_and_is_found_again(
    ledger_server: Place, monkeypatch: pytest.MonkeyPatch, is_written: bool
) -> None:
    ledger = opened(SERVER, timeout=2)
    commit, connect = store_postgres._commit, store_postgres.connect

    def unreachable(*_: Any) -> Any:
        raise LedgerError("cannot be reached")

    def lost(con: Any) -> Any:
        if is_written:
            commit(con)
        killed(con, ledger_server)
        monkeypatch.setattr(store_postgres, "connect", unreachable)
        raise psycopg.OperationalError("gone")

    monkeypatch.setattr(store_postgres, "_commit", lost)
    with pytest.raises(UnsureError, match="counts as written"):
        pay(ledger, "one")
    monkeypatch.setattr(store_postgres, "_commit", commit)
    monkeypatch.setattr(store_postgres, "connect", connect)
    charged = pay(ledger, "one")  # the same entry, or the first one: paid once
    assert charged.seq == 2
    with pytest.raises(LedgerError, match="being answered"):
        pay(ledger, "one")  # and never twice for one charge
    ledger.record(charged, {"value": 1})
    assert [entry.kind for entry in ledger.entries()] == ["open", "charge", "answer"]


def test_a_writer_who_hangs_makes_others_refuse_and_charges_nothing(ledger_server: Place) -> None:
    ledger = opened(SERVER, timeout=2)
    with ledger._store.writing(), pytest.raises(LedgerError, match="another release is using the ledger"):
        pay(Ledger(SERVER, timeout=2), "one")
    pay(ledger, "one")


def test_a_kept_connection_that_died_is_replaced(ledger_server: Place) -> None:
    ledger = opened(SERVER)
    kept = [con.info.backend_pid for _, con in ledger._store._idle]  # type: ignore[attr-defined]
    assert kept
    for pid in kept:  # others share the server
        ledger_server.con.execute("SELECT pg_terminate_backend(%s)", [pid])
    pay(ledger, "one")
    assert ledger.head


# Versions ------------------------------------------------------------------------------------------------------------


def test_a_ledger_is_brought_up_to_date_by_its_next_writer_and_keeps_its_head(
    ledger_server: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = filled(SERVER)
    head = ledger.head
    more = ("CREATE INDEX guessproof_names ON guessproof_entries (name)",)
    monkeypatch.setattr(store_postgres, "MIGRATIONS", (*store_postgres.MIGRATIONS, more))
    monkeypatch.setattr(store_postgres, "VERSION", 2)
    assert Ledger(SERVER).head == head
    pay(ledger, "new")
    mark = ledger_server.con.execute("SELECT obj_description('guessproof_entries'::regclass)").fetchone()
    assert mark == ("guessproof ledger, version 2",)
    assert verify(SERVER, head).ok
    monkeypatch.setattr(store_postgres, "VERSION", 1)
    with pytest.raises(LedgerError, match="a later guessproof made this ledger"):
        Ledger(SERVER)


def test_a_table_of_somebody_else_is_left_alone(ledger_server: Place) -> None:
    ledger_server.con.execute("CREATE TABLE guessproof_entries (x int)")
    for use in (lambda: Ledger(SERVER), lambda: Ledger.create(SERVER, "cats", Budget(1))):
        with pytest.raises(LedgerError, match="not a ledger's"):
            use()


# Copies --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", [None, KEY])
def test_a_copy_to_a_server_and_back_has_the_same_head(ledger_server: Place, tmp_path: Path, key: bytes | None) -> None:
    ledger = filled(tmp_path, key)
    for number in range(40):
        pay(ledger, f"{number}", "0.001")
    made = copy_ledger(ledger.path, SERVER, key)
    back = copy_ledger(SERVER, tmp_path / "back.ledger", key)
    assert made.head == back.head == ledger.head
    assert Ledger(SERVER, key).entries() == ledger.entries() == Ledger(tmp_path / "back.ledger", key).entries()
    again = Ledger(SERVER, key, clock=Clock()).charge("cafeteria", "one", Cost("0.1"), GUARANTEE, DESCRIBE)
    assert isinstance(again, Recorded)
    for source, target in ((ledger.path, SERVER), (SERVER, ledger.path), (ledger.path, ledger.path)):
        with pytest.raises(LedgerError, match="there is a ledger already"):
            copy_ledger(source, target, key)
    assert verify(ledger.path, made.head, key).ok


def test_a_ledger_that_does_not_fit_is_not_copied(ledger_server: Place, tmp_path: Path) -> None:
    filled(SERVER)
    for sql in (NO_TRIGGERS, "UPDATE guessproof_entries SET name = 'x' WHERE seq = 4", TRIGGERS):
        ledger_server.con.execute(sql)
    with pytest.raises(EditedError, match="nothing was copied"):
        copy_ledger(SERVER, tmp_path / "copy.ledger")
    assert not (tmp_path / "copy.ledger").exists()


def test_every_command_takes_a_server(ledger_server: Place, tmp_path: Path) -> None:
    def run(*words: str) -> dict[str, Any]:
        done = commands.run("ledger", *words, "--json")
        assert done.returncode == 0, done
        assert ledger_server.url not in done.output
        return json.loads(done.output)

    at = ("--ledger", "env:LEDGER_URL")
    opening = run("open", "cafeteria", "--budget", "1.0", *at)
    assert run("amend", "cafeteria", "--budget", "2.0", *at)["budget"]["epsilon"] == "2.0"
    assert run("show", *at)["names"][0]["name"] == "cafeteria"
    head = run("verify", "--head", opening["head"], *at)["head"]
    assert run("copy", "env:LEDGER_URL", str(tmp_path / "a.ledger"))["head"] == head
    assert run("verify", "--ledger", str(tmp_path / "a.ledger"))["head"] == head


def test_choosing_says_how_a_ledger_is_opened_on_a_server_that_has_none_yet(ledger_server: Place) -> None:
    plan = Path("plan.toml")
    plan.write_text(
        '[data]\nname = "people"\nsource = "people.csv"\nprotects = "records"\n'
        '[query]\nsql = "SELECT COUNT(*) AS n FROM t"\n[release]\nepsilon = 0.5\nledger = "env:LEDGER_URL"\n'
    )

    def run(*words: str) -> str:
        done = commands.run(*words)
        assert done.returncode == 0, done.output
        return " ".join(done.output.split())

    assert "ledger open people --budget 0.5 --ledger env:LEDGER_URL Then:" in run("choose", "plan.toml")
    assert "Nothing is released yet" in run("report", "plan.toml", "-o", "report.html")
    run("ledger", "open", "people", "--budget", "0.5", "--ledger", "env:LEDGER_URL")
    assert "ledger open" not in run("choose", "plan.toml")
