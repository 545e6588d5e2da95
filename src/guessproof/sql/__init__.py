"""From a SQL query to a guarantee metric, and to the query that is really run."""

from guessproof.sql.declared import DeclaredColumn, DeclaredTable, PublicTable
from guessproof.sql.formula import Output
from guessproof.sql.measurement import Measurement
from guessproof.sql.query import AnalyzedQuery, Asked, AskedPart, analyze
from guessproof.sql.rewrite import RewrittenQuery, find_target, rewrite
from guessproof.sql.target import SqlTarget

__all__ = [
    "AnalyzedQuery",
    "Asked",
    "AskedPart",
    "DeclaredColumn",
    "DeclaredTable",
    "Measurement",
    "Output",
    "PublicTable",
    "RewrittenQuery",
    "SqlTarget",
    "analyze",
    "find_target",
    "rewrite",
]
