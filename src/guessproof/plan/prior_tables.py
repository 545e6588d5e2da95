"""The tables of a plan file that say what is believed of a column, or of several together, before the release."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, TypeGuard, get_args

from pydantic import BeforeValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from guessproof.errors import PriorError
from guessproof.plan.table import Length, Numbers, PlanTable, Positive, Scalar, Share, Spot, Spots, given_keys
from guessproof.world import (
    Beta,
    ExponentialPrior,
    Gamma,
    Histogram,
    LaplacePrior,
    LinePrior,
    LogNormal,
    Normal,
    StudentT,
    Uniform,
)


class FamilyTable(PlanTable):
    """A family of priors: its keys are what the prior is made from."""

    makes: ClassVar[type[LinePrior]]


def _is_family(table: Any) -> TypeGuard[type[FamilyTable]]:
    return isinstance(table, type) and issubclass(table, FamilyTable)


class NormalPriorTable(FamilyTable):
    """A normal distribution."""

    makes: ClassVar[type[LinePrior]] = Normal

    mean: Spot = Field(description="its mean")
    sd: Length = Field(description="its standard deviation")


class UniformPriorTable(FamilyTable):
    """Every value of an interval alike."""

    makes: ClassVar[type[LinePrior]] = Uniform

    low: Spot = Field(description="its lower end")
    high: Spot = Field(description="its upper end")


class ExponentialPriorTable(FamilyTable):
    """Density falling from 0 upwards."""

    makes: ClassVar[type[LinePrior]] = ExponentialPrior

    scale: Positive = Field(description="its mean")


class LaplacePriorTable(FamilyTable):
    """A two-sided exponential distribution."""

    makes: ClassVar[type[LinePrior]] = LaplacePrior

    mean: Spot = Field(description="its mean")
    scale: Length = Field(description="the mean distance from it")


class HistogramPriorTable(FamilyTable):
    """Probabilities spread evenly between edges."""

    makes: ClassVar[type[LinePrior]] = Histogram

    edges: Spots = Field(description="the edges, rising")
    weights: Numbers = Field(description="a probability for each interval, summing to 1, or counts")


class LogNormalPriorTable(FamilyTable):
    """A number whose logarithm is normal."""

    makes: ClassVar[type[LinePrior]] = LogNormal

    median: Positive = Field(description="half lie below it")
    sd_log: Positive = Field(
        description="the standard deviation of the logarithm: two thirds lie within a factor e^sd_log"
    )


class GammaPriorTable(FamilyTable):
    """Waiting times and amounts above 0."""

    makes: ClassVar[type[LinePrior]] = Gamma

    shape: Positive = Field(description="its shape; below 1 the density is infinite at 0")
    scale: Positive = Field(description="its scale; the mean is shape times scale")


class BetaPriorTable(FamilyTable):
    """Shares, between two ends."""

    makes: ClassVar[type[LinePrior]] = Beta

    a: Positive = Field(description="exponent at the lower end; below 1 the density is infinite there")
    b: Positive = Field(description="exponent at the upper end")
    low: Spot = Field(default=0.0, description="lower end")
    high: Spot = Field(default=1.0, description="upper end")


class StudentTPriorTable(FamilyTable):
    """Like a normal distribution, with tails that allow for surprises."""

    makes: ClassVar[type[LinePrior]] = StudentT

    df: Positive = Field(description="degrees of freedom: the fewer, the heavier the tails")
    mean: Spot = Field(default=0.0, description="its centre")
    scale: Length = Field(default=1.0, description="its scale")


class UnknownPriorTable(PlanTable):
    """Nothing but the range; without ends, the column's bounds."""

    low: Spot | None = Field(default=None, description="lower end; left out: the lower bound")
    high: Spot | None = Field(default=None, description="upper end; left out: the upper bound")


class PartlyKnownPriorTable(PlanTable):
    """How much probability lies near the true value, and nothing else but the range."""

    radius: Length = Field(description="how near")
    probability: Share = Field(description="how probable a value that near is")
    low: Spot | None = Field(default=None, description="lower end; left out: the lower bound")
    high: Spot | None = Field(default=None, description="upper end; left out: the upper bound")


class DensityTable(PlanTable):
    """What is believed of a number that may lie anywhere. One of these keys."""

    normal: NormalPriorTable | None = Field(default=None, description="mean and sd")
    uniform: UniformPriorTable | None = Field(default=None, description="low and high")
    exponential: ExponentialPriorTable | None = Field(default=None, description="scale")
    laplace: LaplacePriorTable | None = Field(default=None, description="mean and scale")
    histogram: HistogramPriorTable | None = Field(default=None, description="edges and weights")
    lognormal: LogNormalPriorTable | None = Field(default=None, description="median and sd_log")
    gamma: GammaPriorTable | None = Field(default=None, description="shape and scale")
    beta: BetaPriorTable | None = Field(default=None, description="a, b, low and high")
    student_t: StudentTPriorTable | None = Field(default=None, description="df, mean and scale")

    @property
    def kind(self) -> str:
        """The key that was given."""
        return given_keys(self, self.kinds())[0]

    @classmethod
    def kinds(cls) -> tuple[str, ...]:
        """The keys of which one is given. A new family of priors is a table above and one key here."""
        return tuple(name for name in cls.model_fields if name != "column")

    @classmethod
    def families(cls) -> dict[str, type[LinePrior]]:
        """The keys that are families, and what each makes."""
        tables = {name: get_args(field.annotation) for name, field in cls.model_fields.items()}
        return {name: t.makes for name, kinds in tables.items() for t in kinds if _is_family(t)}


def _density(value: Any) -> Any:
    """Words for a prior with a density: "half between 10 and 30"."""
    spoken = _spoken(value) if isinstance(value, str) else None
    return value if spoken is None else {"normal": {"mean": spoken.mean, "sd": spoken.sd}}


def _prior(value: Any) -> Any:
    """Words for a prior: "unknown", or "half between 10 and 30"."""
    return {"unknown": {}} if value == "unknown" else _density(value)


def _spoken(words: str) -> Normal | None:
    from guessproof.world import half_between, read_half

    try:
        ends = read_half(words)
    except PriorError as error:
        raise PydanticCustomError("spoken", "{problem}", {"problem": error.problem, "remedy": error.remedy}) from None
    return None if ends is None else half_between(*ends)


_HALF = Annotated[str, WithJsonSchema({"type": "string", "pattern": "^[Hh]alf .*between .* and .*$"})]
AnyDensity = Annotated[DensityTable, BeforeValidator(_density, json_schema_input_type=_HALF | DensityTable)]


class MixturePartTable(PlanTable):
    """One prior of several, and how probable it is that this one holds."""

    weight: Share = Field(description="its probability")
    prior: AnyDensity = Field(description="a prior with a density")


class TruncatedPriorTable(PlanTable):
    """A prior of which only a part can be."""

    prior: AnyDensity = Field(description="a prior with a density")
    low: Spot | None = Field(default=None, description="lower end; left out: the prior's own")
    high: Spot | None = Field(default=None, description="upper end; left out: the prior's own")


class PriorTable(DensityTable):
    """What an attacker believes of a column before the release. One of these keys."""

    mixture: tuple[MixturePartTable, ...] | None = Field(
        default=None, description="a list of { weight, prior }, the weights summing to 1"
    )
    truncated: TruncatedPriorTable | None = Field(default=None, description="a prior between low and high")
    categorical: dict[str, float] | tuple[tuple[Scalar, float], ...] | None = Field(
        default=None, description="value = probability or count for each value, or a list of pairs [value, probability]"
    )
    empirical: Spots | None = Field(default=None, description="a list of public numbers, each alike")
    from_: str | None = Field(default=None, alias="from", min_length=1, description="a public csv or parquet file")
    column: str | None = Field(default=None, min_length=1, description="its column; left out: the same name")
    unknown: UnknownPriorTable | None = Field(default=None, description='nothing but the range; also written "unknown"')
    partly_known: PartlyKnownPriorTable | None = Field(default=None, description="radius and probability")


AnyPrior = Annotated[
    PriorTable, BeforeValidator(_prior, json_schema_input_type=Literal["unknown"] | _HALF | PriorTable)
]


class JointHistogramTable(PlanTable):
    """Two numbers together."""

    edges: tuple[Numbers, ...] = Field(description="a list of rising edges for each of the two columns")
    weights: tuple[Numbers, ...] = Field(description="weights[i][j], all together summing to 1")


class JointNormalTable(PlanTable):
    """Two numbers that are jointly normal."""

    mean: tuple[float, float] = Field(description="the mean of each of the two columns")
    sd: tuple[float, float] = Field(description="the standard deviation of each")
    correlation: float = Field(gt=-1, lt=1, description="how they hang together, between −1 and 1")


class JointPriorTable(PlanTable):
    """What an attacker believes of several columns together. One of these keys."""

    table: tuple[tuple[Scalar, ...], ...] | None = Field(
        default=None, description="rows of one value per column and a probability"
    )
    histogram: JointHistogramTable | None = Field(default=None, description="edges and weights of two numeric columns")
    normal: JointNormalTable | None = Field(
        default=None, description="means, standard deviations and correlation of two numeric columns"
    )
    sample: tuple[tuple[Scalar, ...], ...] | None = Field(default=None, description="public rows, each alike")
    from_: str | None = Field(default=None, alias="from", min_length=1, description="a public csv or parquet file")

    @property
    def kind(self) -> str:
        """The key that was given."""
        return given_keys(self, self.kinds())[0]

    @classmethod
    def kinds(cls) -> tuple[str, ...]:
        """The keys of which one is given."""
        return tuple(cls.model_fields)
