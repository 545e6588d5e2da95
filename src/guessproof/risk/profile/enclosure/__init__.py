"""Bounding a function over whole cells of priors, by following what it does to intervals."""

from guessproof.risk.profile.enclosure.follow import Bounds, bound
from guessproof.risk.profile.enclosure.traced import Untraceable

__all__ = ["Bounds", "Untraceable", "bound"]
