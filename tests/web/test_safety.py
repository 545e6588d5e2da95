"""Who may ask, what may be sent, and which files are touched."""

from __future__ import annotations

import http.client
import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from guessproof.errors import MissingExtraError
from guessproof.web.folder import Folder
from guessproof.web.refusals import WebError
from guessproof.web.safety import POLICY, Guard
from guessproof.web.serving import check_parts, is_loopback
from web.running import CALCULATION, Served, serving


def raw(served: Served, method: str, path: str, headers: dict[str, str], body: bytes | None = None) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=120)
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    found = answer.status, dict(answer.getheaders()) | {"body": answer.read()}
    connection.close()
    return found


def ours(served: Served, **more: str) -> dict[str, str]:
    return {"Host": f"127.0.0.1:{served.port}", "X-Guessproof": "1", "Content-Type": "application/json", **more}


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "", "127.0.0.1.evil.example", "localhost"]
)
def test_a_foreign_host_is_refused(served: Served, host: str) -> None:
    status, found = raw(served, "GET", "/api/start", {"Host": host})
    assert status == 421
    assert json.loads(found["body"])["error"]["problem"]
    assert raw(served, "GET", "/api/start", {"Host": f"localhost:{served.port}"})[0] == 200


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "file://", "http://127.0.0.1:1", "https://localhost"]
)
def test_a_foreign_origin_is_refused(served: Served, origin: str) -> None:
    body = json.dumps({"state": CALCULATION}).encode()
    assert raw(served, "POST", "/api/plan/write", ours(served, Origin=origin), body)[0] == 403
    good = ours(served, Origin=f"http://127.0.0.1:{served.port}")
    assert raw(served, "POST", "/api/plan/write", good, body)[0] == 200


def test_a_form_of_another_page_cannot_write(served: Served) -> None:
    """A form sends no header of its own, whatever else it sends."""
    headers = {"Host": f"127.0.0.1:{served.port}", "Content-Type": "text/plain"}
    assert raw(served, "POST", "/api/plan/write", headers, b'{"state": {}}')[0] == 403


@pytest.mark.parametrize("path", ["/", "/static/js/main.js", "/api/start", "/api/nothing", "/api/openapi.json"])
def test_every_answer_says_what_a_browser_may_do(served: Served, path: str) -> None:
    _, found = raw(served, "GET", path, {"Host": f"127.0.0.1:{served.port}"})
    assert found["content-security-policy"] == POLICY
    assert "unsafe" not in POLICY
    assert found["x-content-type-options"] == "nosniff"
    assert found["cache-control"] == "no-store"
    assert "access-control-allow-origin" not in found


@pytest.mark.parametrize(
    "path",
    ["/static/../app.py", "/static/..%2fapp.py", "/static/%2e%2e/app.py", "/static//etc/passwd", "/docs", "/redoc"],
)
def test_nothing_but_the_page_is_served(served: Served, path: str) -> None:
    assert raw(served, "GET", path, {"Host": f"127.0.0.1:{served.port}"})[0] == 404


def test_too_much_is_refused_before_it_is_read(served: Served) -> None:
    headers = ours(served, **{"Content-Length": str(10**9)})
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=120)
    connection.putrequest("POST", "/api/live", skip_host=True)
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    assert connection.getresponse().status == 413
    connection.close()


def test_too_much_without_a_length_is_refused_too(served: Served) -> None:
    parts = (b"x" * 2**20 for _ in range(8))
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=120)
    connection.request("POST", "/api/live", parts, ours(served), encode_chunked=True)
    assert connection.getresponse().status == 413
    connection.close()


@pytest.mark.parametrize(
    ("door", "body"),
    [
        ("plan/write", {"state": {"columns": {"HALF": {"bounds": [0, 1]}}}}),
        ("ask", {"answers": ["1", "HALF"]}),
        ("tables/columns", {"source": "HALF.csv"}),
        ("question", {"state": {"query": {"sql": "SELECT HALF FROM t"}, "data": {"name": "a", "source": "HALF"}}}),
    ],
)
def test_half_a_character_is_refused_or_answered(served: Served, door: str, body: Any) -> None:
    """JSON can say half a character, which no answer can repeat."""
    sent = json.dumps(body).replace("HALF", "\\ud800").encode()
    status, found = raw(served, "POST", f"/api/{door}", ours(served), sent)
    assert status in (200, 422), found["body"]
    assert raw(served, "PUT", "/api/state", ours(served, **{"X-Desk": "half-a-desk"}), sent)[0] in (204, 422)
    assert raw(served, "GET", "/api/state", ours(served, **{"X-Desk": "half-a-desk"}))[0] in (200, 422)


def test_another_machine_needs_the_token(tmp_path: Path) -> None:
    with serving(tmp_path, token="s3cret") as found:
        assert found.ask("GET", "/api/start")[0] == 401
        assert found.ask("POST", "/api/login", {"token": "wrong"})[0] == 401
        assert found.ask("GET", "/api/start", headers={"Cookie": "guessproof=s3cre"})[0] == 401
        assert found.ask("POST", "/api/login", {"token": "s3cret"})[0] == 204
        assert found.ask("GET", "/api/start", headers={"Cookie": "guessproof=s3cret"})[0] == 200
        status, headers = raw(found, "POST", "/api/login", ours(found), b'{"token": "s3cret"}')
        assert status == 204
        assert "HttpOnly" in headers["set-cookie"]
        assert "strict" in headers["set-cookie"].lower()


def test_only_the_loopback_goes_without_a_token() -> None:
    assert all(map(is_loopback, ("127.0.0.1", "localhost", "::1", "[::1]", "127.3.4.5")))
    assert not any(map(is_loopback, ("0.0.0.0", "::", "10.0.0.1", "example.org", "")))
    guard = Guard.for_address("0.0.0.0", 9000, "t", ("machine",))
    assert guard.knows("machine:9000")
    assert not guard.knows("0.0.0.0:9000")
    assert not guard.lets_in({})


def test_a_missing_part_gives_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'guessproof\[web\]'"):
        check_parts()


@pytest.mark.parametrize(
    ("key", "path"),
    [
        ("source", "../secret.csv"),
        ("source", "/etc/passwd"),
        ("source", "link.csv"),
        ("source", "a\0b.csv"),
        ("ledger", "../guessproof.ledger"),
        ("from", "../public.csv"),
        ("table", "../wards.csv"),
    ],
)
def test_no_plan_reaches_outside_the_folder(tmp_path: Path, key: str, path: str) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "secret.csv").write_text("a\n1\n")
    (inner / "link.csv").symlink_to(tmp_path / "secret.csv")
    folder = Folder.opened(inner)
    state: dict[str, Any] = {"data": {"source": path if key == "source" else "t.csv"}}
    state |= {"release": {"ledger": path}} if key == "ledger" else {}
    state |= {"columns": {"a": {"prior": {"from": path}}}} if key == "from" else {}
    state |= {"tables": {"wards": {"source": path}}} if key == "table" else {}
    with pytest.raises(WebError, match="outside"):
        folder.check(state)
    folder.check({"data": {"source": "env:DATABASE_URL"}})
    folder.close()


def test_uploads_are_private_and_gone_at_the_end(tmp_path: Path) -> None:
    folder = Folder.opened(tmp_path)
    assert stat.S_IMODE(os.stat(folder.uploads).st_mode) == 0o700
    (folder.uploads / "a.csv").write_text("a\n1\n")
    folder.close()
    assert not folder.uploads.exists()
