"""What `guessproof choose` prints of a choice: a few lines to decide by, or with `--full` all that is known."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from guessproof.choosing.bias import describe_bias
from guessproof.choosing.choice import BINDS, BOUNDS, given_truth
from guessproof.choosing.reasons import headline
from guessproof.cli.printing import belief_words, error_words, in_people, percent
from guessproof.cli.screen import Screen, styled
from guessproof.risk import as_declared
from guessproof.rounded import down, misjudged_words, near, percent_near, percent_up, points, up

if TYPE_CHECKING:
    from guessproof.calculate import Calculation
    from guessproof.choosing import Choice
    from guessproof.noise import Noise

MOST_ERRORS = 2  # outputs whose error is named in the short form


def show_choice(choice: Choice) -> None:
    """The ε, what an attacker gains, the error and the bias, and which limit binds, in a few lines."""
    console = Screen()
    said = headline(choice) if choice.feasible and choice.noises else choice.explanation
    console.print(said, style="bold green" if choice.feasible else "bold red")
    if not choice.feasible or not choice.noises:
        return
    for name, words in _short_lines(choice):
        line = Text.assemble((f"{name}: ", "bold"), words)
        console.print(line)


def _short_lines(choice: Choice) -> Iterator[tuple[str, str]]:
    if choice.plan.attacker is not None:
        yield "Attacker", _guesses(choice)
    yield from (("Risk", limit.how) for limit in choice.limits if limit.name == "risk")
    errors, ranks = choice.errors(), choice.rank_errors()
    for name in list(errors)[:MOST_ERRORS]:
        level = choice.targets.get(name, (0.0, 0.95))[1]
        within = error_words(errors[name], ranks.get(name), name in choice.timely)
        hint = "; rows_at_least under [data] tells it" if name in choice.lacking_rows else ""
        yield "Error", f"{name} {within}{'' if within.startswith('dep') else f' in {100 * level:g} % of answers'}{hint}"
    if len(errors) > MOST_ERRORS:
        yield "Error", f"of {len(errors) - MOST_ERRORS} more outputs: --full"
    yield "Bias", _bias(choice)
    yield "Limits", "; ".join(_limits(choice))
    if _trusts_prior(choice):
        without = (
            ""
            if choice.prior_free_epsilon is None
            else f" Safe whatever he believes: ε = {down(choice.prior_free_epsilon)}."
        )
        yield "Warning", f"if the assumed prior is wrong, this promise may fail.{without}"
    if choice.data_dependent:
        yield "Warning", "a scan of the records was made before: this choice may depend on the data."


def _guesses(choice: Choice) -> str:
    """What an attacker gains, in guesses: at the true value that is stated or easiest, for all releases together."""
    attacker, rise, after = choice.plan.attacker, choice.advantage, choice.posterior
    assert attacker is not None
    when = "" if choice.times == 1 else f" after all {choice.times} releases"
    gain = "" if rise is None else f"; his belief rises by at most {points(float(rise.bound))}{when}"
    if after is None:
        return f"no belief in “{attacker.goal}” beforehand is defined{gain}"
    before = choice.prior if choice.prior is not None else after.worst_prior
    bound = as_declared(float(after.bound), choice.plan.prior_factor)
    start, _, end = in_people(None if before is None else float(before), bound).rpartition(" → ")
    first = start.partition(" in ")[0] or "?"
    are = "is" if first == "1" else "are"
    right = f"of {end.partition(' in ')[2]} guesses at “{attacker.goal}” {first} {are} right "
    failing = "" if attacker.failure is None else f" (except with probability {attacker.failure:g})"
    where = "" if after.worst_at is None else f", if the true value is {choice.plan.truth_words(after.worst_at)}"
    return f"{right}before and at most {end.partition(' in ')[0]} after{where}{failing}{gain}"


def _bias(choice: Choice) -> str:
    if choice.bias_note is not None:
        return choice.bias_note.removeprefix("Bias from max_rows: ")
    if choice.bias:
        return "nothing is lost, by what is declared"
    return "none if all values lie within bounds" if BOUNDS in choice.assumptions else "none"


def _limits(choice: Choice) -> Iterator[str]:
    for limit in choice.limits:
        sign, shown = ("≤", down) if limit.side == "at most" else ("≥", up)
        binds = " (decides)" if limit.name == choice.binding else ""
        endless = limit.epsilon == float("inf")
        yield f"{limit.name} none{binds}" if endless else f"{limit.name} ε {sign} {shown(limit.epsilon)}{binds}"


def _trusts_prior(choice: Choice) -> bool:
    """Whether ε is so near the attacker's limit that a wrong prior breaks it."""
    attacker = choice.plan.attacker
    if attacker is None or attacker.prior_factor > 1 or choice.needs_no_prior or choice.posterior is None:
        return False
    return any(b.name == "attacker" and choice.epsilon >= (1 - BINDS) * b.epsilon for b in choice.limits)


def show_full_choice(choice: Choice) -> None:
    """The decision, every bound, what the attacker learns, and what would help."""
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
    if choice.bias_note is not None:
        console.print(f"• {choice.bias_note}.", style="yellow")
    few = 1 + choice.asked.finds_groups + (data.copies is not None) + (data.linked_records > 1)
    for assumption in choice.assumptions[:few]:
        console.print(f"• {assumption}", style="dim")
    if choice.data_dependent:
        console.print("• A scan of the records was made before: this choice may depend on the data.", style="yellow")
    console.print()


def _show_bounds(console: Screen, choice: Choice) -> None:
    table = Table(title=f"Bounds on ε (changing one {choice.plan.unit.noun})", title_justify="left")
    for column, justify in (("from", "left"), ("", "left"), ("ε", "right"), ("because", "left")):
        table.add_column(column, justify=justify)  # pyright: ignore[reportArgumentType]
    for bound in choice.limits:
        shown = (down if bound.side == "at most" else up)(bound.epsilon)
        table.add_row(bound.name, bound.side, shown, bound.how)
    console.print(table)


def _show_consequences(console: Screen, choice: Choice) -> None:
    table = Table(show_header=False)
    rows: list[tuple[str, str | Text]] = [("ε", styled(choice.shown_epsilon, "bold"))]
    after = "" if choice.times == 1 else f" all {choice.times} releases"
    if choice.times > 1:
        rows = [("ε of each release", rows[0][1]), (f"ε of all {choice.times}", up(choice.cost_of_all))]
    if choice.epsilon_add_remove is not None:
        rows.append((f"ε for adding or removing a {choice.plan.unit.noun}", down(choice.epsilon_add_remove)))
    rows += [(f"ε per unit of {n}", down(e)) for n, e in choice.epsilon_per_unit.items() if e]
    for label, noise in zip(choice.labels, choice.noises, strict=True):
        rows.append((f"noise on {label}", noise_words(noise)))
    ranks = choice.rank_errors()
    for name, error in choice.errors().items():
        level = choice.targets.get(name, (0.0, 0.95))[1]
        within = error_words(error, ranks.get(name), name in choice.timely)
        if error is None and name in choice.lacking_rows:
            within += "; with a public rows_at_least under [data] it can be said"
        rows.append((f"{name}: {level:.0%} of answers within", within))
    if choice.bias:
        rows += [(f"{name}: bias from max_rows", said) for name, said in describe_bias(choice)]
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
    if choice.largest_prior_factor is not None:
        rows.append(("if the prior is wrong", misjudged_words(choice.largest_prior_factor)))
    rows.append(("ε if nothing is known of the attacker's beliefs", down(choice.prior_free_epsilon)))
    rows += misjudged_rows(choice)
    if choice.query_aware_epsilon is not None:
        rows.append(("largest ε of the profile, aware of this query", down(choice.query_aware_epsilon)))
    for what, value in rows:
        if value:
            table.add_row(what, value)
    console.print(table)


def misjudged_rows(choice: Choice | Calculation) -> list[tuple[str, str | Text]]:
    """What the limits would allow under other priors: a wrong one is the largest real risk."""
    return [
        ("largest ε if the prior were 25 % narrower", down(choice.narrower_prior_epsilon)),
        ("largest ε if it were 25 % wider", down(choice.wider_prior_epsilon)),
    ]


def _failure_rows(choice: Choice) -> list[tuple[str, str | Text]]:
    """How probable an answer that breaks the limits may be."""
    if choice.exposure is None or not choice.exposure.may_fail or choice.plan.attacker is None:
        return []
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
    word = "is enough" if not choice.feasible else "would still do"
    table = Table(title=f"One change at a time: what {word}", title_justify="left")
    for column in ("of the plan", "now", word):
        table.add_column(column)
    for change in sorted(choice.changes, key=lambda c: c.factor):
        table.add_row(change.what, change.now, change.then)
    console.print(table)


def noise_words(noise: Noise) -> str:
    """Which noise, and how much."""
    return f"{noise.name}, scale {near(noise.scale, 6)}{' ' * bool(noise.unit)}{noise.unit}"
