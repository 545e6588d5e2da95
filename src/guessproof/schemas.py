"""JSON Schemas of what the commands print under --json: `python -m guessproof.schemas > docs/output.schema.json`.

Each command is a definition of its own, and so is the error that any of them may print instead. What is required is
there in every version of one major number; further keys may come, so readers should pass over keys they do not know.
"""

from __future__ import annotations

import json
from typing import Any

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "number"}
WHOLE: Schema = {"type": "integer"}
TRUTH: Schema = {"type": "boolean"}
ANY: Schema = {}
TIME: Schema = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d"}
HEAD: Schema = {"type": "string", "pattern": "^[0-9a-f]{64}$", "description": "the head of the ledger"}
AMOUNT: Schema = {"type": "string", "pattern": r"^[0-9.eE+-]+$", "description": "an exact decimal number"}


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _list(of: Schema) -> Schema:
    return {"type": "array", "items": of}


def _by_name(of: Schema) -> Schema:
    return {"type": "object", "additionalProperties": of}


def _one_of(*values: str) -> Schema:
    return {"enum": list(values)}


def _table(may: dict[str, Schema] | None = None, **required: Schema) -> Schema:
    """An object with these keys; `may` holds those that are not always there."""
    return {"type": "object", "properties": {**required, **(may or {})}, "required": list(required)}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


SIDE = _one_of("at most", "at least")
BETWEEN = _table(at_least=NUMBER, at_most=NUMBER)
SPENT = _table({"advantage": _or_null(AMOUNT)}, epsilon=AMOUNT, delta=AMOUNT)

PARTS: dict[str, Schema] = {
    "bracket": _table(
        attack=NUMBER,
        bound=NUMBER,
        status=_one_of("exact", "proven", "published"),
        how=TEXT,
        worst_at=ANY,
        worst_prior=_or_null(NUMBER),
    ),
    "noise": _table(
        {
            "gamma": NUMBER,
            "unit": TEXT,
            "grid": WHOLE,
            "follows_data": TRUTH,
            "picked_from": _table(values=WHOLE, lowest=NUMBER, highest=NUMBER),
            "questions": _list(TEXT),
        },
        measurement=TEXT,
        account=TEXT,
        mechanism=TEXT,
        sensitivity=NUMBER,
        epsilon=NUMBER,
        delta=NUMBER,
        noise_scale=NUMBER,
    ),
    "warning": _table(
        kind=TEXT, field=TEXT, line=_or_null(WHOLE), value=ANY, problem=TEXT, remedy=TEXT
    ),
    "number": _table(
        {"ranks": NUMBER, "time": TEXT, "nearest": _or_null(NUMBER), "question": TEXT},
        name=TEXT,
        group=_by_name(_or_null(TEXT)),
        value=_or_null(NUMBER),
        error=_or_null(NUMBER),
        confidence=NUMBER,
        low=_or_null(NUMBER),
        high=_or_null(NUMBER),
    ),
    "learned": _table(
        prior=_or_null(NUMBER), advantage=_or_null(_ref("bracket")), posterior=_or_null(_ref("bracket"))
    ),
    "recorded": _table(
        {"bias_note": TEXT},
        answers=_list(_ref("number")),
        epsilon=NUMBER,
        delta=NUMBER,
        epsilon_add_remove=_or_null(NUMBER),
        epsilon_per_unit=_by_name(NUMBER),
        noise_scale=_or_null(NUMBER),
        noise=_list(_ref("noise")),
        learned=_ref("learned"),
        sampling=_by_name(NUMBER),
        assumptions=_list(TEXT),
        data_dependent=TRUTH,
    ),
}  # fmt: skip

CHOICE = _table(
    {
        "warnings": _list(_ref("warning")),
        "bias_note": TEXT,
        "failure": NUMBER,
        "failure_under_prior": _or_null(_ref("bracket")),
        "questions": _by_name(_table(sql=TEXT, outputs=_by_name(_by_name(_or_null(NUMBER))))),
    },
    feasible=TRUTH,
    epsilon=_or_null(NUMBER),
    epsilon_charged=_or_null(NUMBER),
    times=WHOLE,
    epsilon_charged_for_all=_or_null(NUMBER),
    delta=NUMBER,
    epsilon_add_remove=_or_null(NUMBER),
    epsilon_per_unit=_by_name(NUMBER),
    noise_scale=_or_null(NUMBER),
    noise=_list(_ref("noise")),
    interval={**_list(_or_null(NUMBER)), "minItems": 2, "maxItems": 2},
    binding=TEXT,
    limits=_list(_table(name=TEXT, side=SIDE, epsilon=_or_null(NUMBER), how=TEXT)),
    targets=_by_name(_table({"within": NUMBER, "ranks": NUMBER}, confidence=NUMBER)),
    errors=_by_name(_or_null(NUMBER)),
    rank_errors=_by_name(NUMBER),
    bias=_by_name(_or_null(NUMBER)),
    prior=_or_null(NUMBER),
    advantage=_or_null(_ref("bracket")),
    posterior=_or_null(_ref("bracket")),
    prior_free_epsilon=_or_null(NUMBER),
    largest_prior_factor={"anyOf": [NUMBER, {"const": "any"}, {"type": "null"}]},
    narrower_prior_epsilon=_or_null(NUMBER),
    wider_prior_epsilon=_or_null(NUMBER),
    query_aware_epsilon=_or_null(NUMBER),
    changes=_list(_table(what=TEXT, now=TEXT, then=TEXT)),
    data_dependent=TRUTH,
    assumptions=_list(TEXT),
    explanation=TEXT,
)
EXPLAIN = _table(
    epsilon=NUMBER,
    odds_factor=NUMBER,
    worst_advantage=NUMBER,
    worst_prior=NUMBER,
    rows=_list(_table(prior=NUMBER, highest=NUMBER, lowest=NUMBER, ratio=NUMBER, ratio_add_remove=NUMBER)),
    deployments=_list(_table(who=TEXT, what=TEXT, epsilon=NUMBER, delta=NUMBER, protects=TEXT, source=TEXT)),
)
CHARGE = _table(
    entry=WHOLE,
    time=TIME,
    epsilon=AMOUNT,
    delta=AMOUNT,
    advantage=_or_null(AMOUNT),
    outcome=_one_of("answered", "failed", "no answer"),
    request=TEXT,
    describe=_by_name(ANY),
    protection=_or_null(_by_name(ANY)),
    guarantee=_by_name(ANY),
    answer=ANY,
)
OTHER_WORDS = _table(advantage=NUMBER, tpr_at_fpr=_by_name(NUMBER), gdp_mu=NUMBER, zcdp_rho=NUMBER)
ACCOUNT = _table(
    name=TEXT,
    opened=TIME,
    budget=SPENT,
    protects=_or_null(TEXT),
    protected=_list(TEXT),
    public=_list(TEXT),
    amendments=_list(_table(entry=WHOLE, time=TIME, protect=_list(TEXT), budget=_or_null(SPENT))),
    spent=SPENT,
    left=SPENT,
    other_words=_or_null(OTHER_WORDS),
    charges=_list(CHARGE),
    notes=_list(_table(entry=WHOLE, time=TIME, scan=TRUTH, text=TEXT)),
)

COMMANDS: dict[str, Schema] = {
    "error": _table(
        error=_table(
            kind=TEXT, field=_or_null(TEXT), line=_or_null(WHOLE), problem=TEXT, remedy=TEXT, charged=TRUTH
        )
    ),
    "init": _table(plan=TEXT, blanks=_list(_table(line=_or_null(WHOLE), key=TEXT, question=TEXT))),
    "check": _table(ok=TRUTH, warnings=_list(_ref("warning"))),
    "choose": CHOICE,
    "calculate": _table(
        feasible=TRUTH,
        epsilon=_or_null(NUMBER),
        noise_scale=_or_null(NUMBER),
        prior=_or_null(NUMBER),
        belief=_or_null(_ref("bracket")),
        advantage=_or_null(_ref("bracket")),
        prior_free_epsilon=_or_null(NUMBER),
        narrower_prior_epsilon=_or_null(NUMBER),
        wider_prior_epsilon=_or_null(NUMBER),
        explanation=TEXT,
    ),
    "explain": EXPLAIN,
    "explain_plan": _table(
        epsilon=NUMBER,
        times=WHOLE,
        noise=_list(_ref("noise")),
        prior=_or_null(NUMBER),
        advantage=_or_null(_ref("bracket")),
        posterior=_or_null(_ref("bracket")),
        largest_prior_factor={"anyOf": [NUMBER, {"const": "any"}, {"type": "null"}]},
        errors=_by_name(_or_null(NUMBER)),
        rank_errors=_by_name(NUMBER),
        other_words=OTHER_WORDS,
        limits=_list(_table(name=TEXT, epsilon=_or_null(NUMBER), side=SIDE, how=TEXT, kept=TRUTH)),
        general=_ref("explain"),
    ),
    "bounds": _table(
        max_rows=_or_null(WHOLE),
        candidates=_list(_table(rows=WHOLE, persons=NUMBER, share_with_more=_or_null(NUMBER))),
        persons_beyond=NUMBER,
        error=NUMBER,
        confidence=NUMBER,
        epsilon=NUMBER,
        epsilon_add_remove=NUMBER,
        remaining=_by_name(ANY),
        head=HEAD,
        replayed=TRUTH,
    ),
    "release": {
        "allOf": [
            _ref("recorded"),
            _table(
                {
                    "number": _or_null(WHOLE),
                    "times": WHOLE,
                    "questions": _by_name(_table(answers=_list(_ref("number")))),
                },
                remaining=_by_name(ANY),
                head=HEAD,
                replayed=TRUTH,
            ),
        ]
    },
    "audit": _table(
        passed=TRUTH,
        checks=_list(
            _table(
                name=TEXT,
                measured=_or_null(NUMBER),
                interval=_or_null(_list(NUMBER)),
                expected=_or_null(NUMBER),
                verdict=_one_of("pass", "fail", "not computed"),
                words=TEXT,
            )
        ),
        false_alarm=NUMBER,
        tests=WHOLE,
        trials=WHOLE,
        seconds=NUMBER,
        seed=_or_null(WHOLE),
        epsilon=NUMBER,
        points=_list(_by_name(ANY)),
        notes=_list(TEXT),
        failures=_list(TEXT),
    ),
    "scan": _table(
        {"by": TEXT, "groups": _list(_by_name(ANY)), "identified": _list(_table(identity=ANY, advantage=BETWEEN))},
        banner=TEXT,
        name=TEXT,
        goal=TEXT,
        columns=_list(TEXT),
        epsilon=NUMBER,
        both=TRUTH,
        rows=WHOLE,
        judged=WHOLE,
        missing=WHOLE,
        infinite=WHOLE,
        outside=WHOLE,
        limit=_or_null(NUMBER),
        exceeding=_or_null(BETWEEN),
        mean=_or_null(BETWEEN),
        quantiles=_list(_table(level=NUMBER, at_least=NUMBER, at_most=NUMBER)),
        histogram=_list(_table(low=NUMBER, high=NUMBER, count=WHOLE)),
        exposed=_list(_table(values=_by_name(ANY), count=WHOLE, advantage=BETWEEN)),
        how=TEXT,
    ),
    "report": _table(
        report=TEXT,
        sha256=TEXT,
        released=WHOLE,
        choice=_ref("choose"),
        releases=_list(_table(entry=WHOLE, time=TIME, query=TEXT, epsilon=AMOUNT, delta=AMOUNT, outcome=TEXT)),
        budget=_or_null(SPENT),
        spent=_or_null(SPENT),
        left=_or_null(SPENT),
        head=_or_null(HEAD),
        plan=_by_name(ANY),
    ),
    "doctor": _table(
        version=TEXT,
        parts=_list(
            _table({"for": TEXT}, name=TEXT, ready=TRUTH, version=_or_null(TEXT), missing=_list(TEXT), remedy=ANY)
        ),
    ),
    "papers": {
        "anyOf": [
            _list(_table(id=TEXT, work=TEXT, version=TEXT, result=TEXT, says=TEXT, verdict=TEXT, truth=TEXT)),
            _table(figures=_list(TEXT)),
        ]
    },
    "ledger_open": _table(ledger=TEXT, name=TEXT, budget=SPENT, sealed=TRUTH, head=HEAD),
    "ledger_amend": _table(
        ledger=TEXT,
        name=TEXT,
        protects=_or_null(TEXT),
        protected=_list(TEXT),
        public=_list(TEXT),
        budget=SPENT,
        head=HEAD,
    ),
    "ledger_show": _table(ledger=TEXT, sealed=TRUTH, head=HEAD, names=_list(ACCOUNT)),
    "ledger_verify": _table(
        ok=TRUTH,
        ledger=TEXT,
        entries=WHOLE,
        names=_list(TEXT),
        head=_or_null(TEXT),
        sealed=TRUTH,
        checked=_list(TEXT),
        defects=_list(_table(entry=_or_null(WHOLE), what=TEXT)),
        notes=_list(TEXT),
    ),
    "ledger_copy": _table({"from": TEXT}, to=TEXT, entries=WHOLE, head=HEAD),
}  # fmt: skip


def schemas() -> Schema:
    """All of them in one document; `#/$defs/choose` is what `guessproof choose PLAN --json` prints.

    >>> sorted(schemas())
    ['$defs', '$schema', 'description', 'title']
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "What guessproof prints under --json",
        "description": "One definition for each command; error is what any of them prints when it refuses.",
        "$defs": {**COMMANDS, **PARTS},
    }


if __name__ == "__main__":
    print(json.dumps(schemas(), indent=2, ensure_ascii=False))
