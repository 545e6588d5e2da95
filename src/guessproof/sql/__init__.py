"""From a SQL query to a guarantee metric, and to the query that is really run."""

from guessproof.sql.declared import Declared, DeclaredColumn
from guessproof.sql.measurement import Measurement
from guessproof.sql.output import Output
from guessproof.sql.question import Question, ask
from guessproof.sql.rewrite import Rewritten, rewrite
from guessproof.sql.target import Target
from guessproof.sql.targets import target_of

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
