"""The verdicts as a table for the terminal, as JSON, and as the page docs/papers.md."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from guessproof.errors import GuessproofError
from guessproof.outputs import check_output, write_output
from guessproof.papers.verdicts import JUDGED, WORDS, WORKS, Verdict, Word, ids, verdict, verdicts

COLOURS: dict[Word, str] = {
    "tight": "green",
    "sound but loose": "yellow",
    "does not apply": "cyan",
    "unsound": "red",
    "misprint": "magenta",
}
MEANINGS: dict[Word, str] = {
    "tight": "exact, or best possible: the published value and the exact one agree",
    "sound but loose": "the promise is kept with more noise than necessary; the factor is given",
    "does not apply": "right under an assumption that it states; the setting it is carried over to breaks that "
    "assumption, and a case computed here breaks the promise",
    "unsound": "there is a case, computed here, in which the promise is broken",
    "misprint": "the printed form is not what is meant; the corrected form is given",
}


def shown(value: float) -> str:
    """A figure for people: six significant digits, no trailing zeros.

    >>> shown(0.0022235937), shown(float("inf")), shown(10.0)
    ('0.00222359', '∞', '10')
    """
    if math.isnan(value):
        return "no value"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return f"{value:.6g}".replace("-", "−")


def table(found: Sequence[Verdict], *, wide: bool = False) -> Table:
    """One row a verdict; with `wide`, its first figures beside it."""
    grid = Table(title="What the papers say and what is true", title_justify="left")
    grid.add_column("id", no_wrap=True)
    grid.add_column("verdict", no_wrap=True)
    grid.add_column("result", min_width=30)
    if wide:
        grid.add_column("figures (the first three)")
    for one in found:
        few = "\n".join(f"{name}: {shown(value)}" for name, value in list(one.figures.items())[:3])
        cells = [Text(one.id), Text(one.verdict, style=COLOURS[one.verdict]), Text(f"{one.work} {one.result}")]
        grid.add_row(*cells, *([Text(few)] if wide else []))
    return grid


def full(one: Verdict) -> Text:
    """Everything about one verdict."""
    text = Text()
    text.append(f"{one.id}  {one.work} {one.result}\n", style="bold")
    text.append(f"{one.verdict}\n", style=COLOURS[one.verdict])
    text.append(f"version read  {one.version}\n")
    for name, words in (("says", one.says), ("truth", one.truth), ("right", one.right), ("doubt", one.doubt)):
        if words:
            text.append(f"{name}  ", style="bold")
            text.append(f"{words}\n")
    for name, value in one.figures.items():
        text.append(f"  {name}: {shown(value)}\n")
    return text


def as_json(found: Sequence[Verdict]) -> str:
    """The verdicts as a JSON list."""
    return json.dumps([one.to_dict() for one in found], ensure_ascii=False, indent=2)


def page(found: Sequence[Verdict]) -> str:
    """docs/papers.md."""
    counts = {word: sum(one.verdict == word for one in found) for word in WORDS}
    lines = [
        "# What the papers say and what is true",
        "",
        "guessproof stands on four works. Each of their numbered results is a function in `guessproof.papers`, as",
        "published; this page says what it truly achieves. Every number below is computed by the exact engine when the",
        "page is made (`python -m guessproof.papers --write-docs docs/papers.md`), and a test fails if the page or a",
        "verdict is out of date.",
        "",
        JUDGED,
        "",
        "A verdict speaks of the version named here and of no other; a doubt about the transcription is kept apart",
        "from an error, and each entry says what the work got right. Most of what guessproof does was learned from",
        "them.",
        "",
        "| work | version read |",
        "|---|---|",
        *(f"| **{work.key}** {work.title} | {work.version} |" for work in WORKS),
        "",
        "| verdict | meaning | results |",
        "|---|---|---|",
        *(f"| **{word}** | {MEANINGS[word]} | {counts[word]} |" for word in WORDS),
        "",
    ]
    for work in WORKS:
        mine = [one for one in found if one.work == work.key]
        lines += [
            f"## {work.key} {work.title}",
            "",
            f"Version: {work.version}.",
            "",
            "| result | verdict |",
            "|---|---|",
        ]
        lines += [f"| [{_plain(one.result)}](#{one.id.replace('.', '').lower()}) | {one.verdict} |" for one in mine]
        lines.append("")
        for one in mine:
            lines += _entry(one)
    return "\n".join(lines).rstrip() + "\n"


def _entry(one: Verdict) -> list[str]:
    lines = [f"### {one.id}", "", f"**{_plain(one.result)}: {one.verdict}.**", "", f"*Says.* {_plain(one.says)}", ""]
    lines += [f"*True.* {_plain(one.truth)}", "", f"*Right.* {_plain(one.right)}", ""]
    if one.doubt:
        lines += [f"*Doubt.* {_plain(one.doubt)}", ""]
    figures = "; ".join(f"{_plain(name)} **{shown(value)}**" for name, value in one.figures.items())
    return [*lines, f"*Figures.* {figures}.", ""]


def _plain(text: str) -> str:
    """Markdown that shows what is written: stars, bars and underscores are text."""
    for sign in ("\\", "*", "_", "|", "<", "["):
        text = text.replace(sign, "\\" + sign)
    return text


def show(*, name: str | None = None, as_text: bool = True, console: Console | None = None) -> None:
    """Print all verdicts or one, as a table or as JSON."""
    found = verdicts() if name is None else [verdict(name)]
    if not as_text:
        print(as_json(found))
        return
    screen = console or Console()
    screen.print(table(found, wide=screen.width >= 130) if name is None else full(found[0]))
    if name is None:
        counts = ", ".join(f"{sum(one.verdict == word for one in found)} {word}" for word in WORDS)
        screen.print(f"{len(found)} results: {counts}. One in full: python -m guessproof.papers --id {found[0].id}")
        screen.print(Text(JUDGED))


def run(argv: Sequence[str] | None = None) -> int:
    """The command: 0 if all went well, 2 if the question was not understood."""
    parser = argparse.ArgumentParser(
        prog="python -m guessproof.papers",
        description="Every published result recomputed: what it says, what is true.",
    )
    parser.add_argument("--id", metavar="ID", help="show one result in full")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--list", action="store_true", help="print the ids only")
    parser.add_argument("--write-docs", metavar="PATH", help="write the page")
    options = parser.parse_args(argv)
    try:
        if options.list:
            print("\n".join(ids()))
        elif options.write_docs:
            target = check_output("write-docs", options.write_docs)
            write_output(target, page(verdicts()).encode())
        else:
            show(name=options.id, as_text=not options.json)
    except GuessproofError as error:
        Console(stderr=True).print(Text(str(error)))
        return 2
    return 0
