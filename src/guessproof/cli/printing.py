"""What commands share in printing."""

from __future__ import annotations

import math
import shlex
import shutil
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from guessproof.plain import json_text, plain
from guessproof.rounded import base_for, count, count_up, margin, percent_near, percent_up, percents

if TYPE_CHECKING:
    from guessproof.risk import Bracket

__all__ = [
    "AsJson",
    "PlanArgument",
    "after_answer",
    "belief_words",
    "command",
    "error_words",
    "in_people",
    "percent",
    "print_json",
    "program",
    "say",
]

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
PlanArgument = Annotated[str, typer.Argument(help="The plan file, as plan.toml.", metavar="PLAN")]


def program() -> str:
    """How this program is called here: by its name where a shell finds it, else by the path that it was called with."""
    called = Path(sys.argv[0])
    if called.stem == "__main__" and called.parent.name == "guessproof":
        return shlex.join([sys.executable, "-m", "guessproof"])
    found = shutil.which("guessproof")
    if called.stem != "guessproof" or not called.is_file() or (found and called.samefile(found)):
        return "guessproof"
    return shlex.quote(sys.argv[0])


def command(*words: str) -> str:
    """A line that a reader can copy into a shell as it stands."""
    return f"{program()} {shlex.join(words)}"


def print_json(table: Any) -> None:
    """One JSON document, safe for parsers and terminals."""
    typer.echo(json_text(table))


@contextmanager
def after_answer() -> Generator[None]:
    """Whatever fails in here fails after the JSON document was printed: there is no second one."""
    try:
        yield
    except Exception as error:
        error.answered = True  # pyright: ignore[reportAttributeAccessIssue]
        raise


def say(text: str, *, err: bool = False) -> None:
    """One line for people."""
    typer.echo(plain(text), err=err)


def percent(bracket: Bracket | None) -> str:
    """A risk in percent, rounded up, with its status, and beside a bound the best attack that was found."""
    if bracket is None:
        return ""
    attack, bound = percents(float(bracket.attack), float(bracket.bound))
    if bracket.status != "proven" or float(bracket.attack) <= 0:
        return f"{percent_up(float(bracket.bound))} ({bracket.status})"
    return f"{bound} ({bracket.status}; best attack found {attack})"


def belief_words(after: Bracket, before: float | None, spell: Callable[[Any], str], factor: float = 1.0) -> str:
    """A belief before → after, both for the same true value.

    Where the prior may be wrong by a factor, what is believed after at most is so for the worst of all priors: of the
    declared one it is said what it becomes.
    """
    start = before if before is not None else None if after.worst_prior is None else float(after.worst_prior)
    if start is not None and 1 < factor < math.inf:
        from guessproof.risk import with_factor  # only where a prior may be wrong

        declared = with_factor(after, 1 / factor)
        told = belief_words(replace(after, attack=declared.attack, bound=declared.bound), start, spell)
        return f"{told}; with odds misjudged by up to ×{factor:g} {percent(after)}"
    rise = percent(after) if start is None else f"{percent_near(start)} → {percent(after)}"
    where = "" if after.worst_at is None else f", where the true value is {spell(after.worst_at)}"
    return f"{rise}: {in_people(start, float(after.bound))}{where}"


def in_people(before: float | None, after: float) -> str:
    """Beliefs in natural frequencies, of as many guesses as tell them apart; the one after is never told too low.

    >>> in_people(0.2499, 0.2987), in_people(0.07, 0.0733), in_people(None, 0.0004)
    ('25 in 100 → 30 in 100', '70 in 1,000 → 74 in 1,000', '4 in 10,000')
    """
    base = base_for(0.0 if before is None else before, after)
    then = f"{count_up(after, base):,} in {base:,}"
    return then if before is None else f"{count(before, base):,} in {base:,} → {then}"


def error_words(error: float | None, ranks: float | None, time: object = None) -> str:
    """How near an answer is: in its own unit, in days where it is a time, or in ranks."""
    if ranks is not None:
        return f"{margin(ranks)} ranks"
    return "depends on the answer" if error is None else f"{margin(error)}{' days' if time else ''}"
