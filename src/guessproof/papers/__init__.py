"""What the papers say and what is true.

One module a work, each formula as published: laud_pankova (with _examples and _appendix), slides, kazan_reiter (with
_profiles), mugunthan. `judges` compares each with the exact engine, `verdicts` collects what they find, `figures` holds
the data of the works' figures, `render` shows it all. `python -m guessproof.papers` prints the table.
"""

from guessproof.papers.verdicts import Verdict, ids, verdict, verdicts

__all__ = ["Verdict", "ids", "verdict", "verdicts"]
