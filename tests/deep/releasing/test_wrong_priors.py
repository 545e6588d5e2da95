"""A prior that may be wrong, told alike by every command."""

from __future__ import annotations

from pathlib import Path

from releasing.test_short_budget import PLAN

import guessproof as gp
from guessproof.choosing import choose
from guessproof.meaning import meaning


def test_choose_and_explain_say_the_same_of_a_wrong_prior(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(f"{PLAN}epsilon = 20\n", encoding="utf-8")
    plan = gp.load_plan(tmp_path / "plan.toml")
    choice = choose(plan)
    factor = choice.to_dict()["largest_prior_factor"]
    assert factor > 1
    assert meaning(plan, choice.epsilon, choice=choice).to_dict()["largest_prior_factor"] == factor
    assert meaning(plan, choice.epsilon).to_dict()["largest_prior_factor"] == factor
