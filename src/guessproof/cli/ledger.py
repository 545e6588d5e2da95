"""`guessproof ledger open | show | verify`. Heavy rooms are imported inside the commands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from decimal import Decimal

    from guessproof.ledger import Account, Charge, Verdict

ledger_app = typer.Typer(
    name="ledger",
    help="The budget: set it once, see what was spent, check that nobody edited it.",
    epilog="Exit codes: 0 done, 2 a value that cannot be meant, 4 refused or no ledger, 6 verification failed.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

File = Annotated[str, typer.Option("--ledger", help="The ledger's file.")]
KeyFile = Annotated[
    str | None, typer.Option("--key-file", help="A file with the key of a sealed ledger; else $GUESSPROOF_LEDGER_KEY.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]

BAR = 30


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
    """Set the budget of one table, once. No plan and no command can raise it afterwards.

    Example: guessproof ledger open cafeteria --budget 1.0
    """
    from guessproof.ledger import Budget, Ledger, read_key

    limits = Budget(budget, delta, advantage)
    key = read_key(key_file)
    head = Ledger.create(ledger, name, limits, key).head
    if as_json:
        _json({"ledger": ledger, "name": name, "budget": limits.to_dict(), "sealed": key is not None, "head": head})
        return
    extra = "" if limits.advantage is None else f", cumulative advantage at most {limits.advantage}"
    typer.echo(f"Opened {name} in {ledger}: ε = {limits.epsilon}, δ = {limits.delta}{extra}.")
    typer.echo("This budget is set once; no plan and no command can raise it.")
    typer.echo(f"head {head}")
    typer.echo("Keep the head outside this machine: `guessproof ledger verify --head …` then shows what was cut off.")


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
    from guessproof.ledger import Ledger, read_key, verify

    key = read_key(key_file)
    verdict = verify(ledger, key=key)
    if not verdict.ok:
        _report(verdict, as_json=as_json)
        raise typer.Exit(6)
    book = Ledger(ledger, key)
    accounts = list(book.accounts().values()) if name is None else [book.account(name)]
    if as_json:
        names = [_account_json(account) for account in accounts]
        _json({"ledger": ledger, "sealed": verdict.sealed, "head": verdict.head, "names": names})
        return
    for account in accounts:
        _show_account(account)
    typer.echo(f"head {verdict.head}")


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


def _report(verdict: Verdict, *, as_json: bool) -> None:
    if as_json:
        _json(verdict.to_dict())
        return
    sealed = "sealed" if verdict.sealed else "not sealed"
    names = ", ".join(_clean(name) for name in verdict.names) or "no names"
    typer.echo(f"{verdict.path}: {verdict.entries} entries ({names}), {sealed}")
    typer.echo("checked:")
    for what in verdict.checked:
        typer.echo(f"  - {what}")
    for defect in verdict.defects:
        typer.echo(f"  ✗ {_clean(str(defect))}")
    for note in verdict.notes:
        typer.echo(f"  note: {note}")
    typer.echo(f"head {verdict.head}")
    found = f"{len(verdict.defects)} defect{'' if len(verdict.defects) == 1 else 's'} found"
    typer.echo("Everything that was checked fits." if verdict.ok else f"NOT VERIFIED: {found}.")


def _show_account(account: Account) -> None:
    from rich.console import Console
    from rich.table import Table

    budget, left = account.budget, account.left
    typer.echo(f"{account.name}, opened {_when(account.opened)}")
    _bar("ε", account.epsilon, budget.epsilon, left.epsilon)
    if budget.delta:
        _bar("δ", account.delta, budget.delta, left.delta)
    if budget.advantage is not None and left.advantage is not None:
        _bar("advantage", account.advantage, budget.advantage, left.advantage)
    charges = list(account.charges.values())
    if charges:
        table = Table()
        for title in ("entry", "when (UTC)", "ε", *(["δ"] if budget.delta else []), "became"):
            table.add_column(title, justify="right" if title in ("entry", "ε", "δ") else "left", no_wrap=True)
        table.add_column("on what", overflow="fold")
        for charge in charges:
            table.add_row(*_row(charge, delta=bool(budget.delta)))
        Console().print(table)
    if any(charge.outcome == "no answer" for charge in charges):
        typer.echo("NO ANSWER: that run died or is still at work. Its charge stays; asking again is charged again.")
    for note in account.notes:
        typer.echo(f"note {note.seq}, {_when(note.time)}{' (scan)' if note.scan else ''}: {_clean(note.text)}")


def _row(charge: Charge, *, delta: bool) -> list[Any]:
    from rich.text import Text

    from guessproof.ledger.amounts import shown

    style = {"answered": "green", "failed": "yellow"}.get(charge.outcome, "bold red")
    became = Text("NO ANSWER" if charge.outcome == "no answer" else charge.outcome, style)
    on_what = "\n".join(f"{key}: {_words(value)}" for key, value in charge.describe.items())
    amounts = [charge.cost.epsilon, *([charge.cost.delta] if delta else [])]
    paid = [shown(amount, up=True) for amount in amounts]
    return [str(charge.seq), _when(charge.time).removesuffix(" UTC"), *paid, became, Text(_clean(on_what, lines=True))]


def _bar(symbol: str, spent: Decimal, whole: Decimal, left: Decimal) -> None:
    """Never empty after a charge, never full while something is left."""
    import math

    from guessproof.ledger.amounts import shown

    filled = BAR if left <= 0 else min(BAR - 1, math.ceil(spent * BAR / whole))
    words = f"{shown(spent, up=True)} of {shown(whole, up=False)} spent, {shown(left, up=False)} left"
    typer.echo(f"{symbol:>9} {'█' * filled}{'░' * (BAR - filled)} {words}")


def _account_json(account: Account) -> dict[str, Any]:
    left = account.left
    limit = account.budget.advantage
    return {
        "name": account.name,
        "opened": account.opened,
        "budget": account.budget.to_dict(),
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
        "charges": [
            {
                "entry": charge.seq,
                "time": charge.time,
                **charge.cost.to_dict(),
                "advantage": None if charge.advantage is None else str(charge.advantage),
                "outcome": charge.outcome,
                "request": charge.request,
                "describe": charge.describe,
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


def _clean(text: str, *, lines: bool = False) -> str:
    """What a ledger says must not steer the terminal."""
    return "".join(c if c.isprintable() or (lines and c == "\n") else "�" for c in text)


def _json(table: dict[str, Any]) -> None:
    import json

    text = json.dumps(table, indent=2, ensure_ascii=False)
    typer.echo(text.encode("utf-8", "replace").decode())  # an edited ledger may hold what no terminal can show
