"""Plans to start from. A "?" is a blank that the owner fills in; loading the plan asks for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from guessproof.plan.checks import UNNAMED
from guessproof.plan.refusals import describe_blank
from guessproof.starting.helpers import Preset, ReadyAttacker, WrittenBelief
from guessproof.starting.writing import BLANK, goal_name, note, pair, select, slug, sql_name, table, toml_key, toml_text

ORIGINS = {
    "source": "The confidential table: a csv, parquet or duckdb file, or env:NAME.",
    "engine": "Spark reads it: files, or a table of its catalogue.",
    "remote": "Where Spark runs: the environment variable that holds its address.",
}
_EVERYONE, _STRANGER = "knows everyone else", "stranger with public statistics"


@dataclass(frozen=True)
class Draft:
    """What a template is filled with."""

    name: str
    origin: Mapping[str, str]  # engine, remote and source of [data]
    columns: tuple[str, ...]
    attacker: ReadyAttacker
    preset: Preset
    belief: WrittenBelief | None = None
    table: str = "t"
    times: frozenset[str] = frozenset()  # columns that hold dates or times
    person: str | None = None  # the column that says whose row it is, where a person may have several
    unnamed: bool = False  # the names of its columns are not known: a blank, and NAME in examples

    @property
    def counted(self) -> str:
        """How people are counted: a person with several rows once."""
        return "COUNT(*)" if self.person is None else f"COUNT(DISTINCT {sql_name(self.person)})"

    def select(self, what: str, rest: str = "") -> str:
        """A question to the table."""
        return select(what, rest, self.table)

    def key(self, name: str) -> str:
        """The key of a column in the plan."""
        return toml_key(UNNAMED[self.columns.index(name)] if self.unnamed else name)

    def question(self, sql: str, comment: str = "The question.") -> str:
        """The key that holds the question, or a blank with that question as an example."""
        if self.unnamed:
            return pair("sql", BLANK, comment, f"Fill in the question, as: {toml_text(sql)}")
        return pair("sql", toml_text(sql), comment)


@dataclass(frozen=True)
class Template:
    """A plan to start from: which columns it needs and how its tables are written."""

    name: str
    title: str
    kinds: tuple[str, ...]  # what its columns hold: "number" or "label"
    usual: tuple[str, ...]  # their names where no table is given
    attacker: str
    write: Callable[[Draft], list[str]]
    believes: bool = False  # whether it has a prior to speak of
    from_paper: bool = False  # whether its attacker is the paper's


def _data(draft: Draft, protects: str, why: str, *extra: str) -> str:
    if draft.person is not None:
        protects, why = "persons", _PERSONS
        extra = (
            pair("person", toml_text(draft.person), "The column that says whose row it is."),
            pair("max_rows", BLANK, f"Fill in: {describe_blank(('data', 'max_rows'))}.", _MOST_ROWS),
        )
    return table(
        "data",
        pair("name", toml_text(draft.name), "The ledger's name for this data."),
        *(pair(key, toml_text(value), ORIGINS[key]) for key, value in draft.origin.items()),
        pair("table", toml_text(draft.table), "What the query calls it."),
        pair("protects", toml_text(protects), why),
        *extra,
    )


_VALUES = "The declared columns of one record. Who is in the table, and how many there are, is taken as known."
_RECORDS = "The presence of a record: nobody can tell whether any one row was in the table."
_PERSONS = "All rows of a person together: nobody can tell whether a person has any."
_MOST_ROWS = "Of a person with more only so much counts. The larger it is, the more noise is needed."


_NORMAL = 'As: { normal = { mean = 20, sd = 6 } }, or { from = "public.csv" }'
_EVENLY = (
    'As: { uniform = { low = 1920-01-01, high = 2025-12-31 } }, { normal = { mean = 1980-01-01, sd = "15 years" } }'
)
_SHARES = 'As: { categorical = { yes = 0.1, no = 0.9 } }, or { from = "public.csv" }'


def _numbers(draft: Draft, name: str, prior: str = f'{_NORMAL}, or "unknown"') -> str:
    timely = name in draft.times
    prior, bounds = (_EVENLY, "[1920-01-01, 2025-12-31]") if timely else (prior, _range_of(name))
    asked = f"Fill in: {describe_blank(('columns', name, 'bounds'))}. As: {bounds}"
    believed = "" if draft.person is not None else _prior(draft, name, prior)
    return _column(draft, name, pair("bounds", BLANK, asked), believed)


_NORTH, _EAST = ("lat", "latitude"), ("lon", "lng", "longitude")
_DEGREES: dict[str, str] = {**dict.fromkeys(_NORTH, "[-90, 90]"), **dict.fromkeys(_EAST, "[-180, 180]")}


def _range_of(name: str) -> str:
    """An example of bounds: of degrees the whole earth, of anything else some range.

    >>> _range_of("Latitude"), _range_of("lon"), _range_of("long_stay")
    ('[-90, 90]', '[-180, 180]', '[0, 120]')
    """
    return _DEGREES.get(name.casefold(), "[0, 120]")


def _labels(draft: Draft, name: str) -> str:
    asked = f'Fill in: {describe_blank(("columns", name, "levels"))}. As: ["yes", "no"]; numbers without quotes: [1, 2]'
    believed = "" if draft.person is not None else _prior(draft, name, _SHARES)
    return _column(draft, name, pair("levels", BLANK, asked), believed)


def _prior(draft: Draft, name: str, example: str) -> str:
    if draft.belief is not None:
        return pair("prior", draft.belief.toml, draft.belief.comment)
    return pair("prior", BLANK, f"Fill in: {describe_blank(('columns', name, 'prior'))}.", example)


def _column(draft: Draft, name: str, *rows: str) -> str:
    asked = (
        f"Fill in: {describe_blank(('columns', UNNAMED[0]))}; it is {name} in the examples." if draft.unnamed else ""
    )
    return "\n".join(filter(None, (note(asked), table(f"columns.{draft.key(name)}", *rows))))


def _key_column(draft: Draft, name: str) -> str:
    asked = describe_blank(("columns", name, "levels"))
    bins = "Of a number or a date write edges instead, as edges = [0, 18, 65] or [2026-01-01, 2026-02-01]."
    levels = pair("levels", BLANK, f"Fill in: {asked}. Each is one row of the answer.", bins)
    return _column(draft, name, levels)


def _attacker(draft: Draft, goal: str, example: str, knows: str, place: str = "") -> str:
    preset = draft.preset
    asked = f"Which guesses count as correct.{f' Fill in, as: {example}' if goal == BLANK else ''}"
    limit = f"{preset.name}: his belief may rise by at most {preset.advantage:.0%} (cautious 2%, middle 5%, open 10%)."
    belief = 'A limit on the belief itself can be added: odds = "1 in 3".'
    more = note(f"knows = {knows}") if draft.attacker.name == "knows you took part" else ""
    return table(
        "attacker",
        note(f"Attacker, “{draft.attacker.name}”: {draft.attacker.values}"),
        pair("goal", goal, asked, "" if place else "Whatever value is true, the limit holds; at = … would name one."),
        pair("advantage", f"{preset.advantage:g}", limit, belief),
        more,
        place,
    )


def _ending(draft: Draft, mechanism: str | None = None) -> list[str]:
    accuracy = table("accuracy", note("How far the answer may be off, and how surely; leave out to get the best."))
    accuracy += "\n# within = 1.5\n# confidence = 0.95"
    opened = "Opened once by the owner of the data: guessproof choose prints the command, with the budget it takes."
    return [
        accuracy,
        table(
            "release",
            pair("mechanism", toml_text(mechanism), "The noise of the paper.") if mechanism else "",
            pair("ledger", '"guessproof.ledger"', opened),
        ),
    ]


def _average(draft: Draft) -> list[str]:
    (name,) = draft.columns
    rows = pair("rows", BLANK, f"Fill in: {describe_blank(('data', 'rows'))}.")
    near, known = ("30 days", "[1970-01-01, 1989-12-31]") if name in draft.times else ("2", "[10, 40]")
    sql = draft.select(f"AVG({sql_name(name)}) AS mean_{slug(name)}")
    goal, knows = toml_text(f"{goal_name(name)} within {near}"), f"{{ {toml_key(name)} = {known} }}"
    return [
        _data(draft, "values", _VALUES, rows),
        table("query", draft.question(sql)),
        _numbers(draft, name),
        _attacker(draft, BLANK, goal, knows) if draft.person is None else _ratios(draft),
        *_ending(draft),
    ]


def _count(draft: Draft) -> list[str]:
    (name,) = draft.columns
    example = toml_text(draft.select(f"{draft.counted} AS n", f"WHERE {sql_name(name)} = 'yes'"))
    goal, knows = toml_text(f"{goal_name(name)} exactly"), f'{{ {toml_key(name)} = ["yes", "no"] }}'
    return [
        _data(draft, "values", _VALUES),
        table("query", pair("sql", BLANK, f"Fill in the question, as: {example}")),
        _labels(draft, name),
        _attacker(draft, BLANK if draft.unnamed else goal, goal, knows) if draft.person is None else _ratios(draft),
        *_ending(draft),
    ]


def _location(draft: Draft) -> list[str]:
    one, two = draft.columns
    sql = draft.select(f"MIN(POINT({sql_name(one)}, {sql_name(two)}) <@> POINT(0, 0)) AS nearest")
    example = toml_text(f"({goal_name(one)}, {goal_name(two)}) within 5 by l2")
    asked, knows = f"Fill in the question, as: {toml_text(sql)}", f"{{ {toml_key(one)} = [10, 40] }}"
    place = pair(
        "at",
        f"{{ {draft.key(one)} = {BLANK}, {draft.key(two)} = {BLANK} }}",
        "Fill in a hypothetical true place: the limit holds there. Without this line it holds wherever somebody is, if",
        "both priors are normal; finding the worst place can take a minute.",
    )
    return [
        _data(draft, "values", _VALUES),
        table("query", pair("sql", BLANK, "How near does the nearest come to a point?", asked)),
        _numbers(draft, one, _NORMAL),
        _numbers(draft, two, _NORMAL),
        _attacker(draft, BLANK, example, knows, place),
        *_ending(draft),
    ]


def _profile(draft: Draft, shape: str, value: str, *comments: str, who: str = "") -> str:
    who = who or draft.attacker.records
    return table("risk", note(f"Attacker, “{draft.attacker.name}”: {who}"), pair(shape, value, *comments))


_RATIOS = "After Kazan & Reiter: relative bounds posterior / prior, absolute the posterior; whichever allows more."
_INSIDE = "He knows what public statistics tell about people in the table: q is the probability of the person's group."
_ANYTHING = "He knows every other record, and may know anything or nothing about this person: every prior counts."


def _ratios(draft: Draft) -> str:
    """How much more probable a release may make anything about a person, by what the attacker knows."""
    preset = draft.preset
    if draft.attacker.name == _EVERYONE:
        comment = f"The largest posterior / prior: {preset.name} (cautious 1.5, middle 3, open 6)."
        return _profile(draft, "constant", f"{preset.relative:g}", comment, who=_ANYTHING)
    steps = f"absolute for {preset.name} (cautious 0.025, middle 0.15, open 0.3)."
    stranger = draft.attacker.name == _STRANGER
    value = f"{{ p = {BLANK if stranger else 1}, absolute = {preset.absolute:g}, relative = 3 }}"
    asked = [f"Fill in p: {describe_blank(('risk', 'p'))}."] if stranger else []
    return _profile(draft, "fixed_inclusion", value, _RATIOS, steps, *asked)


def _survey(draft: Draft) -> list[str]:
    (name,) = draft.columns
    sql = draft.select(f"{sql_name(name)}, {draft.counted} AS n", f"GROUP BY {sql_name(name)}")
    return [
        _data(draft, "records", _RECORDS),
        table("query", draft.question(sql)),
        _key_column(draft, name),
        _ratios(draft),
        *_ending(draft),
    ]


def _membership(draft: Draft) -> list[str]:
    (name,) = draft.columns
    preset = draft.preset
    stranger = draft.attacker.name == _STRANGER
    asked = [f"Fill in q: {describe_blank(('risk', 'q'))}."] if stranger else []
    value = f"{{ q = {BLANK if stranger else 1}, absolute = 0.25, relative = {preset.relative:g} }}"
    steps = f"relative for {preset.name} (cautious 1.5, middle 3, open 6)."
    who = _INSIDE if stranger else ""
    sql = draft.select(f"{sql_name(name)}, {draft.counted} AS n", f"GROUP BY {sql_name(name)}")
    return [
        _data(draft, "records", _RECORDS),
        table("query", draft.question(sql, "The question: how many there are of each.")),
        _key_column(draft, name),
        _profile(draft, "fixed_value", value, _RATIOS, steps, *asked, who=who),
        *_ending(draft),
    ]


_AGES = '["0-17", "18-39", "40-64", "65+"]'
_AGES_NOTE = "The groups of the answer. The paper speaks of demographic groups; these are an example."


def _covid_count(draft: Draft) -> list[str]:
    sql = draft.select("age_group, COUNT(*) AS diagnosed", "GROUP BY age_group")
    why = (
        "An attacker who knows the person's age group (q = 1) and asks whether the person is among the diagnosed. "
        "Up to a prior of 0.25 / relative his posterior may reach 0.25, above it the ratio counts. "
        "relative = 1.5, 3 and 6 are the paper's three agencies and give ε = 0.51, 1.30 and 2.04 (Table 3)."
    )
    return [
        note("Kazan & Reiter, Example 1: counts of people diagnosed with COVID-19. Being in the table is the secret."),
        _data(draft, "records", _RECORDS),
        table("query", draft.question(sql)),
        table("columns.age_group", pair("levels", _AGES, _AGES_NOTE)),
        table("risk", pair("fixed_value", f"{{ q = 1, absolute = 0.25, relative = {draft.preset.relative:g} }}", why)),
        *_ending(draft, "geometric"),
    ]


def _covid_survey(draft: Draft) -> list[str]:
    sql = draft.select("age_group, had_covid, COUNT(*) AS n", "GROUP BY age_group, had_covid")
    why = (
        "Five in a hundred were asked, and the attacker does not know who: p = 0.05. "
        "absolute = 0.025, 0.15 and 0.3 are the paper's three agencies and give ε = 1.09, 1.21 and 2.10 (Table 4)."
    )
    profile = f"{{ p = 0.05, absolute = {draft.preset.absolute:g}, relative = 3 }}"
    return [
        note("Kazan & Reiter, Example 2: a survey of 5% of a community. What somebody answered is the secret."),
        _data(draft, "records", _RECORDS),
        table("query", draft.question(sql)),
        table("columns.age_group", pair("levels", _AGES, _AGES_NOTE)),
        table("columns.had_covid", pair("levels", '["yes", "no"]')),
        table("risk", pair("fixed_inclusion", profile, why)),
        *_ending(draft, "geometric"),
    ]


_ONE: tuple[str, ...] = ("label",)
_ASKED = ("age_group", "had_covid")
_TWO: tuple[str, ...] = ("number", "number")
_ALL = (
    Template("average", "the mean of a number", ("number",), ("time",), _EVERYONE, _average, believes=True),
    Template("count", "how many have a value", _ONE, ("answer",), _EVERYONE, _count, believes=True),
    Template("survey", "counts by group, of people who were asked", _ONE, ("group",), _STRANGER, _survey),
    Template("location", "how near people come to a point", _TWO, ("lon", "lat"), _EVERYONE, _location, believes=True),
    Template("membership", "counts, where being counted is secret", _ONE, ("group",), _EVERYONE, _membership),
    Template("covid-count", "people diagnosed", _ONE, ("age_group",), _EVERYONE, _covid_count, from_paper=True),
    Template("covid-survey", "a survey", _ONE * 2, _ASKED, _STRANGER, _covid_survey, from_paper=True),
)
TEMPLATES: Mapping[str, Template] = {template.name: template for template in _ALL}
