"""Programs over edges: HiGHS asked directly says what it says through SciPy's door, and so do the ways around it."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from guessproof.risk.edge_program import EdgeProgram, Solver
from guessproof.risk.several.program import Edges, best_odds, certify, reference


def _drawn(seed: int, n: int = 30) -> tuple[EdgeProgram, Edges]:
    random = np.random.default_rng(seed)
    rows, cols = (part.astype(np.int64) for part in np.nonzero(~np.eye(n, dtype=bool) & (random.random((n, n)) < 0.4)))
    cost = random.uniform(0.01, 2.0, rows.size)
    inside = random.random(n) * (random.random(n) < 0.4)
    inside[0] = 1.0
    program = EdgeProgram(random.random(n), inside / inside.sum(), rows, cols, np.exp(-cost), np.zeros(rows.size))
    return program, Edges(rows, cols, cost)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("solver", ["simplex", "ipm", "choose"])
def test_both_doors_lead_to_the_same_optimum(seed: int, solver: Solver) -> None:
    program, _ = _drawn(seed)
    options = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    direct, asked = program._directly(solver, options), program._by_scipy(solver, options)  # pyright: ignore[reportPrivateUsage]
    assert direct is not None
    assert asked is not None
    assert program.cost @ direct[0] == pytest.approx(float(program.cost @ asked[0]), rel=1e-9)
    assert np.max(direct[1]) <= 1e-12  # prices have the sign that they have there
    for found in (direct, asked):
        edges = Edges(program.rows, program.cols, -np.log(program.ratio))
        proven = certify(program.fixed, program.cost, edges, program.ratio, np.maximum(-found[1], 0.0))
        assert proven == pytest.approx(float(program.cost @ asked[0]), rel=1e-6)


def test_free_variables_and_room() -> None:
    one, other, ratio, room = np.array([0, 1, 2]), np.array([1, 2, 0]), np.ones(3), np.array([1.0, 0.5, 3.0])
    program = EdgeProgram(np.array([1.0, -2.0, 0.5]), np.ones(3), one, other, ratio, room, 0.0, True)
    direct, asked = (door("choose", {}) for door in (program._directly, program._by_scipy))  # pyright: ignore[reportPrivateUsage]
    assert direct is not None
    assert asked is not None
    assert direct[0] == pytest.approx(asked[0])
    assert direct[1] == pytest.approx(asked[1])


def test_no_time_is_said_and_no_optimum_is_none() -> None:
    program, _ = _drawn(1, 120)
    with pytest.raises(TimeoutError):
        program.solved("simplex", {"time_limit": 0.0})
    below = EdgeProgram(-np.ones(2), np.array([1.0, 0.0]), np.array([0]), np.array([1]), np.ones(1), np.zeros(1))
    assert below.solved("choose", {}) is None  # it has no end


@pytest.mark.parametrize("seed", range(4))
def test_the_shortest_ways_are_dijkstras_and_the_bound_covers_every_feasible_likelihood(seed: int) -> None:
    program, edges = _drawn(seed)
    inside, outside = program.fixed, program.cost
    graph = csr_array((edges.cost, (edges.rows, edges.cols)), shape=(inside.size, inside.size))
    way = dijkstra(graph, directed=False, indices=np.flatnonzero(inside > 0), min_only=True)
    assert -reference(inside, edges) == pytest.approx(way, rel=1e-14)
    found = best_odds(inside, outside, edges)
    private = dijkstra(graph.T, directed=True)  # ln M may rise by so much from one to another
    for peak in range(inside.size):
        likely = np.exp(-np.minimum(private[:, peak], 700.0))
        assert np.log(inside @ likely) - np.log(outside @ likely) <= found.bound + 1e-9
    reached = np.exp(found.log_m)
    assert np.log(inside @ reached) - np.log(outside @ reached) == pytest.approx(found.bound, abs=1e-6)


def test_nothing_else_of_scipy_is_read_for_a_small_program_and_it_can_be_read_afterwards() -> None:
    script = (
        "import sys, numpy as np\n"
        "from guessproof.risk.edge_program import EdgeProgram\n"
        "one = EdgeProgram(np.ones(2), np.array([1.0, 0.0]), np.array([0]), np.array([1]), np.ones(1), np.zeros(1))\n"
        "assert one.solved('simplex', {}) is not None\n"
        "assert not {'scipy.optimize', 'scipy.sparse'} & set(sys.modules)\n"
        "from scipy.optimize import linprog\n"
        "assert linprog([1.0], A_ub=[[-1.0]], b_ub=[-2.0]).x == [2.0]\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
