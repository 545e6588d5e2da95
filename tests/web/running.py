"""A server for tests: the real application on a free port, in a thread, in a folder of its own."""

from __future__ import annotations

import json
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn

from guessproof.web.app import make_app
from guessproof.web.safety import Guard
from guessproof.web.serving import listen
from guessproof.web.shop import Shop

CALCULATION: dict[str, Any] = {
    "columns": {"time": {"bounds": [0, 120], "prior": {"normal": {"mean": 20, "sd": 6.28}}}},
    "attacker": {"goal": "time within 2", "advantage": 0.05, "at": {"time": 20}},
}
CAFETERIA: dict[str, Any] = {
    "data": {"name": "cafeteria", "source": "cafeteria.csv", "table": "t", "protects": "values", "rows": 120},
    "query": {"sql": "SELECT AVG(time) AS mean_time FROM t WHERE faculty = 'math'"},
    "columns": {"time": {"bounds": [0, 120], "prior": {"normal": {"mean": 20, "sd": 6.28}}}},
    "attacker": {"goal": "time within 2", "advantage": 0.05, "at": {"time": 20}},
    "accuracy": {"within": 1.5, "confidence": 0.95},
    "release": {"ledger": "guessproof.ledger"},
}

LABELS: dict[str, Any] = {  # two columns: it has no curve, but a ladder, which is climbed at once
    "data": {"name": "labels", "source": "cafeteria.csv", "table": "t", "protects": "values", "rows": 120},
    "query": {"sql": "SELECT COUNT(*) AS n FROM t WHERE faculty = 'math' AND smoker = 'yes'"},
    "columns": {
        "faculty": {"prior": {"categorical": {"math": 0.5, "cs": 0.3, "law": 0.2}}},
        "smoker": {"prior": {"categorical": {"yes": 0.2, "no": 0.8}}},
    },
    "attacker": {"goal": "faculty exactly and smoker exactly", "advantage": 0.05},
}


@dataclass(frozen=True)
class Served:
    """A running page and what is behind it."""

    address: str
    port: int
    shop: Shop

    def ask(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> tuple[int, Any]:
        """One request as the page sends it; the status and the JSON."""
        sent = {"X-Guessproof": "1", "X-Desk": "test-desk-1", "Content-Type": "application/json", **(headers or {})}
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.address + path.removeprefix("/"), data, sent, method=method)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                text = answer.read()
                return answer.status, json.loads(text) if text else None
        except urllib.error.HTTPError as error:
            text = error.read()
            return error.code, json.loads(text) if text else None

    def work(self, kind: str, state: Any, **options: Any) -> dict[str, Any]:
        """Long work, waited for."""
        status, job = self.ask("POST", "/api/jobs", {"kind": kind, "state": state, **options})
        assert status == 201, job
        while job["state"] in ("waiting", "running"):
            _, job = self.ask("GET", f"/api/jobs/{job['id']}?wait=20")
        return job


@contextmanager
def serving(
    folder: Path, *, state: Any = None, token: str | None = None, largest_upload: int | None = None
) -> Iterator[Served]:
    """The page of a folder, until the block ends."""
    listener = listen("127.0.0.1", 0)
    port = listener.getsockname()[1]
    shop = Shop.opened(folder, state)
    app = make_app(shop, Guard.for_address("127.0.0.1", port, token), largest_upload=largest_upload)
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical", access_log=False, server_header=False))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield Served(f"http://127.0.0.1:{port}/", port, shop)
    finally:
        server.should_exit = True
        thread.join(20)
        shop.close()
        listener.close()
