"""What an attacker can learn from releases whose guarantee is known."""

from guessproof.exposure.exposure import Attacker, Exposure

__all__ = ["Attacker", "Exposure"]
