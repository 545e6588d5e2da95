"""Tables of panels say what each integral on panels of its own says, at any rate and over any interval."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import guessproof as gp
from guessproof.world import panels
from guessproof.world.panels import PanelTables

PRIORS: dict[str, Any] = {
    "lognormal": gp.lognormal(1, 0.5),
    "wide": gp.lognormal(3, 1.5),
    "gamma": gp.gamma(3, 1),
    "infinite at 0": gp.gamma(0.5, 1),
    "beta": gp.beta(0.5, 0.7),
    "heavy tails": gp.student_t(3),
}


@pytest.mark.parametrize("name", PRIORS)
def test_tables_tell_what_each_integral_does(name: str) -> None:
    rng, prior, n = np.random.default_rng(len(name)), PRIORS[name], 240
    low, high = prior.quantile([1e-3, 1 - 1e-3])
    a = rng.uniform(low, high, n)
    b = np.minimum(a + (high - low) * 10.0 ** rng.uniform(-9, 0, n), prior.support[1])
    a[:40], b[40:80] = -np.inf, np.inf
    rates = np.array([-60.0, -7.0, -1.0, -1e-3, 1e-3, 0.5, 4.0]) / (high - low)
    k, ref = rng.choice(rates, n), rng.uniform(low, high, n)
    found = prior.log_tilt(k, a, b, ref)
    assert len(prior._known_rates) == rates.size
    slow = prior.log_tilt_slowly(k, a, b) - k * ref
    finite = np.isfinite(slow)
    assert np.array_equal(finite, np.isfinite(found))
    assert np.max(np.abs(found[finite] - slow[finite])) <= 1e-11


def test_sums_of_neighbours_are_those_of_all_between() -> None:
    rng = np.random.default_rng(1)
    for count in (1, 2, 7, 13, 16):
        full = rng.uniform(-900, 900, (3, count))
        table = PanelTables(PRIORS["gamma"], np.zeros(1), np.zeros(3), panels._block_sums(full))
        for first in range(count):
            for last in range(-1, count):
                ends = np.full(3, first), np.full(3, last)
                found = table._whole(np.arange(3), *ends)
                added = np.logaddexp.reduce(full[:, first : last + 1], axis=1, initial=-np.inf)
                assert found == pytest.approx(added, rel=1e-14), (first, last)


def test_a_table_ends_where_it_would_need_too_many_panels() -> None:
    """Beyond, integrals are made one by one, and to infinity they are still told by the table."""
    heavy = PRIORS["heavy tails"]
    table = PanelTables.build(heavy, heavy.panel_ends, np.array([2.0]))
    assert table is not None
    assert table.edges.size - 1 <= panels._MOST_PANELS
    assert table.edges[-1] < heavy.panel_ends[-1]
    far = table.edges[-1] + 1
    held = table.holds(np.array([0.0, far, 0.0, -np.inf]), np.array([1.0, far + 1, far, np.inf]))
    assert held.tolist() == [True, False, False, True]
    left, near = np.array([-np.inf]), table.edges[:1] + 0.01  # most of this lies beyond the table
    slow = heavy.log_tilt_slowly(np.array([2.0]), left, near)
    assert table.log_tilt(np.zeros(1, dtype=np.int64), left, near) == pytest.approx(slow, rel=1e-12)
    for rate in (1e9, 1e17, 1e300):  # panels that no number counts
        assert PanelTables.build(heavy, heavy.panel_ends, np.array([rate])) is None


@pytest.mark.parametrize("name", ["lognormal", "wide", "gamma", "infinite at 0", "heavy tails"])
def test_slopes_of_a_density(name: str) -> None:
    check_slopes(PRIORS[name])


def test_slopes_of_other_densities() -> None:
    for prior in (gp.gamma(1.4, 2), gp.gamma(1, 2), gp.beta(2, 3), gp.beta(3.5, 1.2, -1, 4), gp.beta(1, 1)):
        check_slopes(prior)
    assert np.isinf(gp.gamma(3, 1).density_slopes(-1, 2)).all()  # it begins there
    assert [float(v) for v in gp.gamma(3, 1).density_slopes(-2, -1)] == [0, 0]
    assert np.isinf(PRIORS["beta"].density_slopes(0, 0.5)).all()


def check_slopes(prior: Any) -> None:
    """They enclose those between neighbouring points, and not by much."""
    rng, near = np.random.default_rng(3), 0.0
    for a, b in np.sort(rng.uniform(*prior.quantile([0.02, 0.98]), (60, 2)), axis=1):
        least, most = (float(v) for v in prior.density_slopes(a, b))
        x = np.linspace(a, b, 800)
        slopes = np.diff(np.exp(prior.log_density(x))) / np.diff(x)
        room = 1e-8 * (1 + np.max(np.abs(slopes)))
        assert least <= np.min(slopes) + room
        assert most >= np.max(slopes) - room
        near = max(near, float(np.ptp(slopes)) / max(most - least, 1e-12))
    assert near > 0.9 or np.ptp(slopes) < 1e-9
