"""A release as an entry of the public registry of deployments of differential privacy, in the shape of its records.

From the plan and what was charged: nothing that was computed from the table, not the answer, and no path or address.
What neither knows, as who the curator is, says so and is left to its owner; a field whose values the registry lists is
then left out, and the head of the text names it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from guessproof.errors import ParameterError
from guessproof.reporting.facts import Facts
from guessproof.reporting.words import listed
from guessproof.rounded import rounded_up, spelled

OPEN = "TO FILL IN"
CHOICES = (  # fields of which the registry lists the values, and which only the owner of the data knows
    ("basic", "data_product_sector", ("Technology", "Healthcare", "Education", "Government", "Energy", "Finance")),
    ("deployment_model", "data_source_type", ("Static", "Dynamic")),
)
UNITS = {"persons": "User-level"}  # of the registry's own words; others are described


def registry_entry(facts: Facts) -> dict[str, Any]:
    """The entry as tables; what was not released is no deployment."""
    if not facts.own:
        raise ParameterError(
            "registry", facts.plan.data.name, "this plan has released nothing", "run guessproof release first"
        )
    first, plan = facts.own[0], facts.plan
    names = listed([plan.label(o.name) for o in facts.outputs])
    name = f"{names[:1].upper()}{names[1:]}"
    return {
        "url_slug": _slug(f"{plan.data.name}-{names}-{first.time[:4]}"),
        "status": "Draft",
        "tier": 3,
        "deployment": {
            "basic": {
                "name": name,
                "data_curators": [OPEN],
                "description": f"{name} of the data “{plan.data.name}”, released with noise.",
                "intended_use": OPEN,
                "data_product_type": "Summary statistics",
                "data_product_region": OPEN,
                "publication_date": first.time[:10],
            },
            "dp_variant": {
                "variant_name": "Approximate DP" if facts.choice.delta else "Pure DP",
                "data_domain": _domain(facts),
                "unprotected_quantities": _unprotected(facts),
            },
            "privacy_loss": _loss(facts),
            "deployment_model": _model(facts),
            "implementation": _implementation(facts),
            "accounting": {
                "composition": (
                    "All charges for the data are added up in a hash-chained ledger with a budget that is set once."
                ),
                "post_processing": "Outputs, sorting and limits of the query are computed from the noisy numbers.",
            },
            "administrative": {"sources": OPEN, "registry_authors": [OPEN]},
        },
    }


def registry_text(facts: Facts) -> str:
    """The same as YAML."""
    head = [
        "# An entry for the registry of deployments of differential privacy.",
        f"# Search for “{OPEN}” before it is sent in.",
        *(f"# To add under {table}: {key}, one of {', '.join(values)}." for table, key, values in CHOICES),
    ]
    return "\n".join([*head, *_yaml(registry_entry(facts), 0)]) + "\n"


def _loss(facts: Facts) -> dict[str, Any]:
    paid = sum(made.epsilon for made in facts.own)
    delta = sum(made.delta for made in facts.own)
    unit, count = facts.plan.unit, len(facts.own)
    parameters = {"epsilon": paid, "delta": delta} if delta else {"epsilon": paid}
    return {
        "privacy_unit": UNITS.get(unit.name, OPEN),
        "privacy_unit_details": f"{unit.assumption} ε counts changing one {unit.noun}.",
        "privacy_parameters": {name: rounded_up(float(amount)) for name, amount in parameters.items()},
        "privacy_parameters_details": f"Over {count} release{'s' * (count > 1)} of this plan, as charged.",
    }


def _model(facts: Facts) -> dict[str, Any]:
    many = facts.plan.release.times > 1
    return {
        "model_name": "Central",
        "actors": "The data holder runs the query and adds the noise, and is trusted. Readers see noisy answers only.",
        "release_type": "Many releases" if many else "One release",
        "access_type": "Non-interactive",
    }


def _implementation(facts: Facts) -> dict[str, Any]:
    kinds = listed(dict.fromkeys(f"{noise.name} noise" for noise in facts.choice.noises))
    bounds = [
        f"{n} to {spelled(c.bounds[0])} … {spelled(c.bounds[1])}"
        for n, c in facts.plan.columns.items()
        if c.bounds is not None
    ]
    note = facts.choice.bias_note
    clamped = f"Values are moved into declared bounds first: {listed(bounds)}." if bounds else "None."
    return {
        "preprocessing_and_hyperparameter_tuning": f"{clamped} Bounds, levels and priors come from public knowledge."
        + ("" if note is None else f" {note}."),
        "mechanisms": f"{kinds}, drawn on a grid in whole numbers from a secure source (OpenDP), by guessproof.",
        "justification": facts.choice.explanation,
    }


def _domain(facts: Facts) -> str:
    names = [name for name, column in facts.plan.columns.items() if not column.public]
    read = listed(sorted(facts.choice.asked.columns)) or "rows only"
    return f"A table; the query reads {read}; protected by name: {listed(names) or 'none'}."


def _unprotected(facts: Facts) -> str:
    rows = facts.plan.data.rows
    known = [n for n, c in facts.plan.columns.items() if c.public]
    parts = [f"columns that count as public: {listed(known)}"] if known else []
    parts += [f"the number of rows ({rows})"] if rows is not None else []
    if not facts.plan.unit.hides_presence:
        parts.append("who is in the table")
    if facts.choice.data_dependent:
        parts.append("the choice was made after the exposure of the records was looked at")
    return f"{'; '.join(parts)[:1].upper()}{'; '.join(parts)[1:]}." if parts else "None."


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _yaml(value: Any, depth: int) -> Iterator[str]:
    """Tables and lists in blocks; texts in quotes, as JSON has them, which YAML reads as they are."""
    space = "  " * depth
    for key, inner in value.items():
        if isinstance(inner, dict):
            yield f"{space}{key}:"
            yield from _yaml(inner, depth + 1)
        elif isinstance(inner, list):
            yield f"{space}{key}:"
            for item in inner:
                lines = list(_yaml(item, 0)) if isinstance(item, dict) else [json.dumps(item, ensure_ascii=False)]
                yield f"{space}  - {lines[0]}"
                yield from (f"{space}    {line}" for line in lines[1:])
        else:
            yield f"{space}{key}: {json.dumps(inner, ensure_ascii=False)}"
