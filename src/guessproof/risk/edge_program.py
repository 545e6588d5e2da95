"""Linear programs over edges, by HiGHS: min cost·m with fixed·m = total and ratio·m_row − m_col ≤ room on every edge.

SciPy brings HiGHS. Its solver is asked directly, since SciPy's own door takes longer to read than small programs take
to solve; where that is not found, through SciPy's door. What comes back is a hint: callers prove what they make of it.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from guessproof.world.checks import Array
from guessproof.world.compiled import read_compiled

Solver = Literal["choose", "simplex", "ipm"]
_DOORS: dict[Solver, str] = {"choose": "highs", "simplex": "highs-ds", "ipm": "highs-ipm"}


@dataclass(frozen=True)
class EdgeProgram:
    """The program; variables are at least 0, or anything where they are free."""

    cost: Array
    fixed: Array
    rows: Any
    cols: Any
    ratio: Array
    room: Array
    total: float = 1.0
    is_free: bool = False

    def solved(self, solver: Solver, options: Mapping[str, Any]) -> tuple[Array, Array] | None:
        """(m, prices ≥ 0 of the edges); None without an optimum, and TimeoutError where there was no time for one."""
        try:
            found = self._directly(solver, options)
        except (AttributeError, TypeError, ValueError):  # another HiGHS
            found = self._by_scipy(solver, options)
        return None if found is None else (found[0], np.maximum(-found[1], 0.0))

    def _directly(self, solver: Solver, options: Mapping[str, Any]) -> tuple[Array, Array] | None:
        highs: Any = read_compiled("scipy.optimize._highspy._core")
        edges, some = len(self.rows), np.flatnonzero(self.fixed)
        program = highs.HighsLp()
        program.num_col_ = program.a_matrix_.num_col_ = self.cost.size
        program.num_row_ = program.a_matrix_.num_row_ = edges + 1
        program.col_cost_ = self.cost
        program.col_lower_ = np.full(self.cost.size, -highs.kHighsInf if self.is_free else 0.0)
        program.col_upper_ = np.full(self.cost.size, highs.kHighsInf)
        program.row_lower_ = np.append(np.full(edges, -highs.kHighsInf), self.total)
        program.row_upper_ = np.append(self.room, self.total)
        program.a_matrix_.format_ = highs.MatrixFormat.kRowwise
        program.a_matrix_.start_ = np.append(2 * np.arange(edges + 1), 2 * edges + some.size).astype(np.int32)
        pairs = np.stack([self.rows, self.cols], axis=1).ravel()
        program.a_matrix_.index_ = np.append(pairs, some).astype(np.int32)
        values = np.stack([self.ratio, -np.ones(edges)], axis=1).ravel()
        program.a_matrix_.value_ = np.append(values, self.fixed[some])
        asked = highs.HighsOptions()
        for name, value in {"output_flag": False, "solver": solver, **options}.items():
            setattr(asked, name, value)
        engine = highs._Highs()
        engine.passOptions(asked)
        engine.passModel(program)
        engine.run()
        if engine.getModelStatus() == highs.HighsModelStatus.kTimeLimit:
            raise TimeoutError
        if engine.getModelStatus() != highs.HighsModelStatus.kOptimal:
            return None
        solution = engine.getSolution()
        return np.asarray(solution.col_value), np.asarray(solution.row_dual)[:edges]

    def _by_scipy(self, solver: Solver, options: Mapping[str, Any]) -> tuple[Array, Array] | None:
        from scipy.optimize import linprog
        from scipy.sparse import coo_array

        n, e = self.cost.size, len(self.rows)
        places = np.tile(np.arange(e), 2), np.concatenate([self.rows, self.cols])
        matrix = coo_array((np.concatenate([self.ratio, -np.ones(e)]), places), shape=(e, n)).tocsr()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found: Any = linprog(
                self.cost, A_ub=matrix, b_ub=self.room, A_eq=self.fixed[None, :], b_eq=[self.total],
                bounds=(None, None) if self.is_free else (0, None), method=_DOORS[solver], options=dict(options),
            )  # fmt: skip
        if found.status == 1:
            raise TimeoutError
        if found.x is None or found.ineqlin is None or found.ineqlin.marginals is None:
            return None
        return np.asarray(found.x), np.asarray(found.ineqlin.marginals)
