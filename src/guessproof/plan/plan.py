"""A plan: everything that was decided before the table is opened, and how it is read from a file.

Nothing but the plan and the public files it names is opened.
"""

from __future__ import annotations

import re
import stat
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from guessproof.addresses import find_form, is_elsewhere, local_path
from guessproof.calculate import Limits
from guessproof.errors import InputError, ParameterError, PlanError
from guessproof.guarantee.unit import UNITS, PrivacyUnit
from guessproof.outputs import Kept, find_kept
from guessproof.plan.checks import (
    check_failure,
    check_kind,
    check_limits,
    check_tables,
    find_mixed,
    find_timely,
    find_timely_joined,
    kind_of,
    list_blanks,
    read_posterior_limit,
    read_profile,
)
from guessproof.plan.goals import GoalText, read_attacker
from guessproof.plan.places import Key, Place, hide_secrets
from guessproof.plan.priors import Beliefs
from guessproof.plan.sources import file_of_source, list_confidential
from guessproof.plan.tables import (
    AccuracyTable,
    AttackerTable,
    ColumnTable,
    DataTable,
    PlanFile,
    QueryTable,
    ReleaseTable,
)
from guessproof.world import Attribute, Goal, Kind

if TYPE_CHECKING:  # rooms that only some plans enter
    from guessproof.engines.base import SecretSource, SparkSource
    from guessproof.risk import RiskProfile

LARGEST_PLAN = 1024 * 1024  # bytes
_START = "write one with: guessproof init"
_LONG_KEY = re.compile(
    r"""(?<![A-Za-z0-9_-])(?:(?:[A-Za-z0-9_-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){16}"""
)
_WHERE = re.compile(r"\s*\(at (?:line (\d+), column \d+|end of document)\)\s*\Z")


@dataclass(frozen=True)
class PlanQuestion:
    """One question of a plan: what is asked, how near the answers must be, and where that stands in the file."""

    name: str  # empty for that of [query]
    sql: str
    accuracy: AccuracyTable
    rows: int | None
    weight: float = 1.0

    @property
    def key(self) -> Key:
        """Its table."""
        return ("queries", self.name) if self.name else ("query",)

    @property
    def accuracy_key(self) -> Key:
        """The table of its targets."""
        return (*self.key, "accuracy") if self.name else ("accuracy",)


@dataclass(frozen=True, eq=False)
class Plan:
    """The tables of a plan file, checked, with what they mean in the world of attackers."""

    file: PlanFile
    place: Place
    path: Path | None
    folder: Path
    risk: RiskProfile | None
    attacker: AttackerTable | None
    limits: Limits
    believed: Mapping[str, Attribute]
    wanted: GoalText | None
    digests: Mapping[str, str]

    def __repr__(self) -> str:
        asked = ", ".join(repr(question.sql) for question in self.questions)
        return f"Plan({self.data.name!r}, protects={self.data.protects!r}, {asked})"

    @property
    def data(self) -> DataTable:
        """The table and what is protected in it."""
        return self.file.data

    @property
    def prior_factor(self) -> float:
        """By what the odds of the attacker's prior may be misjudged."""
        return 1.0 if self.attacker is None else self.attacker.prior_factor

    @property
    def unit(self) -> PrivacyUnit:
        """What is protected."""
        unit = UNITS[self.data.protects]
        return unit.declared({key: getattr(self.data, key) for key in (*unit.needs, *unit.takes)})

    @property
    def questions(self) -> tuple[PlanQuestion, ...]:
        """What is asked: the one question of [query], or those of [queries.NAME], in their order."""
        file, rows = self.file, self.data.rows
        if file.query is not None:
            return (PlanQuestion("", file.query.sql, file.accuracy, rows),)
        return tuple(
            PlanQuestion(name, asked.sql, asked.accuracy, rows if asked.rows is None else asked.rows, asked.weight)
            for name, asked in file.queries.items()
        )

    @property
    def query(self) -> QueryTable:
        """The only question; refused where there are several."""
        if self.file.query is None:
            several = list(self.file.queries)
            problem, remedy = "works with one question, and this plan has several", "put one of them into [query]"
            raise self.error(("queries",), several, problem, remedy)
        return self.file.query

    @property
    def asked(self) -> str:
        """All that is asked, as one text for people."""
        return "\n".join(f"{q.name}: {q.sql}" if q.name else q.sql for q in self.questions)

    @property
    def columns(self) -> Mapping[str, ColumnTable]:
        """The declared columns."""
        return MappingProxyType(self.file.columns)

    @property
    def release(self) -> ReleaseTable:
        """Noise and ledger."""
        return self.file.release

    @property
    def source(self) -> str | SparkSource:
        """The source as an engine opens it: a path beside the plan, env:NAME as it stands, or what Spark reads."""
        from guessproof.engines.base import SparkSource

        source, file = self.data.source, self.source_file
        found = source if file is None else str(file)
        return SparkSource(found, self.data.remote) if self.data.engine == "spark" else str(found)

    @property
    def source_file(self) -> Path | None:
        """The file or folder of the source, where it is one of this machine."""
        return file_of_source(self.data, self.folder)

    @property
    def ledger_path(self) -> Path:
        """The ledger's file, beside the plan unless it is absolute; or env:NAME as it stands."""
        ledger = self.release.ledger
        return Path(ledger) if is_elsewhere(ledger) else self.folder / ledger

    @property
    def public_sources(self) -> dict[str, str | SecretSource | None]:
        """The joined tables as an engine opens them: a path beside the plan, or None for one of the same database."""
        from guessproof.engines.base import SecretSource

        tables = self.file.tables.items()
        files = {name: None if t.source is None else str(local_path(t.source, self.folder)) for name, t in tables}
        return {name: SecretSource(files[name]) if t.is_secret else files[name] for name, t in tables}

    @cached_property
    def stored_digests(self) -> Mapping[str, str]:
        """Digests of the public tables that the database itself holds. It is opened for them, and for nothing else."""
        stored = [name for name, source in self.public_sources.items() if source is None]
        if not stored:
            return {}
        from guessproof.plan.beside import digest_rows, read_rows

        return {f"table {name}": digest_rows(read_rows(self, name)) for name in stored}

    def label(self, name: str, level: str | None = None) -> str:
        """The words of the plan for a column, an output or a level; the name itself where there are none."""
        if level is None:
            question, _, output = name.partition(".")
            own = output if question in self.file.queries else name  # of several questions: mean_stay.days, or days
            return self.file.labels.get(name, self.file.labels.get(own, name))
        return self.file.labels.get(f"{name}.{level}", level)

    def truth_words(self, at: Any) -> str:
        """The true value at which most is learnt, in the plan's words: to the digits that people would say.

        It may be that of a formula, such as a total, which is no column.
        """
        known = {a.name: a for a in self.goal().attributes}

        def said(name: str, value: Any) -> str:
            if not isinstance(value, float):
                return self.label(name, str(value))
            return known[name].roughly(value) if name in known else f"{float(f'{value:.4g}'):,.10g}"

        if isinstance(at, Mapping):
            values: Mapping[str, Any] = at
            return ", ".join(f"{self.label(name)} = {said(name, value)}" for name, value in values.items())
        return said(next(iter(known)), at) if len(known) == 1 else str(at)

    def attributes(self) -> dict[str, Attribute]:
        """Every column that has a prior, with its bounds; the metric comes from the query."""
        return dict(self.believed)

    def kind(self, name: str) -> Kind | None:
        """What a column holds, as far as the plan tells; None where the query may say it."""
        column = self.file.columns.get(name)
        if column is None:
            return None
        return kind_of(column, self.believed.get(name))

    def goal(self, attributes: Mapping[str, Attribute] | None = None) -> Goal:
        """The attacker's goal on the given attributes, or on the plan's own."""
        if self.wanted is None:
            raise self.error(("attacker",), None, "the plan has no attacker", 'add [attacker] with goal = "…"')
        try:
            return self.wanted.build(self.believed if attributes is None else attributes)
        except InputError as error:
            raise self.error(("attacker", "goal"), self.wanted.text, error.problem, error.remedy) from None

    def canonical(self) -> str:
        """The same text for every plan that means the same; public files count by their content."""
        from guessproof.plan.identity import canonical_text

        return canonical_text(self.file, self.digests)

    def error(self, path: Key, value: Any, problem: str, remedy: str) -> PlanError:
        """An error about a key of this plan, with its file and line."""
        return self.place.error(path, value, problem, remedy)


def check_plan(value: Any) -> None:
    """Every door of the library takes a plan that was loaded: a choice is for this very one, and so is its release.

    >>> check_plan("plan.toml")
    Traceback (most recent call last):
    ...
    guessproof.errors.ParameterError: plan: is the name of a file, not a plan (got 'plan.toml');
        load it first: gp.load_plan('plan.toml')
    """
    if isinstance(value, Plan):
        return
    if isinstance(value, (str, Path)):
        is_text = "\n" in str(value)
        problem = "is the text of a plan, not a plan" if is_text else "is the name of a file, not a plan"
        remedy = "gp.loads_plan(text)" if is_text else f"gp.load_plan({str(value)!r})"
    elif isinstance(value, dict):
        problem, remedy = "is a table of tables, not a plan", "gp.plan_of(tables)"
    else:
        problem, remedy = f"is a {type(value).__name__}, not a plan", 'gp.load_plan("plan.toml")'
    raise ParameterError("plan", value, problem, f"load it first: {remedy}")


def load_plan(path: str | Path) -> Plan:
    """The plan in a file; PlanError names the line of what cannot be meant. The table itself is never opened."""
    if not isinstance(path, (str, Path)):  # pyright: ignore[reportUnnecessaryIsInstance] - not everybody has types
        problem, remedy = f"is a {type(path).__name__}, not the name of a file", 'write gp.load_plan("plan.toml")'
        raise ParameterError("path", path, problem, remedy)
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
    return _understand(dict(tables), Place("", None), None, Path(folder).absolute())


def _plan(text: str, path: Path | None, folder: Path | None = None, name: str | None = None) -> Plan:
    folder = path.absolute().parent if path is not None else (folder or Path(".")).absolute()
    name = str(path) if path is not None else name
    raw = read_tables(text, name)
    return _understand(raw, Place(text, name), path, folder)


def _understand(raw: dict[str, Any], place: Place, path: Path | None, folder: Path) -> Plan:
    try:
        return _understand_tables(raw, place, path, folder)
    except RecursionError:
        raise PlanError("plan", "…", "is nested too deeply", "write it flatter", file=place.file) from None


def _understand_tables(raw: dict[str, Any], place: Place, path: Path | None, folder: Path) -> Plan:
    blanks, timely = list(list_blanks(raw)), find_timely(raw)
    if blanks:
        from guessproof.plan.refusals import explain_blanks

        raise explain_blanks(blanks, place)
    if timely:
        from guessproof.plan.times import settle_times

        for key, value in find_mixed(raw["columns"], timely):
            problem = "holds numbers, and the column holds dates"
            raise place.error(("columns", *key), value, problem, "write dates, as 2025-12-31, or numbers everywhere")
        raw = settle_times(raw, timely)
    if joined := find_timely_joined(raw):
        from guessproof.plan.times import settle_joined

        raw = settle_joined(raw, joined)
    try:
        file = PlanFile.model_validate(_tuples(raw))
    except ValidationError as error:
        from guessproof.plan.refusals import explain_refusal

        raise explain_refusal(error, raw, place) from None
    return _check(file, place, path, folder)


def _check(file: PlanFile, place: Place, path: Path | None, folder: Path) -> Plan:
    check_tables(file, place)
    check_limits(file, place)
    check_failure(file, place)
    profile = read_profile(file.risk, file.data.protects, place)
    confidential = list_confidential(file.data, file.tables, folder)
    _check_ledger(file, place, folder, confidential)
    beliefs = Beliefs(file, place, folder, confidential)
    attributes = beliefs.attributes()
    for name, column in file.columns.items():
        check_kind(("columns", name), column, attributes.get(name), place)
    limits, wanted, attacker = Limits(), None, file.attacker
    if attacker is not None:
        limits = Limits(attacker.advantage, read_posterior_limit(attacker, place), attacker.both)
        wanted, attacker = read_attacker(file, attributes, place)
    _remember(("accuracy",), file.accuracy, place)
    for name, asked in file.queries.items():
        _remember(("queries", name, "accuracy"), asked.accuracy, place)
    digests = {name: table.digest for name, table in beliefs.tables.items()}
    if file.tables:
        from guessproof.plan.beside import check_beside

        digests |= check_beside(file, place, folder, confidential)
    return Plan(
        file=file,
        place=place,
        path=path,
        folder=folder,
        risk=profile,
        attacker=attacker,
        limits=limits,
        believed=attributes,
        wanted=wanted,
        digests=digests,
    )


def _check_ledger(file: PlanFile, place: Place, folder: Path, confidential: Sequence[Kept]) -> None:
    """SQLite never opens a table as a ledger, but would begin one where DuckDB looks for a part of a table."""
    ledger = file.release.ledger
    if is_elsewhere(ledger) or (folder / ledger).resolve().suffix.lower() != ".wal":
        return
    words = find_kept(folder / ledger, confidential)
    if words is not None:
        raise place.error(("release", "ledger"), ledger, f"is {words}", "name a file of its own")


def _remember(path: Key, accuracy: AccuracyTable, place: Place) -> None:
    for output in accuracy.outputs:
        key = (*path, output)
        accuracy.remember(output, ".".join(map(str, key)), place.lines.find(key), place.file)


def _text(path: Path) -> str:
    name = str(path)
    if find_form(name)[0] is not None:  # refusals of a plan quote its lines, and these would be records
        raise PlanError("plan", name, "is called as a table is, and was not read", "name a plan file", file=name)
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
        raise _too_large(name)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        problem = "is not text in UTF-8"
        raise PlanError("plan", name, problem, "save it as UTF-8", line=line, file=name) from None


def _too_large(name: str | None) -> PlanError:
    remedy = 'put a long prior into a public file and write { from = "public.csv" }'
    return PlanError("plan", name or "…", "is larger than 1 MB", remedy, file=name)


def read_tables(text: str, name: str | None = None) -> dict[str, Any]:
    """The tables of a plan's text as they are written, before anything in them is understood."""
    if len(text) > LARGEST_PLAN or len(text.encode(errors="replace")) > LARGEST_PLAN:
        raise _too_large(name)
    if _LONG_KEY.search(text):  # tomllib takes time as the square of a key's parts; a plan has 8
        raise PlanError("plan", "…", "is nested too deeply", "write it flatter", file=name)
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
    shown = hide_secrets(text.split("\n")[line - 1].strip()) if line is not None else "…"
    for written, problem, remedy in _SLIPS:
        if line is not None and written.search(text.split("\n")[line - 1]):
            return PlanError("plan", shown, problem, remedy, line=line, file=name)
    for words, problem, remedy in _SYNTAX:
        if words in said:
            return PlanError("plan", shown, problem, remedy, line=line, file=name)
    problem = f"is not valid TOML: {said[:1].lower()}{said[1:]}"
    return PlanError("plan", shown, problem, "see the rules of TOML 1.0", line=line, file=name)


_SLIPS = (  # looked for only in a line that TOML does not allow
    (re.compile("\u00a0"), "holds a space that is none in a plan (one that does not break)", "write plain spaces"),
    (re.compile(r"[=,]\s*(?:True|False)\b"), "the value is not understood", "write true or false, in small letters"),
    (re.compile(r"=\s*[-+]?0[0-9]"), "a number begins with 0", "leave out the 0"),
    (re.compile(r"=\s*[-+]?[0-9]+,[0-9]+"), "a number has a comma", "write a point, as 6.28"),
)
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


def _tuples(value: Any) -> Any:
    """Lists as tuples, so that a plan is frozen all the way down."""
    if isinstance(value, dict):
        return {key: _tuples(item) for key, item in value.items()}
    if isinstance(value, list):
        return tuple(_tuples(item) for item in value)
    return value
