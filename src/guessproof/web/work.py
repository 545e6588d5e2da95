"""Work that takes a while. Each piece is done in a process of its own, which can be stopped."""

from __future__ import annotations

from typing import Any, Protocol

from guessproof.web.folder import Folder
from guessproof.web.states import Tables, has_data, read_calculation, read_state


class Teller(Protocol):
    """Hears how far some work is, and what can be used of it already."""

    def __call__(self, share: float, words: str, found: Any = None) -> None:
        """Tell."""
        ...


def exact_outcome(folder: Folder, state: Tables, options: dict[str, Any], progress: Teller) -> Any:
    """The answer of the command line. Where a curve takes long, the charts that need none come with it."""
    from guessproof.checking import check
    from guessproof.choosing import choose
    from guessproof.choosing.budgets import budget_left
    from guessproof.web.live import curve_of
    from guessproof.web.outcomes import of_calculation, of_choice

    if not has_data(state):
        asked = read_calculation(state, folder)
        outcome = of_calculation(asked)
        return outcome if len(asked.attack.conditioned) == 1 else _drawn(outcome, None)
    plan = read_state(state, folder)
    left = budget_left(plan)
    choice = choose(plan, remaining=left.epsilon, to_come=left.to_come, data_dependent=left.is_scanned)
    warnings = [concern.to_dict() for concern in check(plan, opens=False, choice=choice)]
    found = of_choice(choice, exact=True)
    outcome = {**found, "answer": {**found["answer"], "warnings": warnings}}
    exposure = choice.exposure
    slow = exposure is not None and (exposure.may_fail or curve_of(exposure) is None)
    return _drawn(outcome, choice) if slow else outcome


def _drawn(outcome: dict[str, Any], choice: Any) -> dict[str, Any]:
    from guessproof.web.pictures import drawings, quick_rows  # Altair: most answers need none

    return {**outcome, "charts": drawings(outcome, choice, None), "rows": quick_rows(outcome, choice)}


def make_beliefs(folder: Folder, state: Tables, options: dict[str, Any], progress: Teller) -> Any:
    """The curve from which answers are looked up; None where nobody attacks."""
    from guessproof.choosing import Chooser, asked
    from guessproof.risk import Curve
    from guessproof.web.live import FIRST, Ladder, Scaled, beliefs_of, prepared

    if not has_data(state):
        found = read_calculation(state, folder)
        return prepared(Scaled(Curve(found.attack)), found.limits.both)
    plan = read_state(state, folder)
    exposure = Chooser(plan, asked(plan), None, False).exposure()
    if exposure is None or exposure.may_fail:
        return None

    def told(ladder: Ladder, share: float) -> None:
        progress(share, "", ladder if len(ladder.epsilon) >= FIRST else None)

    return beliefs_of(exposure, plan.limits.both, told)


def run_audit(folder: Folder, state: Tables, options: dict[str, Any], progress: Teller) -> Any:
    """The attacker against the real engine and sampler, on made-up tables."""
    from guessproof.auditing import audit
    from guessproof.charts.audit import calibration
    from guessproof.charts.live import apart

    plan = read_state(state, folder)
    found = audit(plan, trials=options["trials"], seconds=options["seconds"], progress=progress)
    chart = apart(calibration(found)) if found.points else None
    return {"audit": found.to_dict(), "chart": None if chart is None else {"spec": chart.spec, "rows": chart.rows}}


def make_report(folder: Folder, state: Tables, options: dict[str, Any], progress: Teller) -> Any:
    """One page from plan and ledger."""
    from guessproof.reporting import report
    from guessproof.web.writing import as_toml

    made = report(read_state(state, folder), text=as_toml(state))
    return {"html": made.html, "released": len(made.facts.own)}


def find_factor(folder: Folder, state: Tables, options: dict[str, Any], progress: Teller) -> Any:
    """By what factor the prior may be wrong at the recommended ε."""
    from guessproof.choosing import choose
    from guessproof.rounded import misjudged_words

    if has_data(state):
        factor = choose(read_state(state, folder)).largest_prior_factor
    else:
        from guessproof.calculate import calculate

        found = read_calculation(state, folder)
        answer = calculate(found.attack, found.limits)
        asked, factor = found.limits, None
        if answer.feasible:
            factor = found.attack.largest_prior_factor(
                epsilon=answer.epsilon, advantage=asked.advantage, posterior=asked.posterior, both=asked.both
            )
    return {"factor": factor, "words": None if factor is None else misjudged_words(factor)}


def find_meaning(folder: Folder, state: Tables, options: dict[str, Any], progress: Teller) -> Any:
    """What one ε means, exactly."""
    from guessproof.web.meanings import exact_meaning

    return exact_meaning(folder, state, options["epsilon"])


def find_published(folder: Folder, state: Tables, options: dict[str, Any], progress: Teller) -> Any:
    """Published bounds beside this attack, with their verdicts."""
    from guessproof.web.published import published_beside

    return published_beside(folder, state, progress)


KINDS = {
    "outcome": exact_outcome,
    "beliefs": make_beliefs,
    "audit": run_audit,
    "report": make_report,
    "factor": find_factor,
    "meaning": find_meaning,
    "published": find_published,
}
