"""What one protected unit can do to an answer, or to a whole release."""

from guessproof.guarantee.guarantee import Guarantee, Response, total
from guessproof.guarantee.stored import (
    guarantee_from_dict,
    guarantee_to_dict,
    metric_from_dict,
    metric_to_dict,
    total_of_dicts,
)
from guessproof.guarantee.unit import (
    PERSONS,
    RECORDS,
    UNITS,
    VALUES,
    Persons,
    PrivacyUnit,
    Records,
    UnitTotal,
    Values,
    unit_named,
)

__all__ = [
    "PERSONS",
    "RECORDS",
    "UNITS",
    "VALUES",
    "Guarantee",
    "Persons",
    "PrivacyUnit",
    "Records",
    "Response",
    "UnitTotal",
    "Values",
    "guarantee_from_dict",
    "guarantee_to_dict",
    "metric_from_dict",
    "metric_to_dict",
    "total",
    "total_of_dicts",
    "unit_named",
]
