"""Drawing noise: exact arithmetic around it, lazily drawn bits, and what rounding costs."""

from __future__ import annotations

import math
import random
import subprocess
import sys
from collections import Counter
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from guessproof.errors import MissingExtraError, ParameterError
from guessproof.mechanisms import sampling
from guessproof.mechanisms.base import Grid, grid_for
from guessproof.mechanisms.cauchy import Cauchy, CauchyLaw
from guessproof.mechanisms.gaussian import Gaussian, gdp_delta, lattice_delta
from guessproof.mechanisms.geometric import Geometric
from guessproof.mechanisms.laplace import Laplace, LaplaceLaw
from guessproof.mechanisms.sampling import ideal_cell, sampler
from guessproof.mechanisms.smooth import SmoothLaplace

ALL = [Laplace(1, 1), Geometric(1, 1), Gaussian(1, 1, 1e-6), Cauchy(1, 1), Cauchy(1, 1, gamma=3.5)]


@pytest.mark.parametrize(
    "answer", [0, 7, -3, 2**200 + 1, 0.1, -1e300, 1e-310, Fraction(1, 3), np.float64(2.7), np.int64(2**62)]
)
@pytest.mark.parametrize("exponent", [-40, -3, 0, 5])
def test_rounding_to_the_grid_is_exact(answer, exponent):
    exact = Fraction(int(answer)) if isinstance(answer, np.integer) else Fraction(answer)
    units = Grid(exponent).units(answer)
    assert abs(units * Fraction(2) ** exponent - exact) <= Fraction(2) ** exponent / 2


def test_grid_follows_the_scale():
    for scale in (1e-9, 0.3, 1.0, 77.7, 1e12):
        assert 2**39 <= scale / grid_for(scale).step <= 2**41


@pytest.mark.parametrize("mechanism", ALL, ids=repr)
def test_every_output_is_a_grid_point(mechanism):
    """Floating point gives nothing away: whatever the answer, the possible outputs are the same."""
    draw = sampler(mechanism)
    answers = [3] * 40 if isinstance(mechanism, Geometric) else [0.1] * 20 + [math.nextafter(0.1, 1)] * 20
    for output in draw.release(answers):
        assert Fraction(output) % Fraction(draw.grid.step) == 0


@pytest.mark.parametrize("mechanism", [Laplace(1, 0.5), Gaussian(1, 1, 0.1), Cauchy(1, 1)], ids=repr)
def test_neighbouring_answers_have_the_same_support(mechanism):
    draw = sampler(mechanism, Grid(-1))
    seen = [Counter(draw.release([answer] * 4000)) for answer in (0.0, 1.0)]
    for point in np.arange(-1.5, 2.6, 0.5):
        assert all(counts[point] > 0 for counts in seen)


def test_naive_floats_would_be_caught():
    """The attack that the grid defends against: float noise on float answers betrays the answer."""
    noise = np.random.default_rng(1).laplace(size=2000)
    step = Fraction(grid_for(1.0).step)
    assert sum(Fraction(float(0.1 + x)) % step != 0 for x in noise) > 1900


def test_huge_answers_are_not_saturated():
    big = 2**90
    assert abs(sampler(Geometric(1, 1)).release_units([big])[0] - big) < 200
    assert abs(sampler(Laplace(1, 1)).release([1e25])[0] - 1e25) < 1e10


def test_charges():
    laplace = sampler(Laplace(1, 0.5), Grid(-4))
    assert laplace.step == pytest.approx(0.5 / 16)
    assert laplace.charged()[0] == pytest.approx(0.5 + 0.5 / 16)
    assert sampler(Geometric(2, 0.5)).charged() == (0.5, 0.0)
    assert sampler(Cauchy(1, 0.5)).charged() == (0.5, 0.0)
    assert sampler(SmoothLaplace(1, 1, 1e-4, 0.05), Grid(-9)).charged() == (1.0, 1e-4)
    epsilon, delta = sampler(Gaussian(1, 0.5, 1e-6)).charged()
    assert epsilon == 0.5
    assert 1e-6 * (1 - 1e-9) < delta < 1e-6 * (1 + 1e-9)


@pytest.mark.parametrize("exponent", [-3, -1, 0])
def test_charged_step_is_enough_and_needed(exponent):
    """Exact masses of integer Laplace noise after rounding, over pairs of answers."""
    noise, grid = Laplace(1, 0.7), Grid(exponent)
    worst = 0.0
    answers = np.arange(-2, 2, 1 / 64)
    for first in answers:
        for second in answers[:: 1 + 6]:
            loss = abs(grid.units(float(first)) - grid.units(float(second))) * grid.step / noise.scale
            metric = abs(first - second) / noise.scale
            step = grid.step / noise.scale
            assert loss <= metric + step * (first != second) + 1e-12
            worst = max(worst, (loss - metric) / step)
    assert worst > 0.8


@pytest.mark.parametrize("sigma", [1.0, 3.0, 10.0])
@pytest.mark.parametrize("shift", [1, 2, 5])
def test_discrete_gaussian_is_within_the_lattice_bound(sigma, shift):
    k = np.arange(-400, 401)
    mass = np.exp(-(k**2) / (2 * sigma**2))
    mass /= mass.sum()
    moved = np.exp(-((k - shift) ** 2) / (2 * sigma**2))
    moved /= moved.sum()
    mu = shift / sigma
    for epsilon in np.linspace(0, 6, 40):
        delta = np.clip(mass - math.exp(epsilon) * moved, 0, None).sum()
        assert delta <= gdp_delta(mu, epsilon) + lattice_delta(mu, 1 / sigma)


def test_refusals():
    for answer in (math.nan, math.inf):
        for mechanism in (Laplace(1, 1), Gaussian(1, 1, 1e-6), Cauchy(1, 1)):
            with pytest.raises(ParameterError) as caught:
                sampler(mechanism).release([answer])
            assert "nan" not in str(caught.value)
    with pytest.raises(ParameterError) as caught:
        sampler(Geometric(1, 1)).release([17.25])
    assert "17.25" not in str(caught.value)
    with pytest.raises(ParameterError, match="grid"):
        sampler(Geometric(1, 1), Grid(3))
    with pytest.raises(ParameterError, match="64-bit"):
        sampler(Laplace(1, 1), Grid(-80))
    with pytest.raises(ParameterError, match="mechanism"):
        sampler("laplace")
    with pytest.raises(ParameterError, match="grid"):
        sampler(Cauchy(1, 1, beta=0.1))
    assert sampler(Cauchy(1, 1, beta=0.1), Grid(-10)).release([0.0], scales=[2.0])


@pytest.mark.parametrize(("package", "call"), [("opendp.measurements", Laplace(1, 0.123)), ("flint", Cauchy(1, 1))])
def test_missing_packages_say_what_to_install(monkeypatch, package, call):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError):
        sampler(call).release([0.0])


def test_drawing_reads_no_library_that_it_does_not_need():
    program = (
        "import sys\n"
        "from guessproof.mechanisms.laplace import Laplace\n"
        "from guessproof.mechanisms.sampling import pick, sampler\n"
        "assert pick(1.0, [0, 10_000]) == 1 and sampler(Laplace(1, 1)).release([0.0])\n"
        "sys.exit(any(name in sys.modules for name in ('sklearn', 'polars', 'pandas', 'scipy')))\n"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_samplers_are_built_once():
    assert sampler(Laplace(1, 1)) is sampler(Laplace(1.0, 1.0))


def scripted(numbers):
    """A source of bits that reads from a list and counts."""
    numbers = list(numbers)

    def bits(count: int) -> int:
        assert count == 64
        return numbers.pop(0)

    return bits, numbers


LAWS = [CauchyLaw(4), CauchyLaw(3.25), LaplaceLaw()]


def distribution(z, law):
    """F(z), slowly, with many digits."""
    if isinstance(law, LaplaceLaw):
        half_tail = mpmath.exp(-abs(z)) / 2
        return half_tail if z < 0 else 1 - half_tail
    gamma = law.gamma
    power = abs(mpmath.mpf(z)) ** gamma
    inside = 1 / mpmath.mpf(gamma)
    half = mpmath.betainc(inside, 1 - inside, 0, power / (1 + power), regularized=True) / 2
    return mpmath.mpf(1) / 2 + (half if z >= 0 else -half)


@pytest.mark.parametrize("law", LAWS)
def test_cell_is_the_one_of_the_ideal_quantile(law):
    rng = random.Random(11)
    for _ in range(25):
        number = rng.getrandbits(64)
        answer, scale, exponent = rng.uniform(-50, 50), 10 ** rng.uniform(-2, 2), rng.choice([-20, -3, 0, 4])
        bits, _ = scripted([number, *(rng.getrandbits(64) for _ in range(8))])
        cell = ideal_cell(answer, scale, law, exponent, bits)
        with mpmath.workdps(50):
            unit = mpmath.mpf(2) ** exponent
            level = mpmath.mpf(number) / 2**64
            low, high = (((cell + side) * unit - mpmath.mpf(answer)) / scale for side in (-0.5, 0.5))
            assert distribution(low, law) <= level + mpmath.mpf(2) ** -60
            assert distribution(high, law) >= level - mpmath.mpf(2) ** -60


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("offset", [-1, 1])
def test_more_bits_are_drawn_near_an_edge(law, offset):
    """U agrees with F(edge) for 128 bits: two words cannot decide, the third does."""
    answer, scale, exponent, cell = 0.3, 1.7, -2, 5
    with mpmath.workdps(80):
        edge = ((cell + mpmath.mpf(1) / 2) * mpmath.mpf(2) ** exponent - mpmath.mpf(answer)) / mpmath.mpf(scale)
        number = int(mpmath.floor(distribution(edge, law) * 2**192)) + offset * 2**40
    words = [(number >> shift) & (2**64 - 1) for shift in (128, 64, 0)]
    bits, left = scripted([*words, 0])
    assert ideal_cell(answer, scale, law, exponent, bits) == (cell if offset < 0 else cell + 1)
    assert left == [0]


def test_extreme_levels_still_answer():
    for first in (0, 2**64 - 1):
        bits, _ = scripted([first, 2**63, 1, 1])
        cell = ideal_cell(0.0, 1.0, CauchyLaw(4), -4, bits)
        assert abs(cell) > 2**20
        assert (cell > 0) == (first > 0)


def test_half_is_the_centre():
    bits, _ = scripted([2**63, 0, 0])
    assert ideal_cell(0.25, 1.0, CauchyLaw(4), -4, bits) == 4


def test_entropy_is_touched_in_one_file():
    import pathlib

    folder = pathlib.Path(sampling.__file__).parent
    for path in folder.glob("*.py"):
        text = path.read_text(encoding="utf-8")
        for word in ("import secrets", "import random", "np.random", "opendp", "import flint"):
            assert path.name == "sampling.py" or word not in text
