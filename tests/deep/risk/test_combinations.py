"""The table of combinations against counting by hand, and the goals that its truths can have."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import guessproof as gp
from guessproof.errors import TrueValueError
from guessproof.risk.combinations import Combinations, count_combinations, open_truths
from guessproof.world.joint import joint_table

G = gp.Attribute("g", prior=gp.categorical({"a": 0.5, "b": 0.3, "c": 0.2}))
N = gp.Attribute("n", prior=gp.categorical({1: 0.25, 2: 0.75}))
ROWS = {("u", 0): 0.4, ("u", 1): 0.1, ("v", 0): 0.2, ("v", 1): 0.3}
TABLE = joint_table(("k", "m"), ROWS)
K, M = (gp.Attribute(name, prior=TABLE.marginal(name)) for name in ("k", "m"))


def as_dict(table: Combinations) -> dict[tuple[object, ...], float]:
    return {tuple(row.values()): float(m) for row, m in zip(table.rows, table.mass, strict=True)}


def test_independent_attributes_multiply() -> None:
    found = as_dict(Combinations.of([G, N]))
    wanted = {
        (g, n): p * q
        for (g, p), (n, q) in itertools.product({"a": 0.5, "b": 0.3, "c": 0.2}.items(), {1: 0.25, 2: 0.75}.items())
    }
    assert found == pytest.approx(wanted)
    assert count_combinations([G, N]) == 6


def test_dependent_ones_keep_their_table_and_sum_out_what_is_not_asked() -> None:
    assert as_dict(Combinations.of([K, M])) == pytest.approx(ROWS)
    assert as_dict(Combinations.of([M, G, K]))[(1, "a", "v")] == pytest.approx(0.3 * 0.5)
    assert as_dict(Combinations.of([M])) == pytest.approx({(0,): 0.6, (1,): 0.4})
    assert count_combinations([M, G, K]) == 12
    assert count_combinations([G, gp.Attribute("x", prior=gp.normal(0, 1))]) == np.inf


def test_values_without_probability_do_not_occur() -> None:
    rare = gp.Attribute("g", prior=gp.categorical({"a": 0.5, "b": 0.0, "c": 0.5}))
    assert [row["g"] for row in Combinations.of([rare]).rows] == ["a", "c"]


@pytest.mark.parametrize("truth", [{"g": "a", "n": 2}, {"g": "c", "n": 1}])
def test_a_goal_marks_the_combinations_that_meet_it(truth: dict[str, object]) -> None:
    table = Combinations.of([G, N])
    same = [row["g"] == truth["g"] for row in table.rows]
    near = [abs(row["n"] - truth["n"]) <= 0.5 for row in table.rows]  # pyright: ignore[reportOperatorIssue]
    for goal, wanted in (
        (gp.exactly(G) & gp.within(N, 0.5), [a and b for a, b in zip(same, near, strict=True)]),
        (gp.exactly(G) | gp.within(N, 0.5), [a or b for a, b in zip(same, near, strict=True)]),
        (~gp.exactly(G), [not a for a in same]),
        (gp.among(G, ["a", "b"]), [row["g"] != "c" for row in table.rows]),
    ):
        assert (table.correct(goal, truth) == np.array(wanted, dtype=float)).all()
    with pytest.raises(TrueValueError):
        table.correct(gp.exactly(G), {"n": 1})


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_distances_join_those_of_the_attributes(norm: str) -> None:
    n = gp.Attribute("n", prior=gp.categorical({0: 0.2, 1: 0.3, 4: 0.5}), scale=2.0)
    table = Combinations.of([G, n])
    everyone = np.arange(table.size)
    found = table.distances(norm, everyone[:, None], everyone)  # pyright: ignore[reportArgumentType]
    order = {"l1": 1, "l2": 2, "linf": np.inf}[norm]
    for (i, a), (j, b) in itertools.product(enumerate(table.rows), repeat=2):
        parts = [float(a["g"] != b["g"]), abs(a["n"] - b["n"]) / 2]
        assert found[i, j] == pytest.approx(np.linalg.norm(parts, order))
    partner = everyone[::-1]
    assert table.distances(norm, everyone, partner) == pytest.approx(found[everyone, partner])  # pyright: ignore[reportArgumentType]


def test_truths_with_the_same_correct_guesses_stand_for_each_other() -> None:
    n = gp.Attribute("n", prior=gp.categorical({1: 0.25, 2: 0.25, 9: 0.5}))
    table = Combinations.of([n])
    found = open_truths(table, gp.within(n, 3), [{"n": 1}, {"n": 2}, {"n": 9}])
    assert found.truths == [{"n": 1}, {"n": 9}]
    assert found.correct.tolist() == [[1, 1, 0], [0, 0, 1]]
    assert found.certain is None
    everywhere = open_truths(table, gp.within(n, 20), [{"n": 1}, {"n": 9}])
    assert (everywhere.truths, everywhere.certain) == ([], {"n": 1})
