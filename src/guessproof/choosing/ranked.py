"""Targets in ranks: for quantiles nothing else can be promised, and for other outputs they mean nothing."""

from __future__ import annotations

from collections.abc import Mapping

from guessproof.plan import Plan, PlanQuestion


def check_ranked(
    plan: Plan, question: PlanQuestion, ranked: list[str], targets: Mapping[str, tuple[float, float]]
) -> None:
    """A target in the answer's own unit cannot be promised for a quantile, and one in ranks for nothing else."""
    accuracy, key = question.accuracy, question.accuracy_key
    for name in ranked:
        own = accuracy.outputs.get(name)
        if (own is not None and own.error is not None) or (name not in targets and accuracy.error is not None):
            spot = (*key, name) if own is not None and own.error is not None else key
            problem = f"how far the values of {name} lie apart only the data tell, so its error is one of ranks"
            raise plan.error(spot, name, problem, "write ranks = 10 for it: so many ranks off at most")
    given = [n for n, target in accuracy.outputs.items() if target.ranks is not None and n not in ranked]
    if given or (accuracy.ranks is not None and not ranked):
        spot = (*key, given[0], "ranks") if given else (*key, "ranks")
        problem = "only MEDIAN and QUANTILE, as an output of their own, have an error in ranks"
        raise plan.error(spot, given[0] if given else accuracy.ranks, problem, "write within = … instead")
