"""Making a release: charge, run, record, show.

Everything that can be wrong is found before the charge. After it, a failure of the engine gives one constant message,
and the charge stays.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from guessproof.choosing import Choice, attacker_of, choose
from guessproof.choosing.bias import paid_bounds
from guessproof.engines import Engine, open_engine
from guessproof.engines.base import reach_ahead
from guessproof.errors import (
    BudgetError,
    EngineError,
    InfeasibleError,
    InputError,
    LedgerError,
    ParameterError,
    RowsError,
    SourceError,
    UnsureError,
)
from guessproof.exposure import Attacker, Exposure
from guessproof.guarantee import Bell, Guarantee, bells_of_dicts, guarantee_to_dict, total_of_dicts, with_bells
from guessproof.ledger import Charged, Cost, Failed, Ledger, Protection, Recorded, Tally
from guessproof.ledger.book import canonical
from guessproof.plan import Plan, check_plan
from guessproof.plan.identity import first_requests, request_of
from guessproof.releasing.answer import Answer, add_noise, has_declared_rows
from guessproof.rounded import up
from guessproof.sql import (
    AnalyzedQuery,
    Asked,
    DeclaredColumn,
    DeclaredTable,
    RewrittenQuery,
    find_target,
    rewrite,
)

LOG = logging.getLogger("guessproof")  # names and ε, never a value, an error's text or a query


@contextmanager
def after_charge() -> Generator[None]:
    """Whatever fails in here failed after the ledger was charged, and says so."""
    try:
        yield
    except BaseException as error:
        error.charged = True  # pyright: ignore[reportAttributeAccessIssue]
        raise


def release(
    plan: Plan,
    *,
    choice: Choice | None = None,
    number: int | None = None,
    ledger: str | Path | Ledger | None = None,
    key: bytes | None = None,
    timeout: float | None = None,
    source: Any = None,
) -> Answer:
    """Charge the ledger, ask the table, add noise, record, and give the answer.

    The same request gives the recorded answer without a new charge. `choice` is one made for this very plan, where it
    is at hand already; `timeout` is in seconds. `number` says which of the plan's releases is meant, where it has
    several (`times`): it is part of the request. `source` is a frame that is at hand (pandas, polars,
    Arrow, a relation of DuckDB), read instead of what the plan names.
    """
    check_plan(plan)
    with _naming_budget(plan, choice, is_own=ledger is None):
        book = ledger if isinstance(ledger, Ledger) else Ledger(ledger or plan.ledger_path, key)
        number = which_release(plan, number)
        settled = _find_settled(book, plan, choice, number)
    if settled is not None:  # what was paid for is given whatever has become of the table
        return _show_again(book, settled)
    table = source_of(plan, source)
    with reach_ahead(table):
        choice = _rehearse(book, plan, choice)
        joined = plan.public_sources if choice.asked.joins else {}
        with naming_source(plan):
            opened = open_engine(table, plan.data.table, timeout=timeout, public=joined)
    with opened as engine:
        queries = prepare_queries(engine, choice)
        charged = _charge(book, plan, choice, number)
        if not isinstance(charged, Charged):  # somebody else was faster
            return _show_again(book, charged)
        with after_charge():
            answer = replace(_run(book, charged, engine, queries, choice), number=number)
    with after_charge():
        head = book.record(charged, answer.record())
        LOG.info("%r: answered and recorded", plan.data.name)
        return replace(answer, remaining=_remaining(book, plan), head=head)


@contextmanager
def naming_source(plan: Plan) -> Generator[None]:
    """A table that cannot be opened is named in the plan: the refusal says where."""
    try:
        yield
    except SourceError as error:
        raise error.at("data.source", plan.place.lines.find(("data", "source")), plan.place.file) from None


@contextmanager
def _naming_budget(plan: Plan, choice: Choice | None, *, is_own: bool) -> Generator[None]:
    """Where no budget is open, the refusal says the one that this plan needs."""
    try:
        yield
    except LedgerError as error:
        if not is_own:
            raise
        from guessproof.choosing.budgets import opening_line

        line = opening_line(plan, choice)
        if line is None:
            raise
        problem = str(error).partition(";")[0]
        said = f"{problem}; the owner of the data opens it, once, with this much or more: {line}"
        raise LedgerError(said) from None


def which_release(plan: Plan, number: int | None) -> int | None:
    """The number of a release, checked; None for a plan that is released once."""
    times = plan.release.times
    if number is None and times > 1:
        problem, remedy = f"this plan is released {times} times", f"say which one: --number 1 … {times}"
        raise ParameterError("number", None, problem, remedy)
    if number is not None and (isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= times):
        said = "once" if times == 1 else f"{times} times"
        remedy = "leave it out, or write times under [release]" if times == 1 else f"use one from 1 to {times}"
        raise ParameterError("number", number, f"this plan is released {said}", remedy)
    return None if times == 1 else number


# Before the charge -------------------------------------------------------------------------------------------------


def _find_settled(book: Ledger, plan: Plan, choice: Choice | None, number: int | None) -> Recorded | Failed | None:
    """What this request was given before, under whatever name."""
    if choice is not None and choice.plan is not plan:
        raise ParameterError("choice", "…", "was made for another plan", "choose for this plan, or leave it out")
    return book.settled(plan.data.name, _name_request(book, plan, choice, number))


def _show_again(book: Ledger, settled: Recorded | Failed) -> Answer:
    """The answer that was recorded, or the failure that would come again."""
    if isinstance(settled, Failed):
        raise RowsError
    LOG.info("%r: the recorded answer, without a charge", settled.name)
    return Answer.from_record(settled.answer, book.remaining(settled.name).to_dict(), settled.head)


def _rehearse(book: Ledger, plan: Plan, choice: Choice | None) -> Choice:
    """Choose, and do all that follows the charge on an empty table: what can fail for its own sake fails unpaid."""
    choice = replace(choice or choose(plan), data_dependent=book.scanned(plan.data.name))
    choice = replace(choice, paid_bounds=paid_bounds(plan, book))
    if not choice.feasible or not choice.noises:
        raise InfeasibleError(choice.explanation)
    canonical("answer", add_noise(choice, {}).record())
    return choice


def source_of(plan: Plan, frame: Any) -> Any:
    """What is read: the frame that is at hand, or what the plan names."""
    if isinstance(frame, (str, Path)):  # a prior may come from any public file but the table itself: the plan must know
        raise ParameterError("source", frame, "is the name of a file", "write it as source under [data] of the plan")
    return plan.source if frame is None else frame


def prepare_queries(engine: Engine, choice: Choice) -> dict[str, RewrittenQuery]:
    """What is run for each question, by its name; everything that can be wrong with it is found here."""
    found: dict[str, RewrittenQuery] = {}
    for part in choice.asked.parts:
        if part.query.joins:
            check_joins(engine, choice.plan, part.query)
        found[part.name] = prepare_query(engine, part.query, [choice.noises[p].grid.exponent for p in part.places])
    return found


def prepare_query(engine: Engine, question: AnalyzedQuery, exponents: Sequence[int]) -> RewrittenQuery:
    """The query to run, tried on an empty table first: nothing about it can fail later for its own sake."""
    check_rows(engine, question.declared)
    rewritten = rewrite(question, exponents, find_target(engine.dialect, list_types(engine, question)))
    engine.check(question.stored)
    for statement in rewritten.statements:
        engine.prepare(statement)
    return rewritten


def list_types(engine: Engine, question: AnalyzedQuery) -> Mapping[str, str]:
    """By which types the columns are stored that the query reads, those of public tables under the names it uses."""
    if not question.joins:
        return engine.types()
    from guessproof.releasing.joins import joined_types

    return joined_types(engine, question)


def check_joins(engine: Engine, plan: Plan, question: AnalyzedQuery) -> None:
    """What a plan declares of public tables is true, and they are those that the plan was understood with."""
    from guessproof.plan.beside import check_unchanged
    from guessproof.releasing.joins import check_matches

    check_unchanged(plan, engine)  # first: what another table holds is not even counted
    check_matches(engine, question)


def check_rows(engine: Engine, declared: DeclaredTable) -> None:
    """A row is a record only where rows are stored; of anything else the plan must say how many repeat one.

    Where a unit has several rows, all of them are bounded together, whatever they repeat.
    """
    if not engine.is_stored and declared.copies is None and declared.unit.identity is None:
        raise SourceError(
            f"{declared.table} is a view or the like (a foreign or an inherited table), and several of its rows may "
            "repeat one record; write copies = N under [data], where one record is in N of its rows at most, or ask "
            "the table behind it"
        )


# Charge ------------------------------------------------------------------------------------------------------------


def request_digest(plan: Plan, choice: Choice | None = None, number: int | None = None) -> str:
    """The same for the same plan and number; a choice that what is left decided on is a request of its own."""
    limited = choice is not None and choice.binding == "budget"
    return request_of(plan, choice.epsilon if choice is not None and limited else None, number)


def _name_request(book: Ledger, plan: Plan, choice: Choice | None, number: int | None) -> frozenset[str]:
    """The names under which this request may have been charged."""
    request = request_digest(plan, choice, number)
    earlier = _first_requests(book, plan) if request == request_of(plan, number=number) else frozenset[str]()
    return earlier | {request}


def _first_requests(book: Ledger, plan: Plan) -> frozenset[str]:
    return first_requests(plan, book.unsaid(plan.data.name, plan.asked))


def _charge(book: Ledger, plan: Plan, choice: Choice, number: int | None) -> Charged | Recorded | Failed:
    """Pay for what was chosen; where the budget is too small for it, say what it would allow."""
    guarantee = with_bells(guarantee_to_dict(choice.guarantee), _bells(plan, choice))
    describe = {
        "query": plan.asked,
        "protects": plan.data.protects,
        "noise": choice.noise_tables,
        "data_dependent": choice.data_dependent,
    }
    if number is not None:
        describe["number"] = f"{number} of {plan.release.times}"
    judge = make_judge(plan, book)
    cost = Cost(choice.exact_cost, choice.delta)
    request, aliases = request_digest(plan, choice, number), _name_request(book, plan, choice, number)
    protection = protection_of(choice.asked)
    try:
        made = book.charge(
            plan.data.name, request, cost, guarantee, describe, judge, protection=protection, aliases=aliases
        )
        LOG.info("%r: charged ε = %s", plan.data.name, up(choice.cost))
        return made
    except UnsureError as error:  # it counts as charged
        error.charged = True
        raise
    except BudgetError as error:
        raise _without_room(book, plan, choice, error) from None


def _without_room(book: Ledger, plan: Plan, choice: Choice, error: BudgetError) -> BudgetError:
    """The same refusal with the ways out: the owner allows more, or the plan takes what is left."""
    from guessproof.choosing.budgets import budget_in, fitting_epsilon, raising_line
    from guessproof.choosing.reasons import take_what_is_left

    left, raising = budget_in(book, plan), raising_line(plan, choice, book.standing(plan.data.name))
    said = "" if raising is None else f". The owner can raise it, by an entry that everybody sees: {raising}"
    if left.epsilon is not None and 0 < left.epsilon < choice.cost and not choice.targets:
        said += f". {take_what_is_left(fitting_epsilon(left))}"
    return BudgetError(f"{error}{said}")


def protection_of(asked: Asked) -> Protection:
    """What the ledger pins: the unit, the protected columns, and what the questions take to be known."""
    declared, read = asked.parts[0].query.declared, dict[str, DeclaredColumn]()
    for query in (part.query for part in asked.parts):
        own = query.declared
        read |= {name: own.column(name) for name in query.columns if not own.is_joined(name)}
    # An average over a public number of rows takes it as known who has a value.
    counted = {n for m in asked.measurements if m.divisor != 1 for n in m.contribution.columns | m.filter.columns}
    known = {name for name, column in read.items() if column.protected and (not column.missing or name in counted)}
    unit = declared.unit
    chosen = [] if unit.hides_presence else [name for name, column in declared.columns.items() if column.protected]
    return Protection(
        unit.name,
        tuple(sorted(chosen)) if unit.identity is None else (unit.identity,),
        tuple(sorted(name for name, column in read.items() if not column.protected)),
        tuple(sorted(name for name, column in read.items() if column.protected and name not in known)),
        tuple(sorted(known)),
        declared.linked,
        declared.copies or 1,
    )


def make_judge(plan: Plan, book: Ledger) -> Callable[[list[Tally]], float] | None:
    """The attacker's cumulative advantage over all releases; metrics add."""
    if book.standing(plan.data.name).budget.advantage is None:
        return None
    attacker = attacker_of(plan)
    if attacker is None:
        raise LedgerError(
            f"{plan.data.name} has a budget of the attacker's advantage, but the plan has no [attacker] with a limit; "
            "add one, so that it can be judged"
        )
    both = plan.limits.both

    def judge(given: list[Tally]) -> float:
        pure = [t for t in given if not t.guarantee.get("bells")]
        kept = None
        if pure:
            tables, times = [t.guarantee for t in pure], [t.times for t in pure]
            kept = total_of_dicts(tables, tuple(plan.columns), times, plan.data.linked_records)
            if len(pure) == len(given):
                return float(Exposure(attacker, kept).advantage(1.0, both).bound)
        return _judge_bells(plan, attacker, kept, given)

    return judge


def _judge_bells(plan: Plan, attacker: Attacker, pure: Guarantee | None, given: list[Tally]) -> float:
    """Where there is Gaussian noise among the releases: precisions add, and so do failures."""
    from guessproof.exposure.gaussian import judged_together

    bells = bells_of_dicts([t.guarantee for t in given], [t.times for t in given])
    try:
        return float(judged_together(attacker, pure, bells, plan.limits.both).bound)
    except InputError as error:
        raise LedgerError(
            f"{plan.data.name} limits the attacker's cumulative advantage, and this cannot be judged: {error}"
        ) from None


def _bells(plan: Plan, choice: Choice) -> tuple[Bell, ...]:
    """What Gaussian noise tells; nothing for other noise."""
    if choice.exposure is None or not any(n.mechanism.has_delta for n in choice.noises):
        return ()
    from guessproof.choosing.gaussian import bells_of

    return bells_of(plan, choice.noises)


# Run ---------------------------------------------------------------------------------------------------------------


def _run(
    book: Ledger, charged: Charged, engine: Engine, queries: Mapping[str, RewrittenQuery], choice: Choice
) -> Answer:
    """Run and add noise; whatever fails is noted in constant words, and the charge stays."""
    try:
        answer = _find_groups(engine, queries, choice) if choice.asked.finds_groups else _ask(engine, queries, choice)
    except Exception:  # any text of it might quote data
        LOG.warning("%r: the engine failed after the charge", charged.name)
        book.failed(charged)
        raise EngineError from None
    if answer is None:
        book.failed(charged, final=True)
        raise RowsError
    return answer


def _ask(engine: Engine, queries: Mapping[str, RewrittenQuery], choice: Choice) -> Answer | None:
    """Noise on what one state of the table adds up to; None where there are fewer rows than declared."""
    with engine.snapshot():
        found = {name: query.run(engine.aggregates) for name, query in queries.items()}
    complete = all(has_declared_rows(part.query, found[part.name]) for part in choice.asked.parts)
    return add_noise(choice, found) if complete else None


def _find_groups(engine: Engine, queries: Mapping[str, RewrittenQuery], choice: Choice) -> Answer:
    """Noise for every group of the table; those that are frequent are shown."""
    from guessproof.releasing.frequent import show_frequent

    (query,) = queries.values()
    return show_frequent(engine, query, choice)


def _remaining(book: Ledger, plan: Plan) -> dict[str, Any]:
    return book.remaining(plan.data.name).to_dict()
