"""What an attacker can learn from releases whose guarantee is known."""

from guessproof.exposure.attacker import Attacker
from guessproof.exposure.exposure import Exposure

__all__ = ["Attacker", "Exposure"]
