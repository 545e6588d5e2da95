"""The cats and the ships of [LP] section 6."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import rice

import guessproof as gp
from guessproof.errors import ParameterError

SEX = gp.Attribute("sex", gp.categorical({"M": 0.5, "F": 0.5}))
COLOURS = {"red": 0.2, "white": 0.1, "tabby": 0.25, "black": 0.4, "tortoise": 0.05}
COLOUR = gp.Attribute("colour", gp.categorical(COLOURS))
BOTH, EITHER = gp.exactly(SEX) & gp.exactly(COLOUR), gp.exactly(SEX) | gp.exactly(COLOUR)


@pytest.mark.parametrize("reading", ["any", "each"])
@pytest.mark.parametrize("both", [False, True])
def test_cats_and(reading: str, both: bool) -> None:
    assert gp.Attack(BOTH, or_=reading).epsilon(advantage=0.1, both=both) == pytest.approx(0.538997, abs=5e-7)


def test_cats_or() -> None:
    attack = gp.Attack(EITHER)
    assert attack.epsilon(advantage=0.1) == pytest.approx(0.4107418, abs=5e-7)
    assert attack.epsilon(advantage=0.1, both=True) == pytest.approx(0.4013414, abs=5e-7)
    worst = attack.advantage(0.4013414, both=True)
    assert worst.status == "exact"
    assert worst.worst_at["colour"] == "white"
    assert worst.worst_prior == pytest.approx(0.55)


def test_cats_or_each_on_its_own() -> None:
    attack = gp.Attack(EITHER, or_="each")
    alone = [gp.Attack(gp.exactly(a)).epsilon(advantage=0.1, both=True) for a in (SEX, COLOUR)]
    assert attack.epsilon(advantage=0.1, both=True) == min(alone)
    assert attack.advantage(0.4).bound == max(gp.Attack(gp.exactly(a)).advantage(0.4).bound for a in (SEX, COLOUR))
    with pytest.raises(ParameterError):
        _ = attack.prior


def test_cats_at_one_true_value() -> None:
    attack = gp.Attack(EITHER, at={"sex": "F", "colour": "tortoise"})
    assert attack.prior == pytest.approx(0.525)
    assert attack.posterior(0.3).bound == pytest.approx(1 / (1 + np.exp(-0.3) * 0.475 / 0.525))


def ship(t, norm: str = "l2") -> gp.Attack:
    lon, lat = (gp.Attribute(n, gp.normal(0, np.sqrt(1250))) for n in ("lon", "lat"))
    return gp.Attack(gp.near((lon, lat), 10, by="l2"), at={"lon": t[0], "lat": t[1]}, norm=norm)


def test_a_ship_in_the_port_is_bounded_near_the_truth() -> None:
    """By symmetry the truth is one integral over the distance from the port; cells of a plane prove a little more."""
    attack, epsilon, variance = ship((0.0, 0.0)), 0.05, 1250.0
    inside, outside = (
        quad(lambda r: r * np.exp(-epsilon * r - r * r / (2 * variance)), a, b)[0] for a, b in ((0, 10), (10, 600))
    )
    assert attack.prior == pytest.approx(1 - np.exp(-100 / 2500), rel=1e-10)
    bracket = attack.posterior(epsilon)
    truth = inside / (inside + outside)
    assert bracket.attack <= truth <= bracket.bound <= 1.05 * truth
    chosen = attack.epsilon(advantage=0.1)
    assert attack.advantage(chosen).bound <= 0.1
    assert 0.95 * 0.0451988 < chosen <= 0.0451988  # where that integral rises by 0.1


def test_the_published_ships_epsilon_breaks_the_promise() -> None:
    """[LP] section 6.3 prints 0.063 for an advantage of 0.1; a Laplace-like attacker there reaches more."""
    assert ship((0.0, 0.0)).advantage(0.063).attack > 0.1


def test_a_ship_at_sea() -> None:
    attack = ship((20.0, 30.0))
    sd = np.sqrt(1250)
    assert attack.prior == pytest.approx(rice.cdf(10 / sd, np.hypot(20, 30) / sd), rel=1e-8)
    cheap, refined = attack.posterior(0.05), attack.posterior(0.05, tolerance=0.05)
    assert cheap.attack <= refined.attack <= refined.bound <= cheap.bound
    assert refined.bound < 0.14


def test_a_location_in_other_norms() -> None:
    around = [ship((10.0, 0.0), norm).posterior(0.05, tolerance=0.1) for norm in ("linf", "l2", "l1")]
    bounds, attacks = [b.bound for b in around], [b.attack for b in around]
    assert attacks[0] <= bounds[1]
    assert attacks[1] <= bounds[2]
