"""Tables by the names and kinds of their columns, and questions that are checked while they are typed."""

from __future__ import annotations

import os
import re
from typing import Any

from guessproof.choosing import asked
from guessproof.engines.files import is_text_table
from guessproof.errors import GuessproofError, QueryError, SourceError
from guessproof.plan.plan import is_elsewhere
from guessproof.starting import pick_table, read_schema
from guessproof.web.folder import Folder
from guessproof.web.refusals import WebError, refusal_of
from guessproof.web.states import Tables, cleaned, read_state

_CONNECTION = re.compile(r"postgres(ql)?://")
QUESTION = ("data", "query", "columns", "tables", "prior", "release")  # what a question depends on
MOST_COLUMNS = 500
Json = dict[str, Any]


def connections() -> list[str]:
    """Names of environment variables that hold a connection; never what they hold."""
    return sorted(f"env:{name}" for name, value in os.environ.items() if _CONNECTION.match(value))[:50]


def columns_of(folder: Folder, source: str, table: str | None, named: bool) -> Json:
    """Names and kinds of a table's columns. The first line of a text file is shown only if its owner says so."""
    if is_elsewhere(source) and source not in connections():
        raise WebError(422, "no such connection is in the environment of this server", "set the variable", "source")
    if not is_elsewhere(source) and is_text_table(source) and not named:
        return {"source": source, "needs_header": True, "columns": {}, "table": "t"}
    place = folder.source_of(source)
    try:
        called = pick_table(place, table)
        found = read_schema(place, table=called)
    except SourceError as error:
        raise SourceError(str(error).replace(place, source)) from None
    kinds = {str(name): str(kind) for name, kind in list(found.items())[:MOST_COLUMNS]}
    return {"source": source, "needs_header": False, "columns": kinds, "table": called}


def check_question(folder: Folder, state: Tables) -> Json:
    """Whether a question is accepted, and what it promises; else which part is refused."""
    state = cleaned(state)
    kept = {key: state[key] for key in QUESTION if key in state}
    try:
        plan = read_state(kept, folder)
        question = asked(plan)
    except QueryError as error:
        return {"accepted": False, "error": refusal_of(error).model_dump()}
    except GuessproofError as error:
        return {"accepted": False, "error": {**refusal_of(error).model_dump(), "place": None}}
    return {
        "accepted": True,
        "error": None,
        "accounts": [m.account for m in question.measurements],
        "outputs": [o.name for o in question.outputs],
        "columns": sorted(question.columns),
    }
