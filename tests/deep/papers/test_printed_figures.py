"""Every printed figure of the works, from the functions that hold their formulas as published."""

from __future__ import annotations

import math

import pytest
from reference.cases import golden

from guessproof.papers import kazan_reiter as kr
from guessproof.papers import kazan_reiter_profiles as kp
from guessproof.papers import laud_pankova as lp
from guessproof.papers import laud_pankova_appendix as ap
from guessproof.papers import laud_pankova_examples as examples
from guessproof.papers import mugunthan as mxk
from guessproof.papers import slides, verdict

LP, KR, MXK = (golden("papers")[name] for name in ("laud_pankova", "kazan_reiter", "mugunthan"))


def test_cats_and() -> None:
    figures = LP["6.1_and"]
    assert round(examples.cats_and_epsilon(), 3) == figures["printed"]
    assert examples.cats_and_epsilon() == pytest.approx(figures["value"], rel=1e-12)
    assert lp.discrete_epsilon(list(examples.cats_and().values()), 0.1) == examples.cats_and_epsilon()
    assert round(examples.laplace_scale(figures["printed"]), 2) == figures["laplace_scale"]
    assert sum(examples.cats_and().values()) == pytest.approx(1, rel=1e-12)


def test_cats_or() -> None:
    figures = LP["6.1_or"]
    assert round(examples.cats_or_epsilon(), 3) == figures["printed"]
    assert examples.cats_or_epsilon() == pytest.approx(figures["formula_at_0.525"], rel=1e-12)
    assert round(examples.laplace_scale(figures["printed"]), 2) == figures["laplace_scale"]
    found = verdict("lp-6.1-or").figures
    assert found["exact ε, both directions"] == pytest.approx(figures["both_directions"], rel=1e-9)
    assert found["exact ε, one direction"] == pytest.approx(figures["one_direction"], rel=1e-5)
    assert sorted({round(p, 3) for p in examples.cats_or().values()}) == [0.525, 0.55, 0.6, 0.625, 0.7]


def test_salaries() -> None:
    figures = LP["6.2"]
    assert round(examples.salary_logarithm(), 3) == figures["formula_as_printed_gives"]
    assert round(examples.SALARY_RESCALED / 200, 4) == figures["printed"] == examples.SALARY_EPSILON
    assert round(examples.laplace_scale(examples.SALARY_RESCALED), 1) == 1.3
    assert round(math.erf(200 / (examples.SALARY_SD * math.sqrt(2))), 1) == 0.6
    found = verdict("lp-6.2").figures
    assert found["exact prior"] == pytest.approx(figures["prior"], rel=1e-12)
    assert found["exact ε, t = 2000"] == pytest.approx(figures["exact_eps_t_2000"], rel=1e-5)
    assert found["exact ε, t = 2000"] <= figures["exact_eps_t_2000"]
    assert found["advantage delivered at 0.0038"] == pytest.approx(figures["true_advantage_at_0.0038"], abs=5e-5)
    assert found["advantage delivered at 0.767/200"] == pytest.approx(
        figures["true_advantage_at_0.767_over_200"], rel=1e-5
    )


def test_the_worst_salary() -> None:
    figures, found = LP["6.2"], verdict("lp-6.2-worst").figures
    assert found["exact ε, worst salary"] == pytest.approx(figures["exact_eps_worst_t"], rel=1e-5)
    assert found["worst salary's distance from the mean"] == pytest.approx(2000 - figures["worst_t_about"], abs=0.5)
    assert found["certified largest advantage at 0.999 of it"] <= 0.1
    assert found["largest advantage at the mean's ε"] > 0.115


def test_ships() -> None:
    figures = LP["6.3"]
    assert round(examples.ship_logarithm(), 1) == figures["formula_as_printed_gives"]
    assert round(examples.ship_ball(10), 2) == 0.22
    assert round(examples.ship_ball(20), 2) == 0.43
    assert pytest.approx(figures["printed"], abs=6e-4) == examples.SHIP_RESCALED / 20  # 0.0625, printed 0.063
    assert round(examples.laplace_scale(examples.SHIP_RESCALED), 1) == 0.8


def test_the_worst_prior() -> None:
    figures = LP["worst_prior_eta_0.1"]
    for worst in (lp.worst_prior, slides.worst_prior_for_advantage):
        assert worst(0.1) == figures["p"]
        assert lp.epsilon_lb(worst(0.1), 0.1) == pytest.approx(figures["eps_times_R"], rel=1e-12)


def test_other_printed_figures_of_laud_and_pankova() -> None:
    assert round(math.erf(3), 5) == 0.99998
    assert round(lp.normal_range(2000, 235.7)) == 3000
    assert round(verdict("lp-A.1-cauchy").figures["integral"], 2) == ap.CAUCHY_CONFIDENCE
    assert ap.average_advantage(0.25, 1.0) == 0.25


@pytest.mark.parametrize(("rows", "name"), [(kp.table_3(), "table3"), (kp.table_4(), "table4")])
def test_tables_3_and_4(rows: tuple[kp.Row, ...], name: str) -> None:
    for row, line in zip(rows, KR[name], strict=True):
        assert round(row.epsilon, 2) == line["eps"]
        assert round(row.standard_deviation, 2) == line["sd"]
        assert round(row.exact_probability, 2) == line["exact_probability"]


def test_the_naive_choices() -> None:
    for ratio, epsilon in KR["naive_half_log"].items():
        assert round(kp.constant_profile(float(ratio)), 2) == epsilon


def test_lee_and_clifton() -> None:
    assert kr.equation_41(4, 1 / 3) == pytest.approx(KR["lee_clifton_n4_a_third"], rel=1e-12)
    assert kr.equation_41(4, 1 / 3) == pytest.approx(math.log(3 / 2), rel=1e-12)


def test_equation_16() -> None:
    assert kp.equation_16(0.5, 0.25, 3) == pytest.approx(KR["eq16_as_printed_q0.5_a0.25_r3"], abs=5e-5)
    found = verdict("kr-16-root").figures
    assert found["exact"] == pytest.approx(KR["eq16_true_q0.5_a0.25_r3"], abs=5e-7)


def test_mugunthan() -> None:
    assert mxk.threshold() == pytest.approx(MXK["threshold_p"], abs=5e-7)
    assert mxk.ratio(mxk.threshold()) == pytest.approx(1, rel=1e-12)
    found = verdict("mxk-thm3").figures
    assert round(found["Laplace: delivered at 0.95"], 3) == MXK["thm3_confidence_delivered_at_0.95"]
    assert round(found["Gaussian: fails above"], 5) == MXK["thm3_gaussian_fails_above"]
