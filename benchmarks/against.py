"""The same questions asked of two versions in turn: what each answered, and the ratio of their times.

    python benchmarks/run.py --against REF

REF is checked out in a worktree of its own and removed again. Each version runs in a process that lives as long as the
comparison, so that imports are not counted; every question is asked of both before the next one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROUNDS = 3  # of which the shortest counts
PATIENCE = 300  # seconds for one question
SETUP = """
import numpy as np
import guessproof as gp
def on(prior, radius, **more): return gp.Attack(gp.within(gp.Attribute("x", prior=prior), radius), **more)
def noisy(prior, radius, **more): return gp.GaussianAttack(on(prior, radius).goal, **more)
def two(join, at=None, norm="linf"):
    a, b = gp.Attribute("a", prior=gp.normal(0, 2)), gp.Attribute("b", prior=gp.normal(0, 3))
    return gp.Attack(join(gp.within(a, 1), gp.within(b, 1)), at=at, norm=norm)
def place(at=None):
    a, b = gp.Attribute("a", prior=gp.normal(0, 2)), gp.Attribute("b", prior=gp.normal(0, 3))
    return gp.Attack(gp.near((a, b), 1.5), at=at)
def plan(name): return gp.choose(gp.load_plan(f"examples/{name}/plan.toml")).epsilon
salary, sample = gp.normal(2000, 235.7), np.random.default_rng(0).normal(0, 10, 100_000)
"""
QUESTIONS = {
    "posterior, normal": 'on(salary, 100, at={"x": 2000}).posterior(0.002)',
    "posterior, gamma": 'on(gp.gamma(2, 3), 1, at={"x": 4}).posterior(0.3)',
    "epsilon, normal": 'on(salary, 100, at={"x": 2000}).epsilon(advantage=0.1)',
    "worst true value, normal": "on(salary, 100).advantage(0.002)",
    "worst true value, Student's": "on(gp.student_t(3, 0, 1), 0.5).advantage(0.3)",
    "its epsilon, normal": "on(salary, 100).epsilon(advantage=0.1)",
    "its epsilon, Student's": "on(gp.student_t(3, 0, 1), 0.5).epsilon(advantage=0.1)",
    "worst of a sample of 100,000": "on(gp.empirical(sample), 2).advantage(0.1)",
    "AND of two": 'two(lambda x, y: x & y, {"a": 0, "b": 0}).advantage(0.3)',
    "OR of two": 'two(lambda x, y: x | y, {"a": 0, "b": 0}).advantage(0.3)',
    "place": 'place({"a": 0, "b": 0}).advantage(0.3)',
    "worst place": "place().advantage(0.3)",
    "prior factor 1.5, stated": 'on(salary, 100, at={"x": 2000}, prior_factor=1.5).advantage(0.002)',
    "prior factor 1.5, worst": "on(salary, 100, prior_factor=1.5).advantage(0.002)",
    "largest prior factor, worst": "on(salary, 100).largest_prior_factor(epsilon=0.001, advantage=0.1)",
    "curve, one limit": "gp.Curve(on(salary, 100)).epsilon(advantage=0.1)",
    "least sigma, normal": 'noisy(gp.normal(20, 6.28), 2, at={"x": 20}).sigma(advantage=0.05)',
    "least sigma, gamma": 'noisy(gp.gamma(2, 3), 2, at={"x": 6}).sigma(advantage=0.1)',
    "least sigma, gamma, worst": "noisy(gp.gamma(2, 3), 2).sigma(advantage=0.1, failure=1e-3)",
    **{f"choose {name}": f'plan("{name}")' for name in ("cafeteria", "salaries", "cats", "survey", "ships")},
}


def rows(reference: str) -> Iterator[tuple[str, str, str]]:
    """Question, both answers, and now : then, one after the other."""
    with _checked_out(reference) as other, _worker(other) as then, _worker(ROOT) as now:
        for name, question in QUESTIONS.items():
            answers = [_ask(worker, question) for worker in (then, now) * ROUNDS]
            before, after = answers[0::2], answers[1::2]
            old, new = min(a["seconds"] for a in before), min(a["seconds"] for a in after)
            values = f"{before[0]['answer']} → {after[0]['answer']}"
            yield name, values, f"{old * 1e3:.1f} → {new * 1e3:.1f} ms ({new / old:.2f})"


@contextmanager
def _checked_out(reference: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "reference"
        subprocess.run(["git", "worktree", "add", "--quiet", "--detach", str(place), reference], cwd=ROOT, check=True)
        try:
            yield place
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", str(place)], cwd=ROOT, check=True)


@contextmanager
def _worker(root: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that answers one question a line."""
    environment = {**os.environ, "PYTHONPATH": str(root / "src")}
    command = [sys.executable, __file__, "worker"]
    with subprocess.Popen(
        command, cwd=root, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process
        process.kill()


def _ask(worker: subprocess.Popen[str], question: str) -> dict[str, float | str]:
    assert worker.stdin is not None
    assert worker.stdout is not None
    worker.stdin.write(question + "\n")
    worker.stdin.flush()
    return json.loads(worker.stdout.readline())


def _answer() -> None:
    """Answer questions from standard input: CPU seconds, since other programs hardly lengthen these."""
    import signal
    import time
    import warnings

    names: dict[str, object] = {}
    warnings.simplefilter("ignore")
    exec(SETUP, names)  # the questions are the ones above
    for line in sys.stdin:
        signal.alarm(PATIENCE)
        start = time.process_time()
        try:
            found = eval(line, names)
            shown = f"{found.attack:.5g} … {found.bound:.5g}" if hasattr(found, "bound") else f"{float(found):.5g}"
        except Exception as error:
            shown = type(error).__name__
        seconds = time.process_time() - start
        print(json.dumps({"seconds": max(seconds, 1e-6), "answer": shown}), flush=True)


if __name__ == "__main__":
    _answer()
