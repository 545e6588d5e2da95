"""Everything that is said while something runs: to the terminal, to the log, and by an exception."""

from __future__ import annotations

import io
import logging
import os
import sys
import tempfile
import traceback
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass
class Overheard:
    """What was said; complete when the block has ended."""

    text: str = ""


@contextmanager
def overhear() -> Generator[Overheard]:
    """Listen to both output streams, below Python too, and to every logger."""
    heard, log = Overheard(), io.StringIO()
    handler, root = logging.StreamHandler(log), logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    with tempfile.TemporaryFile() as file:
        kept = _turn(file.fileno())
        try:
            yield heard
        finally:
            _turn_back(kept)
            root.removeHandler(handler)
            root.setLevel(level)
            file.seek(0)
            heard.text = file.read().decode(errors="replace") + log.getvalue()


def told(error: BaseException) -> str:
    """An exception with all that hangs on it, the variables of its frames too."""
    return "".join(traceback.TracebackException.from_exception(error, capture_locals=True).format())


def _turn(to: int) -> list[int]:
    sys.stdout.flush()
    sys.stderr.flush()
    kept = [os.dup(stream) for stream in (1, 2)]
    for stream in (1, 2):
        os.dup2(to, stream)
    return kept


def _turn_back(kept: list[int]) -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    for stream, old in zip((1, 2), kept, strict=True):
        os.dup2(old, stream)
        os.close(old)
