"""Which records are most exposed. For the owner of the table alone: every number comes from the confidential rows."""

from guessproof.scanning.result import BANNER, Scan
from guessproof.scanning.run import scan

__all__ = ["BANNER", "Scan", "scan"]
