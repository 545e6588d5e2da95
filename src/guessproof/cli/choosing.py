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
    percent_near,
    print_json,
    program,
    say,
)
from guessproof.rounded import down, misjudged_words, percent_down, percent_up, round_places, up

if TYPE_CHECKING:
    from rich.text import Text

    from guessproof.calculate import Calculation
    from guessproof.choosing import Choice
    from guessproof.choosing.budgets import BudgetLeft
    from guessproof.cli.screen import Screen
    from guessproof.explain import Explanation
    from guessproof.meaning import Meaning
    from guessproof.noise import Noise
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
        _choose_plan(plan, strict, as_json)
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


def _choose_plan(path: str, strict: bool, as_json: bool) -> None:
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
        show_choice(choice)
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


def show_choice(choice: Choice) -> None:
    """The decision, the line of bounds, what the attacker learns, and what would help."""
    from guessproof.cli.screen import Screen

    console = Screen()
    console.print(f"\n{choice.explanation}\n", style="bold green" if choice.feasible else "bold red")
    _show_bounds(console, choice)
    if choice.feasible and choice.noises:
        _show_consequences(console, choice)
    if choice.changes:
        _show_changes(console, choice)
    for measurement in choice.asked.measurements:
        console.print(f"• {measurement.account}.", style="dim")
    for words in choice.exclusions:
        console.print(f"• {words}", style="dim")
    data = choice.plan.data
    few = 1 + choice.asked.finds_groups + (data.copies is not None) + (data.linked_records > 1)
    for assumption in choice.assumptions[:few]:
        console.print(f"• {assumption}", style="dim")
    if choice.data_dependent:
        console.print("• A scan of the records was made before: this choice may depend on the data.", style="yellow")
    console.print()


def _show_bounds(console: Screen, choice: Choice) -> None:
    from rich.table import Table

    table = Table(title=f"Bounds on ε (changing one {choice.plan.unit.noun})", title_justify="left")
    for column, justify in (("from", "left"), ("", "left"), ("ε", "right"), ("because", "left")):
        table.add_column(column, justify=justify)  # pyright: ignore[reportArgumentType]
    for bound in choice.limits:
        shown = (down if bound.side == "at most" else up)(bound.epsilon)
        table.add_row(bound.name, bound.side, "any" if shown == "inf" else shown, bound.how)
    console.print(table)


def _show_consequences(console: Screen, choice: Choice) -> None:
    from rich.table import Table

    from guessproof.cli.screen import styled

    table = Table(show_header=False)
    rows: list[tuple[str, str | Text]] = [("ε", styled(choice.shown_epsilon, "bold"))]
    after = "" if choice.times == 1 else f" all {choice.times} releases"
    if choice.times > 1:
        rows = [("ε of each release", rows[0][1]), (f"ε of all {choice.times}", up(choice.cost_of_all))]
    if choice.epsilon_add_remove is not None:
        rows.append((f"ε for adding or removing a {choice.plan.unit.noun}", down(choice.epsilon_add_remove)))
    rows += [(f"ε per unit of {n}", down(e)) for n, e in choice.epsilon_per_unit.items() if e]
    for label, noise in zip(choice.labels, choice.noises, strict=True):
        rows.append((f"noise on {label}", _noise_words(noise)))
    ranks = choice.rank_errors()
    for name, error in choice.errors().items():
        level = choice.targets.get(name, (0.0, 0.95))[1]
        within = error_words(error, ranks.get(name), name in choice.timely)
        if error is None and name in choice.lacking_rows:
            within += "; with a public rows_at_least under [data] it can be said"
        rows.append((f"{name}: {level:.0%} of answers within", within))
    if choice.bias:
        from guessproof.choosing.bias import describe_bias

        rows += [(f"{name}: cut off by max_rows, likely", describe_bias(lost)) for name, lost in choice.bias.items()]
    told = ""
    if choice.posterior is not None:
        told = belief_words(choice.posterior, choice.prior, choice.plan.truth_words, choice.plan.prior_factor)
        rows.append((f"belief after{after}, at most", told))
    if choice.advantage is not None:
        rows.append((f"advantage{after and ' after' + after}, at most", percent(choice.advantage)))
        worst = choice.advantage
        if worst.worst_at is not None and worst.worst_prior is not None:
            start = float(worst.worst_prior)
            rise = f"{percent_near(start)} → {percent_up(min(1.0, start + float(worst.bound)))}"
            if not str(told).startswith(rise):  # where belief is largest is often where it rises most
                rows.append(
                    ("it rises most", f"{rise}, where the true value is {choice.plan.truth_words(worst.worst_at)}")
                )
    rows += _failure_rows(choice)
    if choice.quick_prior_factor is not None:
        rows.append(("if the prior is wrong", misjudged_words(choice.quick_prior_factor)))
    rows.append(("ε if nothing is known of the attacker's beliefs", down(choice.prior_free_epsilon)))
    rows += _misjudged_rows(choice)
    if choice.query_aware_epsilon is not None:
        rows.append(("largest ε of the profile, aware of this query", down(choice.query_aware_epsilon)))
    for what, value in rows:
        if value:
            table.add_row(what, value)
    console.print(table)


def _misjudged_rows(choice: Choice | Calculation) -> list[tuple[str, str | Text]]:
    """What the limits would allow under other priors: a wrong one is the largest real risk."""
    return [
        ("largest ε if the prior were 25 % narrower", down(choice.narrower_prior_epsilon)),
        ("largest ε if it were 25 % wider", down(choice.wider_prior_epsilon)),
    ]


def _failure_rows(choice: Choice) -> list[tuple[str, str | Text]]:
    """How probable an answer that breaks the limits may be."""
    if choice.exposure is None or not choice.exposure.may_fail or choice.plan.attacker is None:
        return []
    from guessproof.choosing.choice import given_truth

    rows: list[tuple[str, str | Text]] = [
        (
            f"an answer that tells more, {given_truth(choice.plan)}",
            f"probability {choice.plan.attacker.failure:g} at most",
        )
    ]
    drawn = choice.failure_under_prior
    if drawn is not None:
        rows.append(("the same under the prior", f"probability {up(float(drawn.bound))} at most"))
    return rows


def _show_changes(console: Screen, choice: Choice) -> None:
    from rich.table import Table

    word = "is enough" if not choice.feasible else "would still do"
    table = Table(title=f"One change at a time: what {word}", title_justify="left")
    for column in ("of the plan", "now", word):
        table.add_column(column)
    for change in sorted(choice.changes, key=lambda c: c.factor):
        table.add_row(change.what, change.now, change.then)
    console.print(table)


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
    from guessproof.calculate import Limits, calculate
    from guessproof.cli.reading import read_goal, read_knowledge, read_pair, read_prior, read_value
    from guessproof.risk.attack import Attack
    from guessproof.world.attributes import Attribute

    ends = None if bounds is None else read_pair("bounds", bounds)
    attribute = Attribute(name, prior=read_prior(prior), scale=scale, bounds=ends)
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
    from guessproof.risk.attack import Attack

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
        (f"Laplace noise on {noisy}, scale", f"{choice.noise_scale:.6g}"),
        ("belief before", "" if choice.prior is None else f"{choice.prior:.2%}"),
        ("belief after, at most", percent(choice.belief)),
        ("advantage, at most", percent(choice.advantage)),
        ("ε if nothing is known but the bounds", down(choice.prior_free_epsilon)),
        *_misjudged_rows(choice),
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
        print_json(answer.to_dict()) if as_json else _show_explanation(answer, _typed(epsilon))
        return
    from guessproof.meaning import meaning
    from guessproof.plan import load_plan

    loaded = load_plan(plan)
    if epsilon is None:
        choice = _chosen(loaded)
        found, shown = meaning(loaded, choice.epsilon, choice=choice), choice.shown_epsilon
    else:
        found, shown = meaning(loaded, epsilon), _typed(epsilon)
    print_json(found.to_dict()) if as_json else _show_meaning(found, loaded, shown)


def _typed(epsilon: float) -> str:
    """An ε as it was typed: every digit of it."""
    return f"{epsilon:.15g}"


def _chosen(plan: Plan) -> Choice:
    """What the plan itself chooses."""
    from guessproof.choosing import choose as chosen
    from guessproof.errors import InfeasibleError

    choice = chosen(plan)
    if not choice.feasible or not choice.noises:
        raise InfeasibleError(choice.explanation)
    return choice


def _noise_words(noise: Noise) -> str:
    """Which noise, and how much."""
    return f"{noise.name}, scale {noise.scale:.6g}{' ' * bool(noise.unit)}{noise.unit}"


def _show_meaning(found: Meaning, plan: Plan, epsilon: str) -> None:
    from rich.table import Table

    from guessproof.cli.screen import Screen

    console = Screen()
    often = "" if found.times == 1 else f", in each of {found.times} releases; beliefs are after all of them"
    table = Table(show_header=False, title=f"ε = {epsilon} for this plan{often}", title_justify="left")
    for label, noise in zip(found.labels, found.noises, strict=True):
        table.add_row(f"noise on {label}", _noise_words(noise))
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
        shown = "any" if limit.epsilon == float("inf") else (down if limit.side == "at most" else up)(limit.epsilon)
        table.add_row(
            f"{limit.name}: ε {limit.side} {shown}", f"{verdict}: {limit.how}", style="" if limit.kept else "red"
        )
    console.print(table)
    _show_explanation(found.general, epsilon)


def _show_explanation(answer: Explanation, epsilon: str) -> None:
    from rich.table import Table

    from guessproof.cli.screen import Screen

    console = Screen()
    console.print(
        f"\nAt ε = {epsilon} no output can multiply an attacker's odds on one person's value by "
        f"more than {up(answer.odds_factor, 4)}. Whatever he believed before, his belief rises by at most "
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
