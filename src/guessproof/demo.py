"""The cafeteria story, in the terminal: how long did Alice eat, and how much may the average tell?

After Laud and Pankova's slides: a cafeteria publishes the average eating time of its mathematics students.
Somebody who knows all the other times would like to know Alice's, to within two minutes.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

import guessproof as gp
from guessproof.charts.beliefs import belief_curve, save_svg

ADVANTAGE = 0.05


def main(folder: str = "output") -> None:
    """Print the story and save its chart."""
    console = Console()
    time = gp.Attribute("time", prior=gp.normal(mean=20, sd=6.28))
    alice = gp.Attack(gp.within(time, 2), at={"time": 20})
    epsilon = alice.epsilon(advantage=ADVANTAGE)
    console.print("\n[bold]How long did Alice eat?[/bold]")
    console.print(
        "The cafeteria wants to publish the average eating time of its mathematics students. "
        "An attacker who knows everyone else's time wants Alice's, to within 2 minutes. "
        f"From public statistics (mean 20 minutes, standard deviation 6.28) he is right with probability "
        f"[bold]{alice.prior:.1%}[/bold], about 1 in {1 / alice.prior:.0f}.\n"
    )
    console.print(_beliefs(alice, epsilon))
    console.print(
        f"To let his belief rise by at most {ADVANTAGE:.0%}, "
        f"take [bold]ε = {_down(epsilon)} per minute[/bold] or less.\n"
        f"{alice.posterior(epsilon=epsilon).how.capitalize()}.\n"
    )
    console.print(_noise(epsilon))
    worst = gp.Attack(gp.within(time, 2))
    safest = worst.epsilon(advantage=ADVANTAGE)
    where = worst.advantage(epsilon=safest)
    unknown = gp.Attack(gp.within(gp.Attribute("time", prior=gp.unknown(0, 120)), 2)).epsilon(advantage=ADVANTAGE)
    console.print(
        f"Nobody else eats exactly 20 minutes. For the most exposed student (about {where.worst_at:.0f} minutes) "
        f"it takes ε = {_down(safest)}; without any statistics, only that times lie between 0 and 120 minutes, "
        f"ε = {_down(unknown)}.\n"
    )
    path = Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    chart = belief_curve(alice, epsilon, title="Alice's eating time, to within 2 minutes", unit="minute")
    save_svg(chart, str(path / "cafeteria.svg"))
    console.print(f"The chart is in [bold]{path / 'cafeteria.svg'}[/bold]\n")


def _down(epsilon: float) -> str:
    """Five digits, rounded to the private side."""
    return f"{math.floor(epsilon * 1e5) / 1e5:.5f}"


def _beliefs(alice: gp.Attack, chosen: float) -> Table:
    table = Table(title="What he believes after the worst possible answer")
    for name in ("ε per minute", "belief", "in words", "advantage", "status"):
        table.add_column(name, justify="left" if name in ("in words", "status") else "right")
    for epsilon in sorted([0.0, 0.01, 0.02, chosen, 0.1, 0.2, 0.5]):
        after, gain = alice.posterior(epsilon=epsilon), alice.advantage(epsilon=epsilon)
        belief = float(np.asarray(after.bound))
        style = "bold green" if epsilon == chosen else None
        words = f"about {round(100 * belief)} in 100"
        table.add_row(_down(epsilon), f"{belief:.2%}", words, f"{gain.bound:.2%}", after.status, style=style)
    return table


def _noise(epsilon: float) -> Table:
    """One minute of Alice's moves an average of n by 1/n, so Laplace noise of scale 1/(n·ε) gives ε per minute."""
    table = Table(title=f"The noise that follows (Laplace, ε = {_down(epsilon)} per minute)")
    for name in ("students in the average", "noise scale (minutes)", "95 % of answers are within (minutes)"):
        table.add_column(name, justify="right")
    for n in (3, 30, 120, 1000):
        scale = 1 / (n * epsilon)
        table.add_row(str(n), f"{scale:.3f}", f"± {scale * math.log(20):.2f}")
    return table


if __name__ == "__main__":
    main()
