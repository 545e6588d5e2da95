"""`guessproof ledger open | amend | show | verify | copy`. Heavy rooms are imported inside the commands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from guessproof.cli.printing import AsJson, print_json, say

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from decimal import Decimal

    from guessproof.ledger import Account, Charge, Verification
    from guessproof.mechanisms.words import OtherWords

ledger_app = typer.Typer(
    name="ledger",
    help="The budget: set it once, see what was spent, check that nobody edited it.",
    epilog="Exit codes: 0 done, 2 a value that cannot be meant, 4 refused or no ledger, 6 verification failed.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

File = Annotated[str, typer.Option("--ledger", help="The ledger's file, or env:NAME for a PostgreSQL database.")]
KeyFile = Annotated[
    str | None, typer.Option("--key-file", help="A file with the key of a sealed ledger; else $GUESSPROOF_LEDGER_KEY.")
]
BAR = 30
MOST_ANSWERS = 12  # of one release, in the table


@ledger_app.command("open")
def open_(
    name: Annotated[str, typer.Argument(help="What the plans call the data, as cafeteria.")],
    budget: Annotated[str, typer.Option(help="The ε that all releases may cost together, as 1.0.")],
    delta: Annotated[str, typer.Option(help="The δ that all releases may cost together, as 1e-6.")] = "0",
    advantage: Annotated[
        str | None, typer.Option(help="How far an attacker's belief may rise over all releases, as 0.1.")
    ] = None,
    ledger: File = "guessproof.ledger",
    key_file: KeyFile = None,
    as_json: AsJson = False,
) -> None:
    """Set the budget of one table, once. No plan can raise it afterwards.

    The first release pins what is protected. Only `ledger amend` adds to either, as an entry that everybody sees.

    Example: guessproof ledger open cafeteria --budget 1.0
    """
    from guessproof.ledger import Budget, Ledger, read_key

    limits = Budget(budget, delta, advantage)
    key = read_key(key_file)
    head = Ledger.create(ledger, name, limits, key).head
    if as_json:
        print_json(
            {"ledger": ledger, "name": name, "budget": limits.to_dict(), "sealed": key is not None, "head": head}
        )
        return
    extra = "" if limits.advantage is None else f", cumulative advantage at most {limits.advantage}"
    say(f"Opened {name} in {ledger}: ε = {limits.epsilon}, δ = {limits.delta}{extra}.")
    say("This budget is set once; no plan can raise it.")
    say(f"head {head}")
    say("Keep the head outside this machine: `guessproof ledger verify --head …` then shows what was cut off.")


@ledger_app.command()
def amend(
    name: Annotated[str, typer.Argument(help="What the plans call the data, as cafeteria.")],
    protect: Annotated[
        list[str] | None, typer.Option(help="A column to protect from now on, as salary; may be given several times.")
    ] = None,
    budget: Annotated[str | None, typer.Option(help="A larger ε for all releases together, as 2.0.")] = None,
    delta: Annotated[str | None, typer.Option(help="A larger δ for all releases together.")] = None,
    advantage: Annotated[
        str | None, typer.Option(help="A larger limit on an attacker's rise over all releases.")
    ] = None,
    ledger: File = "guessproof.ledger",
    key_file: KeyFile = None,
    as_json: AsJson = False,
) -> None:
    """The owner's: protect more columns, or allow a larger budget. A visible entry; nothing is ever taken back.

    A column that a release has read as public cannot be protected under the same name any more.

    Example: guessproof ledger amend cafeteria --protect salary
    """
    from guessproof.ledger import Budget, Ledger, read_key

    book = Ledger(ledger, read_key(key_file))
    now = book.account(name).budget
    limits = None
    if not (budget is None and delta is None and advantage is None):
        limits = Budget(budget or now.epsilon, now.delta if delta is None else delta, advantage or now.advantage)
    head = book.amend(name, protect=protect or (), budget=limits)
    account = book.account(name)
    if as_json:
        print_json(
            {"ledger": ledger, "name": name, **_pins_json(account), "budget": account.budget.to_dict(), "head": head}
        )
        return
    for column in protect or ():
        say(f"{name} protects {column} from now on; a plan that does not is refused.")
    if limits is not None:
        say(f"The budget of {name} is now ε = {limits.epsilon}, δ = {limits.delta}.")
    say(f"head {head}")


@ledger_app.command()
def show(
    name: Annotated[str | None, typer.Argument(help="One name; left out: all.")] = None,
    ledger: File = "guessproof.ledger",
    key_file: KeyFile = None,
    as_json: AsJson = False,
) -> None:
    """What was spent, on what, when, and what is left.

    Example: guessproof ledger show cafeteria
    """
    from pathlib import Path

    from guessproof.ledger import Ledger, read_key, verify
    from guessproof.ledger.session import refuse_defects

    key = read_key(key_file)
    verdict = verify(ledger, key=key)
    if not verdict.ok and not as_json:
        _report(verdict, as_json=False)
    refuse_defects(Path(ledger), verdict.defects)
    book = Ledger(ledger, key)
    accounts = list(book.accounts().values()) if name is None else [book.account(name)]
    if as_json:
        names = [_account_json(account) for account in accounts]
        print_json({"ledger": ledger, "sealed": verdict.sealed, "head": verdict.head, "names": names})
        return
    for account in accounts:
        _show_account(account)
    say(f"head {verdict.head}")


@ledger_app.command()
def verify(
    ledger: File = "guessproof.ledger",
    head: Annotated[str | None, typer.Option(help="A head that was printed before: is it still there?")] = None,
    key_file: KeyFile = None,
    as_json: AsJson = False,
) -> None:
    """Check that nobody edited the ledger. With a remembered head, also that nothing was cut off or rolled back.

    Example: guessproof ledger verify --head 5f0c…
    """
    from guessproof.ledger import read_key
    from guessproof.ledger import verify as verified

    verdict = verified(ledger, head, read_key(key_file))
    _report(verdict, as_json=as_json)
    if not verdict.ok:
        raise typer.Exit(6)


@ledger_app.command("copy")
def copy_(
    source: Annotated[str, typer.Argument(metavar="FROM", help="The ledger to copy: a file, or env:NAME.")],
    target: Annotated[str, typer.Argument(metavar="TO", help="Where there is none yet: a file, or env:NAME.")],
    key_file: KeyFile = None,
    as_json: AsJson = False,
) -> None:
    """Copy a whole ledger from a file to a server or back, verified, with the same head. Never writes over one.

    Use only one of the two afterwards: each would allow the whole budget.

    Example: guessproof ledger copy guessproof.ledger env:LEDGER_URL
    """
    from guessproof.ledger import copy_ledger, read_key

    made = copy_ledger(source, target, read_key(key_file))
    if as_json:
        print_json({"from": source, "to": target, "entries": made.entries, "head": made.head})
        return
    say(f"Copied {made.entries} entries from {source} to {target}, verified.")
    say(f"Use only {target} from now on: each copy would allow the whole budget.")
    say(f"head {made.head}")


def _report(verdict: Verification, *, as_json: bool) -> None:
    if as_json:
        print_json(verdict.to_dict())
        return
    sealed = "sealed" if verdict.sealed else "not sealed"
    names = ", ".join(verdict.names) or "no names"
    say(f"{verdict.path}: {verdict.entries} entries ({names}), {sealed}")
    say("checked:")
    for what in verdict.checked:
        say(f"  - {what}")
    for defect in verdict.defects:
        say(f"  ✗ {defect}")
    for note in verdict.notes:
        say(f"  note: {note}")
    say(f"head {verdict.head}")
    found = f"{len(verdict.defects)} defect{'' if len(verdict.defects) == 1 else 's'} found"
    say("Everything that was checked fits." if verdict.ok else f"NOT VERIFIED: {found}.")


def _show_account(account: Account) -> None:
    from rich.table import Table

    from guessproof.cli.screen import Screen

    budget, left = account.budget, account.left
    say(f"{account.name}, opened {_when(account.opened)}")
    _bar("ε", account.epsilon, budget.epsilon, left.epsilon)
    if budget.delta:
        _bar("δ", account.delta, budget.delta, left.delta)
    if budget.advantage is not None and left.advantage is not None:
        _bar("advantage", account.advantage, budget.advantage, left.advantage)
    if account.pins.unit is not None or account.pins.protected:
        typer.echo(f"protected {_clean(_protected(account))}")
    charges = list(account.charges.values())
    if charges:
        table = Table()
        for title in ("entry", "when (UTC)", "ε", *(["δ"] if budget.delta else []), "became"):
            table.add_column(title, justify="right" if title in ("entry", "ε", "δ") else "left", no_wrap=True)
        table.add_column("on what", overflow="fold")
        for charge in reversed(charges):  # what was done last is what one looks for
            table.add_row(*_row(charge, delta=bool(budget.delta)))
        Screen().print(table)
    if charges:
        _show_words(charges)
    if any(charge.outcome == "no answer" for charge in charges):
        say("NO ANSWER: that run died or is still at work. Its charge stays; asking again is charged again.")
    for amendment in account.amendments:
        raised = "" if amendment.budget is None else f" budget ε = {amendment.budget.epsilon}"
        more = f" protects {', '.join(amendment.protect)}" if amendment.protect else ""
        say(f"amended {amendment.seq}, {_when(amendment.time)}:{more}{raised}")
    for note in account.notes:
        say(f"note {note.seq}, {_when(note.time)}{' (scan)' if note.scan else ''}: {note.text}")


def _other_words(charges: Iterable[Charge]) -> OtherWords | None:
    """Everything under one name in the words of hypothesis testing, where each charge describes its noise."""
    from guessproof.mechanisms.words import words_of_charges

    described = [(charge.describe.get("noise", ()), float(charge.cost.epsilon)) for charge in charges]
    return words_of_charges(described) if described and all(noise for noise, _ in described) else None


def _show_words(charges: list[Charge]) -> None:
    from guessproof.rounded import percent_up, up

    words = _other_words(charges)
    if words is None:
        return
    say(
        f"in other words: TPR at FPR 1 % at most {percent_up(words.tpr(0.01), 2)}, TPR − FPR at most "
        f"{percent_up(words.advantage, 2)}, μ-GDP with μ = {up(words.gdp)}, zCDP with ρ = {up(words.zcdp)}"
    )


def _row(charge: Charge, *, delta: bool) -> list[Any]:
    from rich.text import Text

    from guessproof.ledger.amounts import shown

    style = {"answered": "green", "failed": "yellow"}.get(charge.outcome, "bold red")
    became = Text("NO ANSWER" if charge.outcome == "no answer" else charge.outcome, style)
    on_what = "\n".join([*_described(charge.describe), *_answer(charge)])
    amounts = [charge.cost.epsilon, *([charge.cost.delta] if delta else [])]
    paid = [shown(amount, up=True) for amount in amounts]
    return [str(charge.seq), _when(charge.time).removesuffix(" UTC"), *paid, became, Text(_clean(on_what))]


def _answer(charge: Charge) -> list[str]:
    """What was paid for can be read here, whatever became of the run that asked for it."""
    rows: list[Any] = [row for row in (charge.answer or {}).get("answers", []) if isinstance(row, dict)]
    shown = [f"{' '.join([*map(str, r.get('group', {}).values()), str(r.get('name'))])} = {_number(r)}" for r in rows]
    more = [f"… and {len(shown) - MOST_ANSWERS} more; --json shows all"] if len(shown) > MOST_ANSWERS else []
    return [*shown[:MOST_ANSWERS], *more]


def _number(row: dict[str, Any]) -> str:
    """A released number with its error."""
    from guessproof.rounded import beside_error, margin

    value, error = row.get("time") or row.get("value"), row.get("error")
    known = error if isinstance(error, float) else None
    shown = beside_error(value, known) if isinstance(value, float) else str(value)
    return shown if not isinstance(error, float) else f"{shown} {margin(error)}"


def _described(describe: Mapping[str, Any]) -> list[str]:
    """What a charge was for: the query first, the noise in words."""
    noise = [each for each in describe.get("noise", ()) if isinstance(each, dict)]
    words = [" ".join([str(n.get("mechanism")), *_scale(n)]) for n in noise]
    kept = {k: v for k, v in describe.items() if k not in ("noise", "data_dependent", "protects")}
    first = [str(kept.pop("query"))] if "query" in kept else []
    marks = ["chosen after a scan of the records"] if describe.get("data_dependent") else []
    return [*first, *(f"{k}: {_words(v)}" for k, v in kept.items()), *dict.fromkeys(words), *marks]


def _scale(noise: Mapping[str, Any]) -> list[str]:
    from guessproof.rounded import near

    scale = noise.get("noise_scale")
    return [f"noise of scale {near(scale)}"] if isinstance(scale, float) else ["noise"]


def _protected(account: Account) -> str:
    pins = account.pins
    columns = ", ".join(sorted(pins.protected.values()))
    return f"{pins.unit or 'values'}{f': {columns}' if columns else ''}"


def _pins_json(account: Account) -> dict[str, Any]:
    pins = account.pins
    return {
        "protects": pins.unit,
        "protected": sorted(pins.protected.values()),
        "public": sorted(spelled for spelled, _ in pins.public.values()) if pins.is_complete else [],
    }


def _bar(symbol: str, spent: Decimal, whole: Decimal, left: Decimal) -> None:
    """Never empty after a charge, never full while something is left."""

    import math

    from guessproof.ledger.amounts import rest_of, shown

    filled = BAR if left <= 0 else min(BAR - 1, math.ceil(spent * BAR / whole))
    words = f"{shown(spent, up=True)} of {shown(whole, up=False)} spent, {rest_of(left, whole)} left"
    say(f"{symbol:>9} {'█' * filled}{'░' * (BAR - filled)} {words}")


def _account_json(account: Account) -> dict[str, Any]:
    left, words = account.left, _other_words(account.charges.values())
    limit = account.budget.advantage
    return {
        "name": account.name,
        "opened": account.opened,
        "budget": account.budget.to_dict(),
        **_pins_json(account),
        "amendments": [
            {
                "entry": amendment.seq,
                "time": amendment.time,
                "protect": list(amendment.protect),
                "budget": None if amendment.budget is None else amendment.budget.to_dict(),
            }
            for amendment in account.amendments
        ],
        "spent": {
            "epsilon": str(account.epsilon),
            "delta": str(account.delta),
            "advantage": None if limit is None else str(account.advantage),
        },
        "left": {
            "epsilon": str(left.epsilon),
            "delta": str(left.delta),
            "advantage": None if left.advantage is None else str(left.advantage),
        },
        "other_words": None if words is None else words.to_dict(),
        "charges": [
            {
                "entry": charge.seq,
                "time": charge.time,
                **charge.cost.to_dict(),
                "advantage": None if charge.advantage is None else str(charge.advantage),
                "outcome": charge.outcome,
                "request": charge.request,
                "describe": charge.describe,
                "protection": None if charge.protection is None else charge.protection.to_dict(),
                "guarantee": charge.guarantee,
                "answer": charge.answer,
            }
            for charge in account.charges.values()
        ],
        "notes": [
            {"entry": note.seq, "time": note.time, "scan": note.scan, "text": note.text} for note in account.notes
        ],
    }


def _when(time: str) -> str:
    return time.replace("T", " ").replace("Z", " UTC")


def _words(value: Any) -> str:
    import json

    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _clean(text: str) -> str:
    """What a ledger says, line by line."""
    from guessproof.plain import plain_lines

    return plain_lines(text)
