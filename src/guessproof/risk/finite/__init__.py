"""Finite worlds: every likelihood on finitely many points, exactly.

- `FiniteWorld` (`worlds`): a prior, a distance between any two points, and what a release can tell of a goal.
- `linear`: linear programs by HiGHS, with a bound recomputed from its prices, also for cells of several attributes; and
  of up to a few hundred points in logarithms, however far apart they are.
- `worst`: the worst true value under a finite prior.

Prior and distance -> classes of points that nothing tells apart -> program -> (attack, bound) of the gain -> `Belief`.
May import `risk.bracket`, `risk.limits` and `world`.
"""
