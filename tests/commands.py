"""The commands as a shell runs them, without a process of their own: one start costs more than most answers."""

from __future__ import annotations

import contextlib
import io
import sys
from typing import NamedTuple

from guessproof.cli.app import main


class Done(NamedTuple):
    """Exit code, standard output, standard error."""

    returncode: int
    stdout: str
    stderr: str


def run(*words: str) -> Done:
    """From the words that are typed to the exit code; a traceback would be raised here."""
    out, err = io.StringIO(), io.StringIO()
    code: object = 0
    before = sys.argv
    sys.argv = ["guessproof", *words]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main()
    except SystemExit as end:
        code = end.code or 0
    finally:
        sys.argv = before
    assert isinstance(code, int)
    return Done(code, out.getvalue(), err.getvalue())
