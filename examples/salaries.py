"""Salaries: how much noise does their sum need so that nobody's salary is guessed much better?

The example of Laud & Pankova §6.2: salaries around N(2000, 235.7²), a guess within 100 counts, and an attacker's
belief may rise by at most 0.1. One unit of one salary moves the sum by one, so Laplace noise of scale 1/ε gives ε
per unit, and a larger ε means less noise.
"""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

import guessproof as gp
from guessproof.risk.two_valued import worst_distance

LIMIT = 0.1


def main() -> None:
    salary = gp.Attribute("salary", prior=gp.normal(mean=2000, sd=235.7))
    typical = gp.Attack(gp.within(salary, 100), at={"salary": 2000})
    anyone = gp.Attack(gp.within(salary, 100))
    unknown = gp.Attack(gp.within(gp.Attribute("salary", prior=gp.unknown(1000, 3000)), 100))
    exact = typical.epsilon(advantage=LIMIT)

    table = Table(title=f"Largest ε per unit that keeps the advantage at {LIMIT:g}")
    for name in ("whom it protects", "ε", "noise scale", "true advantage at t = 2000"):
        table.add_column(name, justify="left" if name == "whom it protects" else "right")
    rows = [
        ("somebody who earns 2000", exact),
        (
            f"everybody; most exposed near {anyone.advantage(epsilon=exact).worst_at:.0f}",
            anyone.epsilon(advantage=LIMIT),
        ),
        ("everybody, whatever the distribution on 1000 … 3000", unknown.epsilon(advantage=LIMIT)),
        ("the same in one line: 4·artanh(0.1)/2000", float(worst_distance(LIMIT)) / 2000),
        ("nobody: ε = 0.0038 as printed in §6.2", 0.0038),
    ]
    for who, epsilon in rows:
        truth = typical.advantage(epsilon=epsilon)
        table.add_row(who, f"{epsilon:.7f}", f"{1 / epsilon:.1f}", f"{truth.bound:.4f} ({truth.status})")
    Console().print(table)


if __name__ == "__main__":
    main()
