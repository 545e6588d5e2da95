"""From a file to a plan. Nothing but the plan and the public files it names is opened."""

from __future__ import annotations

import re
import stat
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from guessproof.calculate import Limits
from guessproof.errors import PlanError
from guessproof.plan.aims import read_aim
from guessproof.plan.blanks import refuse_blanks
from guessproof.plan.checks import check_limits, check_tables, posterior_limit, risk_profile
from guessproof.plan.kinds import check_kind
from guessproof.plan.model import PlanFile
from guessproof.plan.plan import Plan, is_elsewhere
from guessproof.plan.positions import Lines, lines
from guessproof.plan.priors import Beliefs
from guessproof.plan.refusals import Place, refusal
from guessproof.plan.words import redacted

LARGEST_PLAN = 4 * 1024 * 1024
_START = "write one with: guessproof init"
_WHERE = re.compile(r"\s*\(at (?:line (\d+), column \d+|end of document)\)\s*\Z")


def load_plan(path: str | Path) -> Plan:
    """The plan in a file; PlanError names the line of what cannot be meant. The table itself is never opened."""
    path = Path(path)
    return _plan(_text(path), path)


def loads_plan(text: str, *, folder: str | Path = ".", file: str | None = None) -> Plan:
    """The plan in a text. Paths in it are relative to `folder`; `file` names it in errors.

    >>> plan = loads_plan('''
    ... data = { name = "cafeteria", source = "cafeteria.csv", protects = "values" }
    ... query.sql = "SELECT SUM(time) AS total FROM t"
    ... columns.time = { bounds = [0, 120], prior = { normal = { mean = 20, sd = 6.28 } } }
    ... attacker = { goal = "time within 2", odds = "1 in 3" }''')
    >>> plan.goal(), plan.limits.posterior
    (time within 2, 0.3333333333333333)
    """
    return _plan(text, None, Path(folder), file)


def plan_of(tables: Mapping[str, Any], *, folder: str | Path = ".") -> Plan:
    """The plan that a table of tables holds, with the keys of a plan file. Paths in it are relative to `folder`.

    >>> plan_of({
    ...     "data": {"name": "cats", "source": "cats.csv", "protects": "records"},
    ...     "query": {"sql": "SELECT COUNT(*) AS n FROM t"},
    ...     "release": {"epsilon": 0.5},
    ... })
    Plan('cats', protects='records', 'SELECT COUNT(*) AS n FROM t')
    """
    if not isinstance(tables, Mapping):
        raise PlanError("plan", tables, "is not a table of tables", 'write {"data": {…}, "query": {…}, …}')
    return _understood(dict(tables), Place(_lines(""), None), None, Path(folder).absolute())


def _plan(text: str, path: Path | None, folder: Path | None = None, name: str | None = None) -> Plan:
    folder = path.absolute().parent if path is not None else (folder or Path(".")).absolute()
    name = str(path) if path is not None else name
    raw = _parsed(text, name)
    return _understood(raw, Place(_lines(text), name), path, folder)


def _understood(raw: dict[str, Any], place: Place, path: Path | None, folder: Path) -> Plan:
    refuse_blanks(raw, place)
    try:
        file = PlanFile.model_validate(_tuples(raw))
    except ValidationError as error:
        raise refusal(error, raw, place) from None
    return _checked(file, place, path, folder)


def _checked(file: PlanFile, place: Place, path: Path | None, folder: Path) -> Plan:
    check_tables(file, place)
    check_limits(file, place)
    profile = risk_profile(file.risk, file.data.protects, place)
    source = None if is_elsewhere(file.data.source) else folder / file.data.source
    beliefs = Beliefs(file, place, folder, source)
    attributes = beliefs.attributes()
    for name, column in file.columns.items():
        check_kind(name, column, attributes.get(name), place)
    limits, wanted, attacker = Limits(), None, file.attacker
    if attacker is not None:
        limits = Limits(attacker.advantage, posterior_limit(attacker, place), attacker.both)
        wanted, attacker = read_aim(file, attributes, place)
    for output in file.accuracy.outputs:
        file.accuracy.remember(output, place.lines.find(("accuracy", output)), place.file)
    digests = {name: table.digest for name, table in beliefs.tables.items()}
    return Plan(file, place, path, folder, profile, attacker, limits, attributes, wanted, digests)


def _text(path: Path) -> str:
    name = str(path)
    try:
        content = None
        mode = path.stat().st_mode
        if stat.S_ISREG(mode):
            with path.open("rb") as file:
                content = file.read(LARGEST_PLAN + 1)
    except FileNotFoundError:
        raise PlanError("plan", name, "there is no such file", _START, file=name) from None
    except (OSError, ValueError):
        raise PlanError("plan", name, "cannot be read", "check its name and permissions", file=name) from None
    if content is None:
        what = "is a folder" if stat.S_ISDIR(mode) else "is not a file"
        raise PlanError("plan", name, what, "name a plan file", file=name)
    if len(content) > LARGEST_PLAN:
        remedy = 'put a long prior into a public file and write { from = "public.csv" }'
        raise PlanError("plan", name, "is larger than 4 MB", remedy, file=name)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        problem = "is not text in UTF-8"
        raise PlanError("plan", name, problem, "save it as UTF-8", line=line, file=name) from None


def _parsed(text: str, name: str | None) -> dict[str, Any]:
    if not text.strip():
        raise PlanError("plan", text, "is empty", _START, file=name)
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise PlanError("plan", "…", "is nested too deeply", "write it flatter", file=name) from None
    except ValueError as error:  # TOMLDecodeError is one; so is a number with too many digits
        raise _syntax(text, str(error), name) from None


def _syntax(text: str, message: str, name: str | None) -> PlanError:
    where = _WHERE.search(message)
    last = text.rstrip("\n").count("\n") + 1
    line = None if where is None else int(where[1]) if where[1] else last
    said = _WHERE.sub("", message)
    shown = redacted(text.split("\n")[line - 1].strip()) if line is not None else "…"
    for words, problem, remedy in _SYNTAX:
        if words in said:
            return PlanError("plan", shown, problem, remedy, line=line, file=name)
    problem = f"is not valid TOML: {said[:1].lower()}{said[1:]}"
    return PlanError("plan", shown, problem, "see the rules of TOML 1.0", line=line, file=name)


_SYNTAX = (
    ("Cannot overwrite", "this key stands twice", "keep one of them"),
    ("Duplicate inline table key", "this key stands twice", "keep one of them"),
    ("twice", "this table stands twice", "join the two"),
    ("Invalid value", "the value is not understood", 'texts stand in quotes, as "text"; numbers do not'),
    ("Expected '='", "an equals sign is missing", "write key = value"),
    ("Unterminated string", "a text is not closed", "close it with quotes"),
    ("Illegal character", "a text is not closed or holds a character that must not stand there", "close the quotes"),
    ("Unclosed array", "a list is not closed", "close it with ]"),
    ("Unclosed inline table", "a table in braces is not closed", "close it with } on the same line"),
    ("at the end of a table declaration", "the name of a table is not closed", "close it with ]"),
    ("after a statement", "something is left over after the value", "put each key on a line of its own"),
    ("Invalid statement", "is neither a key nor a table", "write key = value, or [table]"),
    ("initial character for a key", "a key is missing or needs quotes", 'write key = value; odd names as "a b"'),
    ("Exceeds the limit", "a number has too many digits", "write it as 1e20"),
)


def _lines(text: str) -> Lines:
    try:
        return lines(text)
    except (IndexError, RecursionError, ValueError):  # lines are a courtesy: without them errors still name the key
        return Lines({})


def _tuples(value: Any) -> Any:
    """Lists as tuples, so that a plan is frozen all the way down."""
    if isinstance(value, dict):
        return {key: _tuples(item) for key, item in value.items()}
    if isinstance(value, list):
        return tuple(_tuples(item) for item in value)
    return value
