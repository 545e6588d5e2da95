"""`guessproof choose` and `guessproof explain`. Heavy rooms are imported inside the commands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from guessproof.cli.check import Strict, refuse_strictly, show_concerns
from guessproof.cli.printing import (
    AsJson,
    belief_words,
    command,
    error_words,
    percent,
    print_json,
    program,
    say,
)
from guessproof.rounded import (
    down,
    misjudged_words,
    near,
    percent_down,
    percent_up,
    round_places,
    spelled,
    up,
    up_grouped,
)

LARGEST_FACTOR = 1e15  # beyond, a power says more than digits

if TYPE_CHECKING:
    from rich.text import Text

    from guessproof.calculate import Calculation
    from guessproof.choosing import Choice
    from guessproof.choosing.budgets import BudgetLeft
    from guessproof.explain import Explanation
    from guessproof.meaning import Meaning
    from guessproof.plan import Plan


def choose(
    plan: Annotated[str | None, typer.Argument(help="A plan file; left out: a calculation without data.")] = None,
    prior: Annotated[
        list[str] | None,
        typer.Option(help="What the attacker believes: normal(20, 6.28), …; of several, each by name."),
    ] = None,
    goal: Annotated[str | None, typer.Option(help="Which guesses are correct: within 2, within 5%, exactly, …")] = None,
    advantage: Annotated[float | None, typer.Option(help="How far his belief may rise, as 0.05.")] = None,
    posterior: Annotated[float | None, typer.Option(help="How high his belief may get, as 0.3.")] = None,
    at: Annotated[str | None, typer.Option(help="The true value, or rent=700, loan=300; left out: the worst.")] = None,
    knows: Annotated[
        str | None, typer.Option(help="What he knows: an interval 10,40, values a,b, or a + b: 9,10.")
    ] = None,
    name: Annotated[str, typer.Option(help="The attribute's name.")] = "x",
    scale: Annotated[float, typer.Option(help="The unit of distance: |x − x'|/scale.")] = 1.0,
    bounds: Annotated[str | None, typer.Option(help="The column's declared range: 0,120.")] = None,
    both: Annotated[bool, typer.Option("--both", help="Belief may not fall by more than the limit either.")] = False,
    full: Annotated[bool, typer.Option("--full", help="Of a plan all that is known, not only a few lines.")] = False,
    strict: Strict = False,
    as_json: AsJson = False,
) -> None:
    """The ε that keeps every limit and meets every target of a plan, and why. Never opens the table.

    Example: guessproof choose plan.toml

    Without a plan, the largest ε for one attribute:

    Example: guessproof choose --prior "normal(20, 6.28)" --goal "within 2" --at 20 --advantage 0.05

    For a formula of several, or several goals, each prior with its name:

    Example: guessproof choose --prior "a: normal(7,2)" --prior "b: normal(3,1)" --goal "a + b within 1" --advantage 0.1
    """
    if plan is not None:
        given = (prior or None, goal, advantage, posterior, at, knows, bounds)
        if any(v is not None for v in given) or both or scale != 1.0 or name != "x":
            raise typer.BadParameter("a plan says all this itself; leave the options out")
        _choose_plan(plan, strict, full, as_json)
        return
    if not prior or goal is None:
        raise typer.BadParameter("name a plan file, or give --prior and --goal")
    if len(prior) > 1:
        if name != "x" or scale != 1.0 or bounds is not None:
            raise typer.BadParameter("--name, --scale and --bounds are of one attribute; leave them out beside several")
        _calculate_several(prior, goal, advantage, posterior, at, knows, both, as_json)
        return
    _calculate(
        prior=prior[0],
        goal=goal,
        advantage=advantage,
        posterior=posterior,
        at=at,
        knows=knows,
        name=name,
        scale=scale,
        bounds=bounds,
        both=both,
        as_json=as_json,
    )


def _choose_plan(path: str, strict: bool, full: bool, as_json: bool) -> None:
    from guessproof.checking import check
    from guessproof.choosing import choose as chosen
    from guessproof.choosing.budgets import budget_left
    from guessproof.cli.screen import Screen
    from guessproof.plan import load_plan

    plan = load_plan(path)
    left = budget_left(plan)
    with Screen(stderr=True).status("weighing limits and targets …"):
        choice = chosen(plan, remaining=left.epsilon, to_come=left.to_come, data_dependent=left.is_scanned)
    found = check(plan, opens=False, choice=choice)
    if as_json:
        print_json({**choice.to_dict(), "warnings": [concern.to_dict() for concern in found]})
    else:
        from guessproof.cli.choice import show_choice, show_full_choice

        (show_full_choice if full else show_choice)(choice)
        if not full:
            say(f"More: {command('choose', path, '--full')}")
        show_concerns(found, path, err=True)
        _show_next(path, choice if "budget" not in choice.binding else chosen(plan), left)
    refuse_strictly(found, strict)
    if not choice.feasible:
        raise typer.Exit(3)


def _show_next(path: str, choice: Choice, left: BudgetLeft) -> None:
    """What comes next, as a line that works: the budget that is missing, or the release."""
    from guessproof.choosing.budgets import room_line
    from guessproof.errors import LedgerError

    number = str(left.numbers[0] if left.numbers else 1)
    releasing = command("release", path, *(["--number", number] if choice.times > 1 else []))
    if not left.numbers:
        every = "This plan was" if choice.times == 1 else "All releases of this plan were"
        say(f"{every} answered before; shown again, for nothing, by: {releasing}")
        return
    try:
        line = room_line(choice.plan, choice)
    except LedgerError:  # one that does not open, or is sealed: the release says why
        return
    if line is not None:
        opens = line.startswith("guessproof ledger open")
        what = "opens the budget, once, with this much or more" if opens else "can raise the budget"
        say(f"The owner of the data {what}:")
        say(f"  {program()}{line.removeprefix('guessproof')}")
    if choice.feasible and choice.noises:
        say(f"{'Then' if line else 'Next'}: {releasing}")


def _calculate(
    prior: str,
    goal: str,
    advantage: float | None,
    posterior: float | None,
    at: str | None,
    knows: str | None,
    name: str,
    scale: float,
    bounds: str | None,
    both: bool,
    as_json: bool,
) -> None:
    from dataclasses import replace

    from guessproof.calculate import Limits, calculate
    from guessproof.cli.reading import read_goal, read_knowledge, read_pair, read_prior, read_value
    from guessproof.risk import Attack
    from guessproof.world import Attribute, PartlyKnown

    ends = None if bounds is None else read_pair("bounds", bounds)
    believed = read_prior(prior)
    if isinstance(believed, PartlyKnown) and ends is not None:  # which says nothing of the range
        believed = replace(believed, low=max(believed.low, ends[0]), high=min(believed.high, ends[1]))
    attribute = Attribute(name, prior=believed, scale=scale, bounds=ends)
    truth = None if at is None else {name: read_value(at, attribute)}
    known = None if knows is None else {name: read_knowledge(knows, attribute)}
    attack = Attack(read_goal(goal, attribute), at=truth, knows=known)
    choice = calculate(attack, Limits(advantage, posterior, both))
    print_json(choice.to_dict()) if as_json else _show_calculated(choice, [name])
    if not choice.feasible:
        raise typer.Exit(3)


def _calculate_several(
    priors: list[str],
    goal: str,
    advantage: float | None,
    posterior: float | None,
    at: str | None,
    knows: str | None,
    both: bool,
    as_json: bool,
) -> None:
    """The same for several attributes: a formula of them, or several goals."""
    from guessproof.calculate import Limits, calculate
    from guessproof.cli.reading import read_attributes, read_known_formula, read_values
    from guessproof.plan.goals import read_goal
    from guessproof.risk import Attack

    attributes = read_attributes(priors)
    truth = None if at is None else read_values(at, attributes)
    known = None if knows is None else read_known_formula(knows, attributes)
    attack = Attack(read_goal(goal).build(attributes), at=truth, knows=known, norm="l1")
    choice = calculate(attack, Limits(advantage, posterior, both))
    print_json(choice.to_dict()) if as_json else _show_calculated(choice, [a.name for a in attack.goal.attributes])
    if not choice.feasible:
        raise typer.Exit(3)


def _show_calculated(choice: Calculation, names: Sequence[str]) -> None:
    from rich.table import Table

    from guessproof.cli.choice import misjudged_rows
    from guessproof.cli.screen import Screen, styled

    console = Screen()
    if not choice.feasible:
        console.print(styled("No ε keeps this limit.", "bold red"), choice.explanation)
        return
    console.print(f"\n{choice.explanation}\n")
    table = Table(show_header=False)
    noisy = "a sum of this attribute" if len(names) == 1 else f"the sum of each of {', '.join(names)}"
    rows: list[tuple[str, str | Text]] = [
        ("ε per unit of distance", styled(down(choice.epsilon), "bold")),
        (f"Laplace noise on {noisy}, scale", near(choice.noise_scale, 6)),
        ("belief before", "" if choice.prior is None else f"{choice.prior:.2%}"),
        ("belief after, at most", percent(choice.belief)),
        ("advantage, at most", percent(choice.advantage)),
        ("ε if nothing is known but the bounds", down(choice.prior_free_epsilon)),
        *misjudged_rows(choice),
        ("if the prior is wrong", "" if choice.belief is None else misjudged_words(1.0)),  # ε leaves no room
    ]
    for what, value in rows:
        if value:
            table.add_row(what, value)
    console.print(table)
    worst = choice.advantage
    if worst is not None and worst.worst_at is not None:
        console.print(f"The most exposed true value is {_truth(worst.worst_at)} (prior {worst.worst_prior:.3g}).")


def _truth(at: Any) -> str:
    """A true value, or one for each name or formula, to the digits that people would say."""
    if isinstance(at, Mapping):
        return ", ".join(f"{name} = {_truth(value)}" for name, value in at.items())
    return f"{float(f'{at:.4g}'):,.10g}" if isinstance(at, float) else str(at)


def explain(
    plan: Annotated[str | None, typer.Argument(help="A plan file; left out: what ε means for any data.")] = None,
    epsilon: Annotated[
        float | None,
        typer.Option("--epsilon", "-e", help="The ε to put into words; left out: the one the plan chooses."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """What an ε means: odds, beliefs, error, and known deployments. With a plan, for its attacker and query.

    Example: guessproof explain --epsilon 1

    Example: guessproof explain plan.toml
    """
    if plan is None:
        if epsilon is None:
            raise typer.BadParameter("name a plan file, or give --epsilon")
        from guessproof.explain import explain as explained

        answer = explained(epsilon)
        print_json(answer.to_dict()) if as_json else _show_explanation(answer, spelled(epsilon))
        return
    from guessproof.cli.screen import Screen
    from guessproof.meaning import meaning
    from guessproof.plan import load_plan

    loaded = load_plan(plan)
    with Screen(stderr=True).status("asking what the attacker learns …"):
        choice = _chosen(loaded) if epsilon is None else None
        found = meaning(loaded, choice.epsilon if choice else float(epsilon or 0), choice=choice)
        shown = choice.shown_epsilon if choice else spelled(found.epsilon)
        _ = found.largest_prior_factor  # kept: printed below, and slow on some plans
    print_json(found.to_dict()) if as_json else _show_meaning(found, loaded, shown)


def _chosen(plan: Plan) -> Choice:
    """What the plan itself chooses, as `choose` does: within what is left of the budget."""
    from guessproof.choosing import choose as chosen
    from guessproof.choosing.budgets import budget_left
    from guessproof.errors import InfeasibleError

    left = budget_left(plan)
    choice = chosen(plan, remaining=left.epsilon, to_come=left.to_come, data_dependent=left.is_scanned)
    if not choice.feasible or not choice.noises:
        raise InfeasibleError(choice.explanation)
    return choice


def _show_meaning(found: Meaning, plan: Plan, epsilon: str) -> None:
    from rich.table import Table

    from guessproof.cli.choice import noise_words
    from guessproof.cli.screen import Screen

    console = Screen()
    often = "" if found.times == 1 else f", in each of {found.times} releases; beliefs are after all of them"
    table = Table(show_header=False, title=f"ε = {epsilon} for this plan{often}", title_justify="left")
    for label, noise in zip(found.labels, found.noises, strict=True):
        table.add_row(f"noise on {label}", noise_words(noise))
    for name, error in found.errors.items():
        table.add_row(
            f"{name}: answers usually within", error_words(error, found.rank_errors.get(name), name in found.timely)
        )
    if found.posterior is not None:
        told = belief_words(found.posterior, found.prior, plan.truth_words, plan.prior_factor)
        table.add_row("belief after, at most", told)
    if found.advantage is not None:
        table.add_row("advantage, at most", percent(found.advantage))
    if found.largest_prior_factor is not None:
        table.add_row("if the prior is wrong", misjudged_words(found.largest_prior_factor))
    words = found.words
    table.add_row("TPR at FPR 1 %, at most", percent_up(words.tpr(0.01), 2))
    table.add_row("membership advantage (TPR − FPR), at most", percent_up(words.advantage, 2))
    table.add_row("as Gaussian DP and zCDP", f"μ = {up(words.gdp)}, ρ = {up(words.zcdp)}")
    for limit in found.limits:
        verdict = "kept" if limit.kept else "broken"
        shown = f"ε {limit.side} {(down if limit.side == 'at most' else up)(limit.epsilon)}"
        shown = "no limit on ε" if limit.epsilon == float("inf") else shown
        table.add_row(f"{limit.name}: {shown}", f"{verdict}: {limit.how}", style="" if limit.kept else "red")
    console.print(table)
    _show_explanation(found.general, epsilon)


def _factor_words(answer: Explanation) -> str:
    """The factor e^ε, in full where it has a name."""
    return up_grouped(answer.odds_factor) if answer.odds_factor < LARGEST_FACTOR else f"e^{spelled(answer.epsilon)}"


def _show_explanation(answer: Explanation, epsilon: str) -> None:
    from rich.table import Table

    from guessproof.cli.screen import Screen

    console = Screen()
    console.print(
        f"\nAt ε = {epsilon} no output can multiply an attacker's odds on one person's value by "
        f"more than {_factor_words(answer)}. Whatever he believed before, his belief rises by at most "
        f"{percent_up(answer.worst_advantage, 1)} (most for a prior of {answer.worst_prior:.1%}).\n"
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
            percent_up(row.highest, 1),
            f"{row.prior * 1000:.0f} → {round_places(row.highest * 1000, 0, 'up')}",
            percent_down(row.lowest, 1),
            up(row.ratio, 3),
            up(row.ratio_add_remove, 3),
        )
    console.print(table)
    known = Table(title="Published deployments nearest to it (units differ)")
    for name in ("who", "what", "ε", "δ", "protects", "source"):
        known.add_column(name)
    for d in answer.deployments:
        known.add_row(d.who, d.what, f"{d.epsilon:g}", f"{d.delta:g}", d.protects, d.source)
    console.print(known)
