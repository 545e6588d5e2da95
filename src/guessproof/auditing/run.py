"""`guessproof audit`: plays the attacker against the real engine and the real sampler, on made-up tables.

Of the plan's source only names and types of columns are read, and its ledger is not touched. Everything lives in a
private folder that is deleted.
"""

from __future__ import annotations

import os
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from guessproof.auditing.cases import MOST_ROWS
from guessproof.auditing.certain import examine, ledger_check
from guessproof.auditing.largest_belief import check_exposure
from guessproof.auditing.plan import AuditPlan, Progress, make_audit_plan
from guessproof.auditing.result import Audit, Check
from guessproof.auditing.trials import Watch, play
from guessproof.auditing.verdicts import chance_checks, engine_check, movement_check, points_of_plot
from guessproof.choosing import Choice, choose
from guessproof.errors import EngineError, InfeasibleError, ParameterError
from guessproof.names import folded
from guessproof.plan import Plan

TRIALS, SECONDS, FALSE_ALARM = 100_000, 30.0, 1e-3
LEAST_TRIALS = 2000


def audit(
    plan: Plan,
    *,
    trials: int = TRIALS,
    seconds: float = SECONDS,
    seed: int | None = None,
    false_alarm: float = FALSE_ALARM,
    progress: Progress | None = None,
) -> Audit:
    """Compare what an attacker achieves with what the plan's choice promises; reads no value of the plan's source.

    `trials` is how many noises are drawn for each measurement, unless `seconds` of drawing are over first. `seed`
    makes the synthetic tables and victims the same again; noise is never seeded. A correct release fails with
    probability `false_alarm` at most.
    """
    if progress is not None:
        progress(0.0, "choosing ε")
    choice = choose(plan)
    return audit_choice(choice, trials=trials, seconds=seconds, seed=seed, false_alarm=false_alarm, progress=progress)


def audit_choice(
    choice: Choice,
    *,
    trials: int = TRIALS,
    seconds: float = SECONDS,
    seed: int | None = None,
    false_alarm: float = FALSE_ALARM,
    progress: Progress | None = None,
) -> Audit:
    """The same for a choice that was made already."""
    _check(trials, seconds, false_alarm, seed)
    if not choice.feasible or not choice.noises:
        raise InfeasibleError(choice.explanation)
    _refuse_names(choice)
    started = time.monotonic()
    show = progress or _silent
    planted = int(np.random.SeedSequence().generate_state(1)[0]) if seed is None else seed
    rng = np.random.default_rng(planted)
    with tempfile.TemporaryDirectory(prefix="guessproof-audit-", ignore_cleanup_errors=True) as folder:
        os.chmod(folder, 0o700)
        try:
            if not is_one_table(choice):
                from guessproof.auditing.whole import audit_whole

                found = audit_whole(choice, Path(folder), rng, trials, seconds, false_alarm, show)
                return replace(found, seed=planted, seconds=time.monotonic() - started)
            audit_plan = make_audit_plan(choice, Path(folder), rng, show)
            attack = audit_plan.attacks[0]
            played = {"": {attack.case.group: attack.cells[0]}}
            certain = (*examine(audit_plan, rng, show), ledger_check(choice, played, Path(folder)))
            return _judge_trials(audit_plan, trials, seconds, planted, false_alarm, show, certain, started, rng)
        except EngineError:
            return _report_broken(choice, planted, false_alarm, started)


def is_one_table(choice: Choice) -> bool:
    """Whether one question is asked about the rows of one table, and every number gets noise of a known scale."""
    parts = choice.asked.parts
    apart = any(noise.measurement.is_apart for noise in choice.noises)
    query = parts[0].query
    return len(parts) == 1 and not query.joins and query.inner is None and not query.finds_groups and not apart


def _refuse_names(choice: Choice) -> None:
    """Made-up units are called as they come: a question about the names themselves cannot be played."""
    identity = choice.plan.unit.identity
    for query in (part.query for part in choice.asked.parts):
        joined = {key.left.name for join in query.joins for key in join.keys}
        if identity is not None and folded(identity) in {folded(name) for name in query.columns - joined}:
            problem = f"it filters on {identity}, and an audit makes up the names of persons"
            remedy = "audit the query without that filter"
            raise choice.plan.error(("query", "sql"), query.sql, problem, remedy)


def _report_broken(choice: Choice, seed: int, false_alarm: float, started: float) -> Audit:
    """The engine failed where no data can be to blame but made-up ones."""
    words = (
        "the engine failed on a made-up table (values beyond the bounds, missing, infinite, not a number): a release "
        "could fail in a way that tells of the data"
    )
    check = Check("engine", None, None, None, "fail", words)
    return Audit(False, (check,), false_alarm, 0, 0, time.monotonic() - started, seed, choice.cost, (), ())


def _judge_trials(
    audit_plan: AuditPlan,
    trials: int,
    seconds: float,
    seed: int,
    false_alarm: float,
    progress: Progress,
    certain: tuple[Check, ...],
    started: float,
    rng: Any,
) -> Audit:
    counts = play(audit_plan, trials, Watch(seconds, time.monotonic, progress))
    level = false_alarm / counts.tests
    checks = (
        engine_check(audit_plan),
        movement_check(audit_plan),
        *chance_checks(audit_plan, counts, level),
        *check_exposure(audit_plan, counts, rng),
        *certain,
    )
    progress(1.0, "done")
    return Audit(
        passed=all(c.verdict != "fail" for c in checks),
        checks=checks,
        false_alarm=false_alarm,
        tests=counts.tests,
        trials=counts.trials,
        seconds=time.monotonic() - started,
        seed=seed,
        epsilon=audit_plan.choice.cost,
        points=points_of_plot(audit_plan.choice.noises, counts),
        notes=tuple(_notes(audit_plan)),
    )


def _notes(audit_plan: AuditPlan) -> Any:
    yield "No value of the plan's source was read; tables, victims and ledger were made up and are deleted."
    yield (
        f"Real: reading the plan, choosing ε, rewriting the query, {audit_plan.asked}, the sampler, the step from sums "
        "to noisy answers, the ledger. Batched: victims share one file with one more key to group by; trials share "
        "calls of the release's own noise function."
    )
    rows = audit_plan.choice.plan.data.rows
    if rows is not None and rows > MOST_ROWS:
        yield f"data.rows = {rows} was not built up: {MOST_ROWS} rows stand for them, which changes no noise."
    if len(audit_plan.choice.noises) > 1:
        yield "Guesser, ratios and noise are audited for each measurement alone; beliefs use all of them together."
    if audit_plan.attacker is None or not audit_plan.has_belief:
        yield (
            "Without a prior to start from, or with a goal about the group itself, the attacker has to tell the two "
            "most distant tables apart."
        )


def _silent(_share: float, _words: str) -> None:
    return


def _check(trials: int, seconds: float, false_alarm: float, seed: int | None) -> None:
    if trials < LEAST_TRIALS:
        problem = "is too few to find anything"
        raise ParameterError("trials", trials, problem, f"draw at least {LEAST_TRIALS}")
    if not seconds > 0:
        raise ParameterError("seconds", seconds, "is no time", "give a positive number")
    if not 0 < false_alarm <= 0.1:
        raise ParameterError("false_alarm", false_alarm, "is no small probability", "give one such as 0.001")
    if seed is not None and seed < 0:
        raise ParameterError("seed", seed, "is negative", "give a whole number from 0")
