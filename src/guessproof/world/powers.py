"""The polynomial through what a function is at Gauss–Legendre nodes: its Legendre terms, and its integral."""

from __future__ import annotations

import numpy as np
from numpy.polynomial import legendre

from guessproof.world.checks import Array


def to_legendre(nodes: Array, weights: Array) -> Array:
    """What makes Legendre terms (rows) of values at nodes (columns), all between −1 and 1."""
    degrees = np.arange(nodes.size)
    heights = np.stack([legendre.legval(nodes, row) for row in np.eye(nodes.size)])
    return (degrees[:, None] + 0.5) * heights * weights


def antiderivatives(nodes: Array, weights: Array) -> Array:
    """Powers of u in the integral from −1 on, for each node that of the polynomial that is 1 there and 0 at the others.

    >>> nodes, weights = np.polynomial.legendre.leggauss(3)
    >>> np.round(nodes**2 @ antiderivatives(nodes, weights), 12) + 0.0  # u² has the integral 1/3 + u³/3
    array([0.33333333, 0.        , 0.        , 0.33333333])
    """
    each = [legendre.leg2poly(legendre.legint(row, lbnd=-1)) for row in np.eye(nodes.size)]
    powers = np.stack([np.pad(row, (0, nodes.size + 1 - row.size)) for row in each])
    return np.asarray(to_legendre(nodes, weights).T @ powers)
