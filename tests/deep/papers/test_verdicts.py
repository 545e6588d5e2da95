"""Each verdict is the one expected, follows from its own numbers, and changes when they do."""

from __future__ import annotations

import math

import pytest

from guessproof.errors import ParameterError
from guessproof.papers import kazan_reiter, laud_pankova, laud_pankova_appendix, mugunthan, render, slides
from guessproof.papers import kazan_reiter_profiles as kp
from guessproof.papers import laud_pankova_examples as examples
from guessproof.papers.judges import laud_pankova_several
from guessproof.papers.judges.truth import salary
from guessproof.papers.verdict import judge_applied, judge_bounds, judge_epsilons, judge_print, judge_promise
from guessproof.papers.verdicts import JUDGED, WORDS, WORKS, Verdict, ids, verdict, verdicts

FIGURE_2, FIGURE_3 = kp.figure_2(), kp.figure_3()
TIGHT = [
    "lp-def",
    "lp-3.2",
    "lp-3.2-both",
    "lp-4.1-worst-prior",
    "lp-4.1-list",
    "lp-4.2-one-a",
    "lp-thm3",
    "lp-thm4",
    "lp-5-split",
    "lp-6.1-and",
    "lp-A.1-laplace",
    "lp-A.1-cauchy",
    "lp-B2-beta",
    "slides-worst-advantage",
    "slides-worst-epsilon",
    "slides-plot",
    "slides-25-30",
    "slides-stronger",
    "slides-weaker-advantage",
    "slides-weaker-independent",
    "kr-def1",
    "kr-def2",
    "kr-5-7",
    "kr-lemmas",
    "kr-thm1",
    "kr-thm2",
    "kr-17",
    "kr-cor2",
    "kr-lemma3",
    "kr-lemma4",
    "kr-45",
    "kr-thm3",
    "kr-12",
    "kr-14",
    "kr-16-known",
    "kr-table3",
    "kr-table4",
    "kr-fig1",
    "kr-fig2",
    "kr-fig3",
    "kr-37-40",
    "mxk-thm2",
    "mxk-fig1",
]
LOOSE = [
    "lp-eq1",
    "lp-4.1-uniform",
    "lp-4.1-corner",
    "lp-A-posterior",
    "lp-A.1-b",
    "lp-B-average",
    "lp-B2-delta",
    "lp-B2-lambert",
    "slides-main",
    "slides-simplified",
    "slides-or",
    "kr-8",
    "kr-42",
    "kr-lee-clifton-range",
    "kr-16-case",
    "mxk-thm1",
]
ELSEWHERE = ["kr-41"]
UNSOUND = [
    "lp-4.1-evaluated",
    "lp-4.1-corner-cut",
    "lp-4.1-partly-known",
    "lp-4.1-squeeze",
    "lp-4.2-norm",
    "lp-thm1",
    "lp-4.3-prior",
    "lp-thm2",
    "lp-6.1-or",
    "lp-6.2",
    "lp-6.2-worst",
    "lp-6.2-scale",
    "lp-6.3",
    "lp-6.3-scale",
    "lp-A-lambert",
    "lp-eq2",
    "lp-B1",
    "lp-B1-converse",
    "lp-B2-def7",
    "lp-B2-def6",
    "lp-B2-search",
    "slides-ring-integral",
    "slides-ring-step",
    "slides-ring-sum",
    "slides-and",
    "mxk-lemma1",
    "mxk-thm1-ceiling",
    "mxk-thm3",
]
MISPRINT = [
    "lp-3.2-chain",
    "lp-4.1-cdf",
    "lp-4.1-range",
    "lp-4.1-list-prior",
    "lp-thm1-independence",
    "lp-fig2a",
    "lp-fig2b",
    "lp-6.1-or-step",
    "lp-A-newton",
    "lp-A.1-scaling",
    "lp-B-success",
    "lp-B2-condition",
    "slides-sign",
    "slides-ring-index",
    "kr-2.1-variance",
    "kr-83",
    "kr-12-vacuous",
    "kr-16-root",
    "kr-16-first",
]
LISTS = (TIGHT, LOOSE, ELSEWHERE, UNSOUND, MISPRINT)
EXPECTED = {name: word for word, names in zip(WORDS, LISTS, strict=True) for name in names}


@pytest.fixture(scope="module")
def found() -> dict[str, Verdict]:
    return {one.id: one for one in verdicts()}


def test_every_result_has_the_verdict_that_was_worked_out(found: dict[str, Verdict]) -> None:
    assert {name: one.verdict for name, one in found.items()} == EXPECTED
    assert list(found) == ids()


def test_every_verdict_is_complete_and_fair(found: dict[str, Verdict]) -> None:
    versions = {work.key: work.version for work in WORKS}
    for one in found.values():
        assert one.version == versions[one.work]
        assert one.says
        assert one.truth
        assert one.right, f"{one.id} does not say what the work got right"
        assert one.figures, f"{one.id} has no figures"
        assert one.result
    assert "23 April 2023" in versions["[KR]"]
    assert "later versions not checked" in versions["[KR]"]


def test_loose_verdicts_state_a_factor(found: dict[str, Verdict]) -> None:
    for name in LOOSE:
        factors = [value for key, value in found[name].figures.items() if "factor" in key]
        assert factors, name
        assert max(factors) > 1 + 1e-6, name


def test_misprints_differ_from_their_correction(found: dict[str, Verdict]) -> None:
    for name in MISPRINT:
        assert len(set(found[name].figures.values())) > 1, name


DELIVERED = {
    "lp-4.1-corner-cut": ("advantage delivered", 0.02),
    "lp-4.1-partly-known": ("advantage delivered", 0.1),
    "lp-4.1-squeeze": ("advantage, attacker who knows", 0.1),
    "lp-4.2-norm": ("advantage delivered, ℓ2", 0.1),
    "lp-thm1": ("advantage delivered", 0.1),
    "lp-thm2": ("advantage delivered", 0.1),
    "lp-6.1-or": ("advantage delivered", 0.1),
    "lp-6.2": ("advantage delivered at 0.0038", 0.1),
    "lp-6.2-worst": ("largest advantage at the mean's ε", 0.1),
    "lp-6.2-scale": ("advantage delivered by the printed scale", 0.1),
    "lp-6.3": ("advantage delivered", 0.1),
    "lp-6.3-scale": ("advantage delivered by the printed scale", 0.1),
    "lp-A-lambert": ("advantage delivered", 0.01),
    "lp-B2-def7": ("failure", 0.05),
    "lp-B2-search": ("advantage for a far output", 0.1),
    "slides-ring-integral": ("advantage delivered", 0.1),
    "kr-41": ("posterior reached, exactly one missing", 1 / 3),
}


@pytest.mark.parametrize("name", DELIVERED)
def test_verdicts_that_say_so_break_a_promise(found: dict[str, Verdict], name: str) -> None:
    key, promised = DELIVERED[name]
    assert found[name].figures[key] > promised


FIGURES = {
    ("lp-eq1", "salaries: factor"): (3.55, 0.01),
    ("lp-4.1-evaluated", "published posterior"): (0.881, 5e-4),
    ("lp-4.1-evaluated", "exact posterior"): (0.953, 5e-4),
    ("lp-4.1-evaluated", "symmetric prior (salaries): published ε"): (0.00076, 5e-6),
    ("lp-4.1-partly-known", "printed worst p (q = 0.8, δ = 0.1)"): (-1.25, 1e-12),
    ("lp-4.3-prior", "published prior"): (0.012, 5e-4),
    ("lp-4.3-prior", "exact prior"): (0.541, 5e-4),
    ("lp-thm2", "printed prior of the OR"): (0.99, 1e-12),
    ("lp-thm2", "true prior of the OR"): (0.19, 1e-12),
    ("lp-4.1-partly-known", "zero of the printed slope (q = 0.8, δ = 0.1)"): (0.35, 1e-9),
    ("slides-25-30", "εR, two values"): (math.log(9 / 7), 1e-9),
    ("lp-6.1-and", "exact ε for this query"): (0.709, 5e-4),
    ("lp-6.1-or", "advantage delivered"): (0.10025, 5e-6),
    ("lp-A-lambert", "advantage delivered"): (0.071, 5e-4),
    ("lp-A.1-b", "factor, β = 0"): (1.755, 5e-4),
    ("lp-A.1-b", "factor, β = 0.1"): (2.29, 5e-3),
    ("slides-main", "published ε, salaries"): (0.00173, 5e-6),
    ("slides-main", "factor"): (1.28, 5e-3),
    ("slides-simplified", "published ε, salaries"): (0.000213, 1e-6),
    ("slides-simplified", "factor"): (10.4, 0.05),
    ("slides-ring-integral", "published ε"): (0.00317, 5e-6),
    ("slides-ring-integral", "advantage delivered"): (0.141, 5e-4),
    ("slides-ring-sum", "published posterior"): (0.414, 5e-4),
    ("slides-ring-sum", "exact posterior"): (0.538, 5e-4),
    ("slides-or", "published, normal"): (0.915, 5e-4),
    ("slides-or", "proven, normal"): (0.7078, 5e-5),
    ("kr-14", "ã/p̃ = r̃: exact"): (math.log(0.15 * 0.95 / (0.05 * 0.85)), 1e-9),
    ("kr-41", "posterior reached, exactly one missing"): (0.4286, 5e-5),
    ("kr-41", "published ε"): (math.log(1.5), 1e-12),
    ("mxk-thm3", "Laplace: delivered at 0.95"): (0.934, 5e-4),
    ("mxk-fig1", "threshold"): (0.921508, 5e-7),
}


@pytest.mark.parametrize(("name", "key"), FIGURES)
def test_figures_that_were_worked_out_beforehand(found: dict[str, Verdict], name: str, key: str) -> None:
    value, tolerance = FIGURES[name, key]
    assert found[name].figures[key] == pytest.approx(value, abs=tolerance)


# --- a wrong verdict fails: the word follows the numbers ---


def test_a_right_salary_example_would_not_be_called_unsound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examples, "SALARY_EPSILON", salary().epsilon(advantage=0.1))
    assert verdict("lp-6.2").verdict == "tight"
    monkeypatch.setattr(examples, "SALARY_EPSILON", 0.001)
    assert verdict("lp-6.2").verdict == "sound but loose"


def test_a_right_theorem_2_would_not_be_called_unsound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(laud_pankova_several.lp, "theorem_2", lambda *_: (0.05,))
    assert verdict("lp-thm2").verdict == "sound but loose"


def test_a_wrong_bound_would_be_called_unsound(monkeypatch: pytest.MonkeyPatch) -> None:
    right = slides.main_theorem_on_line
    monkeypatch.setattr(slides, "main_theorem_on_line", lambda *a: 0.9 * right(*a))
    assert verdict("slides-main").verdict == "unsound"


def test_a_right_root_would_not_be_called_a_misprint(monkeypatch: pytest.MonkeyPatch) -> None:
    from guessproof.papers.judges.kazan_reiter_profiles import corrected_fixed_value

    monkeypatch.setattr(kp, "theorem_6", corrected_fixed_value)
    assert verdict("kr-16-root").verdict == "tight"
    assert verdict("kr-16-case").verdict == "tight"


def test_a_wrong_table_would_not_be_called_tight(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = tuple(kp.row(r.parameter, r.epsilon + 0.02) for r in kp.table_3())
    monkeypatch.setattr(kp, "table_3", lambda: wrong)
    assert verdict("kr-table3").verdict != "tight"


def test_a_right_worst_prior_would_not_be_called_a_misprint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(laud_pankova, "worst_prior_for_epsilon", slides.worst_prior_for_epsilon)
    assert verdict("lp-4.1-list-prior").verdict == "tight"


def test_a_sufficient_theorem_3_would_not_be_called_unsound(monkeypatch: pytest.MonkeyPatch) -> None:
    assert verdict("mxk-thm3").verdict == "unsound"
    monkeypatch.setattr(mugunthan, "theorem_2_laplace", lambda *_: 0.1)
    assert verdict("mxk-thm2").verdict == "unsound"


def test_the_rules() -> None:
    assert judge_bounds([0.5], [0.5]) == "tight"
    assert judge_bounds([math.inf], [math.inf]) == "tight"
    assert judge_bounds([math.nan], [0.5]) == "unsound"
    assert judge_bounds([0.4999], [0.5]) == "unsound"
    assert judge_epsilons([math.inf], [2.0]) == "unsound"
    assert judge_epsilons([-1.0], [2.0]) == "sound but loose"
    assert judge_epsilons([math.nan], [2.0]) == "unsound"
    assert judge_promise(0.09, 0.1) == "sound but loose"
    assert judge_promise(0.11, 0.1) == "unsound"
    assert judge_print(math.nan, math.inf, math.inf) == "misprint"
    assert judge_print(1.0, 2.0, 3.0) == "unsound"


def test_an_unknown_id_is_refused() -> None:
    with pytest.raises(ParameterError, match="no result has this id"):
        verdict("lp-7")


def test_verdicts_are_frozen(found: dict[str, Verdict]) -> None:
    one = found["lp-3.2"]
    with pytest.raises(AttributeError):
        one.verdict = "unsound"  # type: ignore[misc]
    with pytest.raises(TypeError):
        one.figures["x"] = 1.0  # type: ignore[index]


# --- the entries on the search for a, on attackers, and on section 5 of [KR] follow their numbers too ---


@pytest.mark.parametrize(
    ("room", "function", "instead", "name", "word"),
    [
        (laud_pankova, "squeezed_epsilon", lambda *_: 0.01, "lp-4.1-squeeze", "sound but loose"),
        (laud_pankova, "half_widths", lambda a, ranges: [0.7 * a + 0.3] * 2, "lp-4.2-one-a", "sound but loose"),
        (laud_pankova, "theorem_1", lambda *_: 0.5, "lp-4.2-norm", "sound but loose"),
        (laud_pankova, "equal_split", lambda e, n, p: [0.2, *[0.4] * (n - 1)], "lp-5-split", "sound but loose"),
        (laud_pankova_appendix, "success_for_gain", lambda *_: 0.5, "lp-B1-converse", "sound but loose"),
        (slides, "guessing_advantage", lambda before, after: after / before - 1, "slides-25-30", "unsound"),
        (slides, "simplified", lambda p, e, r=1.0: p, "slides-weaker-independent", "unsound"),
        (slides, "simplified", lambda p, e, r=1.0: 0.9, "slides-weaker-advantage", "unsound"),
        (kp, "figure_2", lambda: {r: (0.3 / r, e) for r, (_, e) in FIGURE_2.items()}, "kr-fig2", "misprint"),
        (kp, "figure_2", lambda: {r: (p, 1.1 * e) for r, (p, e) in FIGURE_2.items()}, "kr-fig2", "unsound"),
        (kp, "figure_3", lambda: {a: (q, 0.9 * e) for a, (q, e) in FIGURE_3.items()}, "kr-fig3", "sound but loose"),
        (kazan_reiter, "equation_40", lambda n, a: 0.9 * n * a, "kr-37-40", "unsound"),
        (kazan_reiter, "LEE_CLIFTON_RANGE", (0.34, 1.26), "kr-lee-clifton-range", "misprint"),
        (kazan_reiter, "assumption_2", lambda _: 0.0, "kr-41", "unsound"),
        (kazan_reiter, "equation_41", lambda *_: 2.0, "kr-41", "unsound"),
        (kazan_reiter, "equation_41", lambda *_: 0.1, "kr-41", "sound but loose"),
    ],
)
def test_another_print_would_get_another_word(monkeypatch: pytest.MonkeyPatch, room, function, instead, name, word):
    monkeypatch.setattr(room, function, instead)
    assert verdict(name).verdict == word != EXPECTED[name]


def test_the_sentence_on_theorem_2_quotes_the_printed_prior() -> None:
    found = verdict("lp-thm2")
    assert "here 0.99 where the truth is 0.19" in found.truth
    assert found.figures["ε₀"] == math.inf
    assert laud_pankova.or_prior([1.0, 1.0], [0.1, 0.1]) == pytest.approx(0.99)


def test_41_is_exact_under_the_assumption_that_it_states(found: dict[str, Verdict]) -> None:
    one = found["kr-41"]
    assert one.figures["published ε"] == pytest.approx(one.figures["exact ε, others independent"], rel=1e-9)
    assert one.figures["distance from Assumption 2"] == pytest.approx(1)
    assert "Assumption 2" in one.truth
    assert "does not apply to" in one.truth


def test_a_result_carried_over() -> None:
    assert judge_applied("tight", False, "unsound") == "does not apply"
    assert judge_applied("sound but loose", False, "unsound") == "does not apply"
    assert judge_applied("unsound", False, "unsound") == "unsound"
    assert judge_applied("tight", True, "unsound") == "unsound"
    assert judge_applied("tight", False, "sound but loose") == "sound but loose"


def test_one_line_says_what_kind_of_documents_were_judged(capsys: pytest.CaptureFixture[str]) -> None:
    assert "\n" not in JUDGED
    for part in ("transcriptions", "manuscript [LP]", "slides", "draft of 23 April 2023 [KR]", "poster abstract [MXK]"):
        assert part in JUDGED
    assert render.run([]) == 0
    assert " ".join(JUDGED.split()) in " ".join(capsys.readouterr().out.split())
    assert JUDGED in render.page([])
