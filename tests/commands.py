"""The commands as a shell runs them, without a process of their own: one start costs more than most answers."""

from __future__ import annotations

import contextlib
import functools
import io
import json
import os
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple
from unittest import mock

import jsonschema

from guessproof.cli.app import main
from guessproof.schemas import COMMANDS, schemas


class Done(NamedTuple):
    """Exit code, standard output, standard error."""

    returncode: int
    stdout: str
    stderr: str

    @property
    def output(self) -> str:
        """All that was printed."""
        return self.stdout + self.stderr


def run(*words: str, typed: str = "", **environment: str) -> Done:
    """Return what a command did, with the exit code of a shell; a traceback is raised here.

    ``typed`` is standard input; other keywords are environment variables.
    """
    out, err = io.StringIO(), io.StringIO()
    code: object = 0
    with contextlib.ExitStack() as changes:
        changes.enter_context(mock.patch.object(sys, "argv", ["guessproof", *words]))
        changes.enter_context(mock.patch.object(sys, "stdin", io.StringIO(typed)))
        changes.enter_context(mock.patch.dict(os.environ, environment))
        changes.enter_context(contextlib.redirect_stdout(out))
        changes.enter_context(contextlib.redirect_stderr(err))
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
    assert isinstance(code, int)
    check_json(words, out.getvalue())
    return Done(code, out.getvalue(), err.getvalue())


def check_json(words: Sequence[str], printed: str) -> None:
    """Fail where what a command printed under --json is not one document that fits its published schema."""
    if "--json" not in words or "--help" in words or not printed:
        return
    document = json.loads(printed)
    name = schema_name(words, document)
    if name is not None:
        validator(name).validate(document)


def schema_name(words: Sequence[str], document: Any) -> str | None:
    """Return which schema describes what this command printed; None for a command of a test's own."""
    if isinstance(document, dict) and set(document) == {"error"}:
        return "error"
    command = next((word for word in words if word in COMMANDS or word == "ledger"), None)
    if command == "ledger":
        return f"ledger_{words[words.index('ledger') + 1]}"
    if command == "choose" and "limits" not in document:
        return "calculate"
    return "explain_plan" if command == "explain" and "general" in document else command


@functools.cache
def validator(name: str) -> Any:
    """Return the validator of one command's documents."""
    return jsonschema.Draft202012Validator({**schemas(), "$ref": f"#/$defs/{name}"})


def printed(*words: str, code: int = 0, **environment: str) -> str:
    """Return the standard output of a command that ends with this exit code."""
    done = run(*words, **environment)
    assert done.returncode == code, (words, done)
    return done.stdout
