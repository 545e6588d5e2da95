"""Where each key of a plan stands, and errors that name it: the line, the name that was meant, no secrets.

The text has been accepted by tomllib before, so only its shape is followed.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from guessproof.errors import InputError, PlanError

Key = tuple[str | int, ...]
LONGEST_GOAL = 2000  # characters of a goal, which is read word by word

_SPACE = re.compile(r"[ \t]*")
_GAP = re.compile(r"(?:[ \t\n]|#[^\n]*)*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_SCALAR = re.compile(r"[^,\]}#\n]*")
_STRINGS = (
    re.compile(r'"""(?:[^"\\]|\\.|"(?!""))*"{3,5}', re.DOTALL),
    re.compile(r"'''(?:[^']|'(?!''))*'{3,5}", re.DOTALL),
    re.compile(r'"(?:[^"\\\n]|\\.)*"'),
    re.compile(r"'[^'\n]*'"),
)


@dataclass(frozen=True)
class Lines:
    """Line numbers, from 1, of every key, table header and array element."""

    of: Mapping[Key, int]

    def find(self, path: Key) -> int | None:
        """The line of a key, or of the nearest table around it that is written down."""
        while path and path not in self.of:
            path = path[:-1]
        return self.of.get(path)


def find_lines(text: str) -> Lines:
    """The line of every key of a valid TOML text.

    >>> found = find_lines('[data]\\nname = "x"\\n[columns.time]\\nprior = { normal = { mean = 20,\\n sd = 6 } }')
    >>> found.find(("data", "name")), found.find(("columns", "time", "prior", "normal", "sd"))
    (2, 5)
    """
    scanner = _Scanner(text.replace("\r\n", "\n"))
    scanner.document()
    return Lines(scanner.found)


@dataclass
class _Scanner:
    text: str
    at: int = 0
    found: dict[Key, int] = field(default_factory=dict[Key, int])
    _counts: dict[Key, int] = field(default_factory=dict[Key, int])
    _seen: tuple[int, int] = (0, 1)

    def document(self) -> None:
        table: Key = ()
        self._skip(_GAP)
        while self.at < len(self.text):
            if self.text[self.at] == "[":
                table = self._header()
            else:
                self._pair(table)
            self._skip(_GAP)

    def _header(self) -> Key:
        many = self.text.startswith("[[", self.at)
        line = self._line()
        self.at += 2 if many else 1
        path = self._inside_arrays(self._keys())
        if many:
            count = self._counts.get(path, 0)
            self._counts[path] = count + 1
            self.found.setdefault(path, line)
            path = (*path, count)
        self._note(path, line)
        self._skip(_SPACE)
        self.at += 2 if many else 1
        return path

    def _inside_arrays(self, keys: Key) -> Key:
        """[a.b] after [[a]] speaks of the last element of a."""
        path: Key = ()
        for i, key in enumerate(keys):
            path = (*path, key)
            if path in self._counts and i < len(keys) - 1:
                path = (*path, self._counts[path] - 1)
        return path

    def _pair(self, table: Key) -> None:
        line = self._line()
        path = (*table, *self._keys())
        self._note(path, line)
        self._skip(_SPACE)
        self.at += 1  # the equals sign
        self._skip(_SPACE)
        self._value(path)

    def _keys(self) -> Key:
        keys: list[str] = []
        while True:
            self._skip(_SPACE)
            keys.append(self._key())
            self._skip(_SPACE)
            if not self.text.startswith(".", self.at):
                return tuple(keys)
            self.at += 1

    def _key(self) -> str:
        start = self.at
        if self.text[self.at] not in "\"'":
            self._skip(_BARE_KEY)
            return self.text[start : self.at]
        self._string()
        return tomllib.loads(f"key = {self.text[start : self.at]}")["key"]

    def _value(self, path: Key) -> None:
        first = self.text[self.at : self.at + 1]
        if first == "[":
            self._items(path, "]")
        elif first == "{":
            self._items(path, "}")
        elif first in ('"', "'"):
            self._string()
        else:
            self._skip(_SCALAR)

    def _items(self, path: Key, end: str) -> None:
        """What stands between brackets: numbered values, or pairs."""
        self.at += 1
        count = 0
        self._skip(_GAP)
        while self.text[self.at] != end:
            if end == "]":
                self._note((*path, count), self._line())
                self._value((*path, count))
            else:
                self._pair(path)
            count += 1
            self._skip(_GAP)
            if self.text[self.at] == ",":
                self.at += 1
                self._skip(_GAP)
        self.at += 1

    def _string(self) -> None:
        for pattern in _STRINGS:
            found = pattern.match(self.text, self.at)
            if found is not None:
                self.at = found.end()
                return
        self.at = len(self.text)

    def _skip(self, pattern: re.Pattern[str]) -> None:
        found = pattern.match(self.text, self.at)
        self.at = found.end() if found is not None else self.at

    def _note(self, path: Key, line: int) -> None:
        for i in range(1, len(path)):
            self.found.setdefault(path[:i], line)
        self.found[path] = line

    def _line(self) -> int:
        """Counted from where it was asked last, so that a long text is read once."""
        at, line = self._seen
        line += self.text.count("\n", at, self.at)
        self._seen = (self.at, line)
        return line


@dataclass(frozen=True)
class Place:
    """Makes errors that name the file and the line, which is looked for when there is an error."""

    text: str
    file: str | None = None

    @cached_property
    def lines(self) -> Lines:
        """Where each key stands; none where the text is not followed: without lines errors still name the key."""
        try:
            return find_lines(self.text)
        except (IndexError, RecursionError, ValueError):
            return Lines({})

    def error(self, path: Key, value: Any, problem: str, remedy: str) -> PlanError:
        """An error about a key."""
        line = self.lines.find(path)
        return PlanError(
            spell_key(path) or "plan", hide_secrets(value), problem, hide_secrets(remedy), line=line, file=self.file
        )

    def about(self, path: Key, error: InputError) -> PlanError:
        """An error of another room, with the key that it is about."""
        own = tuple(part for part in error.field.split(".") if (*path, part) in self.lines.of)
        return self.error((*path, *own), error.value, error.problem, error.remedy)


_BARE = re.compile(r"[A-Za-z0-9_-]+\Z")
_LOGIN = re.compile(r"(?m)(^|[\s\"'])[^\s:/@\"']++:[^\s/@\"']++@")
_PASSWORD = re.compile(r"(?i)\b(password|passwd|pwd|token|secret)(\s*[=:]\s*)('[^']*'|[^\s;&'\"]+)")


def spell_key(path: Iterable[str | int]) -> str:
    """A path of keys as TOML spells it.

    >>> spell_key(("columns", "my time", "bounds", 1))
    'columns."my time".bounds[1]'
    """
    text = ""
    for key in path:
        if isinstance(key, int):
            text += f"[{key}]"
        else:
            shown = key if _BARE.match(key) else '"' + key.replace("\\", "\\\\").replace('"', '\\"') + '"'
            text += f".{shown}" if text else shown
    return text


def hide_secrets(value: Any) -> Any:
    """The same value without what looks like a password, so that an error can show it.

    >>> hide_secrets("postgresql://me:secret@host/db")
    'postgresql://***@host/db'
    """
    if isinstance(value, str):
        lines = "\n".join(map(_hide_login, value.split("\n")))
        return _PASSWORD.sub(r"\1\2***", _LOGIN.sub(r"\1***@", lines))
    if isinstance(value, Mapping):
        return {hide_secrets(key): hide_secrets(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [hide_secrets(item) for item in value]
    return value


def _hide_login(line: str) -> str:
    """What stands between the beginning of an address and the last @ of its line."""
    start, end = line.find("://") + 3, line.rfind("@")
    return f"{line[:start]}***{line[end:]}" if 3 <= start <= end else line


def is_secret(text: str) -> bool:
    """Whether a text looks like a connection string rather than the name of a file."""
    return "://" in text or hide_secrets(text) != text


def underline(text: str, start: int, end: int) -> str:
    """The line of a text that holds a place, with the place marked below it; nothing of a text that is too long."""
    if len(text) > LONGEST_GOAL:
        return ""
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", start)
    line = text[first : len(text) if last < 0 else last]
    width = max(1, min(end, first + len(line)) - start)
    return f"\n  {line}\n  {' ' * (start - first)}{'^' * width}"
