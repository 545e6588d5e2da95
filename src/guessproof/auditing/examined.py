"""What needs no chance: the engine's own answers on every storage, against every promise that was made about them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from guessproof.auditing.bayes import belief_checks, certain_beliefs
from guessproof.auditing.crowds import crowd_check
from guessproof.auditing.moving import storage_check, together_check
from guessproof.auditing.neighbours import Answered, answered
from guessproof.auditing.result import Check
from guessproof.auditing.spelling import guarantee_of_both
from guessproof.auditing.stage import Progress, Stage


def examined(stage: Stage, rng: Any, progress: Progress) -> Iterator[Check]:
    """Storage, spelling, size, and where the prior is a list of values the exact belief."""
    choice = stage.choice
    played: list[Answered] = []
    for number, storage in enumerate(stage.storages):
        progress(number / len(stage.storages), "storing the tables in other ways")
        played += answered(stage.shop, storage, choice.noises, stage.protected, rng, f"storage{number}")
    yield storage_check(choice, played)
    yield together_check(choice, guarantee_of_both(choice), played)
    yield crowd_check(choice.noises, [act.scene for act in stage.acts], stage.shop)
    beliefs = (
        None if stage.attacker is None else certain_beliefs(choice, stage.attacker, stage.shop, stage.storages, rng)
    )
    if beliefs:
        yield from belief_checks(choice, beliefs)
