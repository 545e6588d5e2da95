"""Attacking our own answers: measured success, likelihood ratios and noise against what was promised."""

from guessproof.auditing.result import Audit, Check, PlotPoint
from guessproof.auditing.run import audit, audit_choice

__all__ = ["Audit", "Check", "PlotPoint", "audit", "audit_choice"]
