"""Samplers beside OpenDP's own vector calls; ε for an accuracy; what the attacker learns from one mechanism."""

from __future__ import annotations

from collections.abc import Iterator

from timing import seconds, shown

from guessproof.mechanisms.awareness import Awareness
from guessproof.mechanisms.cauchy import Cauchy
from guessproof.mechanisms.gaussian import Gaussian, gdp_mu
from guessproof.mechanisms.geometric import Geometric
from guessproof.mechanisms.laplace import Laplace
from guessproof.mechanisms.response import clamped
from guessproof.mechanisms.sampling import sampler
from guessproof.world.priors import normal, uniform

DRAWS = 20_000


def rows() -> Iterator[tuple[str, str, str]]:
    yield from _samplers()
    yield from _accuracy()
    yield from _awareness()


def _samplers() -> Iterator[tuple[str, str, str]]:
    for mechanism in (Laplace(1, 0.5), Geometric(1, 0.5), Gaussian(1, 0.5, 1e-6)):
        name, draw = type(mechanism).__name__, sampler(mechanism)
        whole, answers = list(range(DRAWS)), [float(i) for i in range(DRAWS)]
        ours = seconds(lambda draw=draw, answers=answers: draw.release(answers), repeats=5)
        theirs = seconds(lambda draw=draw, whole=whole: draw.measurement(whole), repeats=5)
        yield f"{name}: one noisy answer of {DRAWS}", _micro(ours / DRAWS), ""
        yield f"{name}: ours / OpenDP's own vector call", f"{ours / theirs:.2f} ×", "≤ 1.2 ×"
    heavy = sampler(Cauchy(1, 0.5))
    taken = seconds(lambda: heavy.release([0.0] * 1000), repeats=3)
    yield "Cauchy, γ = 4: one noisy answer (interval arithmetic)", _micro(taken / 1000), ""


def _accuracy() -> Iterator[tuple[str, str, str]]:
    wanted = {"sensitivity": 1, "within": 5, "confidence": 0.95}
    yield "Laplace: ε for an accuracy", _micro(seconds(lambda: Laplace.epsilon_for(**wanted))), ""
    yield "geometric: ε for an accuracy", _micro(seconds(lambda: Geometric.epsilon_for(**wanted))), ""
    yield "Cauchy: ε for an accuracy", _micro(seconds(lambda: Cauchy.epsilon_for(**wanted))), ""
    yield "Gaussian: σ for (ε, δ)", _micro(seconds(lambda: gdp_mu.__wrapped__(1.0, 1e-6))), ""


def _awareness() -> Iterator[tuple[str, str, str]]:
    for mechanism in (Laplace(1, 0.5), Gaussian(1, 0.5, 1e-6), Cauchy(1, 0.5)):
        for prior in (normal(20, 6.28), uniform(0, 40)):
            view = (mechanism, prior, (18, 22))
            taken = seconds(lambda view=view: Awareness(*view).supremum())
            yield f"{type(mechanism).__name__}, {prior!r}: largest posterior", shown(taken), "≤ 20 ms"
    view = (Laplace(1, 0.5), normal(20, 6.28), (18, 22), clamped(0, 30))
    yield "Laplace, clamped query: largest posterior", shown(seconds(lambda: Awareness(*view).supremum())), "≤ 20 ms"


def _micro(value: float) -> str:
    return f"{value * 1e6:.1f} µs"


if __name__ == "__main__":
    for what, value, target in rows():
        print(f"{what:70} {value:>12} {target}")
