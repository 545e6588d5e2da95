"""What an attacker can learn from releases whose guarantee metric is known."""

from guessproof.exposure.aim import Aim, Pledge, knows_no_prior
from guessproof.exposure.exposure import Exposure

__all__ = ["Aim", "Exposure", "Pledge", "knows_no_prior"]
