"""The tables of a plan file as they are written: names, types and simple ranges. `plan` says what they mean."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, PrivateAttr, WithJsonSchema
from pydantic_core import PydanticCustomError

from guessproof.errors import PlanError
from guessproof.mechanisms import MECHANISMS
from guessproof.names import suggest_name
from guessproof.plan.prior_tables import AnyPrior, JointPriorTable
from guessproof.plan.table import MOST_TIMES, PlanTable, Positive, Scalar, Share, Span, Spot, Whole


class DataTable(PlanTable):
    """What the table is and what is protected in it."""

    name: str = Field(min_length=1, description="the ledger's name for this data", examples=["cafeteria"])
    source: str | None = Field(
        default=None,
        min_length=1,
        description="the confidential table: a csv, parquet or duckdb file (relative to the plan), "
        "or env:NAME for a connection string (postgresql://…) kept in an environment variable; "
        'for engine = "spark" files, a folder, or left out for a table of its catalogue',
        examples=["cafeteria.csv", "env:DATABASE_URL"],
    )
    engine: Literal["duckdb", "postgres", "spark"] | None = Field(
        default=None, description="which database reads it; left out: duckdb for files, postgres for env:NAME"
    )
    remote: str | None = Field(
        default=None,
        min_length=1,
        description="where Spark runs: env:NAME for an address (sc://host:port, Spark Connect) kept in an environment "
        'variable; left out: on this machine; only with engine = "spark"',
        examples=["env:SPARK_REMOTE"],
    )
    table: str = Field(default="t", min_length=1, description="the table's name in the query")
    protects: Literal["values", "records", "persons"] = Field(
        description="values: the declared columns of one record; records: the presence of a row; "
        "persons: all rows of a person"
    )
    rows: Whole | None = Field(default=None, ge=1, description='public number of rows; only with protects = "values"')
    rows_at_least: Whole | None = Field(
        default=None,
        ge=1,
        description="a public minimum of the values behind an AVG without a public count, in each group; "
        "for its stated error only, and never checked",
    )
    copies: Whole | None = Field(
        default=None,
        ge=1,
        description="up to so many rows of the table repeat one record, with the same protected values; "
        "needed where the table is a view",
    )
    linked_records: Whole = Field(
        default=1,
        ge=1,
        description="up to so many records tell of each other, as those of a household; what one does counts together "
        "with the most that the others can do",
        examples=[4],
    )
    person: str | None = Field(
        default=None, min_length=1, description='the column that names the person; only with protects = "persons"'
    )
    max_rows: Whole | None = Field(
        default=None,
        ge=1,
        description="how many rows of one person may count: all of a person's rows together are scaled to what so many "
        'can add up to; only with protects = "persons"',
    )
    max_groups: Whole | None = Field(
        default=None,
        ge=1,
        description="in how many groups one person may count: those with most of the person's rows; for MIN, MAX and "
        'COUNT(DISTINCT person) by group; only with protects = "persons"',
    )
    rows_each: tuple[tuple[Whole, Share], ...] | None = Field(
        default=None,
        description="how many rows persons have, as far as the public knows: pairs of a number and a share of persons; "
        'tells what max_rows likely cuts off, and changes no answer; only with protects = "persons"',
        examples=[[[1, 0.7], [2, 0.2], [8, 0.1]]],
    )


class QueryTable(PlanTable):
    """The question."""

    sql: str = Field(min_length=1, description="one SELECT over one table, with aggregates only")


class ColumnTable(PlanTable):
    """What is known to the public about one column, and what an attacker believes of it."""

    bounds: tuple[Spot, Spot] | None = Field(
        default=None, description="the smallest and largest value that can occur; the query clamps to them"
    )
    levels: tuple[Scalar, ...] | None = Field(
        default=None, description="every value that can occur; needed for GROUP BY, whose groups are these"
    )
    step: Positive | None = Field(
        default=None,
        description="distance of the values, between the bounds, of which MEDIAN and QUANTILE pick one",
    )
    edges: tuple[float, ...] | None = Field(
        default=None,
        description="rising numbers, or dates, that cut the values into bins for GROUP BY: [0, 10, 20] makes [0, 10) "
        "and [10, 20]; what lies outside is in no bin",
        examples=[[0, 10000, 20000, 50000]],
    )
    kind: Literal["number", "label", "truth", "time"] | None = Field(
        default=None, description="what the column holds; left out: what bounds, levels, prior or the query tell"
    )
    true: tuple[Scalar, ...] | None = Field(
        default=None, description="the labels that mean true, where a column holds truth values", examples=[["yes"]]
    )
    false: tuple[Scalar, ...] | None = Field(
        default=None, description="the labels that mean false; what is neither counts as missing", examples=[["no"]]
    )
    prior: AnyPrior | None = Field(default=None, description="what an attacker believes of a value before the release")
    missing: bool = Field(default=True, description="whether a value may be missing (NULL)")
    public: bool = Field(
        default=False,
        description='each record\'s value is public; only with protects = "values", for GROUP BY',
    )


class AttackerTable(PlanTable):
    """What an attacker wants, what he knows, and how much he may learn."""

    goal: str = Field(min_length=1, description="which guesses count as correct", examples=["time within 2"])
    advantage: float | None = Field(default=None, gt=0, le=1, description="how far his belief may rise")
    posterior: float | None = Field(default=None, gt=0, le=1, description="how high his belief may get")
    odds: str | None = Field(default=None, description="the same as posterior, in words", examples=["1 in 3"])
    both: bool = Field(default=False, description="his belief may not fall by more than advantage either")
    prior_factor: float = Field(
        default=1.0,
        ge=1,
        allow_inf_nan=False,
        description="by what factor the odds of any two values may differ from the priors of the plan; 1 trusts them",
    )
    failure: float | None = Field(
        default=None,
        ge=1e-30,
        lt=1,
        description="gaussian noise only: how probable an answer beyond the limits may be, given at, or any true value",
        examples=[1e-6],
    )
    or_: Literal["any", "each"] = Field(
        default="any",
        alias="or",
        description="any: one alternative of an OR is enough; each: every one is protected",
    )
    at: dict[str, Scalar] | None = Field(
        default=None, description="a hypothetical true value for each column of the goal; left out: the worst one"
    )
    knows: dict[str, Any] | None = Field(
        default=None, description="what he knows already: an interval [low, high] of numbers, or a list of values"
    )


class BoxTable(PlanTable):
    """One ratio for attackers whose priors lie in a range."""

    relative: float = Field(description="the largest ratio of posterior to prior")
    p: Span = Field(default=(0.0, 1.0), description="range of the prior probability of being in the data")
    q: Span = Field(default=(0.0, 1.0), description="range of the prior probability of the value, given that")


class FixedInclusionTable(PlanTable):
    """Attackers with one p and any q; whichever limit allows more."""

    p: Share = Field(description="prior probability of being in the data")
    absolute: Share | None = Field(default=None, description="the largest posterior")
    relative: float | None = Field(default=None, description="the largest ratio of posterior to prior")


class FixedValueTable(PlanTable):
    """Attackers with one q and any p; whichever limit allows more."""

    q: Share = Field(description="prior probability of the value, given that the person is in the data")
    absolute: Share | None = Field(default=None, description="the largest posterior")
    relative: float | None = Field(default=None, description="the largest ratio of posterior to prior")


class PointsTable(PlanTable):
    """Pairs of prior and allowed ratio, for attackers whose priors lie in a range."""

    pairs: tuple[tuple[float, float], ...] = Field(description="[prior, allowed ratio], one for each point")
    p: Span = Field(default=(0.0, 1.0), description="range of the prior probability of being in the data")
    q: Span = Field(default=(0.0, 1.0), description="range of the prior probability of the value, given that")


def _points(value: Any) -> Any:
    return {"pairs": value} if isinstance(value, (list, tuple)) else value


class RiskTable(PlanTable):
    """How far a release may raise an attacker's probability, after Kazan & Reiter. All that are given must hold."""

    constant: float | None = Field(default=None, description="one ratio for every attacker")
    box: BoxTable | None = Field(default=None, description="one ratio for a range of priors")
    fixed_inclusion: FixedInclusionTable | None = Field(default=None, description="attackers with one p and any q")
    fixed_value: FixedValueTable | None = Field(default=None, description="attackers with one q and any p")
    points: (
        Annotated[
            PointsTable, BeforeValidator(_points, json_schema_input_type=tuple[tuple[float, float], ...] | PointsTable)
        ]
        | None
    ) = Field(default=None, description="pairs [prior, allowed ratio]", examples=[[[0.001, 10], [0.4, 1.2]]])


class TargetTable(PlanTable):
    """How near the answer must be to the truth, and how surely."""

    within: Positive | None = Field(default=None, description="the largest error")
    relative: Positive | None = Field(default=None, description="the largest error as a share of magnitude, as 0.05")
    magnitude: Positive | None = Field(
        default=None, description="the public size of the answer behind relative; never the true one"
    )
    confidence: float | None = Field(default=None, gt=0, lt=1, description="how surely; left out: 0.95")
    ranks: Positive | None = Field(
        default=None, description="the largest error of a quantile: so many ranks from the one that is asked for"
    )

    @property
    def error(self) -> float | None:
        """The largest error, in the answer's own unit."""
        if self.relative is not None and self.magnitude is not None:
            return self.relative * self.magnitude
        return self.within


class AccuracyTable(TargetTable):
    """The target of every output; [accuracy.NAME] holds that of one."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, TargetTable]  # pyright: ignore[reportIncompatibleVariableOverride]
    _spots: dict[str, tuple[str, int | None, str | None]] = PrivateAttr(
        default_factory=dict[str, tuple[str, int | None, str | None]]
    )

    @property
    def outputs(self) -> dict[str, TargetTable]:
        """The targets that were given by output."""
        return dict(self.__pydantic_extra__)

    @property
    def has_ranks(self) -> bool:
        """Whether a target is given in ranks."""
        return self.ranks is not None or any(target.ranks is not None for target in self.outputs.values())

    def remember(self, output: str, key: str, line: int | None, file: str | None) -> None:
        """Where the target of an output stands, for an error that only the query can bring up."""
        self._spots[output] = (key, line, file)

    def targets(self, names: Iterable[str], ranked: Iterable[str] = ()) -> dict[str, tuple[float, float]]:
        """(within, confidence) for each named output that has a target; `ranked` ones have theirs in ranks.

        >>> AccuracyTable(within=2, total=TargetTable(relative=0.25, magnitude=1000)).targets(["mean", "total"])
        {'mean': (2.0, 0.95), 'total': (250.0, 0.95)}
        """
        names, ranked = list(names), set(ranked)
        for output in self.outputs:
            if output not in names:
                key, line, file = self._spots.get(output, (f"accuracy.{output}", None, None))
                hint = suggest_name(output, names, f"use one of {', '.join(names)}")
                problem = "is not an output of the query"
                raise PlanError(key, output, problem, hint, line=line, file=file)
        found: dict[str, tuple[float, float]] = {}
        for name in names:
            own = self.outputs.get(name, self)
            error = (own.ranks or self.ranks) if name in ranked else own.error if own.error is not None else self.error
            if error is not None:
                found[name] = (error, own.confidence or self.confidence or 0.95)
        return found


class QuestionTable(QueryTable):
    """One of several questions; [queries.NAME.accuracy] holds its targets, as [accuracy] those of an only one."""

    rows: Whole | None = Field(
        default=None, ge=1, description="the public count behind an AVG of this question; left out: that of [data]"
    )
    weight: Positive = Field(
        default=1.0,
        description="how much of ε each number of this question gets beside those of others, where it has no target",
    )
    accuracy: AccuracyTable = Field(
        default_factory=lambda: AccuracyTable.model_validate({}), description="how near its answers must be"
    )


def _known_mechanism(name: str) -> str:
    if name not in MECHANISMS:
        names = ", ".join(f"'{known}'" for known in MECHANISMS)
        raise PydanticCustomError("literal_error", "is not a mechanism", {"expected": names})
    return name


MechanismName = Annotated[
    str, AfterValidator(_known_mechanism), WithJsonSchema({"enum": list(MECHANISMS), "type": "string"})
]


class ReleaseTable(PlanTable):
    """How the answer is made noisy, and where it is accounted for."""

    mechanism: MechanismName | None = Field(default=None, description="the kind of noise; left out: the best one")
    ledger: str = Field(
        default="guessproof.ledger",
        min_length=1,
        description="the ledger's file, beside the plan; or env:NAME for a PostgreSQL database",
    )
    epsilon: Positive | None = Field(default=None, description="fixes ε instead of choosing it")
    delta: float | None = Field(
        default=None,
        gt=0,
        lt=1,
        description="the failure probability of gaussian noise, or of showing a rare group",
    )
    ranks_inside: Whole | None = Field(
        default=None,
        ge=1,
        description="MIN and MAX pick a value so many ranks inside the outermost, instead of noise by their range",
    )
    smooth: bool = Field(
        default=False,
        description="MIN and MAX get Cauchy noise whose scale follows the data: smaller where rows near the extreme "
        "move it less; only the largest scale is told",
    )
    times: int = Field(
        default=1,
        ge=1,
        le=MOST_TIMES,
        strict=True,
        description="how often this plan will be released in all, on new data; limits hold for all of them together",
    )


class OtherTable(PlanTable):
    """A table beside the protected one that the query may join: one that everybody may know, or the same persons'."""

    source: str | None = Field(
        default=None,
        min_length=1,
        description="a public csv or parquet file, relative to the plan; left out: a table of the same database",
        examples=["wards.csv"],
    )
    key: tuple[Annotated[str, Field(min_length=1)], ...] | None = Field(
        default=None,
        min_length=1,
        description="the columns of which each value stands in one row at most; checked before any charge",
        examples=[["ward"]],
    )
    max_matches: Whole | None = Field(
        default=None, ge=1, description="the most rows that one record can match; checked before any charge"
    )
    person: str | None = Field(
        default=None,
        min_length=1,
        description="the column that names the person: the table is as confidential as the first, and joined on it; "
        'only with protects = "persons"',
        examples=["patient_id"],
    )
    owner: str | None = Field(
        default=None,
        min_length=1,
        description="the table to one row of which each of its rows belongs, by the columns of key, which name only "
        'one row there: as confidential as the first; only with protects = "persons"',
        examples=["orders"],
    )

    @property
    def is_secret(self) -> bool:
        """Whether it tells of the same persons as the first."""
        return self.person is not None or self.owner is not None

    columns: dict[str, ColumnTable] = Field(
        default_factory=dict[str, ColumnTable], description="what is declared of its columns, by name"
    )


class PlanFile(PlanTable):
    """A guessproof plan."""

    data: DataTable = Field(description="the table and what is protected in it")
    query: QueryTable | None = Field(default=None, description="the question")
    queries: dict[str, QuestionTable] = Field(
        default_factory=dict[str, QuestionTable],
        description="several questions instead of one, by name: released together, judged together",
    )
    columns: dict[str, ColumnTable] = Field(
        default_factory=dict[str, ColumnTable], description="the declared columns, by name"
    )
    tables: dict[str, OtherTable] = Field(
        default_factory=dict[str, OtherTable], description="public tables that the query may join, by name"
    )
    prior: dict[str, JointPriorTable] = Field(
        default_factory=dict[str, JointPriorTable], description='joint priors, by the columns that they join: "(a, b)"'
    )
    attacker: AttackerTable | None = Field(
        default=None, description="what an attacker wants, and how much he may learn"
    )
    risk: RiskTable | None = Field(default=None, description="a risk profile after Kazan & Reiter")
    accuracy: AccuracyTable = Field(
        default_factory=lambda: AccuracyTable.model_validate({}), description="how near the answer must be"
    )
    release: ReleaseTable = Field(default_factory=lambda: ReleaseTable(), description="noise and ledger")
    labels: dict[str, str] = Field(
        default_factory=dict[str, str],
        description='words for people: of a column, of an output, or of a level as "column.level"',
    )
