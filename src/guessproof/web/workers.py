"""A few processes that do the long work: warm, one job each at a time, and stopped by ending the process."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any, Literal

from guessproof.errors import GuessproofError
from guessproof.web.folder import Folder
from guessproof.web.refusals import Refusal, refusal_of, status_of, unexpected
from guessproof.web.states import Tables

Progressed = Literal["waiting", "running", "done", "failed", "stopped"]
MOST_JOBS = 200  # that are remembered
STOPPED = Refusal(kind="stopped", message="stopped", problem="this was stopped", remedy="start it again")


@dataclass
class WebJob:
    """One piece of work: how far it is, and what came of it."""

    id: str
    kind: str
    state: Progressed = "waiting"
    share: float = 0.0
    words: str = ""
    result: Any = None
    refusal: Refusal | None = None
    status: int = 200
    ended: threading.Event = field(default_factory=threading.Event)
    stopping: bool = False
    process: Any = None

    @property
    def is_over(self) -> bool:
        """Whether nothing more will come."""
        return self.ended.is_set()


class Worker:
    """One process and the pipe to it."""

    def __init__(self, context: Any, folder: Folder) -> None:
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(theirs, folder), daemon=True)
        self.process.start()
        theirs.close()

    def end(self) -> None:
        """Stop the process, whatever it is doing."""
        with contextlib.suppress(OSError):
            self.pipe.close()
        self.process.terminate()
        self.process.join(2)
        if self.process.is_alive():
            self.process.kill()


class Workers:
    """Hands jobs to processes; at most `most` at a time and two for exact answers, the others wait."""

    def __init__(self, folder: Folder, most: int | None = None) -> None:
        methods = multiprocessing.get_all_start_methods()
        self.context: Any = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
        if "forkserver" in methods:
            self.context.set_forkserver_preload(["guessproof.web.warm"])
        self.folder = folder
        count = most or max(2, min(4, os.cpu_count() or 2))
        # What somebody waits for goes first: curves and audits do not stand in its way.
        self.first, self.room = threading.Semaphore(2), threading.Semaphore(count)
        self.lock = threading.Lock()
        self.idle: list[Worker] = []
        self.jobs: OrderedDict[str, WebJob] = OrderedDict()
        self.closed = False

    def start(self, kind: str, state: Tables, options: dict[str, Any] | None = None) -> WebJob:
        """Begin a job; it waits where all processes are busy."""
        job = WebJob(os.urandom(12).hex(), kind)
        with self.lock:
            self.jobs[job.id] = job
            while len(self.jobs) > MOST_JOBS:
                self.jobs.popitem(last=False)
        threading.Thread(target=self._attend, args=(job, state, options or {}), daemon=True).start()
        return job

    def find(self, name: str) -> WebJob | None:
        """A job by its name."""
        return self.jobs.get(name)

    def stop(self, job: WebJob) -> None:
        """End a job; what it was doing is lost."""
        job.stopping = True
        if job.process is not None and not job.is_over:
            job.process.end()

    def warm(self) -> None:
        """Start one process before it is needed."""
        with self.lock:
            if not self.idle and not self.closed:
                self.idle.append(Worker(self.context, self.folder))

    def close(self) -> None:
        """End every process."""
        self.closed = True
        for job in list(self.jobs.values()):
            self.stop(job)
        with self.lock:
            idle, self.idle = self.idle, []
        for worker in idle:
            worker.end()

    def _attend(self, job: WebJob, state: Tables, options: dict[str, Any]) -> None:
        with self.first if job.kind == "outcome" else self.room:
            worker = None
            try:
                if not job.stopping and not self.closed:
                    worker = self._worker()
                    job.process = worker
                    if not job.stopping:  # it may have been stopped while a process was started for it
                        job.state = "running"
                        worker.pipe.send((job.kind, state, options))
                        self._follow(job, worker)
            except (EOFError, OSError, ValueError):  # the process is gone
                worker = None
            except TypeError:  # its pipe was closed while it was read: what is read then has no number any more
                if not job.stopping:
                    raise
                worker = None
            finally:
                self._settle(job, worker)

    def _worker(self) -> Worker:
        with self.lock:
            while self.idle:
                worker = self.idle.pop()
                if worker.process.is_alive():
                    return worker
        return Worker(self.context, self.folder)

    def _follow(self, job: WebJob, worker: Worker) -> None:
        while True:
            what, *told = worker.pipe.recv()
            if what == "progress":
                job.share, job.words, found = told
                job.result = job.result if found is None else found
            elif what == "done":
                job.result, job.state = told[0], "done"
                return
            else:
                job.refusal, job.status, job.state = Refusal(**told[0]), told[1], "failed"
                return

    def _settle(self, job: WebJob, worker: Worker | None) -> None:
        if job.state not in ("done", "failed"):
            job.state, job.refusal = ("stopped", STOPPED) if job.stopping else ("failed", unexpected())
            job.status = 409 if job.stopping else 500
        job.process = None
        if worker is not None and not self.closed and worker.process.is_alive():
            with self.lock:
                self.idle.append(worker)
        job.ended.set()


def _work(pipe: Connection, folder: Folder) -> None:
    """The loop of one process. It ends with the server: its pipe is closed then."""
    from guessproof.web.work import KINDS

    def tell(share: float, words: str, found: Any = None) -> None:
        pipe.send(("progress", share, words, found))

    with contextlib.suppress(ValueError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server decides when it ends
    while True:
        try:
            kind, state, options = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            found = KINDS[kind](folder, state, options, tell)
            pipe.send(("done", found))
        except GuessproofError as error:
            pipe.send(("failed", refusal_of(error).model_dump(), status_of(error)))
        except (BrokenPipeError, EOFError):
            return
        except Exception:  # its text might quote data
            pipe.send(("failed", unexpected().model_dump(), 500))
