"""Processes that are stopped whatever they are doing."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from guessproof.web.folder import Folder
from guessproof.web.workers import Workers


class Closed:
    """A pipe that was closed while it was read, and the process behind it."""

    def __init__(self) -> None:
        self.pipe = self.process = self

    def send(self, _: Any) -> None:
        """Nobody listens."""

    def recv(self) -> Any:
        raise TypeError("'NoneType' object cannot be interpreted as an integer")

    def is_alive(self) -> bool:
        return False


@pytest.mark.parametrize("stopping", [True, False])
def test_a_pipe_that_is_closed_while_it_is_read_ends_a_job(
    tmp_path: Path, stopping: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    workers, raised = Workers(Folder.opened(tmp_path)), list[Any]()
    monkeypatch.setattr(workers, "_worker", Closed)
    monkeypatch.setattr(threading, "excepthook", lambda told: raised.append(told.exc_type))

    def stop(*_: Any) -> None:
        for job in workers.jobs.values():
            job.stopping = stopping

    monkeypatch.setattr(Closed, "send", stop)
    job = workers.start("audit", {})
    assert job.ended.wait(20)
    while any(thread.name.endswith("(_attend)") for thread in threading.enumerate()):
        threading.Event().wait(0.01)
    assert (job.state, raised) == (("stopped", []) if stopping else ("failed", [TypeError]))
    workers.folder.close()
