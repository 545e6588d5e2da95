"""Modelling mistakes, said before anything is spent. Of the table, no more than column names is read."""

from guessproof.checking.concern import Concern
from guessproof.checking.run import CHECKS, check

__all__ = ["CHECKS", "Concern", "check"]
