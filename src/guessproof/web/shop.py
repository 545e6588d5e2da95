"""Everything behind the API: folder, processes, curves, tabs, and a lock each before curves and the ledger."""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from guessproof.choosing import Choice, asked
from guessproof.choosing.budgets import budget_left, shared
from guessproof.errors import GuessproofError, InfeasibleError
from guessproof.sql import Asked
from guessproof.web import pictures
from guessproof.web.desks import Desks, Recent
from guessproof.web.folder import Folder, remote_of
from guessproof.web.live import Beliefs, LiveChooser
from guessproof.web.outcomes import Outcome, of_choice, quick_calculation
from guessproof.web.states import Tables, digest, has_data, read_calculation, read_state
from guessproof.web.workers import WebJob, Workers


@dataclass(frozen=True)
class QuickAnswer:
    """A certified answer, and what is needed to draw it."""

    outcome: Outcome
    choice: Choice | None
    beliefs: Beliefs | None


@dataclass
class Shop:
    """What all requests share."""

    folder: Folder
    workers: Workers
    start: Tables | None = None
    desks: Desks = field(default_factory=Desks)
    curves: Recent[WebJob] = field(default_factory=lambda: Recent[WebJob](24))
    questions: Recent[Asked] = field(default_factory=lambda: Recent[Asked](24))
    ledger_lock: threading.Lock = field(default_factory=threading.Lock)
    curve_lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def opened(cls, root: Path, start: Tables | None = None) -> Shop:
        """A shop in a folder."""
        started_with = (start or {}).get("data")
        folder = Folder.opened(root, None if started_with is None else remote_of(started_with))
        return cls(folder, Workers(folder), start)

    def close(self) -> None:
        """End processes, delete uploads."""
        self.workers.close()
        self.folder.close()

    # Quick answers.

    def curve(self, state: Tables) -> WebJob:
        """The curve of a state's attack: made once, in the background."""
        name = digest(state, without_limits=True)
        with self.curve_lock:  # not that of the ledger, which a release holds for as long as its query runs
            job = self.curves.get(name)
            if job is None or job.state == "stopped":
                job = self.curves.put(name, self.workers.start("beliefs", state))
        return job

    def beliefs(self, state: Tables) -> Beliefs | None:
        """The curve of a state's attack, once it is made, or what there is of it already."""
        job = self.curves.get(digest(state, without_limits=True))
        return None if job is None else job.result

    def comes(self, state: Tables) -> bool:
        """Whether a curve that is not there may still be made."""
        job = self.curves.get(digest(state, without_limits=True))
        return job is None or job.state in ("waiting", "running", "stopped")

    def chooser(self, state: Tables) -> LiveChooser | None:
        """Who chooses for a plan while it is dragged; None until the curve is there."""
        plan = read_state(state, self.folder)
        beliefs = self.beliefs(state)
        if beliefs is None and plan.wanted is not None:
            return None
        name = digest(state, without_limits=True)
        question = self.questions.get(name) or self.questions.put(name, asked(plan))
        left = budget_left(plan)
        remaining = None if left.epsilon is None or left.to_come == 0 else shared(left.epsilon, left.to_come)
        chooser = LiveChooser(plan, question, remaining, left.is_scanned)
        chooser.beliefs = beliefs
        return chooser

    def quick(self, state: Tables) -> QuickAnswer | None:
        """An answer on the private side; None until its curve was asked for (`curve`) and is there."""
        if not has_data(state):
            return self._quick_calculation(state)
        chooser = self.chooser(state)
        if chooser is None:
            return None
        before = None if chooser.beliefs is None else pictures.before_of(chooser.beliefs)
        choice = chooser.choice()
        return QuickAnswer(of_choice(choice, exact=False, before=before), choice, chooser.beliefs)

    def _quick_calculation(self, state: Tables) -> QuickAnswer | None:
        found = read_calculation(state, self.folder)
        beliefs = self.beliefs(state)
        if beliefs is None:
            return None
        try:
            epsilon = beliefs.largest(found.limits)
        except InfeasibleError:  # the exact answer says why
            return None
        if not math.isfinite(epsilon):
            return None
        gained = beliefs.advantage(epsilon, found.limits.both)
        try:
            believed = beliefs.posterior(epsilon)
        except GuessproofError:
            believed = None
        outcome = quick_calculation(epsilon, gained, believed, pictures.before_of(beliefs), found.attack.prior_factor)
        return QuickAnswer(outcome, None, beliefs)

    def charts(self, answer: QuickAnswer) -> dict[str, Any]:
        """Every chart of a state, drawn."""
        return pictures.drawings(answer.outcome, answer.choice, answer.beliefs)
