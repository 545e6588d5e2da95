"""How each number was proven: its status, the method, and the bracket of attack and bound."""

from __future__ import annotations

from guessproof.ledger.amounts import rest_of
from guessproof.reporting.facts import Facts
from guessproof.reporting.markup import Markup, Piece, bullets, join, paragraph, table
from guessproof.reporting.words import when
from guessproof.risk import Bracket
from guessproof.rounded import down_grouped, up_grouped

STATUS = (
    "exact: an attack reaches the bound, so the number is the truth, but for rounding.",
    "proven: no attack exceeds the bound; the best attack found is given beside it.",
)


def proofs(facts: Facts) -> Markup:
    """One row a number."""
    rows = [row for row in [*_risks(facts), *_profile(facts), *_general(facts)] if row]
    lead = (
        "A risk is given as a bracket: the best attack that was found, and the bound that no attack can pass. Printed "
        "risks are the bound, rounded up; printed limits on ε are rounded down."
    )
    heads = ["number", "value", "status", "attack … bound", "how"]
    if not any(row[3] for row in rows):
        heads, rows = heads[:3] + heads[4:], [row[:3] + row[4:] for row in rows]
    used = {str(row[2]) for row in rows}
    kinds = [line for line in STATUS if line.split(":")[0] in used]
    return join([paragraph(lead), bullets(kinds), table("Numbers and their proofs", heads, rows), _audit(facts)])


def _audit(facts: Facts) -> Markup | None:
    """The verdict of the last audit, with its date."""
    note = facts.audited
    if note is None:
        return None
    verdict = note.text.partition(", request ")[0].removeprefix("audit ")
    words = "The attacker was played against the real engine and sampler on made-up tables"
    return paragraph(f"{words}, {when(note.time)}: {verdict}. (Entry {note.seq} of the ledger.)")


def _risks(facts: Facts) -> list[list[Piece]]:
    choice = facts.choice
    word = "largest move of the belief" if facts.plan.limits.both else "largest rise of the belief"
    rows = [_bracket(word, choice.advantage), _bracket("highest belief", choice.posterior)]
    limit = next((b for b in choice.limits if b.name == "attacker"), None)
    if limit is not None:
        how = (
            "the largest ε at which the bound keeps the limit; the search ends on the private side, rounding of the "
            "noise included"
        )
        rows.append(["ε that the attacker’s limit allows", down_grouped(limit.epsilon, 6), "proven", "", how])
    if choice.prior_free_epsilon is not None:
        how = "4·artanh of the advantage: closed form for the worst of all priors"
        rows.append(["ε without any prior", down_grouped(choice.prior_free_epsilon, 6), "exact", "", how])
    return rows


def _bracket(name: str, bracket: Bracket | None) -> list[Piece]:
    if bracket is None:
        return []
    attack, bound = float(bracket.attack), float(bracket.bound)
    shown = (
        f"{down_grouped(attack, 6)} … {up_grouped(bound, 6)}"
        if attack > 0 or bracket.status == "exact"
        else f"none found … {up_grouped(bound, 6)}"
    )
    return [name, up_grouped(bound, 6), bracket.status, shown, bracket.how]


def _profile(facts: Facts) -> list[list[Piece]]:
    profile = facts.plan.risk
    if profile is None:
        return []
    gap = f"at most {up_grouped(profile.gap, 2)} below the largest possible" if profile.gap else ""
    rows: list[list[Piece]] = [
        ["ε of the risk profile (add or remove)", down_grouped(profile.epsilon(), 6), profile.status, gap, profile.how]
    ]
    aware = facts.choice.query_aware_epsilon
    if aware is not None:
        how = f"the same profile with the distances of this query; ε for a change of one {facts.plan.unit.noun}"
        rows.append(["ε of the profile, aware of the query", down_grouped(aware, 6), profile.status, "", how])
    return rows


def _general(facts: Facts) -> list[list[Piece]]:
    choice, rows = facts.choice, list[list[Piece]]()
    for bound in choice.limits:
        if bound.name == "accuracy":
            how = "inverse of the noise’s distribution function, rounded so that the target is met"
            rows.append(["ε that the accuracy needs", up_grouped(bound.epsilon, 6), "exact", "", how])
    for index, measurement in enumerate(choice.asked.measurements):
        how = "every expression of the query followed through a change of one record, with interval arithmetic"
        how += "" if measurement.total is None else "; all rows of one person brought within a bound on the engine"
        name = f"most that one {facts.plan.unit.noun} does to {measurement.text}"
        rows.append([name, up_grouped(measurement.per_answer.sensitivity, 6), "proven", "", how])
        if facts.is_noisy:
            noise = choice.noises[index]
            cost = f"ε = {up_grouped(noise.cost[0], 6)}" + (
                f", δ = {up_grouped(noise.cost[1], 3)}" if noise.cost[1] else ""
            )
            rows.append(
                [
                    f"cost of {measurement.text}",
                    cost,
                    "proven",
                    "",
                    "as the noise is really drawn, rounding to its grid included",
                ]
            )
    if facts.account is not None:
        rows.append(
            [
                "what is spent and left",
                f"{rest_of(facts.account.left.epsilon, facts.account.budget.epsilon)} left",
                "exact",
                "",
                "sums of decimals, never rounded",
            ]
        )
    return rows
