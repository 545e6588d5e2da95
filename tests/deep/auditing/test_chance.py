"""Mistakes of noise that only many draws find, and honest plans of further kinds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import sqlglot
from auditing.plans import CAFETERIA, CATS, SALARIES, SURVEY, TWO_SUMS, chosen, fast
from auditing.test_audit import _audit_plan, check_passes, check_scale, run, verdicts
from sqlglot import exp

from guessproof.auditing import audit_choice
from guessproof.auditing import tables as written
from guessproof.auditing.trials import Watch, play
from guessproof.auditing.verdicts import chance_checks
from guessproof.noise import Noise

FILTERED = "AVG(time) FILTER (WHERE faculty = 'math') AS mean_time FROM t"


def test_the_belief_without_a_prior_fails_above_its_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two tables at even odds: an ε that was printed too small is exceeded by what the noise lets through."""
    choice = chosen(SALARIES.split("[attacker]")[0] + "[release]\nepsilon = 1.0\n")
    noises = tuple(replace(n, mechanism=replace(n.mechanism, epsilon=1.01)) for n in choice.noises)
    monkeypatch.setattr(type(choice), "cost", property(lambda _: 1.0))
    monkeypatch.setattr(Noise, "draw", fast(3))
    for told, verdict in ((choice, "pass"), (replace(choice, noises=noises), "fail")):
        assert verdicts(audit_choice(told, trials=4000, seconds=1e5, seed=5))["belief"] == verdict


def test_an_average_that_counts_rows_outside_its_filter_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sum is right; it is divided by too many."""
    text = CAFETERIA.replace("AVG(time) AS mean_time FROM t WHERE faculty = 'math'", FILTERED).replace(
        "120\n", "40\n", 1
    )
    text = text.replace("within = 1.5", "within = 12")
    assert run(text, monkeypatch, trials=2000).passed
    honest = written.prepare_query

    def careless(*given: Any) -> Any:
        rewritten = honest(*given)
        select = sqlglot.parse_one(rewritten.sql, dialect="duckdb")
        (count,) = [e for e in select.find_all(exp.Alias) if e.alias == "n0"]
        count.this.this.replace(exp.Literal.number(1))  # CASE WHEN filter THEN term END
        return replace(rewritten, sql=select.sql("duckdb"))

    monkeypatch.setattr(written, "prepare_query", careless)
    found = run(text, monkeypatch, trials=2000)
    engine = next(c for c in found.checks if c.name == "engine")
    assert engine.verdict == "fail"
    assert "counts other rows" in engine.words


def test_a_guesser_who_is_right_too_often_or_too_rarely_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    for scale in (0.5, 2.0):
        found = run(SALARIES, monkeypatch, fast(13, scale=scale), trials=16_000)
        assert verdicts(found)["guesser"] == "fail"


@pytest.mark.parametrize("text", [CAFETERIA, SALARIES])
def test_a_shifted_centre_is_found(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert verdicts(run(text, monkeypatch, fast(17, shift=0.3)))["noise"] == "fail"


@pytest.mark.parametrize("shape", ["uniform", "gap", "even"])
def test_noise_of_the_wrong_shape_is_found(shape: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert verdicts(run(SALARIES, monkeypatch, fast(19, shape=shape)))["noise"] == "fail"


def test_noise_that_two_measurements_share_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(TWO_SUMS, monkeypatch, trials=10_000).passed
    honest, kept = fast(23), {}

    def reused(noise: Noise, units: list[int]) -> list[int]:
        """The second sum gets the first one's noise, in its own scale."""
        if noise.measurement.text == "SUM(b)" and len(units) in kept:
            width = noise.mechanism.scale / noise.grid.step
            return [u + round(z * width) for u, z in zip(units, kept[len(units)], strict=True)]
        drawn = honest(noise, units)
        width = noise.mechanism.scale / noise.grid.step
        kept[len(units)] = [(d - u) / width for u, d in zip(units, drawn, strict=True)]
        return drawn

    assert verdicts(run(TWO_SUMS, monkeypatch, reused, trials=10_000))["independence"] == "fail"


@pytest.mark.parametrize(("text", "audits"), [(SALARIES, 200), (CATS, 60)], ids=["salaries", "cats"])
def test_false_alarms_are_as_rare_as_stated(text: str, audits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many audits of an honest sampler; seeded, so that chance decided once and for all."""
    audit_plan, failed = _audit_plan(text), {0.1: 0, 1e-3: 0}
    for seed in range(audits):
        monkeypatch.setattr(Noise, "draw", fast(1000 + seed))
        played = play(audit_plan, 500, Watch(1e9, lambda: 0.0, lambda _s, _w: None))
        for rate in failed:
            checks = chance_checks(audit_plan, played, rate / played.tests)
            failed[rate] += any(c.verdict == "fail" for c in checks)
    assert failed[1e-3] <= 1
    assert 0 < failed[0.1] <= 0.15 * audits  # at most a tenth is expected; none would mean that no test ever speaks


@pytest.mark.parametrize("kind", ["salaries", "survey", "ships"])
def test_the_real_engine_and_the_real_sampler_pass(kind: str) -> None:
    check_passes(kind)


@pytest.mark.parametrize(
    ("text", "scale"),
    [(SALARIES, 0.8), (SALARIES, 1.25), (SURVEY, 0.8)],
    ids=["salaries", "salaries, too much", "survey"],
)
def test_noise_of_the_wrong_scale_is_found(text: str, scale: float, monkeypatch: pytest.MonkeyPatch) -> None:
    check_scale(text, scale, monkeypatch)
