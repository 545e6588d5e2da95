"""What the page shows of a choice: the numbers of the command line, their words, and the rows of the charts."""

from __future__ import annotations

import math
from typing import Any

from guessproof.calculate import calculate
from guessproof.choosing import Choice
from guessproof.risk import Bracket, as_declared
from guessproof.rounded import NO_LIMIT, base_for, count, count_up, down, margin, misjudged_words, near, percent_up, up
from guessproof.web.states import CalculatorState

Outcome = dict[str, Any]


def of_calculation(found: CalculatorState) -> Outcome:
    """The exact answer without data, as `guessproof choose --prior … --json` gives it."""
    answer = calculate(found.attack, found.limits)
    table = answer.to_dict()
    before = answer.prior
    if before is None and answer.belief is not None and answer.belief.worst_prior is not None:
        before = float(answer.belief.worst_prior)
    shown = {
        "epsilon": down(answer.epsilon),
        "noise_scale": near(answer.noise_scale, 6),
        "posterior": _percent(answer.belief),
        "advantage": _percent(answer.advantage),
        "prior_free_epsilon": down(answer.prior_free_epsilon),
        "narrower_prior_epsilon": down(answer.narrower_prior_epsilon),
        "wider_prior_epsilon": down(answer.wider_prior_epsilon),
    }
    return _finite(
        {
            **table,
            "mode": "calculator",
            "exact": True,
            "posterior": table["belief"],
            "interval": [0.0, answer.epsilon if answer.feasible else 0.0],
            "binding": "attacker",
            "before": before,
            "people": people(before, _bound(answer.belief), found.attack.prior_factor),
            "shown": shown,
            "answer": table,
        }
    )


def quick_calculation(
    epsilon: float, advantage: float, posterior: float | None, before: float | None, factor: float
) -> Outcome:
    """The same from a curve: every number on the private side."""
    shown = {"epsilon": down(epsilon), "noise_scale": near(1 / epsilon, 6) if epsilon > 0 else NO_LIMIT}
    shown |= {"advantage": percent_up(advantage), "posterior": "" if posterior is None else percent_up(posterior)}
    return _finite(
        {
            "mode": "calculator",
            "exact": False,
            "feasible": True,
            "epsilon": epsilon,
            "noise_scale": 1 / epsilon if epsilon > 0 else math.inf,
            "advantage": {"bound": advantage, "status": "proven"},
            "posterior": None if posterior is None else {"bound": posterior, "status": "proven"},
            "interval": [0.0, epsilon],
            "binding": "attacker",
            "before": before,
            "people": people(before, posterior, factor),
            "shown": shown,
        }
    )


def of_choice(choice: Choice, *, exact: bool, before: float | None = None) -> Outcome:
    """What was chosen for a plan; where it is exact, with everything that `guessproof choose --json` says."""
    if choice.prior is not None:
        before = choice.prior
    elif choice.posterior is not None and choice.posterior.worst_prior is not None:
        before = float(choice.posterior.worst_prior)
    table = choice.to_dict(quick=True) if exact else {}
    return _finite(
        {
            "mode": "plan",
            "exact": exact,
            "feasible": choice.feasible,
            "epsilon": choice.epsilon if choice.feasible else None,
            "epsilon_charged": choice.cost if choice.noises else None,
            "interval": list(choice.interval),
            "binding": choice.binding,
            "noise_scale": choice.noise_scale,
            "epsilon_per_unit": choice.epsilon_per_unit,
            "limits": [
                {"name": b.name, "side": b.side, "epsilon": b.epsilon, "how": b.how, "shown": _limit(b)}
                for b in choice.limits
            ],
            "errors": choice.errors(),
            "rank_errors": choice.rank_errors(),
            "advantage": None if choice.advantage is None else choice.advantage.to_dict(),
            "posterior": None if choice.posterior is None else choice.posterior.to_dict(),
            "prior": choice.prior,
            "before": before,
            "people": people(before, _bound(choice.posterior), choice.plan.prior_factor),
            "changes": [change.to_dict() for change in choice.changes],
            "explanation": choice.explanation,
            "prior_free_epsilon": choice.prior_free_epsilon,
            "shown": _shown(choice, exact),
            **({"answer": table, "assumptions": table["assumptions"]} if exact else {}),
        }
    )


def _shown(choice: Choice, exact: bool) -> dict[str, str]:
    found = {
        "epsilon": choice.shown_epsilon if choice.feasible else "",
        "noise_scale": "" if choice.noise_scale is None else near(choice.noise_scale, 6),
        "posterior": _percent(choice.posterior),
        "advantage": _percent(choice.advantage),
        "prior_free_epsilon": down(choice.prior_free_epsilon),
        "low": up(choice.interval[0]) if choice.interval[0] else "0",
        "high": "any" if math.isinf(choice.interval[1]) else down(choice.interval[1]),
        "errors": "; ".join(f"{name} {margin(e)}" for name, e in choice.errors().items() if e is not None),
    }
    if exact:
        found["narrower_prior_epsilon"] = down(choice.narrower_prior_epsilon)
        found["wider_prior_epsilon"] = down(choice.wider_prior_epsilon)
        factor = choice.quick_prior_factor
        found["misjudged"] = "" if factor is None else misjudged_words(factor)
    return found


def _limit(bound: Any) -> str:
    if math.isinf(bound.epsilon):
        return "any"
    return (down if bound.side == "at most" else up)(bound.epsilon)


def people(before: float | None, worst: float | None, factor: float) -> dict[str, Any] | None:
    """Beliefs as guesses out of a hundred, or of more where a hundred would not tell them apart.

    Before as it is stated, and after at worst, if the stated odds may be wrong by a factor.
    """
    if worst is None:
        return None
    after = as_declared(worst, factor)
    start = 0.0 if before is None else min(before, after)
    base = base_for(start, after)
    return {
        "base": base,
        "before": None if before is None else count(before, base),
        "after": count_up(after, base),
    }


def _percent(bracket: Bracket | None) -> str:
    return "" if bracket is None else percent_up(float(bracket.bound))


def _bound(bracket: Bracket | None) -> float | None:
    return None if bracket is None else float(bracket.bound)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {k: _finite(v) for k, v in value.items()}
    return [_finite(v) for v in value] if isinstance(value, (list, tuple)) else value
