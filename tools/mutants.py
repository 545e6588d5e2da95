"""Plants mistakes, one at a time, and counts which of them the tests of their room catch.

    make mutants                                          a sample of every room
    python tools/mutants.py exposure choosing --each 10   fewer, or other rooms

The kinds of mistakes are those of Cosmic Ray (another operator, number, comparison, constant, loop), and the ones that
joints between rooms suffer from: an argument that is not handed on, the other of two functions, a term that is left
out. They are planted in a copy of the repository; which ones, the seed decides. What changes no behaviour
(annotations, texts for people) is not planted. A mistake is caught when a test fails or does not end in time.
"""

from __future__ import annotations

import argparse
import ast
import copy
import difflib
import itertools
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

ROOT = Path(__file__).resolve().parents[1]
ROAD = "tests/laws/test_whole_road.py"
RISK = ("tests/test_frozen.py", "tests/risk", "tests/laws/test_attack_laws.py", "tests/exposure")
ROOMS = {
    "risk": RISK,
    "world": ("tests/world", *RISK),
    "sql": ("tests/sql", "tests/engines", "tests/deep/engines", ROAD),
    "exposure": ("tests/choosing", "tests/deep/choosing", ROAD),
    "choosing": ("tests/choosing", "tests/deep/choosing", ROAD),
    "noise": ("tests/choosing", "tests/releasing", ROAD),
    "ledger": ("tests/ledger", "tests/releasing", ROAD),
    "auditing": ("tests/auditing", "tests/deep/auditing"),
    "scanning": ("tests/scanning", "tests/deep/scanning"),
}
TWINS = {"max": "min", "min": "max", "any": "all", "all": "any", "ceil": "floor", "floor": "ceil"}
TWINS |= {"maximum": "minimum", "minimum": "maximum", "up": "down", "down": "up", "nextafter": "max"}


@dataclass(frozen=True)
class Mutant:
    """One mistake: the whole text of a file with it."""

    room: str
    path: Path
    kind: str
    text: str
    change: str


# Mistakes.


def behaviour(source: str) -> str:
    """The code without what a run does not see: annotations, and all that stands for them."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            node.returns = None
        elif isinstance(node, ast.AnnAssign):
            node.annotation = ast.Constant(None)
    return ast.dump(tree)


def _of_cosmic_ray(source: str) -> Iterator[tuple[str, Callable[[], str | None]]]:
    nodes = list(ast_nodes(get_ast(source)))
    for name in operator_names():
        kind = get_operator(name)
        if not kind.arguments():
            operator = kind()
            count = sum(len(list(operator.mutation_positions(node))) for node in nodes)
            for occurrence in range(count):
                yield name.rpartition("/")[2], partial(mutate_code, source, operator, occurrence)


def _of_joints(source: str) -> Iterator[tuple[str, Callable[[], str | None]]]:
    tree = ast.parse(source)
    for place, node in enumerate(ast.walk(tree)):
        for kind, change in _changes(node):
            yield kind, partial(_with, tree, place, change)


def _changes(node: ast.AST) -> Iterator[tuple[str, Callable[[Any], Any]]]:
    if isinstance(node, ast.Call):
        for which in range(len(node.keywords)):
            yield "argument left out", lambda n, w=which: n.keywords.pop(w)
        key = "attr" if isinstance(node.func, ast.Attribute) else "id"
        name = getattr(node.func, key, "")
        if name in TWINS:
            yield "other function", lambda n: setattr(n.func, key, TWINS[name])
    elif isinstance(node, ast.BinOp):
        yield "second part left out", _reduced
    elif isinstance(node, ast.BoolOp):
        for which in range(len(node.values)):
            yield "condition left out", lambda n, w=which: n.values.pop(w)
    elif isinstance(node, ast.If):
        yield "branch never taken", lambda n: setattr(n, "test", ast.Constant(False))


def _reduced(node: ast.BinOp) -> None:
    node.right = ast.Constant(1 if isinstance(node.op, (ast.Mult, ast.Div, ast.Pow)) else 0)


def _with(tree: ast.Module, place: int, change: Callable[[Any], Any]) -> str:
    changed = copy.deepcopy(tree)
    change(next(n for k, n in enumerate(ast.walk(changed)) if k == place))
    return ast.unparse(ast.fix_missing_locations(changed))


FAMILIES = (_of_cosmic_ray, _of_joints)


# Planting.


def files(room: str) -> list[Path]:
    home = ROOT / "src" / "guessproof"
    single = home / f"{room}.py"
    return [single] if single.exists() else sorted((home / room).rglob("*.py"))


def planted(room: str, each: int, seed: int) -> list[Mutant]:
    """A sample, each file with a chance in proportion to what can go wrong in it."""
    sources = {path: path.read_text(encoding="utf-8") for path in files(room)}
    families = [[(p, *m) for p, source in sources.items() for m in family(source)] for family in FAMILIES]
    for family in families:
        random.Random(f"{room} {seed}").shuffle(family)
    places = [p for pair in itertools.zip_longest(*families) for p in pair if p is not None]  # as many of either
    found: list[Mutant] = []
    seen = {behaviour(source) for source in sources.values()}
    for path, kind, made in places:
        if len(found) == each:
            break
        text = made()
        if text is not None and _parses(text) and behaviour(text) not in seen:
            seen.add(behaviour(text))
            found.append(Mutant(room, path.relative_to(ROOT), kind, text, _change(sources[path], text)))
    return sorted(found, key=lambda m: str(m.path))


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def _change(before: str, after: str) -> str:
    """The first line that differs, in words of code."""
    plain = [ast.unparse(ast.parse(text)).splitlines() for text in (before, after)]
    lines = [line for line in difflib.unified_diff(*plain, n=0, lineterm="") if line[:1] in "+-"][2:]
    old = next((line[1:].strip() for line in lines if line.startswith("-")), "")
    new = next((line[1:].strip() for line in lines if line.startswith("+")), "")
    return f"{old} → {new}"


class Copy:
    """A copy of the repository in which mistakes are planted."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        for name in listed.splitlines():
            if (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, folder / name)

    def passes(self, tests: tuple[str, ...], timeout: float) -> bool:
        """Whether all tests pass; the first that fails ends it, without looking for a smaller example."""
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
        environment = {"PYTHONPATH": str(self.folder / "src"), "HYPOTHESIS_PROFILE": "mutants"}
        environment |= {"PYTHONDONTWRITEBYTECODE": "1"}
        try:
            done = subprocess.run(
                command,
                cwd=self.folder,
                env={**os.environ, **environment},
                timeout=timeout,
                capture_output=True,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return False
        return done.returncode == 0

    def survives(self, mutant: Mutant, tests: tuple[str, ...], timeout: float) -> bool:
        path = self.folder / mutant.path
        before = path.read_text(encoding="utf-8")
        path.write_text(mutant.text, encoding="utf-8")
        try:
            return self.passes(tests, timeout)
        finally:
            path.write_text(before, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description="Plant mistakes and count which the tests catch.")
    parser.add_argument("rooms", nargs="*", default=list(ROOMS), help=f"of {', '.join(ROOMS)}")
    parser.add_argument("--each", type=int, default=25, help="mistakes per room")
    parser.add_argument("--seed", type=int, default=1, help="which ones")
    parser.add_argument("--output", type=Path, default=Path("build/mutants.md"), help="where the table goes")
    wanted = parser.parse_args()
    lines = ["| room | planted | caught | survived |", "|---|---|---|---|"]
    survivors: list[str] = []
    with tempfile.TemporaryDirectory(prefix="guessproof-mutants-") as name:
        scratch = Copy(Path(name))
        for room in wanted.rooms:
            count, alive = _room(scratch, room, wanted.each, wanted.seed)
            survivors += [f"- `{m.path}`, {m.kind}: `{m.change}`" for m in alive]
            lines.append(f"| {room} | {count} | {count - len(alive)} | {len(alive)} |")
    report = "\n".join([f"Seed {wanted.seed}.", "", *lines, "", "Survivors:", "", *(survivors or ["none"]), ""])
    wanted.output.parent.mkdir(parents=True, exist_ok=True)
    wanted.output.write_text(report, encoding="utf-8")
    print(report)


def _room(scratch: Copy, room: str, each: int, seed: int) -> tuple[int, list[Mutant]]:
    tests = ROOMS[room]
    start = time.monotonic()
    if not scratch.passes(tests, 3600):
        raise SystemExit(f"the tests of {room} fail without any mistake: {' '.join(tests)}")
    patience = 60 + 5 * (time.monotonic() - start)
    alive: list[Mutant] = []
    sample = planted(room, each, seed)
    for place, mutant in enumerate(sample, 1):
        survived = scratch.survives(mutant, tests, patience)
        alive += [mutant] if survived else []
        word = "SURVIVED" if survived else "caught"
        print(f"{room} {place}/{len(sample)} {word}: {mutant.path.name}: {mutant.change}", flush=True)
    return len(sample), alive


if __name__ == "__main__":
    main()
