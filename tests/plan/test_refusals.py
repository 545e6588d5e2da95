"""Bad plans, one mistake each: one clear message and the line. Good plans: they load."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path

import pytest
from each import check_each

import guessproof as gp
from guessproof.choosing import asked
from guessproof.errors import GuessproofError, PlanError
from guessproof.plan import load_plan, loads_plan, plan_of
from guessproof.plan.arithmetic import read_formula
from guessproof.plan.grammar import Misread
from guessproof.plan.places import hide_secrets

GALLERY = Path(__file__).parent / "gallery"
EXPECTED = tomllib.loads((GALLERY / "expected.toml").read_text(encoding="utf-8"))
BAD = sorted(path for path in GALLERY.glob("*.toml") if path.name != "expected.toml")
GALLERY_OF_BAD = {path.stem: path for path in BAD}
GOOD = sorted((Path(__file__).parent / "good").glob("*.toml"))
JARGON = ("Input should", "pydantic", "Traceback", "Errno", "NoneType", "validation", "value_error", "<class", "Error:")


def refused(path: Path) -> PlanError:
    with pytest.raises(PlanError) as caught:
        load_plan(path)
    return caught.value


spoiled = cache(refused)  # the gallery stays as it is


def test_every_bad_plan_has_its_expectation() -> None:
    assert {path.stem for path in BAD} == set(EXPECTED)
    assert len(BAD) >= 90


def test_a_bad_plan_gives_its_message_and_its_line() -> None:
    check_each(GALLERY_OF_BAD, _check_message)


def _check_message(path: Path) -> None:
    error, expected = spoiled(path), EXPECTED[path.stem]
    assert str(error).removeprefix(str(path)).replace(str(path), path.name) == expected["message"]
    assert error.line == expected.get("line")
    assert error.file == str(path)
    assert error.__cause__ is None
    assert error.__suppress_context__ or error.__context__ is None


def test_messages_are_plain_words_and_keep_secrets() -> None:
    check_each(GALLERY_OF_BAD, _check_words)


def _check_words(path: Path) -> None:
    error = spoiled(path)
    text = f"{error} {error.value!r} {error.args!r}"
    assert not [word for word in JARGON if word in text]
    assert "hunter2" not in text
    assert error.problem
    assert error.remedy


def test_the_line_is_the_one_that_was_spoiled() -> None:
    """The line that is named holds the last key of the field, or the header of its table."""
    named = {n: p for n, p in GALLERY_OF_BAD.items() if spoiled(p).line is not None and spoiled(p).field != "plan"}
    assert len(named) > 0.8 * len(BAD)
    check_each(named, _check_line)


def _check_line(path: Path) -> None:
    error = spoiled(path)
    assert error.line is not None
    line = path.read_text(encoding="utf-8").splitlines()[error.line - 1]
    words = error.field.replace('"', "").replace("[", ".").replace("]", "").split(".")
    assert any(word in line for word in words if word)


# What a remedy tells to write, in every wording: a value, another key, keys to add, or nothing at all.
VALUES = (
    r"for \S+ % write (?P<new>\S+)",
    r"write (?P<new>\S+), without a unit",
    r"choose from (?P<new>[^,\n]+),",
    r"choose one inside \((?P<new>[^,]+),",
    r'write (?:for instance )?(?P<new>"[^"]+"|env:\w+|true|\[.+?\](?=$|,)|\{.+?\}(?= or|,|$))',
    r"write (?:for instance: |: )(?P<new>[a-z]+ [0-9 ]+)",
    r"write it in brackets, as (?P<new>\[.*\])",
    r"(?:give a number|allow a ratio) of at least (?P<new>[0-9.]+)",
)
ADDED = (
    r"add (?:for instance )?(?P<key>\w+) = (?P<new>[^,\s]+)",
    r"add (?P<key>\w+), as (?P<new>[^:]+)",
    r'write for instance (?P<key>\w+) = (?P<new>"\w+") and (?P<key2>\w+) = (?P<new2>\d+)',
)
NUMBERS = {
    "give a number above 0": "0.5",
    "give a number below 1": "0.5",
    "write a number": "0.5",
    "write a whole": "12",
}


def mended(path: Path, error: PlanError) -> list[str]:
    """The plans that follow the remedy of an error, where it names what to write."""
    lines = path.read_text(encoding="utf-8").split("\n")
    spot = (error.line or 1) - 1
    before, line, after = lines[:spot], lines[spot], lines[spot + 1 :]
    said = error.remedy.split("\n")[0]
    found: list[list[str]] = []
    meant = re.search(r"did you mean (.+)\?", said)
    if meant is not None:
        last = error.field.split(".")[-1].strip('"').split("[")[0]
        underlined = re.search(r"\n  (.*)\n( *\^+)", error.remedy)
        old = "" if underlined is None else underlined[1][underlined[2].count(" ") - 2 :].split()[0]
        found += [
            [re.sub(rf"(?<![\w.]){re.escape(o)}(?![\w.])", meant[1], line)] for o in (str(error.value), last, old) if o
        ]
    values = [match["new"] for wording in VALUES if (match := re.search(wording, said)) is not None]
    values += [number for words, number in NUMBERS.items() if said.startswith(words)]
    for new in values:
        found += [[f"{line.partition('=')[0]}= {new}"], *([text] for text in _replaced(line, error.value, new))]
    if said.startswith("write it without quotes") or said.endswith("without quotes"):
        found += [[re.sub(r"[\"']([^\"']*)[\"']", r"\1", line)]]
    if said == "write it in quotes":
        found += [[re.sub(r"= *([^#]+?) *(#.*)?$", r'= "\1"', line)]]
    for wording in ADDED:
        match = re.search(wording, said)
        if match is not None:
            more = {k: v for k, v in match.groupdict().items() if v is not None}
            added = [f"{more['key']} = {more['new']}"] + (
                [f"{more['key2']} = {more['new2']}"] if "key2" in more else []
            )
            found += [[line, *added], [*added, line]]
    if re.match(r"leave (it|them|one of them|one|out)\b|keep one|remove it|delete", said):
        found += [[]]
    if re.search(r"(smaller|earlier) \w+ first", said) or said.startswith("swap"):
        found += [[re.sub(r"\[([^,\]]+), ([^,\]]+)\]", r"[\2, \1]", line)], [_swapped(line)]]
    other = re.search(r'(?:or )?use (\w+) = ("\w+")', said)
    elsewhere = (
        [] if other is None else [re.sub(rf"(?m)^{other[1]} *=.*$", f"{other[1]} = {other[2]}", "\n".join(lines))]
    )
    return elsewhere + ["\n".join([*before, *part, *after]) for part in found if part != [line]]


def _replaced(line: str, old: object, new: str) -> list[str]:
    """The line with the value that was named replaced, in whichever way it was spelled."""
    spelled = dict.fromkeys([f'"{old}"', f"'{old}'", str(old), f"{old:g}" if isinstance(old, float) else str(old)])
    bare = new.strip('"')
    return [line.replace(o, n) for o in spelled for n in (new, bare, f'"{bare}"') if o in line]


def _swapped(line: str) -> str:
    """low = 10, high = 0 the other way round."""
    return re.sub(r"(low *= *)(\S+?)(, *high *= *)(\S+)", r"\g<1>\4\g<3>\2", line)


def names_a_value(path: Path) -> bool:
    said = EXPECTED[path.stem]["message"].rpartition("; ")[2].split("\n")[0]
    known = [*VALUES, *ADDED, r"did you mean .+\?", *NUMBERS, r"without quotes$", r"^write it in quotes$"]
    more = [r"^leave (it|them|one of them|one)\b", r"(smaller|earlier) \w+ first", r"^swap", r'use \w+ = "']
    return any(re.search(wording, said) for wording in known + more)


NAMING = [path for path in BAD if names_a_value(path)]


@pytest.mark.parametrize("path", NAMING, ids=lambda path: path.stem)
def test_a_remedy_that_names_a_value_works(path: Path) -> None:
    """Whoever writes what the message says has mended this mistake: the plan loads, or another one is named."""
    error, ends = spoiled(path), list[bool]()
    for text in mended(path, error):
        try:
            loads_plan(text, folder=path.parent)
        except PlanError as other:
            ends.append((other.field, other.problem) != (error.field, error.problem))
        else:
            ends.append(True)
    assert any(ends), error


def test_many_remedies_name_a_value() -> None:
    assert len(NAMING) >= 80


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_good_plans_load(path: Path) -> None:
    plan = load_plan(path)
    assert plan.path == path
    assert plan.data.name in plan.canonical()
    if plan.attacker is not None:
        assert {a.name for a in plan.goal().attributes} <= set(plan.attributes())


def test_a_missing_file_a_folder_and_a_huge_file(tmp_path: Path) -> None:
    assert "guessproof init" in str(refused(tmp_path / "nothing.toml"))
    assert "is a folder" in str(refused(tmp_path))
    huge = tmp_path / "huge.toml"
    huge.write_bytes(b"# " + b"x" * (5 * 1024 * 1024))
    assert "larger than 1 MB" in str(refused(huge))
    empty = tmp_path / "empty.toml"
    empty.write_text("")
    assert "is empty" in str(refused(empty))


def test_a_byte_order_mark_and_windows_line_ends_are_no_mistake(tmp_path: Path) -> None:
    text = GOOD[0].read_text(encoding="utf-8")
    path = tmp_path / "plan.toml"
    path.write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode("utf-8"))
    assert load_plan(path).canonical() == load_plan(GOOD[0]).canonical()
    path.write_bytes(text.replace("\n", "\r\n").replace("rows ", "rws ").encode("utf-8"))
    assert refused(path).line == 6


@pytest.mark.parametrize("text", ["- " * 990 + "x", "x + " * 490 + "x", "x * " * 490 + "x", "(" * 1990 + "x"])
def test_formulas_without_end_are_refused(text: str) -> None:
    x = gp.Attribute("x", prior=gp.normal(0, 1))
    with pytest.raises(Misread, match=r"nested too deeply|too long"):
        read_formula(text, {"x": x})
    assert str(read_formula("- - - x" + " + x" * 50, {"x": x})).startswith("-1 * ")


def test_a_key_that_is_no_text_is_named_itself() -> None:
    tables = tomllib.loads((GALLERY.parent / "good" / "every_prior.toml").read_text(encoding="utf-8"))
    tables["columns"]["d"]["prior"] = {"categorical": {0: 0.65, 1: 0.35}}
    with pytest.raises(PlanError, match=r"categorical: has a key that is not a text \(got 0\)"):
        plan_of(tables)


def test_deep_nesting_and_long_numbers_are_refused_in_words(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text("a = " + "[" * 100_000)
    assert "Traceback" not in str(refused(path))
    path.write_text("a = " + "9" * 10_000)
    assert "too many digits" in str(refused(path))


LONG = """
data = {{ name = "a", source = "t.csv", protects = "values" }}
query.sql = "{sql}"
columns.a = {{ bounds = [0, 1], prior = "unknown" }}
attacker = {{ goal = "{goal}", advantage = 0.1 }}
"""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            LONG.format(sql="SELECT SUM(a) AS s FROM t", goal="a within 1 or " * 150 + "a within 1"),
            "than 2000 characters",
        ),
        (LONG.format(sql="SELECT SUM(a) AS s FROM t", goal="a" * 900_000), "than 2000 characters"),
        (LONG.format(sql="x" * 900_000, goal="a within 1"), "more than 20000 characters"),
        ("a" * (1024 * 1024 + 1), "larger than 1 MB"),
        ("é" * (512 * 1024 + 1), "larger than 1 MB"),
        ("a." * 100_000 + "a = 1", "nested too deeply"),
        ("".join(f"[a{i}]\n" for i in range(20_000)), "is not a table of a plan"),
        ("[" + ".".join("a" * 16) + "]\n" + ".".join("a" * 17) + " = 1", "nested too deeply"),
        ("[" + "'a' . " * 100_000 + "a]", "nested too deeply"),
        ('"\\"".' * 100_000 + "a = 1", "nested too deeply"),
        ("x = " + "{a = " * 300 + "1" + "}" * 300, "nested too deeply|is not a table"),
        (LONG.format(sql="SELECT SUM(a) AS s FROM t", goal="a+" * 900 + "a within 1"), "too long"),
    ],
)
def test_a_text_that_is_too_long_is_refused_before_it_is_read(text: str, words: str) -> None:
    with pytest.raises(GuessproofError, match=words) as found:
        asked(loads_plan(text))
    assert len(str(found.value)) < 5000


@pytest.mark.parametrize("text", ["a" * 10**6, "a://" * 10**5, "a:" * 10**5, "token " * 10**5, "'a:" * 10**5])
def test_secrets_are_looked_for_once_in_a_long_text(text: str) -> None:
    """With a pattern that begins anew at every letter this would not end within a day."""
    assert hide_secrets(text) == text
    assert "hunter2" not in hide_secrets(text + "://me:hunter2@host")
