"""Which records are most exposed. For the owner of the table alone: every number comes from the confidential rows."""

from guessproof.scan.result import BANNER, Scan
from guessproof.scan.run import scan

__all__ = ["BANNER", "Scan", "scan"]
