"""What one protected unit can do to an answer, or to a whole release."""

from guessproof.guarantee.bells import Bell
from guessproof.guarantee.guarantee import Guarantee, Response, list_moved, total, total_of_families
from guessproof.guarantee.stored import (
    bells_of_dicts,
    guarantee_from_dict,
    guarantee_to_dict,
    metric_from_dict,
    metric_to_dict,
    total_of_dicts,
    with_bells,
)
from guessproof.guarantee.unit import (
    PERSONS,
    RECORDS,
    UNITS,
    VALUES,
    Persons,
    PrivacyUnit,
    Records,
    RowWeights,
    UnitTotal,
    Values,
    unit_named,
)

__all__ = [
    "PERSONS",
    "RECORDS",
    "UNITS",
    "VALUES",
    "Bell",
    "Guarantee",
    "Persons",
    "PrivacyUnit",
    "Records",
    "Response",
    "RowWeights",
    "UnitTotal",
    "Values",
    "bells_of_dicts",
    "guarantee_from_dict",
    "guarantee_to_dict",
    "list_moved",
    "metric_from_dict",
    "metric_to_dict",
    "total",
    "total_of_dicts",
    "total_of_families",
    "unit_named",
    "with_bells",
]
