"""Tables by the names and kinds of their columns, and questions that are checked while they are typed."""

from __future__ import annotations

import os
import re
from typing import Any

from guessproof.addresses import is_elsewhere
from guessproof.choosing import asked
from guessproof.engines.files import is_text_table
from guessproof.errors import GuessproofError, SourceError
from guessproof.starting import pick_table, read_schema
from guessproof.web.folder import Folder
from guessproof.web.refusals import WebError, refusal_of
from guessproof.web.states import Tables, cleaned, read_state

_CONNECTION = re.compile(r"postgres(ql)?://")
QUESTION = ("data", "columns", "tables", "prior", "release")  # what a question depends on
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
    """Whether each question is accepted, and what it promises; else which part of it is refused."""
    state = cleaned(state)
    kept = {key: state[key] for key in QUESTION if key in state}
    several = state.get("queries")
    if not isinstance(several, dict) or "query" in state:
        found = {"": _checked(folder, {**kept, **({"query": state["query"]} if "query" in state else {})})}
    else:
        found = {str(name): _checked(folder, {**kept, "query": _alone(asked)}) for name, asked in several.items()}
    return {"accepted": all(one["accepted"] for one in found.values()), "questions": found}


def _alone(asked: Any) -> Any:
    return {"sql": asked["sql"]} if isinstance(asked, dict) and "sql" in asked else asked


def _checked(folder: Folder, kept: Tables) -> Json:
    try:
        question = asked(read_state(kept, folder))
    except GuessproofError as error:
        return {"accepted": False, "error": refusal_of(error).model_dump()}
    accounts = [m.account for m in question.measurements]
    return {"accepted": True, "error": None, "accounts": accounts, "outputs": [o.name for o in question.outputs]}
