"""From a SQL query to a guarantee metric, and to the query that is really run."""

from guessproof.sql.declared import Declared, DeclaredColumn
from guessproof.sql.formula import Output
from guessproof.sql.measurement import Measurement
from guessproof.sql.query import Question, ask
from guessproof.sql.rewrite import Rewritten, rewrite, target_of
from guessproof.sql.target import Target

__all__ = [
    "Declared",
    "DeclaredColumn",
    "Measurement",
    "Output",
    "Question",
    "Rewritten",
    "Target",
    "ask",
    "rewrite",
    "target_of",
]
