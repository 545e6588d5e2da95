"""What a process needs for its first job, imported before there is one."""

from guessproof.choosing import choose
from guessproof.choosing.budgets import budget_left
from guessproof.risk import Curve
from guessproof.web.live import beliefs_of
from guessproof.web.outcomes import of_choice
from guessproof.web.work import KINDS

__all__ = ["KINDS", "Curve", "beliefs_of", "budget_left", "choose", "of_choice"]
