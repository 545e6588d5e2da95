"""Adding a mechanism is one class and one entry: a toy that nothing in the program knows goes the whole road."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import guessproof
from guessproof.auditing import audit_choice
from guessproof.charts.mechanisms import error_curves, noise_density
from guessproof.choosing import choose
from guessproof.errors import PlanError
from guessproof.ledger import Budget, Ledger
from guessproof.mechanisms import MECHANISMS, Mechanism
from guessproof.mechanisms.awareness import Awareness
from guessproof.mechanisms.composition import compose
from guessproof.plan import Plan, loads_plan
from guessproof.releasing import release
from guessproof.reporting import report
from guessproof.world.priors import normal

PLAN = """
[data]
name = "canteen"
source = "canteen.csv"
protects = "values"
[query]
sql = "SELECT SUM(time) AS total FROM t"
[columns.time]
bounds = [0, 120]
prior = { normal = { mean = 20, sd = 6 } }
[attacker]
goal = "time within 2"
advantage = 0.05
at = { time = 20 }
[release]
mechanism = "toy"
"""


@dataclass(frozen=True)
class Toy(Mechanism):
    """Two-sided exponential noise, twice as wide as ε asks for."""

    sensitivity: float
    epsilon: float

    name = "toy"
    chart_label = "Toy"
    density_words = "P(z) ∝ exp(−|z| / b), b twice what it must be"
    citation = ("The Box of Toys, 2030.", "toy noise")
    integer_noise = "laplace"

    @property
    def scale(self) -> float:
        return 2 * self.sensitivity / self.epsilon

    @property
    def standard_deviation(self) -> float:
        return math.sqrt(2) * self.scale

    def density(self, z: Any) -> Any:
        return np.exp(-np.abs(z) / self.scale) / (2 * self.scale)

    def log_density(self, size: Any) -> Any:
        return -np.asarray(size) / self.scale

    def cdf(self, z: Any) -> Any:
        tail = 0.5 * np.exp(-np.abs(z) / self.scale)
        return np.where(np.less(z, 0), tail, 1 - tail)[()]

    def error(self, *, confidence: float) -> float:
        return -self.scale * math.log1p(-confidence)

    def confidence(self, *, within: float) -> float:
        return -math.expm1(-within / self.scale)

    @classmethod
    def epsilon_for(cls, *, sensitivity: float, within: float, confidence: float) -> float:
        return -2 * sensitivity * math.log1p(-confidence) / within * (1 + 1e-14)

    def delta_at(self, epsilon: float) -> float:
        return max(0.0, -math.expm1((epsilon - self.epsilon / 2) / 2))

    def epsilon_at(self, delta: float = 0.0) -> float:
        return max(0.0, self.epsilon / 2 + 2 * math.log1p(-delta))


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Plan:
    monkeypatch.setitem(MECHANISMS, "toy", Toy)
    (tmp_path / "canteen.csv").write_text("time\n" + "20\n" * 50, encoding="utf-8")
    Ledger.create(tmp_path / "guessproof.ledger", "canteen", Budget("10"))
    return loads_plan(PLAN, folder=tmp_path)


def test_without_its_entry_it_is_unknown() -> None:
    with pytest.raises(PlanError, match=r"mechanism.*toy"):
        loads_plan(PLAN)


def test_it_is_chosen_released_and_recorded(plan: Plan) -> None:
    choice = choose(plan)
    (noise,) = choice.noises
    assert isinstance(noise.mechanism, Toy)
    assert noise.to_dict()["mechanism"] == "toy"
    assert noise.scale == pytest.approx(2 * 120 / choice.epsilon)
    answer = release(plan)
    assert answer.value is not None
    assert abs(answer.value - 1000) < noise.error(1 - 1e-12)
    assert answer.noise[0]["mechanism"] == "toy"
    again = release(plan)
    assert again.replayed
    assert again.value == answer.value


def test_an_accuracy_is_met(plan: Plan) -> None:
    text = PLAN.replace("advantage = 0.05", "advantage = 0.5").replace(
        "[release]", "[accuracy]\nwithin = 900\n[release]"
    )
    choice = choose(loads_plan(text, folder=plan.folder))
    assert choice.feasible
    assert choice.noises[0].error(0.95) == pytest.approx(900, rel=1e-6)


def test_the_audit_draws_it_and_passes(plan: Plan) -> None:
    found = audit_choice(choose(plan), trials=4000, seconds=1e5, seed=1)
    assert found.passed, found.failures
    assert any("toy noise" in check.words for check in found.checks)


def test_it_is_reported_and_drawn(plan: Plan) -> None:
    page = report(plan).html
    for words in ("Toy", "b twice what it must be", "The Box of Toys, 2030."):
        assert words in page
    assert noise_density(Toy(1, 1)).to_dict()["title"]["text"].startswith("Toy noise")
    assert "Toy" in error_curves(points=3).to_json()


def test_composition_and_awareness_take_it() -> None:
    assert compose([Toy(1, 0.5), Toy(1, 0.25)]).epsilon == 0.75
    view = Awareness(Toy(1, 1), normal(20, 6), goal=(18, 22))
    assert view.prior_probability < view.supremum().bound < 1


def test_nothing_else_asks_which_mechanism_it_is() -> None:
    root = Path(guessproof.__file__).parent
    rooms = [path for path in root.rglob("*.py") if path.relative_to(root).parts[0] not in ("mechanisms", "papers")]
    asked = re.compile(r"^from guessproof\.mechanisms\.(laplace|geometric|gaussian|cauchy)\b", re.MULTILINE)
    assert not [path.name for path in rooms if asked.search(path.read_text(encoding="utf-8"))]
