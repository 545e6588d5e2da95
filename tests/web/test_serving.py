"""`guessproof serve` as a command: where it listens, who gets in, and what is left when it is stopped."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import commands
import pytest

from guessproof.web.serving import listen

PLAN = Path(__file__).parents[2] / "examples/cafeteria/plan.toml"
PATIENCE = 120  # seconds: machines that run tests are busy


@pytest.fixture
def here() -> Iterator[Path]:
    """A folder with a short path: the sockets of helper processes lie in it, and their paths may not be long."""
    with tempfile.TemporaryDirectory(prefix="gp-") as folder:
        yield Path(folder).resolve()


@contextmanager
def started(folder: Path, *words: str, **environment: str) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    """The command in a folder, and the lines that it prints; its temporary files lie in `folder/tmp`."""
    (folder / "tmp").mkdir(exist_ok=True)
    known = {**os.environ, "TMPDIR": str(folder / "tmp"), "PYTHONUNBUFFERED": "1", **environment}
    command = [sys.executable, "-m", "guessproof", "serve", *words]
    process = subprocess.Popen(
        command, cwd=folder, env=known, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    lines = [process.stdout.readline()]
    try:
        if "0.0.0.0" in words:
            lines.append(process.stdout.readline())
        yield process, lines
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def address_of(line: str) -> str:
    return line.split("The page is at ")[1].split()[0]


def fetched(address: str, data: bytes | None = None, **headers: str) -> tuple[int, bytes]:
    known = {name.replace("_", "-"): value for name, value in headers.items()}
    request = urllib.request.Request(address, data, {"X-Guessproof": "1", **known})
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def children_of(process: int) -> list[int]:
    found: list[int] = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = entry.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(words[1]) == process:
            found.append(int(entry.parent.name))
    return found + [below for child in found for below in children_of(child)]


def is_alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_it_starts_says_where_and_leaves_nothing_behind(here: Path) -> None:
    shutil.copy(PLAN, here)
    with started(here, "plan.toml", "--no-open", "--port", "0") as (process, lines):
        address = address_of(lines[0])
        assert address.startswith("http://127.0.0.1:")
        assert str(here) in lines[0]
        assert b"<title>guessproof</title>" in fetched(address)[1]
        state = json.loads(fetched(f"{address}api/start")[1])["state"]
        assert state["data"]["name"] == "cafeteria"
        headers = {"X_File_Name": "a.csv", "Content_Type": "application/octet-stream"}
        assert fetched(f"{address}api/uploads", b"time\n1\n2\n", **headers)[0] == 201
        [uploads] = (here / "tmp").glob("guessproof-page-*")
        assert stat.S_IMODE(uploads.stat().st_mode) == 0o700
        assert stat.S_IMODE((uploads / "a.csv").stat().st_mode) == 0o600
        body = json.dumps({"kind": "audit", "state": state, "trials": 1_000_000, "seconds": 100}).encode()
        assert fetched(f"{address}api/jobs", body, Content_Type="application/json")[0] == 201
        helpers = children_of(process.pid)
        process.send_signal(signal.SIGINT)
        said, complaints = process.communicate(timeout=PATIENCE)
        assert (process.returncode, said, complaints) == (0, "", "")  # no request was logged
    assert not uploads.exists()
    until = time.monotonic() + PATIENCE
    while any(map(is_alive, helpers)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(map(is_alive, helpers))


def test_from_elsewhere_it_asks_for_its_token_and_a_browser_opens(here: Path) -> None:
    opened = here / "opened"
    browser = here / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {opened}\n')
    browser.chmod(0o700)
    with started(here, "--host", "0.0.0.0", "--port", "0", BROWSER=str(browser)) as (process, lines):
        port = address_of(lines[0]).rsplit(":", 1)[1].strip("/")
        token = lines[1].split("Its token: ")[1].strip()
        assert len(token) >= 32
        address = f"http://127.0.0.1:{port}/"
        assert fetched(f"{address}api/start")[0] == 401
        assert fetched(f"{address}api/start", Cookie=f"guessproof={token[:-1]}")[0] == 401
        assert fetched(f"{address}api/start", Cookie=f"guessproof={token}")[0] == 200
        assert fetched(f"{address}api/start", Cookie=f"guessproof={token}", Host="evil.example")[0] == 421
        until = time.monotonic() + PATIENCE
        while not opened.exists() and time.monotonic() < until:
            time.sleep(0.05)
        assert opened.read_text().strip() == f"http://{socket.gethostname()}:{port}/"  # without the token
        [uploads] = (here / "tmp").glob("guessproof-page-*")
        process.terminate()
        process.communicate(timeout=PATIENCE)
    assert not uploads.exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("broken.toml",), "line 1: data.protects"),
        (("missing.toml",), "missing.toml"),
        (("--port", "99999"), "port"),
        (("--host", "256.1.1.1"), "host"),
    ],
)
def test_what_cannot_be_served_is_said(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    (tmp_path / "broken.toml").write_text("[data]\nname = 3\n")
    known = [str(tmp_path / word) if word.endswith(".toml") else word for word in words]
    found = commands.run("serve", "--no-open", *known)
    assert found.returncode == 2
    assert said in found.stderr


def test_a_port_in_use_is_said() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        found = commands.run("serve", "--no-open", "--port", str(port))
    assert found.returncode == 2
    assert f"port: cannot be listened on (got {port}); choose another one" in found.stderr


def test_an_answer_does_not_wait_for_its_head_to_be_acknowledged() -> None:
    """Small pieces are sent at once; else every answer comes 40 ms late, and a drag is no longer followed."""

    async def at_once() -> int:
        found = asyncio.get_running_loop().create_future()

        def met(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            found.set_result(writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        listener = listen("127.0.0.1", 0)
        async with await asyncio.start_server(met, sock=listener):
            _, writer = await asyncio.open_connection(*listener.getsockname())
            writer.close()
            return await found

    with ThreadPoolExecutor(1) as thread:  # a browser's loop may run in this one
        assert thread.submit(asyncio.run, at_once()).result() != 0
