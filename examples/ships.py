"""The ships of Laud and Pankova, section 6.3: where is a ship, to within ten miles?

    python examples/ships.py [folder]

A ship's place is spread normally around the port. When the first ship arrives is to be released; the answer moves by at
most one unit per mile. The attacker wins if he places a ship within ten miles of where it is.
"""

from __future__ import annotations

import sys
from pathlib import Path

import guessproof as gp
from guessproof.charts.goals import goal_on_prior

SPREAD = 1250**0.5
PLACES = {"in the port": (0.0, 0.0), "at sea": (20.0, 30.0)}


def main(folder: Path) -> None:
    east = gp.Attribute("miles east", prior=gp.normal(mean=0, sd=SPREAD))
    north = gp.Attribute("miles north", prior=gp.normal(mean=0, sd=SPREAD))
    goal = gp.near((east, north), 10, by="l2")
    folder.mkdir(parents=True, exist_ok=True)
    for name, (x, y) in PLACES.items():
        attack = gp.Attack(goal, at={"miles east": x, "miles north": y}, norm="l2")
        epsilon = attack.epsilon(advantage=0.1)
        print(f"{name}: before, {attack.prior:.2%} would place the ship; with ε = {epsilon:.5f} per mile")
        print(f"  belief after the worst release: {attack.posterior(epsilon)}")
        path = folder / f"ships-{name.replace(' ', '-')}.png"
        goal_on_prior(attack, title=f"A ship {name}").save(str(path), scale_factor=2)
        print(f"  wrote {path}")

    port = gp.Attack(goal, at={"miles east": 0.0, "miles north": 0.0}, norm="l2")
    print(f"the published ε of 0.063 would allow an advantage of {port.advantage(0.063).attack:.3f}, not 0.1")

    box = gp.within(east, 10) & gp.within(north, 10)
    cross = gp.within(east, 10) | gp.within(north, 10)
    for name, shape in (("box", box), ("cross", cross)):
        attack = gp.Attack(shape, at={"miles east": 20.0, "miles north": 30.0})
        print(f"{name}: {attack.posterior(0.03, tolerance=0.02, time_limit=10)}")
        goal_on_prior(attack, title=f"The same ship, by a {name}").save(
            str(folder / f"ships-{name}.png"), scale_factor=2
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("charts"))
