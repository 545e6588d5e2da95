"""The commands. Heavy rooms are imported inside them, so that --help answers at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from guessproof.calculate import Choice
    from guessproof.explain import Explanation
    from guessproof.risk.bracket import Bracket

app = typer.Typer(
    name="guessproof",
    help="Choose the ε of differential privacy from what people can judge.",
    epilog="Exit codes: 0 done, 2 a value that cannot be meant, 3 no ε keeps the limit.",
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


@app.callback()
def _version(
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.", is_eager=True)] = False,
) -> None:
    if version:
        from guessproof import __version__

        typer.echo(__version__)
        raise typer.Exit


@app.command()
def explain(
    epsilon: Annotated[float, typer.Option("--epsilon", "-e", help="The ε to put into words.")],
    as_json: AsJson = False,
) -> None:
    """What an ε means: odds, beliefs, risk, and known deployments.

    Example: guessproof explain --epsilon 1
    """
    from guessproof.explain import explain as explained

    answer = explained(epsilon)
    _json(answer.to_dict()) if as_json else _show_explanation(answer)


@app.command()
def choose(
    prior: Annotated[str, typer.Option(help="What the attacker believes: normal(20, 6.28), uniform(0, 10), …")],
    goal: Annotated[str, typer.Option(help="What counts as a correct guess: within 2, within 5%, exactly, …")],
    advantage: Annotated[float | None, typer.Option(help="How far his belief may rise, as 0.05.")] = None,
    posterior: Annotated[float | None, typer.Option(help="How high his belief may get, as 0.3.")] = None,
    at: Annotated[str | None, typer.Option(help="The true value; left out: the worst one.")] = None,
    knows: Annotated[str | None, typer.Option(help="What he knows already: an interval 10,40 or values a,b.")] = None,
    name: Annotated[str, typer.Option(help="The attribute's name.")] = "x",
    scale: Annotated[float, typer.Option(help="The unit of distance: |x − x'|/scale.")] = 1.0,
    bounds: Annotated[str | None, typer.Option(help="The column's declared range: 0,120.")] = None,
    both: Annotated[bool, typer.Option("--both", help="Belief may not fall by more than the limit either.")] = False,
    as_json: AsJson = False,
) -> None:
    """The largest ε that keeps what an attacker could guess within limits. No data is read.

    Example: guessproof choose --prior "normal(20, 6.28)" --goal "within 2" --at 20 --advantage 0.05
    """
    from guessproof.calculate import Limits, calculate
    from guessproof.cli.reading import read_goal, read_prior, read_value
    from guessproof.risk.attack import Attack
    from guessproof.world.attributes import Attribute

    ends = None if bounds is None else _pair("bounds", bounds)
    attribute = Attribute(name, prior=read_prior(prior), scale=scale, bounds=ends)
    truth = None if at is None else {name: read_value(at, attribute)}
    known = None if knows is None else {name: _knowledge(knows, attribute)}
    attack = Attack(read_goal(goal, attribute), at=truth, knows=known)
    choice = calculate(attack, Limits(advantage, posterior, both))
    _json(choice.to_dict()) if as_json else _show_choice(choice)
    if not choice.feasible:
        raise typer.Exit(3)


@app.command()
def papers(
    name: Annotated[str | None, typer.Option("--id", help="One result in full, as lp-thm1.")] = None,
    as_json: AsJson = False,
) -> None:
    """Every result of the works guessproof stands on, recomputed: what it says, what is true.

    Example: guessproof papers --id lp-6.2
    """
    from rich.console import Console

    from guessproof.papers.render import show

    with Console(stderr=True).status("recomputing every published result …"):
        show(name=name, as_text=not as_json)


@app.command()
def demo(folder: Annotated[str, typer.Option(help="Where the chart is saved.")] = "output") -> None:
    """The cafeteria story: how long did Alice eat, and how much may the average tell?"""
    from guessproof.demo import main as story

    story(folder)


def main() -> None:
    """Run, with every refusal in one line and never a traceback."""
    import sys

    from guessproof.errors import GuessproofError, InfeasibleError

    try:
        app()
    except GuessproofError as error:
        typer.echo(f"guessproof: {error}", err=True)
        sys.exit(3 if isinstance(error, InfeasibleError) else 2)


def _pair(field: str, text: str) -> tuple[float, float]:
    from guessproof.errors import ParameterError

    try:
        low, high = (float(v) for v in text.split(","))
    except ValueError:
        raise ParameterError(field, text, "is not a pair of numbers", "write for instance 0,120") from None
    return low, high


def _knowledge(text: str, attribute: Any) -> Any:
    from guessproof.cli.reading import read_value
    from guessproof.world.finite import Finite

    if isinstance(attribute.prior, Finite):
        return {read_value(v, attribute) for v in text.split(",")}
    return _pair("knows", text)


def _json(table: dict[str, Any]) -> None:
    import json

    typer.echo(json.dumps(table, indent=2, ensure_ascii=False, default=str))


def _show_choice(choice: Choice) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    if not choice.feasible:
        console.print(f"[bold red]No ε keeps this limit.[/bold red] {choice.explanation}")
        return
    console.print(f"\n{choice.explanation}\n")
    table = Table(show_header=False)
    rows = [
        ("ε per unit of distance", f"[bold]{_down(choice.epsilon)}[/bold]"),
        ("Laplace noise on a sum of this attribute, scale", f"{choice.noise_scale:.6g}"),
        ("belief before", "" if choice.prior is None else f"{choice.prior:.2%}"),
        ("belief after, at most", _percent(choice.belief)),
        ("advantage, at most", _percent(choice.advantage)),
        ("ε if nothing is known but the bounds", _down(choice.prior_free_epsilon)),
        ("ε if the prior were 25 % narrower", _down(choice.narrower_prior_epsilon)),
        ("ε if the prior were 25 % wider", _down(choice.wider_prior_epsilon)),
    ]
    for what, value in rows:
        if value:
            table.add_row(what, value)
    console.print(table)
    worst = choice.advantage
    if worst is not None and worst.worst_at is not None:
        at = f"{worst.worst_at:.6g}" if isinstance(worst.worst_at, float) else str(worst.worst_at)
        console.print(f"The most exposed true value is {at} (prior {worst.worst_prior:.3g}).")


def _percent(bracket: Bracket | None) -> str:
    return "" if bracket is None else f"{float(bracket.bound):.2%} ({bracket.status})"


def _down(epsilon: float | None) -> str:
    """Six digits, rounded to the private side."""
    import math

    if epsilon is None:
        return ""
    if not math.isfinite(epsilon) or epsilon <= 0:
        return f"{epsilon:g}"
    digits = 5 - math.floor(math.log10(epsilon))
    shown = math.floor(epsilon * 10.0**digits) / 10.0**digits if abs(digits) < 300 else epsilon
    return f"{shown:.6g}"


def _show_explanation(answer: Explanation) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    console.print(
        f"\nAt [bold]ε = {answer.epsilon:g}[/bold] no output can multiply an attacker's odds on one person's value by "
        f"more than {answer.odds_factor:.4g}. Whatever he believed before, his belief rises by at most "
        f"{answer.worst_advantage:.1%} (most for a prior of {answer.worst_prior:.1%}).\n"
    )
    table = Table(title="What one release lets a belief become")
    for name in (
        "belief before",
        "after, at most",
        "in 1000",
        "after, at least",
        "× at most",
        "× if ε counts added or removed records",
    ):
        table.add_column(name, justify="right")
    for row in answer.rows:
        table.add_row(
            f"{row.prior:.1%}",
            f"{row.highest:.1%}",
            f"{row.prior * 1000:.0f} → {row.highest * 1000:.0f}",
            f"{row.lowest:.1%}",
            f"{row.ratio:.3g}",
            f"{row.ratio_add_remove:.3g}",
        )
    console.print(table)
    known = Table(title="Published deployments nearest to it (units differ)")
    for name in ("who", "what", "ε", "δ", "protects", "source"):
        known.add_column(name)
    for d in answer.deployments:
        known.add_row(d.who, d.what, f"{d.epsilon:g}", f"{d.delta:g}", d.protects, d.source)
    console.print(known)
