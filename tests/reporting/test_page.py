"""The page holds together: its parts in order, everything inside it, readable by people and machines."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable

import pytest

from guessproof.choosing import choose
from guessproof.mechanisms.words import other_words
from guessproof.plan import loads_plan
from guessproof.reporting import Report, report
from guessproof.reporting.page import PARTS, POLICY
from guessproof.reporting.shift import shown
from guessproof.rounded import percent_up

from .plans import CAFETERIA, FEASIBLE, PLANS
from .reading import Page

Make = Callable[[str], Report]


@pytest.fixture(scope="module", params=PLANS)  # a report is made once for all tests of it
def name(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found


@pytest.fixture
def page(name: str, made: Make) -> Page:
    return Page(made(name).html)


def test_the_parts_stand_in_order_under_headings_without_gaps(page: Page) -> None:
    assert [e.attributes["id"] for e in page.all("section")] == [name for name, _, _ in PARTS]
    levels = [int(e.tag[1]) for e in page.all("h1", "h2", "h3", "h4")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    assert all(e.text.strip() for e in page.all("h1", "h2", "h3", "section", "p", "li", "caption", "figcaption"))


def test_nothing_comes_from_outside(page: Page) -> None:
    assert page.one("meta", **{"http-equiv": "Content-Security-Policy"}).attributes["content"] == POLICY
    assert {"link", "img", "iframe", "object", "embed", "base", "form", "image", "use"}.isdisjoint(
        e.tag for e in page.elements
    )
    assert [e.attributes for e in page.all("script")] == [{"type": "application/json", "id": "guessproof"}]
    for element in page.elements:
        for name, value in element.attributes.items():
            assert not name.startswith("on"), (element.tag, name)
            if name in ("src", "href", "xlink:href", "srcset", "action", "data", "style"):
                assert (name, str(value)[:1]) == ("href", "#"), (element.tag, name, value)
            assert re.fullmatch(r"url\(#[\w-]+\)", str(value)) or "url(" not in str(value), (element.tag, name, value)
    style = page.one("style").text
    assert not re.search(r"url\(|@import|//", style)
    assert "://" not in re.sub(r"<script type.*?</script>", "", page.source, flags=re.S)


def test_every_reference_inside_the_page_leads_somewhere_and_ids_are_given_once(page: Page) -> None:
    ids = [str(e.attributes["id"]) for e in page.elements if "id" in e.attributes]
    assert len(ids) == len(set(ids))
    wanted = [str(e.attributes["href"])[1:] for e in page.all("a")]
    wanted += re.findall(r"url\(#([\w-]+)\)", page.source)
    wanted += [str(e.attributes["aria-labelledby"]) for e in page.all("section")]
    assert set(wanted) <= set(ids)


def test_it_can_be_read_without_seeing_it(page: Page) -> None:
    assert page.one("html").attributes["lang"] == "en"
    assert page.one("title").text.strip()
    assert page.one("meta", name="viewport")
    for picture in page.all("svg"):
        assert picture.attributes["role"] == "img"
        assert len(str(picture.attributes["aria-label"])) > 20
    for figure in page.all("figure"):
        assert figure.attributes["id"]
    assert len(page.all("figcaption")) == len(page.all("figure"))
    assert len(page.all("svg")) == 2 * len(page.all("figure"))
    for head in page.all("th"):
        assert head.attributes["scope"] in ("col", "row")
    assert len(page.all("caption")) == len(page.all("table"))


def test_no_number_went_wrong(page: Page) -> None:
    assert not re.search(r"\b(nan|NaN|inf|None|undefined)\b", page.visible)
    assert "NaN" not in page.source
    assert "RiskProfile" not in page.visible
    assert not re.search(r"  +[a-z]|\.\.(?!\.)| ,|;\.", page.one("header").text + page.part("board"))


def test_the_data_are_those_of_choose(name: str, made: Make) -> None:
    found = Page(made(name).html).data
    assert found == made(name).to_dict()
    if name != "hopeless":
        assert found["choice"] == choose(made(name).facts.plan).to_dict()
    assert found["releases"] == []
    assert found["head"] is None
    assert found["plan"]["data"]["name"] == made(name).facts.plan.data.name


WITHOUT_A_SHIFT = {"gaussian", "vacuous"}  # no attacker is asked about


@pytest.mark.parametrize("name", FEASIBLE, indirect=True)
def test_printed_risks_are_never_below_the_bound(name: str, made: Make) -> None:
    """Every percentage that is called “at most” is at least the bound that was proven."""
    facts = made(name).facts
    assert (facts.shift is None) == (name in WITHOUT_A_SHIFT)
    if facts.shift is None:
        return
    spoken = re.search(r"at most ([\d,]+) in ([\d,]+)", Page(made(name).html).part("plain"))
    assert spoken is not None
    told = int(spoken[1].replace(",", "")) / int(spoken[2].replace(",", ""))
    assert facts.shift.after - 1e-6 <= told < facts.shift.after + 0.011
    if facts.choice.advantage is not None:
        points = re.search(r"by at most ([\d.]+) percentage point", Page(made(name).html).one("header").text)
        assert points is not None
        assert float(points[1]) / 100 >= float(facts.choice.advantage.bound) - 1e-8


def test_the_cafeteria_is_told_in_odds(made: Make) -> None:
    page = Page(made("cafeteria").html)
    assert "(1 in 4)" in page.part("plain")
    assert re.search(
        r"Today 25 in 100 guesses at your time to within 2 would be right \(1 in 4\)\. After", page.part("plain")
    )
    assert "The limit that was set beforehand is 30 in 100 there." in page.part("plain")
    assert "ε that gives the accuracy asked for" in page.part("board")
    assert "Decided by" in page.part("board")
    assert "mean_time within 40 of the truth" in page.part("choice")
    assert "no budget is open" in page.part("releases")
    assert "somebody with another true value can be more exposed" in page.part("assumptions")
    assert "Laud & Pankova" in page.part("sources")
    assert "Kazan" not in page.part("sources")


def test_what_is_not_protected_depends_on_what_is(made: Make) -> None:
    values, records = Page(made("and").html), Page(made("covid").html)
    assert "Who is in the table, and how many rows it has" in values.part("unprotected")
    assert "Who is in the table" not in records.part("unprotected")
    for page in (values, records):
        for word in ("groups", "independent", "other ledgers", "time that an answer takes"):
            assert word in page.part("unprotected")
    assert "(Assumption 1)" in records.part("assumptions")
    assert "(Assumption 2)" in records.part("assumptions")
    assert "Assumption 1" not in values.part("assumptions")
    assert "Kazan & Reiter" in records.part("sources")


def test_an_unknown_prior_is_not_told_as_knowledge(made: Make) -> None:
    page = Page(made("unknown").html)
    assert "Suppose that today 45 in 100 guesses at your salary" in page.part("plain")
    assert "from 45" not in page.part("board")
    assert "a right guess" not in page.one("header").text
    assert "no prior is stated" in page.part("appendix")


def test_gaussian_noise_promises_no_belief(made: Make) -> None:
    page = Page(made("gaussian").html)
    assert "If their rule is wrong about 1 in 100 people" in page.part("plain")
    assert "at most 3 in 100" in page.part("plain")  # e·0.01
    assert "δ (delta)" in page.part("glossary")
    assert "with the answer" in page.part("accuracy")


@pytest.mark.parametrize("name", ["infeasible", "infeasible_fixed", "infeasible_profile", "hopeless"])
def test_what_cannot_be_released_gets_a_page_that_says_why(name: str, made: Make) -> None:
    facts, page = made(name).facts, Page(made(name).html)
    assert not facts.choice.feasible
    assert "nothing can be released" in page.one("header").text
    assert "So nothing is released." in page.part("plain")
    assert "No ε fits" in page.part("choice")
    assert "so nothing is released" in page.part("board")
    assert "Recommended" not in page.visible


def test_the_way_out_of_an_infeasible_plan_is_given_with_its_size(made: Make) -> None:
    facts, page = made("infeasible").facts, Page(made("infeasible").html)
    needed, highest = facts.choice.interval
    ratio = re.search(r"([\d,.]+) times less", page.one("header").text)
    assert ratio is not None
    assert float(ratio[1].replace(",", "")) == pytest.approx(needed / highest, rel=0.01)
    best = min(facts.choice.changes, key=lambda c: c.factor)
    assert f"{best.then} instead of {best.now}" in page.part("choice")
    assert f"{best.then} instead of {best.now}" in page.part("board")


def test_a_limit_that_is_broken_beforehand_says_so(made: Make) -> None:
    page = Page(made("hopeless").html)
    assert "The belief is 0.249873 before any release, above the limit 0.1" in page.one("header").text
    assert "better today" in page.part("plain")


def test_limits_that_nothing_can_break_decide_nothing(made: Make) -> None:
    facts, page = made("vacuous").facts, Page(made("vacuous").html)
    assert math.isinf(facts.choice.epsilon)
    assert "allow any ε" in page.one("header").text


def test_small_beliefs_are_drawn_as_bars_and_larger_ones_as_dots(made: Make) -> None:
    assert made("tiny").facts.shift is not None
    assert "Two fields of 100 dots" in made("cafeteria").html
    assert "Two fields" not in made("tiny").html
    assert "Belief in a right guess: today" in made("tiny").html


def test_a_limit_in_both_directions_is_not_told_as_a_rise(made: Make) -> None:
    """The largest move of a belief can be a fall; the picture is about the rise, which is smaller."""
    facts, page = made("or").facts, Page(made("or").html)
    shift, moved, highest = facts.shift, facts.choice.advantage, facts.choice.posterior
    assert shift is not None
    assert moved is not None
    assert highest is not None
    assert shift.after - shift.before <= float(moved.bound) + 1e-12
    assert shift.after <= float(highest.bound) + 1e-9
    assert "Nor can an answer lower such a belief by more than" in page.part("plain")
    assert "moves by at most" in page.one("header").text


def test_the_highest_belief_is_not_told_as_the_largest_gain(made: Make) -> None:
    highest, largest = Page(made("worst_posterior").html).part("plain"), Page(made("and").html).part("plain")
    assert "for the true value at which the belief gets highest" in highest
    assert "the gain is no larger" not in highest
    assert "for the true value at which most can be learnt" in largest
    assert "the gain is no larger" in largest


def test_proofs_name_their_status_and_bracket(made: Make) -> None:
    facts, page = made("cafeteria").facts, Page(made("cafeteria").html)
    advantage = facts.choice.advantage
    assert advantage is not None
    assert advantage.how in page.part("proofs")
    assert advantage.status in page.part("proofs")
    assert "…" in page.part("proofs")
    profile = made("covid").facts.plan.risk
    assert profile is not None
    assert profile.how in Page(made("covid").html).part("proofs")
    assert facts.choice.noises[0].measurement.account in page.part("guarantee")


def test_a_prior_that_would_break_the_limit_is_named(made: Make) -> None:
    page = Page(made("cafeteria").html)
    assert "misjudged" in page.part("prior").split("assumption")[0]  # how wrong it may be comes first
    assert "25 %" not in page.part("prior")
    assert "broken before any release" in page.part("appendix")  # a narrower prior is above 3 in 10 by itself
    assert "a list of categories has no width" in Page(made("or").html).part("appendix")
    assert "would break it" in Page(made("or").html).part("prior")


def test_the_page_stays_small(page: Page) -> None:
    assert len(page.source.encode()) < 400_000


def test_the_fields_other_words_are_those_of_the_noise(made: Make) -> None:
    """The rates in the table, in its picture and in the words of the mechanisms are one."""
    facts, page = made("cafeteria").facts, Page(made("cafeteria").html)
    words = other_words([n.mechanism for n in facts.choice.noises])
    part = page.part("tests")
    assert percent_up(words.tpr(0.01)) in part
    assert percent_up(words.tpr(0.001)) in part
    assert percent_up(words.advantage) in part
    assert 'id="figure-tests"' in made("cafeteria").html


def test_a_goal_of_several_numbers_is_drawn_on_what_is_believed(made: Make) -> None:
    page = Page(made("formula").html)
    caption = page.one("figure", id="figure-goal").text
    assert "right guesses for the plan’s true values (rent = 650, loan = 400), 15.5" in caption
    assert 'id="figure-goal"' not in made("and").html  # labels are listed


def test_the_easiest_guess_stands_beside_the_largest_gain(made: Make) -> None:
    """Two true values, two beginnings: `choose` says the one first, the report the other, and each says both."""
    plan = CAFETERIA.replace('odds = "3 in 10"\nat = { time = 20 }', "advantage = 0.05").replace("= 3\n", "= 120\n")
    found = report(loads_plan(plan.replace("within = 40", "within = 1.5")))
    header = " ".join(Page(found.html).one("header").text.split())
    assert re.search(r"a right guess, where most is learnt ?19\.0\d* % → 20\.8\d %", header), header
    assert re.search(r"a right guess, where it is easiest ?24\.99 % → 26\.69 %", header), header
    assert "easiest" not in Page(made("cafeteria").html).one("header").text  # its true value is stated


def test_a_total_is_drawn_where_it_is_most_exposed() -> None:
    """Of a formula only the worst value is known; a place that has it is drawn, and the value is what is said."""
    number = "bounds = [0, 2000]\nmissing = false\nprior = { normal = { mean = 700, sd = 200 } }\n"
    plan = (
        '[data]\nname = "people"\nsource = "people.csv"\nprotects = "values"\nrows = 40\n'
        '[query]\nsql = "SELECT SUM(rent) AS rent, SUM(loan) AS loan FROM t"\n'
        f'[columns.rent]\n{number}[columns.loan]\n{number}[attacker]\ngoal = "rent + loan within 50"\nadvantage = 0.1\n'
    )
    found = report(loads_plan(plan))
    risen = found.facts.choice.advantage
    assert risen is not None
    words = f"most can be learnt (rent + loan = {shown(risen.worst_at['rent + loan'])})"
    assert words in " ".join(Page(found.html).visible.split())
