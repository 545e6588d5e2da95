"""Gaussian noise with an attacker, through every door: plan, choose, release, ledger, audit, report."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import guessproof as gp
from guessproof.auditing.run import audit_choice
from guessproof.cli.releasing import show_answer
from guessproof.errors import BudgetError, InfeasibleError, MetricError, PlanError
from guessproof.exposure.gaussian import judged_together
from guessproof.guarantee import Bell, bells_of_dicts
from guessproof.ledger import Budget, Ledger
from guessproof.meaning import meaning
from guessproof.risk import GaussianReading
from guessproof.world.distances import LineForm

AGE = "[columns.age]\nbounds = [0, 99]\nprior = { uniform = { low = 0, high = 99 } }"
CSV = "time,faculty\n20,math\n15,math\n31,law\n24,law\n"


def _plan(
    folder: Path, more: str = "at = { time = 20 }", sql: str = "SELECT SUM(time) AS total FROM t", **keys: str
) -> Any:
    (folder / "t.csv").write_text(CSV)
    release = keys.get("release", 'mechanism = "gaussian"\ndelta = 1e-6')
    return gp.loads_plan(
        f"""
[data]
name = "c"
source = "t.csv"
table = "t"
protects = "values"
rows = 4
[query]
sql = "{sql}"
[columns.time]
bounds = [0, 120]
missing = false
prior = {{ normal = {{ mean = 20, sd = 6.28 }} }}
{keys.get("columns", "")}
[attacker]
goal = "{keys.get("goal", "time within 2")}"
{keys.get("limit", "advantage = 0.05")}
{more}
[release]
{release}
ledger = "{folder / "l.ledger"}"
""",
        folder=folder,
    )


def test_the_noise_follows_from_the_limit(tmp_path: Path) -> None:
    choice = gp.choose(_plan(tmp_path))
    assert choice.noise_scale == pytest.approx(9.2336, rel=1e-3)
    assert choice.advantage is not None
    assert float(choice.advantage.bound) <= 0.05
    assert "prior_free_epsilon" in choice.to_dict()
    assert choice.prior_free_epsilon is None
    average = gp.choose(_plan(tmp_path, sql="SELECT AVG(time) AS mean_time FROM t"))
    assert average.noise_scale == pytest.approx(9.2336 / 4, rel=1e-3)


def test_what_was_worked_out_is_not_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounding is in the noise's own curve, so a step of the grid changes nothing: one search, few proofs."""
    proofs: list[float] = []
    advantage = GaussianReading.advantage

    def counted(*asked: Any, **more: Any) -> Any:
        found = advantage(*asked, **more)
        proofs.append(float(found.bound))
        return found

    monkeypatch.setattr(GaussianReading, "advantage", counted)
    choice = gp.choose(_plan(tmp_path, "failure = 1e-4", limit="advantage = 0.3"))
    assert len(proofs) <= 10
    assert max(p for p in proofs if p <= 0.3) > 0.29
    assert choice.advantage is not None
    assert float(choice.advantage.bound) <= 0.3


def test_two_answers_about_one_column_add_their_precisions(tmp_path: Path) -> None:
    both = gp.choose(_plan(tmp_path, sql="SELECT SUM(time) AS total, AVG(time) AS mean_time FROM t"))
    precisions = sum(1 / (n.scale * n.measurement.divisor) ** 2 for n in both.noises)
    assert precisions**-0.5 == pytest.approx(9.2336, rel=1e-3)


def test_a_failure_is_said_wherever_the_limit_is(tmp_path: Path) -> None:
    plan = _plan(tmp_path, "at = { time = 27 }\nfailure = 0.01")
    choice = gp.choose(plan)
    assert "0.01" in choice.explanation
    every = (choice.explanation, *(limit.how for limit in choice.limits), *choice.assumptions)
    assert [w for w in every if "0.01" in w] == [w for w in every if "given the stated true value" in w]
    assert not any("any true value" in words for words in every)
    assert any("probability 0.01" in text for text in choice.assumptions)
    told = choice.to_dict()
    assert told["failure"] == 0.01
    assert 0 <= told["failure_under_prior"]["bound"] < 1
    with pytest.raises(InfeasibleError):  # some answer moves the whole belief over there, whatever the noise
        gp.choose(_plan(tmp_path, "at = { time = 27 }"))
    found = meaning(plan, choice.epsilon)
    assert found.advantage is not None
    assert float(found.advantage.bound) <= 0.05
    page = tmp_path / "r.html"
    gp.report(plan, page)
    assert "rises by at most 5 percentage points, except with probability 0.01" in page.read_text()


def test_a_release_says_its_failure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = _plan(tmp_path, "at = { time = 27 }\nfailure = 0.01")
    Ledger.create(tmp_path / "l.ledger", "c", Budget(100, 0.1))
    show_answer(gp.release(plan), plan)
    assert "except with probability 0.01, given the stated true value" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"sql": "SELECT MAX(time) AS m FROM t"}, "smallest or largest"),
        ({"sql": "SELECT SUM(time * time) AS m FROM t"}, "known only as a bound"),
        ({"sql": "SELECT COUNT(*) AS m FROM t WHERE time > 10"}, "one protected column"),
        ({"more": "at = { time = 20 }\nprior_factor = 2"}, "misjudged"),
        ({"more": "failure = 1e-6", "release": 'mechanism = "laplace"'}, "every answer"),
        ({"more": "", "goal": "time within 2 or age within 3", "columns": AGE}, "one column"),
    ],
)
def test_what_is_not_proven_is_refused_with_the_reason(tmp_path: Path, keys: dict[str, str], words: str) -> None:
    with pytest.raises(PlanError, match=words):
        gp.choose(_plan(tmp_path, **keys))


def test_no_noise_is_enough_for_every_answer_and_every_truth(tmp_path: Path) -> None:
    with pytest.raises(InfeasibleError, match="failure = 1e-6"):
        gp.choose(_plan(tmp_path, ""))


def test_a_risk_profile_takes_no_noise_that_has_a_delta(tmp_path: Path) -> None:
    plan = _plan(tmp_path)
    text = plan.file.model_dump(exclude_defaults=True, by_alias=True)
    text.pop("attacker")
    text["risk"] = {"fixed_value": {"q": 0.2, "absolute": 0.5, "relative": 3.0}}
    text["data"]["protects"] = "records"
    text["data"].pop("rows")
    with pytest.raises(PlanError, match="every answer"):
        gp.choose(gp.plan_of(text, folder=tmp_path))


def _bell(factor: float, failure: float = 0.0) -> Bell:
    return Bell("time", LineForm((0.0, 120.0), (0.0, factor, 0.0), (0.0, 0.0)), 0.0, failure)


def test_the_ledger_judges_all_releases_together(tmp_path: Path) -> None:
    """Two Gaussian releases are one with twice the precision, a Laplace release comes on top, the fourth is refused."""
    plan = _plan(tmp_path)
    book = gp.Ledger.create(tmp_path / "l.ledger", "c", gp.Budget("1000", 0.1, advantage=0.16))
    once = gp.release(plan, ledger=book)
    again = gp.release(plan, ledger=book)
    assert again.replayed
    assert again.answers == once.answers
    assert float(book.account("c").advantage) == pytest.approx(0.05, abs=2e-4)
    gp.release(_plan(tmp_path, sql="SELECT SUM(2 * time) AS twice FROM t"), ledger=book)
    two = float(book.account("c").advantage)
    scale = gp.choose(plan).noise_scale or 0.0
    alone = gp.GaussianAttack(gp.within(gp.Attribute("time", prior=gp.normal(20, 6.28)), 2), at={"time": 20})
    assert two == pytest.approx(float(alone.advantage(sigma=scale / 2**0.5).bound), rel=3e-3)
    gp.release(_plan(tmp_path, release='mechanism = "laplace"'), ledger=book)
    three = float(book.account("c").advantage)
    assert two + 0.03 < three <= 0.16
    with pytest.raises(BudgetError, match="cumulative advantage"):
        gp.release(_plan(tmp_path, sql="SELECT SUM(3 * time) AS thrice FROM t"), ledger=book)
    tables = [c.guarantee for c in book.account("c").charges.values()]
    assert [len(t.get("bells", ())) for t in tables] == [1, 1, 0]
    assert len(bells_of_dicts(tables, [1, 1, 1])) == 2


def test_precisions_and_failures_add(tmp_path: Path) -> None:
    attacker = gp.choose(_plan(tmp_path)).exposure.attacker
    one = float(judged_together(attacker, None, (_bell(0.1),), False).bound)
    four = float(judged_together(attacker, None, (_bell(0.05),) * 4, False).bound)
    assert four == pytest.approx(one, rel=1e-6)
    failing = (_bell(0.05, 0.1), _bell(0.05, 0.2))
    loose, strict = (float(judged_together(attacker, None, b, False).bound) for b in (failing, (_bell(0.05),) * 2))
    assert loose <= strict
    other = Bell("time", LineForm((0.0, 60.0), (0.0, 0.1, 0.0), (0.0, 0.0)))
    with pytest.raises(MetricError, match="different ways"):
        judged_together(attacker, None, (_bell(0.1), other), False)


def test_the_audit_counts_failures_and_finds_noise_that_is_too_small(tmp_path: Path) -> None:
    plan = _plan(tmp_path, "at = { time = 27 }\nfailure = 0.05", limit="advantage = 0.06")
    choice = gp.choose(plan)
    fair = audit_choice(choice, trials=2000, seconds=1e5, seed=3)
    assert {c.name: c.verdict for c in fair.checks}["failure"] == "pass"
    noise = choice.noises[0]
    weak = replace(noise, mechanism=replace(noise.mechanism, epsilon=6 * noise.mechanism.epsilon))
    caught = audit_choice(replace(choice, noises=(weak,)), trials=2000, seconds=1e5, seed=3)
    assert {c.name: c.verdict for c in caught.checks}["failure"] == "fail"
