"""What one protected unit can do to an answer, or to a whole release."""

from guessproof.guarantee.guarantee import Guarantee, Response, total
from guessproof.guarantee.stored import guarantee_from_dict, guarantee_to_dict, metric_from_dict, metric_to_dict
from guessproof.guarantee.unit import RECORDS, UNITS, VALUES, PrivacyUnit, Records, Values, unit_named

__all__ = [
    "RECORDS",
    "UNITS",
    "VALUES",
    "Guarantee",
    "PrivacyUnit",
    "Records",
    "Response",
    "Values",
    "guarantee_from_dict",
    "guarantee_to_dict",
    "metric_from_dict",
    "metric_to_dict",
    "total",
    "unit_named",
]
