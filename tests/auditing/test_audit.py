"""The audit passes what keeps its promises, and finds what does not. Chance decides less than once in a million."""

from __future__ import annotations

import json
import math
import re
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from auditing.plans import CAFETERIA, CATS, KINDS, SALARIES, SURVEY, TWO_SUMS, chosen, fast, plan_of
from guessproof.auditing import Audit, audit, audit_choice
from guessproof.auditing.counts import clopper_pearson
from guessproof.auditing.largest_belief import beliefs_over_groups
from guessproof.auditing.plan import make_audit_plan
from guessproof.choosing import asked
from guessproof.errors import EngineError, InfeasibleError, ParameterError
from guessproof.noise import Noise, noise_for
from guessproof.plan import loads_plan
from guessproof.releasing import answer
from guessproof.sql.rules.logic import Conjunction
from guessproof.sql.rules.values import NumberColumn

rewriting = sys.modules["guessproof.sql.rewrite"]  # the package gives its function the same name
SURELY = 1e-7  # the false-alarm rate of tests that must not fail by chance


def verdicts(found: Audit) -> dict[str, str]:
    """By kind of check; one failure is enough."""
    found_first = sorted(found.checks, key=lambda c: c.verdict == "fail")
    return {c.name.split(",")[0]: c.verdict for c in found_first}


def run(text: str, monkeypatch: pytest.MonkeyPatch, draw: Any = None, trials: int = 12_000) -> Audit:
    """An audit with a seeded sampler in the place of the real one; what needs no chance is left to test_certain."""
    monkeypatch.setattr(Noise, "draw", draw or fast(7))
    monkeypatch.setattr("guessproof.auditing.run.examine", lambda *_: ())
    return audit_choice(chosen(text), trials=trials, seconds=1e5, seed=5, false_alarm=1e-3)


# What is right passes.


@pytest.mark.parametrize("kind", ["cafeteria", "cats"])  # the others are in tests/deep
def test_the_real_engine_and_the_real_sampler_pass(kind: str) -> None:
    check_passes(kind)


def check_passes(kind: str) -> None:
    """An honest plan passes."""
    found = audit_choice(chosen(KINDS[kind]), trials=6000, seconds=1e5, seed=1, false_alarm=SURELY)
    assert found.passed, [c for c in found.checks if c.verdict == "fail"]
    assert verdicts(found)["engine"] == verdicts(found)["movement"] == verdicts(found)["ledger"] == "pass"
    assert {"guesser", "two tables", "ratios", "noise", "independence"} <= set(verdicts(found))
    assert found.trials >= 5900
    json.dumps(found.to_dict(), allow_nan=False)


def test_the_best_guesser_nearly_reaches_what_theory_allows() -> None:
    """Average success, bracketed by cells, against the rule's exact value over the whole prior."""
    from reference.guesser import average_success

    from guessproof.mechanisms.laplace import Laplace
    from guessproof.world.priors import normal

    noise = chosen(SALARIES).noises[0].mechanism
    assert isinstance(noise, Laplace)
    bracket = average_success(noise, normal(2000, 235.7), radius=100)
    overall = _audit_plan(SALARIES).attacks[0].strategies[0].overall
    assert float(bracket.attack) - 2e-3 <= overall <= float(bracket.bound)


def test_two_tables_are_told_apart_as_the_formula_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """Laplace noise, distance = sensitivity: success 1 − e^(−ε/2)/2."""
    found = run(SALARIES, monkeypatch, trials=4000)
    told = next(c for c in found.checks if c.name.startswith("two tables"))
    epsilon = next(c for c in found.checks if c.name.startswith("ratios")).expected
    assert epsilon is not None
    assert told.expected == pytest.approx(1 - math.exp(-epsilon / 2) / 2, abs=1e-9)


def test_the_belief_that_trials_reach_is_the_exact_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """An output near the true value is the worst one, and thousands of trials come near: no bound could be lower."""
    found = run(CAFETERIA, monkeypatch)
    for name in ("belief", "advantage"):
        check = next(c for c in found.checks if c.name == name)
        assert check.measured is not None
        assert check.expected is not None
        assert check.expected - 1e-4 < check.measured <= check.expected + 1e-6


@pytest.mark.parametrize("name", ["posterior", "advantage"])
def test_a_belief_above_its_bound_fails_the_audit(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Engine and noise are as declared; the bound is a thousandth too low."""
    choice = chosen(CAFETERIA)
    bracket = getattr(choice, name)
    low = replace(choice, **{name: replace(bracket, bound=bracket.bound - 1e-3, attack=0.0)})
    monkeypatch.setattr(Noise, "draw", fast(3))
    found = audit_choice(low, trials=4000, seconds=1e5, seed=5)
    assert not found.passed
    assert [c.name for c in found.failures] == ["belief" if name == "posterior" else "advantage"]
    assert found.to_dict()["failures"] == [c.name for c in found.failures]


def test_victims_are_as_frequent_as_the_prior_says() -> None:
    """Each label once in a table, and in the trials as often as the attacker expects it."""
    attack = _audit_plan(CATS).attacks[0]
    colours = [victim["colour"] for victim in attack.victims if victim is not None]
    met = [colours[turn] for turn in attack.turns]
    for colour, chance in {"black": 0.4, "tabby": 0.25, "tortoise": 0.05}.items():
        assert met.count(colour) / len(met) == pytest.approx(chance, abs=0.1)
    assert met.count("black") > 4 * met.count("tortoise")
    assert len(met) > 3 * len(attack.victims)


def test_both_columns_of_a_victim_vary() -> None:
    attack = _audit_plan(CATS).attacks[0]
    for name, size in (("colour", 5), ("gender", 2)):
        assert len({victim[name] for victim in attack.victims if victim is not None}) == size
    two = _audit_plan(TWO_SUMS)
    for attack, index, column in ((two.attacks[0], 0, "a"), (two.attacks[-1], 1, "b")):
        near, far = attack.case.pairs[index]
        assert near is not None
        assert far is not None
        assert near[column] != far[column]


def test_a_goal_about_the_group_is_judged_over_all_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """A count for each group tells in which one somebody is: two answers move, so the odds change by e^ε at most."""
    text = SURVEY.split("[risk]")[0].replace("WHERE had_covid = 'yes' ", "")
    text = text.replace('"65+"]', '"65+"]\nprior = { categorical = { "18-44" = 0.5, "45-64" = 0.3, "65+" = 0.2 } }')
    text += '[attacker]\ngoal = "age_group exactly"\nadvantage = 0.1\nat = { age_group = "18-44" }\n'
    plan = loads_plan(text)
    monkeypatch.setattr(Noise, "draw", fast(37))
    question = asked(plan)
    noise = noise_for(question.measurements[0], 3.0)
    with tempfile.TemporaryDirectory() as folder:
        bare = replace(chosen(SURVEY), plan=plan, asked=question, noises=(noise,))
        audit_plan = make_audit_plan(bare, Path(folder), np.random.default_rng(4), lambda _s, _w: None)
    assert audit_plan.attacker is not None
    seen = beliefs_over_groups(audit_plan, audit_plan.attacker, np.random.default_rng(4))
    after, before, guess = max(seen, key=lambda s: s[0])
    assert before == pytest.approx(0.5)
    assert guess == {"age_group": "18-44"}
    assert after == pytest.approx(1 / (1 + math.exp(-3.0)), abs=1e-6)


# Planted faults.


@pytest.mark.parametrize(
    ("text", "scale"),
    [(CAFETERIA, 0.8), (CATS, 1.25)],  # further ones in tests/deep
    ids=["cafeteria", "cats"],
)
def test_noise_of_the_wrong_scale_is_found(text: str, scale: float, monkeypatch: pytest.MonkeyPatch) -> None:
    check_scale(text, scale, monkeypatch)


def check_scale(text: str, scale: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Noise of the wrong scale is found."""
    found = run(text, monkeypatch, fast(11, scale=scale))
    assert not found.passed
    assert verdicts(found)["noise"] == "fail"


def test_too_little_noise_from_the_real_sampler_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = Noise.draw

    def shrunk(noise: Noise, units: list[int]) -> list[int]:
        return [u + round(0.8 * (d - u)) for u, d in zip(units, real(noise, units), strict=True)]

    monkeypatch.setattr(Noise, "draw", shrunk)
    found = audit_choice(chosen(SALARIES), trials=30_000, seconds=1e5, seed=2)
    assert verdicts(found)["noise"] == verdicts(found)["two tables"] == "fail"


def test_noise_that_is_drawn_once_and_kept_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    honest, kept = fast(29), {}

    def repeated(noise: Noise, units: list[int]) -> list[int]:
        once = kept.setdefault(
            noise.measurement.text, [d - u for u, d in zip(units, honest(noise, units), strict=True)]
        )
        return [u + once[i // 2 % len(once)] for i, u in enumerate(units)]

    assert verdicts(run(SALARIES, monkeypatch, repeated))["independence"] == "fail"


def test_a_release_that_adds_noise_to_answers_twice_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sampler is right, what the release makes of it is not."""
    plain = answer.draw_column

    def doubled(noise: Noise, index: int, groups: Any, found: Any) -> list[float]:
        once, again = plain(noise, index, groups, found), plain(noise, index, groups, found)
        still = [noise.grid.value(found[g][index][0]) for g in groups]
        return [a + b - s for a, b, s in zip(once, again, still, strict=True)]

    monkeypatch.setattr(answer, "draw_column", doubled)
    assert verdicts(run(SALARIES, monkeypatch))["noise"] == "fail"


def test_a_query_that_forgets_the_clamp_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """It clamps to some other bounds; or not at all, and then infinite values stop the engine."""
    honest = NumberColumn.write

    def careless(self: NumberColumn, types: Any) -> Any:
        width = self.high - self.low
        return honest(replace(self, low=self.low - 3 * width, high=self.high + 3 * width), types)

    monkeypatch.setattr(NumberColumn, "write", careless)
    found = run(SALARIES, monkeypatch)
    assert verdicts(found)["engine"] == verdicts(found)["movement"] == verdicts(found)["noise"] == "fail"
    monkeypatch.setattr(NumberColumn, "write", lambda self, target: target.number(self.column))
    assert verdicts(run(SALARIES, monkeypatch)) == {"engine": "fail"}


def test_a_query_that_doubles_contributions_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = rewriting._write_own
    monkeypatch.setattr(rewriting, "_write_own", lambda m, t: honest(m, t) * 2)
    found = run(SALARIES, monkeypatch)
    assert verdicts(found)["engine"] == verdicts(found)["movement"] == verdicts(found)["ratios"] == "fail"


def test_a_filter_that_lets_others_in_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The victim moves nothing wrongly, but the centre is not what the attacker reckons with."""
    monkeypatch.setattr(Conjunction, "write", lambda self, types: self.left.write(types))
    monkeypatch.setattr(Conjunction, "keeps", lambda self, types: self.left.keeps(types))
    found = run(CATS, monkeypatch, trials=4000)
    assert verdicts(found)["engine"] == "fail"


def test_an_engine_that_fails_fails_the_audit(monkeypatch: pytest.MonkeyPatch) -> None:
    from guessproof.engines.duckdb import DuckDB

    def broken(self: DuckDB, sql: str) -> Any:
        raise EngineError

    monkeypatch.setattr(DuckDB, "aggregates", broken)
    found = audit_choice(chosen(SALARIES), trials=2000, seconds=1e5, seed=1)
    assert not found.passed
    assert verdicts(found) == {"engine": "fail"}


def test_a_ledger_that_forgets_a_charge_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    from guessproof.auditing import certain

    cheap = certain.Cost
    monkeypatch.setattr(certain, "Cost", lambda epsilon, delta: cheap(epsilon / 2, delta))
    assert verdicts(run(SALARIES, monkeypatch, trials=2000))["ledger"] == "fail"


# False alarms.


def _audit_plan(text: str) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        return make_audit_plan(chosen(text), Path(folder), np.random.default_rng(4), lambda _s, _w: None)


def test_every_test_gets_its_share_of_the_false_alarm_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    found = run(SALARIES, monkeypatch, trials=2000)
    guesser = next(c for c in found.checks if c.name.startswith("guesser"))
    hits, trials = (int(n) for n in re.findall(r"right in (\d+) of (\d+)", guesser.words)[0])
    assert guesser.interval == clopper_pearson(hits, trials, 1e-3 / found.tests)
    assert found.tests == 44 + 2 + 4 + 12 + 4 + 1 + 1  # bins, fits, bits, ratios, independence, guesser, two tables


# Options, refusals.


def test_options_that_cannot_be_meant_are_refused() -> None:
    choice = chosen(SALARIES)
    for wrong in ({"trials": 10}, {"seconds": 0}, {"false_alarm": 0.5}, {"seed": -1}):
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            audit_choice(choice, **wrong)


def test_a_plan_that_cannot_be_kept_has_nothing_to_audit() -> None:
    with pytest.raises(InfeasibleError):
        audit(loads_plan(CAFETERIA.replace("within = 1.5", "within = 0.001")))


def test_time_stops_the_drawing_and_progress_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Noise, "draw", fast(31))
    seen: list[tuple[float, str]] = []
    found = audit(plan_of(SALARIES), trials=50_000_000, seconds=0.2, progress=lambda s, w: seen.append((s, w)))
    assert found.trials < 5_000_000
    assert seen[0] == (0.0, "choosing ε")
    assert seen[-1] == (1.0, "done")
    shares = [s for s, w in seen if w.startswith(("drawing", "playing"))]
    assert shares == sorted(shares)
    assert all(0 <= s <= 1 for s in shares)


def test_the_same_seed_makes_the_same_tables_and_never_the_same_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("guessproof.auditing.run.examine", lambda *_: ())
    one, other = (audit_choice(chosen(SALARIES), trials=2000, seconds=1e5, seed=9) for _ in range(2))
    expected = [[c.expected for c in found.checks if c.name.startswith("guesser")] for found in (one, other)]
    measured = [[c.measured for c in found.checks if c.name.startswith("noise")] for found in (one, other)]
    assert expected[0] == expected[1]
    assert one.seed == other.seed == 9
    assert measured[0] != measured[1] or one.points != other.points
