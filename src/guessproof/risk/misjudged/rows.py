"""Arrays that have a row for each of the same things, one after the other: some of them, and several put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Rows:
    """Of what has one array each; rows run along the only axis of an array, or along the second one."""

    def pick(self, some: NDArray[np.int64]) -> Self:
        return type(self)(*(np.take(v, some, axis=row_axis(v)) for v in self._arrays()))

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        each = zip(*(part._arrays() for part in parts), strict=True)
        return cls(*(np.concatenate(arrays, axis=row_axis(arrays[0])) for arrays in each))

    def _arrays(self) -> list[NDArray[Any]]:
        return [getattr(self, f.name) for f in fields(self)]


def row_axis(array: NDArray[Any]) -> int:
    return min(array.ndim - 1, 1)
