"""What one ε means: for the state's attacker and question, and for any data."""

from __future__ import annotations

import math
from typing import Any

from guessproof.errors import GuessproofError
from guessproof.explain import Explanation, explain
from guessproof.meaning import Meaning, meaning
from guessproof.risk import Bracket
from guessproof.rounded import down, margin, near, percent_up, up
from guessproof.web.folder import Folder
from guessproof.web.outcomes import people
from guessproof.web.pictures import before_of
from guessproof.web.shop import Shop
from guessproof.web.states import Tables, has_data, read_calculation, read_state

MOST_EPSILON = 100.0
Json = dict[str, Any]


def quick_meaning(shop: Shop, state: Tables, epsilon: float) -> Json | None:
    """On the private side, from the curve; None until that is made."""
    if not has_data(state):
        found = read_calculation(state, shop.folder)
        beliefs = shop.beliefs(state)
        if beliefs is None:
            return None
        believed = _or_none(lambda: beliefs.posterior(epsilon))
        gained = beliefs.advantage(epsilon, found.limits.both)
        return _calculated(epsilon, gained, believed, before_of(beliefs), found.attack.prior_factor)
    chooser = shop.chooser(state)
    if chooser is None:
        return None
    before = None if chooser.beliefs is None else before_of(chooser.beliefs)
    found = meaning(chooser.plan, epsilon, chooser)
    return _planned(found, found.prior if before is None else before, chooser.plan.prior_factor)


def exact_meaning(folder: Folder, state: Tables, epsilon: float) -> Json:
    """As `guessproof explain --epsilon` says it."""
    if has_data(state):
        plan = read_state(state, folder)
        found = meaning(plan, epsilon)
        worst = None if found.posterior is None else found.posterior.worst_prior
        before = found.prior if worst is None else float(worst)
        return _final(_planned(found, before, plan.prior_factor), found.advantage)
    asked = read_calculation(state, folder)
    believed: Bracket | None = _or_none(lambda: asked.attack.posterior(epsilon))
    gained = asked.attack.advantage(epsilon, both=asked.limits.both)
    before = _or_none(lambda: float(asked.attack.prior))
    if before is None and believed is not None and believed.worst_prior is not None:
        before = float(believed.worst_prior)
    bound = None if believed is None else float(believed.bound)
    return _final(_calculated(epsilon, float(gained.bound), bound, before, asked.attack.prior_factor), gained)


def _final(found: Json, gained: Bracket | None) -> Json:
    """Computed for this very ε; the bound may be exact, or proven."""
    return {**found, "exact": True, "status": None if gained is None else gained.status}


def _or_none(ask: Any) -> Any:
    try:
        return ask()
    except GuessproofError:  # without a prior, or for the worst truth, there is none
        return None


def _calculated(epsilon: float, gained: float, believed: float | None, before: float | None, factor: float) -> Json:
    told = {"noise_scale": near(1 / epsilon, 6), "errors": "", "limits": []}
    return {**_common(epsilon, gained, believed, before, factor), **told}


def _planned(found: Meaning, before: float | None, factor: float) -> Json:
    gained = None if found.advantage is None else float(found.advantage.bound)
    believed = None if found.posterior is None else float(found.posterior.bound)
    errors = [f"{name} {margin(e)}" for name, e in found.errors.items() if e is not None]
    errors += [f"{name} {margin(e)} ranks" for name, e in found.rank_errors.items()]
    limits = [
        {"name": k.name, "side": k.side, "epsilon": _edge(k.epsilon, k.side), "how": k.how, "kept": k.kept}
        for k in found.limits
    ]
    scales = [near(n.scale, 6) for n in found.noises[:1]]
    told = {"noise_scale": "".join(scales), "errors": "; ".join(errors), "limits": limits}
    return {**_common(found.epsilon, gained, believed, before, factor), **told}


def _edge(epsilon: float, side: str) -> str:
    return "any" if math.isinf(epsilon) else (down if side == "at most" else up)(epsilon)


def _common(epsilon: float, gained: float | None, believed: float | None, before: float | None, factor: float) -> Json:
    return {
        "epsilon": epsilon,
        "exact": False,
        "status": None if gained is None else "proven",
        "people": people(before, believed, factor),
        "advantage": None if gained is None else {"bound": gained, "shown": percent_up(gained)},
        "posterior": None if believed is None else {"bound": believed, "shown": percent_up(believed)},
        "general": _general(explain(epsilon)),
    }


def _general(found: Explanation) -> Json:
    rows = [
        {"before": f"{r.prior:.1%}", "after": percent_up(r.highest, 1), "ratio": f"× {up(r.ratio, 3)}"}
        for r in found.rows
    ]
    known = [
        {"who": d.who, "what": d.what, "epsilon": f"{d.epsilon:g}", "protects": d.protects} for d in found.deployments
    ]
    factor, worst = up(found.odds_factor, 4), percent_up(found.worst_advantage, 1)
    return {"odds_factor": factor, "worst_advantage": worst, "beliefs": rows, "deployments": known}
