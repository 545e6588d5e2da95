"""Lines of keys, against a writer of TOML that counts its own lines."""

from __future__ import annotations

import tomllib
from typing import Any

from depth import cases
from hypothesis import given, settings
from hypothesis import strategies as st

from guessproof.plan.places import Key, find_lines

KEYS = st.sampled_from(["a", "b-1", "c_2", "3", "with space", "do.t", "quo'te", "é", "#", "]", "x = 1", "(a, b)"])
TEXTS = st.sampled_from(["", "plain", "a # b", "] }", "it's", "x = 1", "[t]", "a, b"])
SCALARS = st.one_of(st.integers(-9, 9), st.booleans(), st.just(1.5), TEXTS)
INLINE = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)),
    max_leaves=8,
)
TABLES = st.recursive(
    st.dictionaries(KEYS, INLINE, max_size=3), lambda inner: st.dictionaries(KEYS, inner, max_size=3), max_leaves=4
)


class Writer:
    """Writes nested values in changing styles and remembers the line of each key."""

    def __init__(self, choose: Any) -> None:
        self.choose, self.text, self.found = choose, "", {}

    def line(self) -> int:
        return self.text.count("\n") + 1

    def table(self, path: Key, table: dict[str, Any]) -> None:
        tables = {
            k: v for k, v in table.items() if isinstance(v, dict) and self.choose(["header", "inline"]) == "header"
        }
        if path:
            self.gap()
            self.found[path] = self.line()
            self.text += f"[{'.'.join(self.key(k) for k in path)}] # header ]\n"
        for key, value in table.items():
            if key not in tables:
                self.gap()
                self.pair((*path, key), value)
                self.text += self.choose(["\n", " # a = 1\n", "  \n\n"])
        for key, value in tables.items():
            self.table((*path, key), value)

    def gap(self) -> None:
        self.text += self.choose(["", "\n", "# x = 1\n", "  "])

    def pair(self, path: Key, value: Any) -> None:
        self.found[path] = self.line()
        self.text += self.key(str(path[-1])) + self.choose([" = ", "=", "\t=  "])
        self.value(path, value)

    def key(self, key: Any) -> str:
        bare = all(c.isascii() and (c.isalnum() or c in "_-") for c in key)
        styles = ([key] if bare else []) + ['"' + key + '"'] + ([f"'{key}'"] if "'" not in key else [])
        return self.choose(styles)

    def value(self, path: Key, value: Any) -> None:
        if isinstance(value, dict):
            self.text += "{ "
            for i, (key, item) in enumerate(value.items()):
                self.text += ", " if i else ""
                self.pair((*path, key), item)
            self.text += " }"
        elif isinstance(value, list):
            inline = "{" in self.text.split("\n")[-1]  # line ends are allowed in lists, not in tables in braces
            ends = ["", " "] if inline else ["", "\n", " # ] c\n  ", " "]
            self.text += "["
            for i, item in enumerate(value):
                self.text += self.choose(ends)
                self.found[(*path, i)] = self.line()
                self.value((*path, i), item)
                self.text += ","
            self.text += self.choose(ends) + "]"
        else:
            self.text += self.scalar(value)

    def scalar(self, value: Any) -> str:
        if isinstance(value, bool):
            return "true" if value else "false"
        if not isinstance(value, str):
            return str(value)
        styles = [f'"{value}"', f'"""{value}"""', f'"\\u0022{value}"']
        if "'" not in value:
            styles += [f"'{value}'", f"'''{value}'''", f"'''\n{value}\n'' '''"]
        return self.choose(styles)


@settings(max_examples=cases(50))
@given(TABLES, st.data())
def test_lines_are_those_of_the_writer(table: dict[str, Any], data: st.DataObject) -> None:
    writer = Writer(lambda options: data.draw(st.sampled_from(options)))
    writer.table((), table)
    tomllib.loads(writer.text)
    found = find_lines(writer.text).of
    assert {path: found[path] for path in writer.found} == writer.found
    assert set(found) == set(writer.found)


def test_dotted_keys_arrays_of_tables_and_implicit_tables() -> None:
    text = 'a.b . "c d" = 1\n[x.y]\nz = { k.l = 2 }\n\n[[r]]\nn = 1\n[[r]]\nn = 2\n[r.s]\nt = 3\n'
    found = find_lines(text)
    assert tomllib.loads(text)["r"][1]["s"] == {"t": 3}
    expected = {("a",): 1, ("a", "b", "c d"): 1, ("x",): 2, ("x", "y", "z", "k", "l"): 3, ("r", 0, "n"): 6}
    expected |= {("r", 1): 7, ("r", 1, "s"): 9, ("r", 1, "s", "t"): 10}
    assert {path: found.of[path] for path in expected} == expected
    assert found.find(("x", "y", "missing", "deeper")) == 2
    assert found.find(("nothing",)) is None


def test_strings_that_look_like_syntax() -> None:
    text = "a = \"\"\"\n[t]\nb = 1\\\"\"\"\n\"\"\"\"\nc = '''\n''x = 2\n'''''\nd = 1\n"
    assert list(tomllib.loads(text)) == ["a", "c", "d"]
    assert find_lines(text).of == {("a",): 1, ("c",): 5, ("d",): 8}
