"""One guarantee: scaled, added, rounded, stored; every form of it stays an upper bound of the same thing."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

import pytest
from depth import cases
from hypothesis import given, settings
from hypothesis import strategies as st

from guessproof.errors import LedgerError, ParameterError
from guessproof.guarantee import (
    RECORDS,
    VALUES,
    Guarantee,
    guarantee_from_dict,
    guarantee_to_dict,
    total,
    total_of_dicts,
    unit_named,
)
from guessproof.risk import RiskProfile
from guessproof.world.distances import Discrete, LineForm, LineMetric, Matrix, Multiple

POINTS = (-7.0, -2.0, 0.0, 1.5, 4.0, 11.0)


@dataclass(frozen=True)
class Clamp:
    """A sum of one clamped column, which is its own guarantee: |clamp(x) − clamp(y)| + jump beyond a cut."""

    low: float
    high: float
    jump: float

    def at(self, x: float) -> float:
        return min(max(x, self.low), self.high) + (self.jump if x > self.low else 0.0)

    def between(self, before: Any, after: Any) -> float:
        return abs(self.at(before["x"]) - self.at(after["x"]))

    def guarantee(self, unit: Any = VALUES) -> Guarantee:
        line = LineMetric(LineForm((self.low, self.high), (0.0, 1.0, 0.0), (self.jump, 0.0)))
        change = self.high - self.low + self.jump
        presence = max(abs(self.low), abs(self.high + self.jump))
        slope = None if self.jump else 1.0
        return Guarantee(unit, {"x": line}, {"x": line}, change, presence, slope, 0.0, ((1.0, self),))


def clamps() -> Any:
    ends = st.tuples(st.floats(-5, 5), st.floats(0.5, 8), st.sampled_from([0.0, 0.0, 2.5]))
    return ends.map(lambda e: Clamp(e[0], e[0] + e[1], e[2]))


@settings(max_examples=cases(40))
@given(st.lists(st.tuples(clamps(), st.floats(0.01, 20)), min_size=1, max_size=4), st.sampled_from([0.0, 1e-3]))
def test_every_form_of_a_sum_bounds_what_its_parts_do(parts: list[tuple[Clamp, float]], step: float) -> None:
    whole = total([clamp.guarantee().scaled(factor) for clamp, factor in parts])
    kept = guarantee_from_dict(json.loads(json.dumps(guarantee_to_dict(whole.rounded(step)))))
    for a in POINTS:
        for b in POINTS:
            moved = math.fsum(f * c.between({"x": a}, {"x": b}) for c, f in parts)
            assert whole.between({"x": a}, {"x": b}) == pytest.approx(moved)
            for form in (whole, kept):
                room = (step if a != b and form is kept else 0.0) + 1e-9
                assert moved <= float(form.columns["x"].distance(a, b)) + 1e-9
                assert moved <= float(form.lines["x"].distance(a, b)) + 1e-9
                assert float(form.columns["x"].distance(a, b)) <= moved + room
                assert moved <= form.change + 1e-9
                assert form.slope is None or moved <= form.slope * abs(a - b) + form.rounding + 1e-9
    assert whole.change == pytest.approx(math.fsum(f * c.guarantee().change for c, f in parts))
    assert whole.presence == pytest.approx(math.fsum(f * c.guarantee().presence for c, f in parts))
    assert kept.change == pytest.approx(whole.change + step)


def test_a_slope_is_lost_where_one_part_jumps() -> None:
    smooth, jumps = Clamp(0, 3, 0.0).guarantee(), Clamp(0, 3, 2.5).guarantee()
    assert (smooth + smooth).slope == 2.0
    assert (smooth + jumps).slope is None


def test_a_column_that_only_one_part_reads_keeps_its_metric() -> None:
    one = Clamp(0, 3, 0.0).guarantee()
    other = Guarantee(VALUES, {"g": Matrix(["a", "b"], [[0, 1], [1, 0]])}, {}, 1.0, 1.0)
    both = one + other
    assert float(both.columns["x"].distance(0.0, 2.0)) == 2.0
    assert float(both.columns["g"].distance("a", "b")) == 1.0
    assert set(both.lines) == {"x"}


def test_tight_means_that_the_metric_is_the_querys_own_change() -> None:
    clamp = Clamp(0, 3, 0.0)
    assert clamp.guarantee().tight == {"x"}
    looser = LineMetric(clamp.guarantee().lines["x"].form.times(1.01))
    loose = Guarantee(VALUES, {"x": looser}, {"x": looser}, 3.1, 3.1, 1.1, 0.0, ((1.0, clamp),))
    assert not loose.tight
    assert not clamp.guarantee().rounded(1e-6).tight


def test_who_changes_a_protected_key_leaves_one_group_and_enters_another() -> None:
    leaves = Multiple(6.0, Discrete())
    found = Clamp(0, 3, 0.0).guarantee(RECORDS).regrouped({"g": leaves, "x": leaves}, 6.0)
    assert found.change == 6.0
    assert float(found.columns["g"].distance("a", "b")) == 6.0
    assert float(found.columns["x"].distance(0.0, 1.0)) == 6.0
    assert "x" not in found.lines


def test_look_alike_names_count_as_one_column() -> None:
    line = Clamp(0, 3, 0.0).guarantee().lines["x"]
    spelt = [Guarantee(VALUES, {n: line}, {n: line}, 3.0, 3.0) for n in ("time", "Time", "TIME")]
    told = total_of_dicts([guarantee_to_dict(g) for g in spelt], ["tIME", "age"])
    assert list(told.columns) == list(told.lines) == ["tIME"]
    assert float(told.columns["tIME"].distance(0.0, 1.0)) == 3.0


# Stored.


def test_the_first_version_is_read_on_the_safe_side() -> None:
    """Version 1: no version, `limit`, `euclidean`, `error`, and no word on presence."""
    line = Clamp(0, 3, 0.0).guarantee().lines["x"].to_dict()
    first = {"columns": {"x": {"line": line}}, "lines": {"x": line}, "limit": 3.0, "euclidean": 1.0, "error": 1e-9}
    found = guarantee_from_dict(first)
    assert (found.change, found.presence, found.slope, found.rounding) == (3.0, 3.0, 1.0, 1e-9)
    assert float(found.columns["x"].distance(0.0, 2.0)) == 2.0
    assert found.responses is None


@pytest.mark.parametrize(
    "edit",
    [
        {"version": 3},
        {"version": "2"},
        {"change": -1.0},
        {"rounding": -1e-9},
        {"unit": "people"},
        {"columns": {"x": {"code": "1+1"}}},
        {"columns": None},
        {"lines": {"x": {"cuts": [1, 0], "slopes": [1, 1, 1], "jumps": [0, 0], "step": 0, "cap": None}}},
    ],
)
def test_what_was_not_written_by_this_program_is_refused(edit: dict[str, Any]) -> None:
    table = guarantee_to_dict(Clamp(0, 3, 0.0).guarantee())
    guarantee_from_dict(table)
    with pytest.raises(LedgerError):
        guarantee_from_dict({**table, **edit})


@pytest.mark.parametrize("key", ["change", "presence", "slope", "rounding", "columns", "lines", "unit"])
def test_nothing_may_be_left_out(key: str) -> None:
    table = guarantee_to_dict(Clamp(0, 3, 0.0).guarantee())
    del table[key]
    with pytest.raises(LedgerError):
        guarantee_from_dict(table)


# Units.


def test_units_own_what_changes_and_what_presence_means() -> None:
    values, records = (Clamp(-1, 3, 0.0).guarantee(unit) for unit in (VALUES, RECORDS))
    assert (values.sensitivity, records.sensitivity) == (4.0, 4.0)
    assert Guarantee(RECORDS, {}, {}, 2.0, 5.0).sensitivity == 5.0
    assert Guarantee(VALUES, {}, {}, 2.0, 5.0).sensitivity == 2.0
    assert [u.whole_change(4.0, 3.0, grouped=True, repeated=False) for u in (VALUES, RECORDS)] == [6.0, 6.0]
    assert [u.whole_change(2.0, 3.0, grouped=False, repeated=True) for u in (VALUES, RECORDS)] == [2.0, 3.0]
    assert [u.whole_change(2.0, 3.0, grouped=False, repeated=False) for u in (VALUES, RECORDS)] == [2.0, 2.0]
    assert [u.add_remove(records) for u in (VALUES, RECORDS)] == [None, 3.0]
    assert VALUES.protects(declared=True, public=False)
    assert not VALUES.protects(declared=True, public=True)
    assert not VALUES.protects(declared=False, public=False)
    assert RECORDS.protects(declared=False, public=True)


def test_units_read_a_risk_profile_in_their_own_way() -> None:
    profile = RiskProfile.constant(3)
    per_epsilon = Guarantee(RECORDS, {}, {}, 1.0, 0.5)
    present = RiskProfile.box(2, p=1, q=0.25)  # 1/(1/4 + 3/4/3) = 2
    assert VALUES.profile_epsilon(present, per_epsilon) == pytest.approx(math.log(3))
    generic = RECORDS.profile_epsilon(profile, per_epsilon)
    assert generic == pytest.approx(0.5 * math.log(3) / 0.5, rel=1e-12)
    assert generic * 0.5 <= 0.5 * math.log(3)
    assert RECORDS.query_aware_epsilon(profile, per_epsilon) == pytest.approx(math.log(3), rel=1e-9)
    assert VALUES.query_aware_epsilon(profile, per_epsilon) is None


def test_an_unknown_unit_is_refused_with_a_hint() -> None:
    with pytest.raises(ParameterError, match="did you mean records"):
        unit_named("record")


def test_rounding_of_several_parts_adds_up() -> None:
    one = Clamp(0, 3, 0.0).guarantee()
    assert (one.rounded(0.25) + one.rounded(0.5)).rounding == 0.75
    assert one.rounded(0.25).scaled(2.0).rounding == 0.5


def test_a_sum_of_capped_distances_leaves_the_caps_out_on_the_line_only() -> None:
    capped = LineMetric(LineForm((0.0, 9.0), (0.0, 1.0, 0.0), (0.0, 0.0), cap=2.0))
    one = Guarantee(VALUES, {"x": capped}, {"x": capped}, 2.0, 2.0)
    both = one + one
    assert float(both.columns["x"].distance(0.0, 9.0)) == 4.0
    assert float(both.lines["x"].distance(0.0, 9.0)) == 18.0
