"""What the server remembers: the state of each tab, curves that were made, offers that may be confirmed."""

from __future__ import annotations

import os
import re
import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from guessproof.choosing import Choice
from guessproof.plan import Plan
from guessproof.web.states import Tables

Value = TypeVar("Value")
MOST_DESKS = 64
_NAME = re.compile(r"[A-Za-z0-9_-]{8,64}\Z")


class Recent(Generic[Value]):
    """The most recently used values by name; safe between threads."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.lock = threading.Lock()
        self.kept: OrderedDict[str, Value] = OrderedDict()

    def get(self, name: str) -> Value | None:
        """A value, if it is still there."""
        with self.lock:
            if name in self.kept:
                self.kept.move_to_end(name)
            return self.kept.get(name)

    def put(self, name: str, value: Value) -> Value:
        """Keep a value; the least recently used one goes."""
        with self.lock:
            self.kept[name] = value
            self.kept.move_to_end(name)
            while len(self.kept) > self.most:
                self.kept.popitem(last=False)
        return value

    def pop(self, name: str) -> Value | None:
        """Take a value out."""
        with self.lock:
            return self.kept.pop(name, None)


@dataclass(frozen=True)
class Offer:
    """A release that may be confirmed once: of which state, at which head of the ledger, and what was chosen for it."""

    id: str
    state: str
    head: str
    plan: Plan
    choice: Choice
    number: int | None

    @classmethod
    def made_for(cls, state: str, head: str, plan: Plan, choice: Choice, number: int | None) -> Offer:
        """An offer under a name that nobody guesses."""
        return cls(os.urandom(16).hex(), state, head, plan, choice, number)


@dataclass
class Desks:
    """One state a tab, by a name that the tab made up. Nothing is kept in the browser but that name."""

    states: Recent[Tables] = field(default_factory=lambda: Recent[Tables](MOST_DESKS))
    offers: Recent[Offer] = field(default_factory=lambda: Recent[Offer](MOST_DESKS))
    reports: Recent[str] = field(default_factory=lambda: Recent[str](8))

    def offer(self, made: Offer) -> Offer:
        """Keep an offer until it is confirmed, or forgotten."""
        return self.offers.put(made.id, made)

    def keep_report(self, html: str) -> str:
        """A report that can be looked at under a name that nobody guesses."""
        name = os.urandom(16).hex()
        self.reports.put(name, html)
        return name


def is_desk(name: Any) -> bool:
    """Whether this can be the name of a tab."""
    return isinstance(name, str) and _NAME.match(name) is not None
