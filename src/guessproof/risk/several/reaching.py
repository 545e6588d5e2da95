"""Likelihoods that follow anchors into a region, and log-odds that they are sure to reach.

Peaks, L(x) = max_i e^{h_i − ε·d(x, s_i)} with summits s_i among the correct guesses, or hollows, L(x) = min_i
e^{h_i + ε·d(x, s_i)} with their bottoms among the wrong ones: both are private whatever the heights are. Peaks suit a
goal that a few points span; hollows suit one that reaches to infinity around a few wrong guesses.

On a tile a peak's logarithm is concave and that of a hollow convex. So with w_c the weights of the corners at the mean,

    peaks       e^{Σ_c w_c·(the best one at c)}  ≤  E[L | tile]  ≤  Σ_c w_c·e^{largest tangent at c}
    hollows     e^{Σ_c w_c·(least tangent at c)} ≤  E[L | tile]  ≤  Σ_c w_c·e^{the best one at c}

(Jensen, Edmundson–Madansky). Only the least of what is correct and the most of what is wrong are counted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from guessproof.risk.several.heights import climbed_heights, nearest
from guessproof.risk.several.tile import Tiles
from guessproof.world.checks import Array
from guessproof.world.goals import Norm, combine, power_of

_NOTHING_MISSES = 1e-6
_TOO_HIGH = 1e4  # a height of which rounding eats more than is allowed for it


@dataclass(frozen=True)
class Landscape:
    """Peaks (sign +1) or hollows (−1): points in units of distance, and their heights ln L."""

    points: Array  # point × axis
    height: Array
    sign: int


def follow(tiles: Tiles, anchors: Array, log_w: Array, norm: Norm, epsilon: float, sign: int, most: int) -> Landscape:
    """A few points that make a likelihood as high in the goal (as low beside it) as the anchors allow."""
    share = tiles.right[0] if sign > 0 else tiles.wrong[0]
    some = np.flatnonzero((share > 0.5) & ~tiles.is_far)
    if not some.size:
        return Landscape(np.empty((0, 2)), np.empty(0), sign)
    # Ridges run through the corners of tiles as often as through their middles.
    places = np.concatenate([tiles.middle[some], tiles.corners[some, 0], tiles.corners[some, -1]])
    mass = np.concatenate([tiles.mass[some]] * 3)
    level = np.min(sign * log_w + epsilon * far_apart(places, anchors, norm), axis=1)  # of sign·ln L
    weight = mass * np.exp(sign * level - np.max(sign * level))
    chosen, reached = list[int](), np.full(mass.size, -np.inf)
    for _ in range(most):
        with np.errstate(over="ignore"):
            missing = weight * np.abs(np.expm1(np.clip(sign * (reached - level), -700.0, 700.0)))
        k = int(np.argmax(missing if chosen else weight))
        if chosen and missing[k] <= _NOTHING_MISSES * float(np.sum(weight)):
            break
        chosen.append(k)
        reached = np.maximum(reached, level[k] - epsilon * far_apart(places, places[k : k + 1], norm)[:, 0])
    return Landscape(places[chosen], sign * level[chosen], sign)


def climbed_land(tiles: Tiles, land: Landscape, norm: Norm, epsilon: float) -> Landscape:
    """The same points at heights that reach more, as far as the tiles' means tell: a hint, as any heights are."""
    if not land.height.size:
        return land
    ways = epsilon * far_apart(tiles.middle, land.points, norm)
    masses = tiles.mass * tiles.right[0], tiles.mass * tiles.wrong[1]
    return replace(land, height=climbed_heights(land.height, ways, masses, land.sign))


def reached_odds(tiles: Tiles, land: Landscape, norm: Norm, epsilon: float) -> float:
    """Log-odds that a landscape is sure to reach."""
    if not land.height.size or not float(np.max(np.abs(land.height))) <= _TOO_HIGH:
        return -np.inf
    # Heights count from the highest (the lowest hollow): large ones would leave nothing of the distances in rounding.
    land = replace(land, height=land.height - land.sign * float(np.max(land.sign * land.height)))
    low, high = _mean_bounds(tiles, land, norm, epsilon)
    right, wrong = tiles.right[0] > 0, tiles.wrong[1] > 0  # elsewhere L may be as large as it likes
    if not right.any() or not wrong.any():
        return -np.inf
    inside = np.logaddexp.reduce(low[right] + np.log((tiles.mass * tiles.right[0])[right]))
    outside = np.logaddexp.reduce(high[wrong] + np.log((tiles.mass * tiles.wrong[1])[wrong]))
    return float(inside - outside) - 1e-9 if outside < np.inf else -np.inf


def _mean_bounds(tiles: Tiles, land: Landscape, norm: Norm, epsilon: float) -> tuple[Array, Array]:
    """ln of the least and the most that L can be on average, tile by tile; where the goal's edge cuts one, L itself."""
    sign, middle = land.sign, tiles.middle
    values = sign * land.height - epsilon * far_apart(middle, land.points, norm)  # of sign·ln L
    best = np.argmax(values, axis=1)
    ways = [combine(norm, [np.abs(tiles.corners[:, c, i] - land.points[best, i]) for i in (0, 1)]) for c in range(4)]
    own = sign * land.height[best][:, None] - epsilon * np.stack(ways, axis=1)
    tangent = _tangents(tiles, land, values, norm, epsilon)
    least, most, weight = np.min(own, axis=1), np.max(tangent, axis=1), tiles.weight
    if sign > 0:  # beyond the corners of a tile without end peaks only fall, if its sides are upright
        low, high = np.sum(weight * own, axis=1), _log_mean(weight, tangent)
        ends = least, most
        beyond = most if tiles.is_upright else np.full(most.size, float(np.max(land.height)))
    else:
        low, high = -np.sum(weight * tangent, axis=1), _log_mean(weight, -own)
        ends = -most, -least
        beyond = tiles.rise - least
    low, high = np.where(tiles.is_cut, ends[0], low), np.where(tiles.is_cut, ends[1], high)
    return np.where(tiles.is_far, -np.inf, low), np.where(tiles.is_far, beyond, high)


def _log_mean(weight: Array, logs: Array) -> Array:
    top = np.max(logs, axis=1)
    return top + np.log(np.sum(weight * np.exp(logs - top[:, None]), axis=1))


def _tangents(tiles: Tiles, land: Landscape, values: Array, norm: Norm, epsilon: float) -> Array:
    """At the corners of each tile, the largest of all tangents of sign·ln L in its middle."""
    steps = tiles.corners - tiles.middle[:, None, :]
    reach = epsilon * np.max(combine(norm, [np.abs(steps[..., i]) for i in (0, 1)]), axis=1)
    found = np.empty(steps.shape[:2])
    near, rest = nearest(values)
    # From the middle to a corner no two points differ by more than twice the way: the others cannot come first.
    settled = np.max(values, axis=1) - rest > 2 * reach
    for some, chosen in ((settled, near[settled]), (~settled, None)):
        if not some.any():
            continue
        own = values[some] if chosen is None else np.take_along_axis(values[some], chosen, axis=1)
        points = land.points[None, :, :] if chosen is None else land.points[chosen]
        slopes = _slopes(norm, [tiles.middle[some, i, None] - points[..., i] for i in (0, 1)])
        for c in range(steps.shape[1]):
            step = steps[some, c]
            found[some, c] = np.max(own - epsilon * (slopes[0] * step[:, :1] + slopes[1] * step[:, 1:]), axis=1)
    return found


def far_apart(places: Array, points: Array, norm: Norm) -> Array:
    """How far every place is from every point."""
    return combine(norm, [np.abs(places[:, None, i] - points[None, :, i]) for i in (0, 1)])


def _slopes(norm: Norm, gaps: list[Array]) -> list[Array]:
    """A subgradient of the distance from every point at every tile's mean."""
    signs = [np.sign(gap) for gap in gaps]
    power = power_of(norm)
    if np.isinf(power):
        first = np.abs(gaps[0]) >= np.abs(gaps[1])
        return [signs[0] * first, signs[1] * ~first]
    way = combine(norm, [np.abs(gap) for gap in gaps])
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = [np.where(way > 0, (np.abs(gap) / way) ** (power - 1), 0.0) for gap in gaps]
    return [sign * share for sign, share in zip(signs, shares, strict=True)]
