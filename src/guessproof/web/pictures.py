"""The page's charts: their drawings, and the rows that change while something is dragged."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from guessproof.charts import live as charts
from guessproof.charts.plan import NARROW, fitted, profile
from guessproof.charts.profiles import epsilon_map
from guessproof.choosing import Choice
from guessproof.errors import GuessproofError
from guessproof.mechanisms import BEST, Mechanism
from guessproof.risk import RiskProfile, as_declared
from guessproof.web.live import BELIEVED, HIGH, LITTLE, Beliefs, Ladder

Row = dict[str, Any]
Rows = dict[str, dict[str, list[Row]]]
USUAL = 0.95


def gain_rows(beliefs: Beliefs) -> list[Row]:
    """Belief and advantage over ε, and what an attack reaches where one is known."""
    rows: list[Row] = []
    for e in _places(beliefs):
        row: Row = {"epsilon": e, "gain": 0.0 if e == 0 else beliefs.advantage(e, False)}
        told = {"reached": reached(beliefs, e), "belief": _believed(beliefs, e) if e else before_of(beliefs)}
        rows.append({**row, **{k: v for k, v in told.items() if v is not None}})
    return rows


def _places(beliefs: Beliefs) -> list[float]:
    """Where a curve is drawn: evenly, or of a ladder both ends of every step."""
    if not isinstance(beliefs, Ladder):
        return beliefs.places
    grid = list(beliefs.epsilon)
    enough = (e for e in grid if (_believed(beliefs, e) or 0) >= BELIEVED or beliefs.advantage(e, False) >= HIGH)
    end = next(enough, grid[-1])
    return [0.0, *(place for e in grid if e <= end for place in (e, e * (1 + 1e-9)) if place <= end)]


def _believed(beliefs: Beliefs, epsilon: float) -> float | None:
    if isinstance(beliefs, Ladder) and beliefs.belief is None:
        return None
    try:
        return beliefs.posterior(epsilon)
    except GuessproofError:  # without a prior there is no belief
        return None


def before_of(beliefs: Beliefs) -> float | None:
    """What may be believed today, at most, with the prior that is stated."""
    if isinstance(beliefs, Ladder) or beliefs.curve.attack.alternatives:
        return None
    believed = _believed(beliefs, LITTLE * beliefs.places[1])
    return None if believed is None else as_declared(believed, beliefs.curve.attack.prior_factor)


def reached(beliefs: Beliefs, epsilon: float) -> float | None:
    """What an attack is known to reach at this ε or a smaller one; None where none is known."""
    return beliefs.attack(epsilon) if isinstance(beliefs, Ladder) else beliefs.reached(epsilon)


def mechanism_of(choice: Choice | None, epsilon: float) -> Mechanism | None:
    """The noise of the first number, in units of the answer; for a calculation, that of a sum."""
    if choice is None:
        return BEST(1.0, epsilon) if 0 < epsilon < math.inf else None
    named = _plain(choice)
    if not named:
        return None
    mechanism: Any = named[0][1].mechanism
    divisor = named[0][1].measurement.divisor
    return mechanism if divisor == 1 else replace(mechanism, sensitivity=mechanism.sensitivity / divisor)


def _plain(choice: Choice) -> list[tuple[str, Any]]:
    """Noises in units of an answer, and on what they are."""
    return [(label, n) for label, n in zip(choice.labels, choice.noises, strict=True) if not n.unit]


def whose(choice: Choice | None) -> str:
    """Of which answer a chart of one noise speaks: there may be several."""
    if choice is None:
        return "a sum"
    named, answers = _plain(choice), list(choice.errors())
    if len(named) == len(answers) == 1:
        return choice.plan.label(answers[0])
    return f"{named[0][0]} (the first of {len(named)})" if len(named) > 1 else named[0][0]


def confidence_of(choice: Choice | None) -> float:
    """How often the error holds."""
    return next((level for _, level in choice.targets.values()), USUAL) if choice is not None else USUAL


def error_rows(mechanism: Mechanism, confidence: float) -> list[Row]:
    """The error at every ε around this one."""
    base: Any = mechanism
    grid = np.geomspace(mechanism.epsilon / 20, mechanism.epsilon * 20, 33).tolist()
    rows = [{"epsilon": e, "error": float(replace(base, epsilon=e).error(confidence=confidence))} for e in grid]
    return [row for row in rows if row["error"] > 0]


def room_rows(limits: list[Row], epsilon: float | None) -> dict[str, list[Row]]:
    """What every limit and target allows."""
    known = [b["epsilon"] for b in limits if b["epsilon"] is not None and b["epsilon"] > 0]
    known += [epsilon] if epsilon is not None and epsilon > 0 else []
    low, high = min(known, default=0.1) / 4, max(known, default=1.0) * 4
    bars: list[Row] = []
    tops = [b["epsilon"] if b["epsilon"] is not None else math.inf for b in limits if b["side"] == "at most"]
    needs = [b["epsilon"] or 0.0 for b in limits if b["side"] == "at least"]
    fits = max(needs, default=0.0) <= min(tops, default=math.inf)
    for bound in limits:
        edge = bound["epsilon"]
        below = bound["side"] == "at most"
        start = low if below else max(edge or low, low)
        end = (high if edge is None else max(edge, low)) if below else high
        words = f"{bound['side']} {bound['shown']}"
        bars.append(
            {"from": start, "to": end, "what": bound["name"], "words": words, "how": bound["how"], "fits": fits}
        )
    chosen = [] if epsilon is None or epsilon <= 0 else [{"from": epsilon}]
    return {"bars": bars, "ends": [{"from": low}, {"from": high}], "chosen": chosen}


def quick_rows(outcome: Row, choice: Choice | None) -> Rows:
    """Everything that moves with ε."""
    epsilon = outcome["epsilon"]
    rows: Rows = {"room": room_rows(_limits(outcome), epsilon)}
    mark: Row = {"epsilon": epsilon, "gain": (outcome.get("advantage") or {}).get("bound")}
    believed = (outcome.get("posterior") or {}).get("bound")
    marks = [] if not epsilon else [mark if believed is None else {**mark, "belief": believed}]
    rows["gains"] = {"mark": marks}
    mechanism = mechanism_of(choice, epsilon) if epsilon else None
    level = confidence_of(choice)
    if mechanism is not None:
        rows["noise"] = {"density": charts.noise_rows(mechanism, level)}
        rows["errors"] = {"mark": [{"epsilon": mechanism.epsilon, "error": float(mechanism.error(confidence=level))}]}
        wanted = [] if choice is None else [{"error": within} for within, _ in list(choice.targets.values())[:1]]
        rows["errors"]["wanted"] = wanted
    return rows


def _limits(outcome: Row) -> list[Row]:
    if "limits" in outcome:
        return outcome["limits"]
    shown = outcome["shown"]["epsilon"]
    edge = outcome["epsilon"]
    return [
        {
            "name": "attacker",
            "side": "at most",
            "epsilon": edge,
            "shown": shown,
            "how": outcome.get("explanation") or "",
        }
    ]


def profile_charts(risk: RiskProfile) -> dict[str, Any]:
    """The ratio that a profile allows and the ε that it implies; over both priors, where it speaks of both."""
    found: dict[str, Any] = {}
    drawn = profile(risk)
    if drawn is not None:
        found["profile"] = fitted(drawn, NARROW + 70, 70)
    try:
        spec = epsilon_map(risk, count=40).to_dict(validate=False)
    except GuessproofError:  # it promises something on one line only
        return found
    spec.pop("title", None)
    return {**found, "map": {**spec, "width": NARROW - 40, "height": 260}}


def drawings(outcome: Row, choice: Choice | None, beliefs: Beliefs | None) -> Row:
    """Every chart that this state has, drawn; later only its rows change."""
    rows = quick_rows(outcome, choice)
    found: dict[str, Any] = {}
    unit = "per unit" if choice is None else ""
    if beliefs is not None:
        found["gains"] = charts.gains(gain_rows(beliefs), rows["gains"]["mark"], unit)
    room = rows["room"]
    found["room"] = charts.room(room["bars"], room["ends"], room["chosen"], len(room["bars"]))
    epsilon = outcome["epsilon"]
    mechanism = mechanism_of(choice, epsilon) if epsilon else None
    if mechanism is not None:
        found["noise"] = charts.noise(rows["noise"]["density"], "")
        curve = error_rows(mechanism, confidence_of(choice))
        found["errors"] = charts.errors(curve, rows["errors"]["mark"], rows["errors"]["wanted"])
    if choice is not None and choice.plan.risk is not None:
        found |= profile_charts(choice.plan.risk)
    titles: dict[str, str] = {}
    if mechanism is not None:
        titles = {"noise": f"The noise on {whose(choice)}", "errors": f"Error of {whose(choice)}, at every ε"}
    drawn = {name: charts.apart(chart) for name, chart in found.items()}
    return {
        name: {"spec": one.spec, "rows": one.rows, "title": titles.get(name), "note": _note(name, beliefs)}
        for name, one in drawn.items()
    }


def _note(name: str, beliefs: Beliefs | None) -> str:
    if name != "gains" or not isinstance(beliefs, Ladder):
        return ""
    return (
        f"Proven at {len(beliefs.epsilon)} values of ε; between two of them the larger one’s counts, hence the steps."
    )
