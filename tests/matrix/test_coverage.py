"""Stated errors hold: the truth lies within them as often as is said, by the noise that releases draw."""

from __future__ import annotations

from collections import defaultdict

from scipy.stats import binom

from guessproof.releasing.answer import Released
from matrix.project import Project, Truth, draw_answers, list_truths

DRAWS = 200
MANY = {"thousands": 4000, "frequent_visitors": 4000, "initials": 2000}  # draws that see noise 1.3 times as wide
CHANCE = 1e-9  # that one output fails although every error is as stated


def is_covered(number: Released, truths: Truth, place: int) -> bool:
    """Whether what is stated of a released number holds of the answer without noise."""
    nobody = (0,) * (place + 1)  # a declared group without rows
    truth = truths.get(tuple(map(str, number.group.values())), nobody)[place]
    if number.ranks is not None:
        assert number.value is not None
        beside = max(sum(value < number.value for value in truth), sum(value > number.value for value in truth))
        return beside - len(truth) / 2 <= number.ranks
    if number.value is not None and number.error is not None and abs(number.value - truth) > number.error:
        return False
    return (number.low is None or number.low <= truth) and (number.high is None or truth <= number.high)


def count_covered(project: Project, draws: int) -> dict[tuple[str, str], list[bool]]:
    """For each output of each question, whether each number that was drawn is within its error of the truth."""
    covered = defaultdict[tuple[str, str], list[bool]](list)
    outputs, truths = dict[str, list[str]](), dict[str, Truth]()
    for answer in draw_answers(draws):
        for number in answer.answers:
            question = number.question or ""
            if question not in truths:
                names = dict.fromkeys(other.name for other in answer.answers if (other.question or "") == question)
                outputs[question] = list(names)
                truths[question] = list_truths(project, len(number.group), question)
            if tuple(map(str, number.group.values())) in truths[question] or not answer.delta:
                place = outputs[question].index(number.name)
                covered[question, number.name].append(is_covered(number, truths[question], place))
    return covered


def test_the_truth_is_within_the_stated_error(project: Project) -> None:
    confidence = {row["name"]: row["confidence"] for row in project.document("release")["answers"]}
    draws = MANY.get(project.name, DRAWS)
    for (question, name), covered in count_covered(project, draws).items():
        assert len(covered) >= draws
        least = binom.ppf(CHANCE, len(covered), confidence[name])
        assert sum(covered) >= least, (question, name, sum(covered), len(covered))
