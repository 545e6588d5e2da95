"""The cats of Laud and Pankova, section 6.1: how much may be said of a cat's sex and colour?

    python examples/cats.py [folder]

Each cat is male or female and has one of five colours. A count of all female tabbies is to be released. The attacker
wins if he guesses both (AND), or at least one (OR); his belief may not move by more than 0.1.
"""

from __future__ import annotations

import sys
from pathlib import Path

import guessproof as gp
from guessproof.charts.goals import goal_on_prior

COLOURS = {"red": 0.2, "white": 0.1, "tabby": 0.25, "black": 0.4, "tortoise": 0.05}


def main(folder: Path) -> None:
    sex = gp.Attribute("sex", prior=gp.categorical({"male": 0.5, "female": 0.5}))
    colour = gp.Attribute("colour", prior=gp.categorical(COLOURS))
    both, either = gp.exactly(sex) & gp.exactly(colour), gp.exactly(sex) | gp.exactly(colour)

    print("advantage at most 0.1, whatever cat it is")
    for goal, reading in ((both, "any"), (either, "any"), (either, "each")):
        attack = gp.Attack(goal, or_=reading)
        rising, moving = attack.epsilon(advantage=0.1), attack.epsilon(advantage=0.1, both=True)
        words = f"{goal!r}" + (", each alternative on its own" if reading == "each" else "")
        print(f"  {words}: ε = {rising:.6f}, or {moving:.6f} if belief may not fall either")
    worst = gp.Attack(either).advantage(epsilon=0.4, both=True)
    print(f"at ε = 0.4 the most exposed cat is {worst.worst_at}: {worst}")

    folder.mkdir(parents=True, exist_ok=True)
    cat = {"sex": "female", "colour": "tabby"}
    for name, goal in (("and", both), ("or", either)):
        path = folder / f"cats-{name}.png"
        goal_on_prior(gp.Attack(goal, at=cat), title="A female tabby").save(str(path), scale_factor=2)
        print(f"wrote {path}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("charts"))
