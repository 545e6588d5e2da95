# ruff: noqa: E501 - a table: one failure a line
"""Every way in which a command can fail: what is wrong, the exit code and the words. The one list behind the test and
the page: `python tests/cli/failures.py > docs/failures.md`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

PLANNED = ("check", "choose", "explain", "release", "audit", "scan", "report", "bounds")


@dataclass(frozen=True)
class Failure:
    """A failure: `words` are typed after guessproof, `broken` names what is broken from outside meanwhile."""

    what: str
    words: str
    code: int
    kind: str  # of the error object; "" where the command prints its own document or none
    problem: str
    remedy: str = ""
    field: str | None = None
    line: int | None = None
    charged: bool = False
    broken: str = ""
    json: bool = True  # whether the command has --json


# The plan, for every command that reads one. PLAN stands for the name of the file.
PLAN_FAILURES = (
    Failure("the plan is not there", "none.toml", 2, "plan", "there is no such file", "guessproof init", "plan"),
    Failure("the plan is a folder", "folder", 2, "plan", "is a folder", "name a plan file", "plan"),
    Failure("the plan is empty", "empty.toml", 2, "plan", "is empty", "guessproof init", "plan"),
    Failure("the plan is not UTF-8", "latin.toml", 2, "plan", "is not text in UTF-8", "save it", "plan", 2),
    Failure("the plan is not TOML", "toml.toml", 2, "plan", "is not closed", "close it with ]", "plan", 1),
    Failure("a table or key that there is not", "key.toml", 2, "plan", "is not a table of a plan", "did you mean attacker?", "atacker", 21),
    Failure("a value that cannot be meant", "much.toml", 2, "plan", "must be at most 1", "for 10 % write 0.1", "attacker.advantage", 24),
    Failure("a query that is not understood", "sql.toml", 2, "query", "there is no function COUNTS", "outputs can use", "query.sql", 11),
    Failure("an option that there is not", "plan.toml --nonsense", 2, "usage", "No such option: --nonsense", "see --help"),
)  # fmt: skip

FAILURES = (
    # The command line.
    Failure("a command that there is not", "nonsense", 2, "usage", "No such command 'nonsense'.", "see --help"),
    Failure("no plan", "release", 2, "usage", "Missing argument 'PLAN'.", "see --help", "plan"),
    Failure("neither plan nor prior", "choose", 2, "usage", "name a plan file, or give --prior and --goal", "see --help"),
    Failure("neither plan nor ε", "explain", 2, "usage", "name a plan file, or give --epsilon", "see --help"),
    Failure("a plan and what it says itself", "choose plan.toml --advantage 0.1", 2, "usage", "a plan says all this itself", "see --help"),
    Failure("a number that is none", "scan plan.toml --epsilon much", 2, "usage", "Invalid value for '--epsilon'", "see --help", "epsilon"),
    Failure("an ε below 0", "explain --epsilon -1", 2, "parameter", "", "ε", "epsilon"),
    Failure("a prior that is not understood", "choose --prior noraml(0,1) --goal exactly --advantage 0.1", 2, "prior", "is not a prior", "did you mean normal?", "prior"),
    Failure("a prior without all its numbers", "choose --prior normal(0) --goal exactly --advantage 0.1", 2, "prior", "does not fit normal", "write normal(mean, sd)", "prior"),
    Failure("a goal that is not understood", "choose --prior normal(0,1) --goal near --advantage 0.1", 2, "goal", "does not say what is wanted of near", "within 2", "goal"),
    Failure("a limit that is left out", "choose --prior normal(0,1) --goal 'within 2'", 2, "parameter", "no limit was given", "give an advantage", "limit"),
    Failure("a limit in percent", "choose --prior normal(0,1) --goal 'within 2' --advantage 5", 2, "parameter", "is not between 0 and 1", "for 5 % write 0.05", "advantage"),
    Failure("a paper's result that there is not", "papers --id none", 2, "parameter", "no result has this id", "use one of", "id"),
    Failure("figures over a file", "papers --figures plan.toml", 2, "parameter", "cannot be written", "name a folder", "figures"),
    Failure("a demo over a file", "demo --folder plan.toml", 2, "", "cannot be written", "name a folder", json=False),
    # The table.
    Failure("the table is not there", "release gone.toml", 2, "source", "there is no such file", "check the path", "data.source", 6),
    Failure("the table is not there", "scan gone.toml", 2, "source", "there is no such file", "check the path", "data.source", 6),
    Failure("the table is of no known kind", "release kind.toml", 2, "source", "does not say what it is", "use .csv", "data.source", 6),
    Failure("the table has no such column", "release column.toml", 2, "source", "color", ""),
    Failure("the address of the database is not set", "release unset.toml", 2, "source", "the environment variable NOT_SET is not set", "postgresql://", "data.source", 6),
    Failure("the database does not answer", "release away.toml", 2, "source", "", "", "data.source", 6, broken="away"),
    Failure("the engine is not installed", "release away.toml", 2, "source", "PostgreSQL needs psycopg", "pip install 'guessproof[postgres]'", "data.source", 6, broken="postgres"),
    Failure("Spark is not installed", "release spark.toml", 2, "source", "pyspark", "pip install 'guessproof[spark]'", "data.source", 6, broken="spark"),
    Failure("a first plan for a table that is not there", "init none.csv --column a", 2, "source", "there is no such file", "check the path"),
    Failure("a first plan about a column that there is not", "init cats.csv --column age -o new.toml", 2, "parameter", "the table has no such column", "look at its first line", "column"),
    Failure("a template that there is not", "init cats.csv --template none -o new.toml", 2, "parameter", "is not known", "average", "template"),
    Failure("a first plan over another", "init cats.csv --column colour", 2, "parameter", "", "--force", "output"),
    # What nothing can fulfil.
    Failure("limits and targets that no ε fits", "choose exact.toml", 3, "", ""),
    Failure("a release of them", "release exact.toml", 3, "infeasible", "Nothing is feasible", "The smallest change that helps"),
    Failure("a limit that is broken before any release", "choose --prior normal(0,1) --goal 'within 2' --posterior 0.5 --at 0", 3, "", ""),
    Failure("warnings, taken for errors", "check warned.toml --strict", 2, "", ""),
    # The ledger.
    Failure("no ledger", "release elsewhere.toml", 4, "ledger", "there is no ledger here", "guessproof ledger open cats --budget 0.847298"),
    Failure("no ledger", "report plan.toml --ledger none.ledger", 4, "ledger", "there is no ledger here", "guessproof ledger open"),
    Failure("no ledger", "ledger show --ledger none.ledger", 4, "ledger", "there is no ledger here", "guessproof ledger open"),
    Failure("no ledger", "ledger verify --ledger none.ledger", 4, "ledger", "there is no ledger here", "guessproof ledger open"),
    Failure("no budget under this name", "release dogs.toml", 4, "ledger", "no budget is open for 'dogs'", "guessproof ledger open dogs --budget 0.847298"),
    Failure("no budget under this name", "ledger show dogs", 4, "ledger", "no budget is open for 'dogs'", "guessproof ledger open dogs"),
    Failure("the budget is used up", "release small.toml", 4, "budget", "this release costs", "guessproof ledger amend cats"),
    Failure("a budget that is open already", "ledger open cats --budget 2", 4, "ledger", "cats is already open", "guessproof ledger amend cats"),
    Failure("a budget that is none", "ledger open d --budget lots", 2, "parameter", "it is not a finite number", "write a number", "budget.epsilon"),
    Failure("a lower budget", "ledger amend cats --budget 3", 4, "ledger", "must allow more", "name a larger one"),
    Failure("an amendment of nothing", "ledger amend cats", 2, "parameter", "nothing is amended", "name a column", "protect"),
    Failure("a copy over a ledger", "ledger copy guessproof.ledger small.ledger", 4, "ledger", "there is a ledger already", "Name a place"),
    Failure("a ledger in a folder that is not there", "ledger open d --budget 1 --ledger none/a.ledger", 4, "ledger", "cannot be made here", "make its folder first"),
    Failure("a folder for a ledger", "ledger open d --budget 1 --ledger folder", 4, "ledger", "this is a folder", "name a file in it"),
    Failure("a head that is none", "ledger verify --head abc", 2, "parameter", "it is not a head", "64 hexadecimal digits", "head"),
    Failure("the ledger's address is not set", "ledger show --ledger env:NOT_SET", 4, "ledger", "NOT_SET is not set", "postgresql://"),
    Failure("the key is not there", "release sealed.toml --key-file none", 4, "ledger", "the key file cannot be read", "name another one"),
    Failure("no key of a sealed ledger", "release sealed.toml", 4, "ledger", "is sealed and no key was given", "--key-file"),
    Failure("the ledger is locked", "release plan.toml", 4, "ledger", "another release is using the ledger", "try again", broken="locked"),
    Failure("a file that is no ledger", "release junk.toml", 4, "ledger", "this is not a ledger", "name another file"),
    Failure("the wrong key", "release sealed.toml --key-file key", 6, "edited", "the key is wrong, or every entry was forged", "guessproof ledger verify"),
    Failure("the ledger was edited", "release edited.toml", 6, "edited", "was dropped or changed", "guessproof ledger verify"),
    Failure("the ledger was edited", "scan edited.toml", 6, "edited", "was dropped or changed", "guessproof ledger verify"),
    Failure("the ledger was edited", "report edited.toml", 6, "edited", "was dropped or changed", "guessproof ledger verify"),
    Failure("the ledger was edited", "ledger show --ledger edited.ledger", 6, "edited", "was dropped or changed", "guessproof ledger verify"),
    Failure("the ledger was edited", "ledger verify --ledger edited.ledger", 6, "", ""),
    Failure("the ledger was edited", "ledger copy edited.ledger new.ledger", 6, "edited", "was dropped or changed", "guessproof ledger verify"),
    # What is to be written.
    Failure("a file of another kind", "release plan.toml -o a.txt", 2, "parameter", "is no kind of file that can be written here", "use .csv", "output"),
    Failure("a folder that is not there", "release plan.toml -o none/a.csv", 2, "parameter", "its folder does not exist", "make the folder first", "output"),
    Failure("a folder that takes no file", "release plan.toml -o /proc/a.csv", 2, "parameter", "cannot be written to", "choose another folder", "output"),
    Failure("the table itself", "release plan.toml -o cats.csv", 2, "parameter", "is the table", "what was read is never replaced", "output"),
    Failure("the plan itself", "report plan.toml -o plan.toml", 2, "parameter", "is the plan", "what was read is never replaced", "output"),
    Failure("the ledger itself", "report plan.toml -o guessproof.ledger", 2, "parameter", "is the ledger", "what was read is never replaced", "output"),
    Failure("a folder", "report plan.toml -o folder", 2, "parameter", "is a folder", "name a file in it", "output"),
    Failure("a chart of another kind", "audit plan.toml --chart a.txt", 2, "parameter", "is no kind of file", "use .svg", "chart"),
    Failure("a chart of another kind", "scan plan.toml --chart a.txt", 2, "parameter", "is no kind of file", "use .svg", "chart"),
    Failure("a scan of another kind", "scan plan.toml -o a.txt", 2, "parameter", "is no kind of file", "use .json", "output"),
    Failure("an entry of another kind", "report plan.toml --registry a.txt", 2, "parameter", "is no kind of file", "use .yaml", "registry"),
    # Options that cannot be meant.
    Failure("a time that is none", "release plan.toml --timeout -1", 2, "parameter", "is no time to wait", "above 0", "timeout"),
    Failure("a release that there is not", "release plan.toml --number 3", 2, "parameter", "this plan is released once", "leave it out", "number"),
    Failure("too few trials", "audit plan.toml --trials 1", 2, "parameter", "is too few to find anything", "draw at least", "trials"),
    Failure("no time for an audit", "audit plan.toml --seconds -1", 2, "parameter", "is no time", "positive", "seconds"),
    Failure("bounds of rows where values are protected", "bounds plan.toml --epsilon 1", 2, "plan", "only where a person has several", "persons", "data.protects", 8),
    Failure("a share that is none", "bounds visits/plan.toml --epsilon 1 --share 2", 2, "parameter", "strictly between 0 and 1", "0.95", "share"),
    Failure("candidates that are none", "bounds visits/plan.toml --epsilon 1 --candidates a", 2, "parameter", "are not numbers of rows", "1,2,5,10", "candidates"),
    Failure("a port that is none", "serve --port 99999 --no-open", 2, "", "cannot be listened on", "choose another one", json=False),
    Failure("a plan for the page that is not there", "serve none.toml --no-open", 2, "", "there is no such file", "guessproof init", json=False),
    # From outside, before the charge.
    Failure("stopped by Ctrl+C", "check plan.toml", 1, "stopped", "stopped from outside", "nothing was charged", broken="stopped"),
    Failure("nobody reads on, as with | head", "check plan.toml", 0, "", "", broken="gone"),
    Failure("the disk is full", "check plan.toml", 1, "", "", broken="full"),
    Failure("what nobody foresaw", "check plan.toml", 1, "unexpected", "its text is not shown", "report", broken="unexpected"),
    Failure("the audit found more than promised", "audit plan.toml", 7, "", "", broken="audit"),
    # After the charge: always 5.
    Failure("the engine fails", "release plan.toml", 5, "engine", "the engine could not answer", "the charge stays", charged=True, broken="engine"),
    Failure("fewer rows than declared", "release rows.toml", 5, "rows", "fewer rows match", "the charge stays", "data.rows", charged=True),
    Failure("the ledger cannot take the answer", "release plan.toml", 5, "ledger", "the disk is full", "make room", charged=True, broken="record"),
    Failure("what nobody foresaw", "release plan.toml", 5, "unexpected", "its text is not shown", "report", charged=True, broken="lost"),
    Failure("stopped by Ctrl+C", "release plan.toml", 5, "stopped", "stopped from outside", "the charge stays", charged=True, broken="stopped"),
    Failure("nobody reads on, as with | head", "release plan.toml", 5, "", "", charged=True, broken="gone"),
    Failure("the disk is full", "release plan.toml", 5, "", "", charged=True, broken="full"),
)  # fmt: skip

MEANINGS = {
    0: "done",
    1: "something unexpected, or stopped from outside, before any charge",
    2: "a value, plan, query, table or file that cannot be meant",
    3: "no ε keeps the limits",
    4: "the ledger refuses",
    5: "something failed after the charge",
    6: "the ledger was edited",
    7: "the audit found more than promised",
}
HEAD = """# What can fail

Every failure has an exit code and says what is wrong and what to do; under `--json` it is a document on standard output,
`{"error": {"kind", "field", "line", "problem", "remedy", "charged"}}` ([JSON](json.md)). This page is made from the list that a test runs
through the commands, so each line is what happens. “…” stands for words that depend on the place.

Exit code 5 means that the ledger was charged, and no other code does. Before a charge nothing was lost: mend it and ask again.
"""


def page() -> str:
    """Markdown: one table for each exit code."""
    every = [*FAILURES, *(_for_all(failure) for failure in PLAN_FAILURES)]
    parts = [HEAD]
    for code, means in MEANINGS.items():
        rows = list(_rows([failure for failure in every if failure.code == code]))
        if rows:
            head = "| what is wrong | for instance | `kind` | `field` | what is said |\n|---|---|---|---|---|"
            parts.append("\n".join([f"## {code}: {means}\n", head, *rows, ""]))
    return "\n".join(parts)


def _for_all(failure: Failure) -> Failure:
    return Failure(**{**failure.__dict__, "words": f"COMMAND {failure.words}"})


def _rows(found: list[Failure]) -> Iterator[str]:
    for f in found:
        said = "; ".join(f"…{words}…" for words in (f.problem, f.remedy) if words).replace("……", "…")
        kind, field = (f"`{word}`" if word else "" for word in (f.kind, f.field))
        yield f"| {f.what} | `guessproof {f.words}` | {kind} | {field} | {said} |"


if __name__ == "__main__":
    print(page(), end="")
