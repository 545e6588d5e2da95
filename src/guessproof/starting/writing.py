"""Writing TOML and SQL: every name is quoted as it needs, and no name can end a comment."""

from __future__ import annotations

import re
import textwrap
from typing import Any

BLANK = '"?"'
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+\Z")
_BARE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_RESERVED = {
    "all", "and", "any", "as", "asc", "between", "both", "by", "case", "cast", "check", "collate", "column",
    "create", "cross", "current", "default", "desc", "distinct", "else", "end", "except", "exists", "false",
    "fetch", "for", "foreign", "from", "full", "grant", "group", "having", "in", "inner", "insert",
    "intersect", "into", "is", "join", "lateral", "left", "like", "limit", "natural", "not", "null", "offset",
    "on", "or", "order", "outer", "primary", "references", "right", "select", "set", "some", "table", "then",
    "to", "true", "union", "unique", "update", "user", "using", "values", "when", "where", "window", "with",
    "within", "exactly", "among", "inside", "above", "below",
}  # fmt: skip
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def toml_text(text: str) -> str:
    """A text as TOML spells it.

    >>> print(toml_text('say "hi"'), toml_text("tab\\there"))
    'say "hi"' "tab\\there"
    """
    return f"'{text}'" if '"' in text and "'" not in text and text.isprintable() else _basic(text)


def toml_key(name: str) -> str:
    """A key, bare where that is allowed."""
    return name if _BARE_KEY.match(name) else _basic(name)


def _basic(text: str) -> str:
    return '"' + "".join(_ESCAPES.get(c) or (c if c.isprintable() else _escaped(c)) for c in text) + '"'


def sql_name(name: str) -> str:
    """A column or table in SQL.

    >>> sql_name("time"), sql_name("group"), sql_name('my "own" time')
    ('time', '"group"', '"my ""own"" time"')
    """
    plain = _BARE_NAME.match(name) and name.lower() not in _RESERVED
    return name if plain else '"' + name.replace('"', '""') + '"'


def goal_name(name: str) -> str:
    """A column in the goal language; it quotes as SQL does."""
    return sql_name(name)


def slug(name: str) -> str:
    """A name for an output, made from the name of a column.

    >>> slug("Zeit (min)")
    'zeit_min'
    """
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") or "value"


def select(what: str, rest: str = "", name: str = "t") -> str:
    """A question to the table, which may stand in a schema.

    >>> select("COUNT(*) AS n", name="clinic.my visits")
    'SELECT COUNT(*) AS n FROM clinic."my visits"'
    """
    own = ".".join(map(sql_name, name.split(".", 1)))
    return " ".join(part for part in ("SELECT", what, f"FROM {own}", rest) if part)


def note(*texts: str, width: int = 110) -> str:
    """Comment lines, each text on lines of its own; nothing in a text can end a comment."""
    shown = ["".join(c if c.isprintable() else " " for c in text) for text in texts]
    return "\n".join(f"# {line}" for text in shown for line in textwrap.wrap(text, width, break_on_hyphens=False))


def pair(key: str, value: Any, *comments: str) -> str:
    """A key and its value, already in TOML, under comments of its own."""
    return "\n".join(part for part in (note(*comments), f"{key} = {value}") if part)


def table(header: str, *rows: str) -> str:
    """A table of the plan."""
    return "\n".join([f"[{header}]", *(row for row in rows if row)])


def _escaped(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
