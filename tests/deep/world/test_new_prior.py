"""A new prior is one class and one key of a plan: the whole road is run with one that only this file knows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from numpy.typing import ArrayLike
from pydantic import Field
from pydantic.fields import FieldInfo

import guessproof as gp
from guessproof.cli.reading import read_prior
from guessproof.papers.slides import tilted_mass
from guessproof.plan import prior_tables, tables
from guessproof.scanning.run import scan
from guessproof.world.checks import Array
from guessproof.world.line import LinePrior


@dataclass(frozen=True)
class Triangular(LinePrior):
    """A density that rises from `low` to `mode` and falls to `high`, in straight lines."""

    low: float
    mode: float
    high: float

    def __repr__(self) -> str:
        return f"triangular({self.low:g}, {self.mode:g}, {self.high:g})"

    @property
    def name(self) -> str:
        return "triangular"

    @property
    def inflections(self) -> tuple[float, ...]:
        return ()

    @property
    def is_log_concave(self) -> bool:
        return True

    @property
    def breaks(self) -> tuple[float, ...]:
        return (self.mode,)

    @property
    def support(self) -> tuple[float, float]:
        return self.low, self.high

    def log_density(self, x: ArrayLike) -> Array:
        x = np.asarray(x, dtype=np.float64)
        share = np.minimum((x - self.low) / (self.mode - self.low), (self.high - x) / (self.high - self.mode))
        with np.errstate(divide="ignore"):
            return np.log(2 / (self.high - self.low)) + np.log(np.maximum(share, 0.0))

    def cdf(self, x: ArrayLike, from_right: bool = False) -> Array:
        x, width = np.clip(x, self.low, self.high), self.high - self.low
        below = (np.minimum(x, self.mode) - self.low) ** 2 / (width * (self.mode - self.low))
        above = (self.high - np.maximum(x, self.mode)) ** 2 / (width * (self.high - self.mode))
        if from_right:
            return np.where(x < self.mode, 1 - below, above)
        return np.where(x > self.mode, 1 - above, below)

    def stretched(self, factor: float) -> Triangular:
        low, high = (self.mode + factor * (end - self.mode) for end in (self.low, self.high))
        return Triangular(low, self.mode, high)


class TriangularTable(prior_tables.FamilyTable):
    """Rising to a mode and falling from it."""

    makes: ClassVar[type[LinePrior]] = Triangular
    low: float = Field(description="its lower end")
    mode: float = Field(description="where it is densest")
    high: float = Field(description="its upper end")


@pytest.fixture
def entry() -> Iterator[None]:
    """The one entry: plans may say `triangular`."""
    models = (prior_tables.PriorTable, tables.ColumnTable, tables.OtherTable, tables.PlanFile)
    prior_tables.PriorTable.model_fields["triangular"] = FieldInfo(annotation=TriangularTable | None, default=None)  # pyright: ignore[reportArgumentType]
    for model in models:
        model.model_rebuild(force=True)
    yield
    del prior_tables.PriorTable.model_fields["triangular"]
    for model in models:
        model.model_rebuild(force=True)


PLAN = """
[data]
name = "canteen"
source = "t.csv"
table = "t"
protects = "values"
rows = 40

[query]
sql = "SELECT AVG(time) AS mean_time FROM t"

[columns.time]
bounds = [0, 60]
missing = false
prior = { triangular = { low = 0, mode = 20, high = 60 } }

[attacker]
goal = "time within 3"
advantage = 0.1

[release]
ledger = "l"
"""


@pytest.fixture
def plan(entry: None, tmp_path: Path) -> gp.Plan:
    rows = np.random.default_rng(3).triangular(0, 20, 60, 40).round(2)
    (tmp_path / "t.csv").write_text("time\n" + "\n".join(map(str, rows)) + "\n")
    (tmp_path / "plan.toml").write_text(PLAN)
    return gp.load_plan(tmp_path / "plan.toml")


def test_a_plan_names_it(plan: gp.Plan) -> None:
    assert plan.attributes()["time"].prior == Triangular(0, 20, 60)
    assert repr(read_prior("triangular(0, 20, high=60)")) == "triangular(0, 20, 60)"


def test_a_missing_key_is_named(plan: gp.Plan) -> None:
    with pytest.raises(gp.errors.PlanError, match="mode"):
        gp.loads_plan(PLAN.replace("mode = 20, ", ""))


def test_the_whole_road(plan: gp.Plan, tmp_path: Path) -> None:
    choice = gp.choose(plan)
    assert choice.feasible
    attack = gp.Attack(gp.within(gp.Attribute("time", Triangular(0, 20, 60), metric=gp.Clamped(0, 60)), 3))
    assert 0.0999 <= attack.advantage(choice.epsilon / 60).bound <= 0.1  # two values differ by at most 60
    told = choice.to_dict()
    assert told["epsilon"] == choice.epsilon
    gp.Ledger.create(tmp_path / "l", "canteen", gp.Budget(1000))
    answer = gp.release(plan)
    assert np.isfinite(answer.value)
    audited = gp.audit(plan, trials=2000, seconds=1e5, seed=1)
    assert audited.passed
    seen = scan(plan, epsilon=choice.epsilon)
    assert seen.rows == 40
    page = gp.report(plan, tmp_path / "report.html").html
    assert "triangular" in page
    assert "<svg" in page


# The laws that every prior keeps, by the slow road: a fine grid.

PRIOR = Triangular(-1, 0.5, 4)


def test_tilted_integrals_agree_with_a_fine_sum() -> None:
    for k in (-3.0, 0.0, 0.7, 5.0):
        for a, b in ((-np.inf, np.inf), (-0.4, 0.2), (0.1, 3.0), (2.0, 9.0)):
            x = np.linspace(max(a, -1), min(b, 4), 200_001)
            x = 0.5 * (x[1:] + x[:-1])
            width = (min(b, 4) - max(a, -1)) / 200_000
            total = float(np.sum(np.exp(k * (x - 1) + PRIOR.log_density(x))) * width)
            assert tilted_mass(PRIOR, k, a, b, 1.0) == pytest.approx(total, rel=1e-5)


def test_quantiles_undo_probabilities() -> None:
    u = np.linspace(0.001, 0.999, 101)
    assert PRIOR.cdf(PRIOR.quantile(u)) == pytest.approx(u, rel=1e-9)
    assert float(PRIOR.mass(-np.inf, np.inf)) == pytest.approx(1.0, rel=1e-12)


def test_knowledge_conditions_it() -> None:
    known = PRIOR.given(0, 2)
    assert known.name == "triangular"
    assert known.is_log_concave
    assert known.breaks == (0.5,)
    assert float(known.mass(0, 1)) == pytest.approx(float(PRIOR.mass(0, 1) / PRIOR.mass(0, 2)), rel=1e-12)


def test_the_worst_true_value_dominates_every_true_value() -> None:
    goal = gp.within(gp.Attribute("x", PRIOR), 0.6)
    worst = gp.Attack(goal).advantage(0.8)
    each = gp.Attack(goal, at={"x": np.linspace(-0.9, 3.9, 97)}).advantage(0.8)
    assert worst.status == "proven"
    assert float(worst.bound) == pytest.approx(float(worst.attack), rel=1e-3)
    assert np.all(np.asarray(each.attack) <= worst.bound + 1e-12)
    assert float(np.max(each.bound)) == pytest.approx(float(worst.bound), rel=1e-3)


def test_epsilon_keeps_its_limit_and_no_more() -> None:
    attack = gp.Attack(gp.within(gp.Attribute("x", PRIOR), 0.6))
    epsilon = attack.epsilon(advantage=0.1)
    assert attack.advantage(epsilon).bound <= 0.1
    assert attack.advantage(1.003 * epsilon).attack > 0.1


def test_a_narrower_prior_is_one_of_its_own() -> None:
    assert PRIOR.stretched(0.5) == Triangular(-0.25, 0.5, 2.25)
