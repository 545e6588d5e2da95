"""Choosing ε for a plan: every limit and every target is a bound on the noise, and they are compared there.

The table is never opened. The unknown is the noise scale; all of it is told in ε = sup D/b, the ordinary ε for
changing one record, so that limits on an attacker, risk profiles, accuracy and what is left of the budget are numbers
on one line.
"""

from guessproof.choosing.choice import Change, Choice, Limit
from guessproof.choosing.chooser import Chooser, asked, attacker_of, choose, declared, only_question

__all__ = ["Change", "Choice", "Chooser", "Limit", "asked", "attacker_of", "choose", "declared", "only_question"]
