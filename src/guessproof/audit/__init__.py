"""Attacking our own answers: measured success, likelihood ratios and noise against what was promised."""

from guessproof.audit.result import Audit, Check, Point
from guessproof.audit.run import audit, audit_choice

__all__ = ["Audit", "Check", "Point", "audit", "audit_choice"]
