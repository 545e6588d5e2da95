"""Choosing for the examples: after the start, with the narrower and wider priors, and the whole command.

Time of computing, which no load of the machine lengthens much; the least of three.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from time import process_time
from typing import Any

from timing import shown

import guessproof as gp

EXAMPLES = Path(__file__).parent.parent / "examples"
# The example, and before its quick answers: choosing, with the priors on top, the whole command.
BEFORE = {
    "cafeteria": ("0.14 s", "0.62 s", "1.5 s"),
    "cats": ("23 ms", "23 ms", "1.2 s"),
    "salaries": ("0.11 s", "0.27 s", "1.1 s"),
    "survey": ("5 ms", "5 ms", "1.3 s"),
    "ships": ("1.1 s", "3.7 s", "2.4 s"),
}
NEEDED = "import duckdb, numpy, pydantic, rich, scipy.special, sqlglot, typer"


def rows() -> Iterator[tuple[str, str, str]]:
    for name, (alone, with_priors, whole) in BEFORE.items():
        path, most = EXAMPLES / name / "plan.toml", "≤ 1.5 s" if name == "ships" else "≤ 0.3 s"
        chosen = _computing(lambda path=path: gp.choose(gp.load_plan(path)))
        told = _computing(lambda path=path: gp.choose(gp.load_plan(path)).to_dict())
        command = _of_a_process("-m", "guessproof", "choose", str(path))
        yield f"{name}: chosen after the start (before: {alone})", shown(chosen), most
        yield f"{name}: narrower and wider priors included (before: {with_priors})", shown(told), most
        yield f"{name}: the whole command (before: {whole})", shown(command), "" if name == "ships" else "≤ 1 s"
    yield "reading the libraries that a command may need", shown(_of_a_process("-c", NEEDED)), ""
    for name, prior in (("exponential", gp.exponential(1)), ("Laplace", gp.laplace(0, 1))):
        goal = gp.within(gp.Attribute("x", prior=prior), 0.3)
        worst = _computing(lambda goal=goal: gp.Attack(goal).advantage(epsilon=5.0))  # a new one: answers are kept
        yield f"worst true value, {name}, ε = 5 (before: 1.2–1.6 s)", shown(worst), "≤ 0.1 s"


def _computing(work: Callable[[], Any]) -> float:
    work()  # what is read on the way
    found = list[float]()
    for _ in range(3):
        start = process_time()
        work()
        found.append(process_time() - start)
    return min(found)


def _of_a_process(*arguments: str) -> float:
    found = list[float]()
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(found)
