"""Tables of very many rows: the engine must add up what one record adds, that many times, and not fail on the way."""

from __future__ import annotations

from collections.abc import Sequence

from guessproof.auditing.result import Check
from guessproof.auditing.scenes import Scene
from guessproof.auditing.tables import Cell, Group, Shop
from guessproof.errors import EngineError
from guessproof.noise import Noise

WORD = 63  # bits of a signed whole number of most engines
FEW, MOST = 100_000, 1 << 24


def crowd_check(noises: Sequence[Noise], scenes: Sequence[Scene], shop: Shop) -> Check:
    """One row, and the same row so often that the sum in grid steps would leave 64 bits, where that can be built."""
    rows = size_of(noises)
    said = f"{rows:,} equal rows against one of them"
    off = 0
    for number, scene in enumerate(scenes):
        row = next(v for pair in scene.pairs.values() for v in reversed(pair) if v is not None)
        try:
            one, all_of_them = shop.ask_crowd(row, 1, f"one{number}"), shop.ask_crowd(row, rows, f"crowd{number}")
        except EngineError:
            words = f"{said}: the engine failed, so a release on many rows could fail and tell how many there are"
            return Check("many rows", None, None, 0.0, "fail", words)
        off = max(off, _off(noises, one, all_of_them, rows))
    words = f"{said}: {'every sum is that many times what one adds' if not off else 'a sum is not what they add up to'}"
    return Check("many rows", float(off), None, 0.0, "fail" if off else "pass", words)


def size_of(noises: Sequence[Noise]) -> int:
    """More rows than a 64-bit count of grid steps has room for; where nobody could build those, many."""
    needed = [(1 << WORD + n.grid.exponent) + 1 for n in noises if -WORD < n.grid.exponent < 0]
    return max([FEW, *(rows for rows in needed if rows <= MOST)])


def _off(noises: Sequence[Noise], one: dict[Group, list[Cell]], crowd: dict[Group, list[Cell]], rows: int) -> int:
    """How many steps, or rows behind an average, the whole is away from its parts."""
    if set(one) != set(crowd):
        return rows
    found = 0
    for group, cells in one.items():
        for noise, (unit, count), (units, counted) in zip(noises, cells, crowd[group], strict=True):
            times = rows if noise.measurement.kind in ("count", "sum") else 1
            found = max(found, abs((units or 0) - times * (unit or 0)), abs((counted or 0) - rows * (count or 0)))
    return found
