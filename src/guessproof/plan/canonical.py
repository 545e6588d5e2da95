"""One spelling for all plans that mean the same, for the digest of a request."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from guessproof.plan.model import PlanFile

LATER = (("data", "copies"),)  # keys that came later: left out at their default, so that older requests keep their name


def canonical_text(file: PlanFile, digests: Mapping[str, str]) -> str:
    """JSON with sorted keys, every default filled in, numbers in one spelling, public files by their content."""
    table = file.model_dump(by_alias=True)
    for place, key in LATER:
        if table[place][key] == type(getattr(file, place)).model_fields[key].default:
            del table[place][key]
    table["public files"] = dict(digests)
    return json.dumps(plain(table), sort_keys=True, ensure_ascii=True, separators=(",", ":"), allow_nan=False)


def plain(value: Any) -> Any:
    """Whole numbers as integers, so that 1, 1.0 and 1e0 are the same.

    >>> plain([1.0, 0.5, -0.0, True, "1"])
    [1, 0.5, 0, True, '1']
    """
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # only what is known may be an endless interval
    return value
