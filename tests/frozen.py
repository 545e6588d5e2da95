"""Frozen questions: public calls with the answers that were recorded, and what a later answer may differ by.

`data/frozen/*.jsonl.gz` hold one question a line. An *attack* row asks `Attack.advantage` at one ε and
`Attack.epsilon` for one limit; a *call* row asks any other public call, answered by a bracket or by a number. A new
answer is wrong where a bound lies on the wrong side of a known attack, an attack beyond a known bound, or an ε above
the one that is exact.
"""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path
from typing import Any

import numpy as np  # named in questions
from scipy import stats  # named in questions

import guessproof as gp

FOLDER = Path(__file__).parent / "data" / "frozen"
SLACK = 1e-7  # relative difference of two floating-point computations
TINY = 1e-12  # absolute difference of two floating-point computations
MOST = 10  # one bound of a class may be so many times as loose as the 95th percentile

# By class, how much looser a bound may become at the 95th percentile, as a share of the recorded bound.
LOOSER = {
    "one stated": 0.0005,
    "falls one": 0.0005,
    "one worst": 0.001,
    "percent worst": 0.002,
    "several stated": 0.001,
    "capped stated": 0.005,
    "kappa one stated": 0.01,
    "kappa one worst": 0.08,
    "kappa other": 1.5,
    "pair stated": 0.001,
    "near stated": 0.06,
    "near worst": 0.5,
    "posterior": 0.0005,
    "posterior lower": 0.0005,
    "finite": 1e-6,
    "joint table": 1e-6,
    "not stated": 0.0005,
    "three and": 0.05,
    "formula sum": 0.10,
    "gaussian posterior": 0.05,
    "capped worst": 0.02,
    "pair worst": 0.4,
    "cumulative": 0.0005,
    "awareness": 0.01,
    "edge one": 0.0005,
    "edge tail": 0.0005,
    "edge lower": 0.0005,
    "edge sample": 0.0005,
    "edge sample worst": 0.002,
    "edge odds": 0.0005,
    "edge worst": 0.002,
    "edge finite": 1e-6,
    "edge cap": 0.01,
    "edge cap several": 0.05,
    "edge cap worst": 0.02,
    "edge pair": 0.05,
    "edge three": 0.05,
    "edge sum": 0.10,
    "edge pair worst": 0.4,
    "edge kappa": 0.02,
    "edge kappa worst": 0.10,
    "edge gaussian": 0.05,
}
# By class, the range of a new number divided by the recorded one: an ε is safe below the truth, a σ above it.
RATIO = {
    "curve": (0.965, 1.003),
    "curve worst": (0.965, 1.003),
    "largest factor": (0.85, 1.02),
    "unknown": (0.9999, 1 + SLACK),
    "partly known": (0.9999, 1 + SLACK),
    "profile": (0.9999, 1 + SLACK),
    "gaussian sigma": (0.999, 1.10),
    "edge sigma": (0.999, 1.10),
    "edge epsilon": (0.99, 1.002),
    "edge factor": (0.85, 1.02),
}


def questions(every: int = 1) -> dict[str, list[dict[str, Any]]]:
    """Return every so many-th question, by class."""
    by_class: dict[str, list[dict[str, Any]]] = {}
    for path in sorted(FOLDER.glob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in list(lines)[::every]:
                row = json.loads(line)
                by_class.setdefault(row["class"], []).append(row)
    return by_class


def check(rows: list[dict[str, Any]]) -> list[str]:
    """Ask the questions of one class again and return what is wrong with the answers."""
    wrong: list[str] = []
    looser: list[float] = []
    for row in rows:
        faults = _check_attack(row, looser) if "attack" in row else _check_call(row, looser)
        wrong += [f"{fault}: {row.get('attack') or row['call']}" for fault in faults]
    return wrong + _check_looseness(rows[0]["class"], sorted(looser))


def logs(found: gp.Bracket) -> gp.Bracket:
    """100 + ln of a belief (named in questions): beliefs far below the slack are judged as well."""
    attack, bound = (100 + math.log(max(float(x), 1e-43)) for x in (found.attack, found.bound))
    return gp.Bracket(attack, bound, found.status)


def _evaluated(question: str) -> Any:
    return eval(question, {"gp": gp, "np": np, "stats": stats, "math": math, "logs": logs})  # the questions are ours


def _check_looseness(name: str, looser: list[float]) -> list[str]:
    if not looser:
        return []
    allowed = LOOSER[name]
    percentile = looser[int(0.95 * (len(looser) - 1))]
    if percentile <= allowed + 1e-9 and looser[-1] <= MOST * allowed + 1e-9:
        return []
    return [f"{name}: bounds looser by {percentile:.3%}, at most {looser[-1]:.3%}, allowed {allowed:.3%}"]


def _check_attack(row: dict[str, Any], looser: list[float]) -> list[str]:
    both = row["class"] == "falls one"
    attack = _evaluated(row["attack"])
    answer = attack.advantage(row["epsilon"], both=both)
    bound, reached = float(answer.bound), float(answer.attack)
    looser.append(bound / row["bound"] - 1 if row["bound"] else 0.0)
    wrong = _check_sides(bound, reached, row["bound"], row["reached"], 1.0)
    is_exact = row["status"] == "exact"
    share = max(LOOSER[row["class"]], 1e-6)
    if is_exact and reached < row["reached"] * (1 - share) - 1e-9:
        wrong.append(f"attack {reached} far below the known {row['reached']}")
    if "epsilon_for_limit" not in row or both:
        return wrong
    epsilon, known = float(attack.epsilon(advantage=row["limit"])), row["epsilon_for_limit"]
    if math.isnan(epsilon):
        wrong.append("ε is not a number")
    if is_exact and not known * (1 - 2 * share) <= epsilon <= known * (1 + 1e-6):
        wrong.append(f"ε {epsilon} is not the exact {known}")
    if epsilon > row["epsilon"] * (1 + SLACK) and row["reached"] > row["limit"] * (1 + 1e-6):
        wrong.append(f"a known attack breaks ε {epsilon}")
    return wrong


def _check_call(row: dict[str, Any], looser: list[float]) -> list[str]:
    answer = _evaluated(row["call"])
    if "value" in row:
        return _check_number(row, float(answer))
    bound, reached = float(answer.bound), float(answer.attack)
    is_lower = row["bound"] < row["attack_value"] - 1e-15 or "side='lower'" in row["call"]
    side = -1.0 if is_lower else 1.0
    looser.append(side * (bound / row["bound"] - 1) if row["bound"] else 0.0)
    return _check_sides(bound, reached, row["bound"], row["attack_value"], side)


def _check_number(row: dict[str, Any], number: float) -> list[str]:
    low, high = RATIO[row["class"]]
    ratio = number / row["value"] if row["value"] else 1.0 + number
    return [] if low <= ratio <= high else [f"{number} outside {low} ... {high} of the recorded {row['value']}"]


def _check_sides(bound: float, reached: float, known_bound: float, known_attack: float, side: float) -> list[str]:
    wrong: list[str] = []
    if math.isnan(bound) or math.isnan(reached):
        wrong.append("not a number")
    if side * (known_attack - bound) > SLACK * abs(known_attack) + TINY:
        wrong.append(f"bound {bound} on the wrong side of a known attack {known_attack}")
    if side * (reached - known_bound) > SLACK * abs(known_bound) + TINY:
        wrong.append(f"attack {reached} on the wrong side of a known bound {known_bound}")
    return wrong
