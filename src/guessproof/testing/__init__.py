"""The contract that every engine passes, for whoever adds one: what is refused, answered, charged and kept quiet.

An author writes a harness: a name, the types that the engine can store (`Shelf`), and how rows are stored for it.
Nothing else is asked of him: the engine is opened as a plan opens it. `DuckDBHarness` is an example of thirty lines.

    class MyHarness(Harness):
        name = "mine"
        shelf = Shelf(types=(…), fitting={…}, doubles=…, longs=…, texts=…)

        def keep(self, table, columns, rows):  # store texts as these types, in place of a table of the same name
            …
            return source  # as [data] source would name it

        def cut(self):  # only where there is a wire: end the connection of the query that is running
            …

With pytest, one class runs all of it, a test for each check:

    class TestMine(EngineContract):
        @pytest.fixture
        def harness(self):
            return MyHarness()

Without pytest, `for check in CHECKS: check.hold(harness)` does the same. What the engine cannot do is a line of `GAPS`,
or of the harness's own `gaps`, with its reason; a check that begins to pass must lose its line, or it fails.

`FakeEngine` is for tests of everything above engines.
"""

from guessproof.testing.contract import CHECKS, EngineCheck, EngineContract
from guessproof.testing.fake import FakeEngine, opening
from guessproof.testing.files import DuckDBHarness
from guessproof.testing.gaps import GAPS
from guessproof.testing.harness import Harness
from guessproof.testing.values import Shelf, StoredType

__all__ = [
    "CHECKS",
    "GAPS",
    "DuckDBHarness",
    "EngineCheck",
    "EngineContract",
    "FakeEngine",
    "Harness",
    "Shelf",
    "StoredType",
    "opening",
]
