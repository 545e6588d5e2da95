"""Bad plans, one mistake each: one clear message and the line. Good plans: they load."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from guessproof.errors import PlanError
from guessproof.plan import load_plan, loads_plan

GALLERY = Path(__file__).parent / "gallery"
EXPECTED = tomllib.loads((GALLERY / "expected.toml").read_text(encoding="utf-8"))
BAD = sorted(path for path in GALLERY.glob("*.toml") if path.name != "expected.toml")
GOOD = sorted((Path(__file__).parent / "good").glob("*.toml"))
JARGON = ("Input should", "pydantic", "Traceback", "Errno", "NoneType", "validation", "value_error", "<class", "Error:")


def refused(path: Path) -> PlanError:
    with pytest.raises(PlanError) as caught:
        load_plan(path)
    return caught.value


def test_every_bad_plan_has_its_expectation() -> None:
    assert {path.stem for path in BAD} == set(EXPECTED)
    assert len(BAD) >= 90


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_a_bad_plan_gives_its_message_and_its_line(path: Path) -> None:
    error, expected = refused(path), EXPECTED[path.stem]
    assert str(error).removeprefix(str(path)).replace(str(path), path.name) == expected["message"]
    assert error.line == expected.get("line")
    assert error.file == str(path)
    assert error.__cause__ is None
    assert error.__suppress_context__ or error.__context__ is None


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_messages_are_plain_words_and_keep_secrets(path: Path) -> None:
    error = refused(path)
    text = f"{error} {error.value!r} {error.args!r}"
    assert not [word for word in JARGON if word in text]
    assert "hunter2" not in text
    assert error.problem
    assert error.remedy


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_the_line_is_the_one_that_was_spoiled(path: Path) -> None:
    """The line that is named holds the last key of the field, or the header of its table."""
    error = refused(path)
    if error.line is None or error.field == "plan":
        return
    line = path.read_text(encoding="utf-8").splitlines()[error.line - 1]
    words = error.field.replace('"', "").replace("[", ".").replace("]", "").split(".")
    assert any(word in line for word in words if word)


def mended(path: Path, error: PlanError) -> list[str]:
    """The plans that follow the remedy of an error, where it names what to write."""
    lines = path.read_text(encoding="utf-8").split("\n")
    assert error.line is not None
    spot = error.line - 1
    meant = re.search(r"did you mean (.+)\?", error.remedy)
    share = re.fullmatch(r"for (\S+) % write (\S+)", error.remedy)
    if share is not None:
        olds, new = [share[1]], share[2]
    elif meant is not None:
        last = error.field.split(".")[-1].strip('"').split("[")[0]
        olds, new = [str(error.value), last], meant[1]
    else:
        return []
    tried = [re.sub(rf"(?<![\w.]){re.escape(old)}(?![\w.])", new, lines[spot]) for old in olds]
    changed = [line for line in tried if line != lines[spot]]
    return ["\n".join([*lines[:spot], line, *lines[spot + 1 :]]) for line in changed]


NAMING = [path for path in BAD if re.search(r"did you mean .+\?|% write ", EXPECTED[path.stem]["message"])]


@pytest.mark.parametrize("path", NAMING, ids=lambda path: path.stem)
def test_a_remedy_that_names_a_value_works(path: Path) -> None:
    """Whoever writes what the message says has mended this mistake: the plan loads, or another one is named."""
    error, ends = refused(path), list[bool]()
    for text in mended(path, error):
        try:
            loads_plan(text, folder=path.parent)
        except PlanError as other:
            ends.append((other.field, other.problem) != (error.field, error.problem))
        else:
            ends.append(True)
    assert any(ends), error


def test_many_remedies_name_a_value() -> None:
    assert len(NAMING) >= 15


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
    assert "larger than 4 MB" in str(refused(huge))
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


def test_deep_nesting_and_long_numbers_are_refused_in_words(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text("a = " + "[" * 100_000)
    assert "Traceback" not in str(refused(path))
    path.write_text("a = " + "9" * 10_000)
    assert "too many digits" in str(refused(path))
