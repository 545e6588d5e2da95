"""What a scan found. Internal: computed from confidential values without noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

BANNER = "INTERNAL: computed from confidential values without noise; do not publish"
LEVELS = (0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1.0)

Enclosed = tuple[float, float]  # (at least, at most)


@dataclass(frozen=True)
class Bin:
    """Records whose advantage is at most `high` and, as far as the bounds tell, more than `low`."""

    low: float
    high: float
    count: int


@dataclass(frozen=True)
class Exposed:
    """Values with the records that have them: a value, or a pair (from, to), for each column."""

    values: dict[str, Any]
    count: int
    advantage: Enclosed


@dataclass(frozen=True)
class Group:
    """The records of one group; advantages are None where none could be judged."""

    value: str
    rows: int
    judged: int
    mean: Enclosed | None
    most_of_them: Enclosed | None  # 95 % have no more
    largest: Enclosed | None


@dataclass(frozen=True)
class Identified:
    """One row, by the column that was asked for."""

    identity: str
    advantage: Enclosed


@dataclass(frozen=True)
class Scan:
    """Every record's own advantage at an ε, counted.

    Advantages are enclosed: (at least, at most). `missing` have no value, `infinite` an infinite one, `outside` one
    that the prior says cannot occur; none of these is judged.
    """

    name: str
    goal: str
    columns: tuple[str, ...]
    epsilon: float
    both: bool
    rows: int
    missing: int
    infinite: int
    outside: int
    mean: Enclosed | None
    quantiles: dict[float, Enclosed]
    histogram: tuple[Bin, ...]
    exposed: tuple[Exposed, ...]
    limit: float | None
    exceeding: tuple[int, int] | None  # surely, possibly
    by: str | None
    groups: tuple[Group, ...] | None
    identified: tuple[Identified, ...] | None
    how: str
    banner: str = BANNER

    @property
    def judged(self) -> int:
        """The records that have an advantage."""
        return self.rows - self.missing - self.infinite - self.outside

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON. Identities are in it only if they were asked for."""
        found: dict[str, Any] = {
            "banner": self.banner,
            "name": self.name,
            "goal": self.goal,
            "columns": list(self.columns),
            "epsilon": self.epsilon,
            "both": self.both,
            "rows": self.rows,
            "judged": self.judged,
            "missing": self.missing,
            "infinite": self.infinite,
            "outside": self.outside,
            "limit": self.limit,
            "exceeding": None if self.exceeding is None else _between(self.exceeding),
            "mean": _between(self.mean),
            "quantiles": [{"level": level, **(_between(q) or {})} for level, q in self.quantiles.items()],
            "histogram": [{"low": b.low, "high": b.high, "count": b.count} for b in self.histogram],
            "exposed": [
                {"values": _plain(e.values), "count": e.count, "advantage": _between(e.advantage)} for e in self.exposed
            ],
            "how": self.how,
        }
        if self.groups is not None:
            found["by"] = self.by
            found["groups"] = [_group(g) for g in self.groups]
        if self.identified is not None:
            found["identified"] = [
                {"identity": i.identity, "advantage": _between(i.advantage)} for i in self.identified
            ]
        return found


def _group(group: Group) -> dict[str, Any]:
    return {
        "value": group.value,
        "rows": group.rows,
        "judged": group.judged,
        "mean": _between(group.mean),
        "95 %": _between(group.most_of_them),
        "largest": _between(group.largest),
    }


def _between(pair: tuple[Any, Any] | None) -> dict[str, Any] | None:
    return None if pair is None else {"at_least": pair[0], "at_most": pair[1]}


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    """An open end is null."""
    return {
        name: [v if isinstance(v, str) or math.isfinite(v) else None for v in value]
        if isinstance(value, tuple)
        else value
        for name, value in values.items()
    }
