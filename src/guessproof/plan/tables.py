"""The ground of the plan's tables, and those that say what an attacker believes."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

Scalar = str | int | float | bool


class Table(BaseModel):
    """A frozen table; keys that it does not know are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _pair(value: Any) -> Any:
    """One number stands for a range of that number alone."""
    return (value, value) if isinstance(value, (int, float)) and not isinstance(value, bool) else value


Whole = Annotated[int, BeforeValidator(_whole)]
Positive = Annotated[float, Field(gt=0, le=1e100)]
Share = Annotated[float, Field(ge=0, le=1)]
Numbers = tuple[float, ...]
Span = Annotated[tuple[Share, Share], BeforeValidator(_pair, json_schema_input_type=Share | tuple[Share, Share])]


def given(table: Table, names: tuple[str, ...]) -> tuple[str, ...]:
    """Which of some keys of a table hold a value."""
    return tuple(name for name in names if getattr(table, name) is not None)


class NormalPrior(Table):
    """A normal distribution."""

    mean: float = Field(description="its mean")
    sd: Positive = Field(description="its standard deviation")


class UniformPrior(Table):
    """Every value of an interval alike."""

    low: float = Field(description="its lower end")
    high: float = Field(description="its upper end")


class ExponentialPrior(Table):
    """Density falling from 0 upwards."""

    scale: Positive = Field(description="its mean")


class LaplacePrior(Table):
    """A two-sided exponential distribution."""

    mean: float = Field(description="its mean")
    scale: Positive = Field(description="the mean distance from it")


class HistogramPrior(Table):
    """Probabilities spread evenly between edges."""

    edges: Numbers = Field(description="the edges, rising")
    weights: Numbers = Field(description="a probability for each interval, summing to 1")


class UnknownPrior(Table):
    """Nothing but the range; without ends, the column's bounds."""

    low: float | None = Field(default=None, description="lower end; left out: the lower bound")
    high: float | None = Field(default=None, description="upper end; left out: the upper bound")


class PartlyKnownPrior(Table):
    """How much probability lies near the true value, and nothing else but the range."""

    radius: Positive = Field(description="how near")
    probability: Share = Field(description="how probable a value that near is")
    low: float | None = Field(default=None, description="lower end; left out: the lower bound")
    high: float | None = Field(default=None, description="upper end; left out: the upper bound")


class Prior(Table):
    """What an attacker believes of a column before the release. One of these keys."""

    normal: NormalPrior | None = Field(default=None, description="mean and sd")
    uniform: UniformPrior | None = Field(default=None, description="low and high")
    exponential: ExponentialPrior | None = Field(default=None, description="scale")
    laplace: LaplacePrior | None = Field(default=None, description="mean and scale")
    histogram: HistogramPrior | None = Field(default=None, description="edges and weights")
    categorical: dict[str, float] | tuple[tuple[Scalar, float], ...] | None = Field(
        default=None, description="value = probability for each value, or a list of pairs [value, probability]"
    )
    empirical: Numbers | None = Field(default=None, description="a list of public numbers, each alike")
    from_: str | None = Field(default=None, alias="from", min_length=1, description="a public csv or parquet file")
    column: str | None = Field(default=None, min_length=1, description="its column; left out: the same name")
    unknown: UnknownPrior | None = Field(default=None, description='nothing but the range; also written "unknown"')
    partly_known: PartlyKnownPrior | None = Field(default=None, description="radius and probability")

    @property
    def kind(self) -> str:
        """The key that was given."""
        return given(self, PRIOR_KINDS)[0]


PRIOR_KINDS = tuple(name for name in Prior.model_fields if name != "column")


def _prior(value: Any) -> Any:
    return {"unknown": {}} if value == "unknown" else value


AnyPrior = Annotated[Prior, BeforeValidator(_prior, json_schema_input_type=Literal["unknown"] | Prior)]


class JointHistogram(Table):
    """Two numbers together."""

    edges: tuple[Numbers, ...] = Field(description="a list of rising edges for each of the two columns")
    weights: tuple[Numbers, ...] = Field(description="weights[i][j], all together summing to 1")


class JointPrior(Table):
    """What an attacker believes of several columns together. One of these keys."""

    table: tuple[tuple[Scalar, ...], ...] | None = Field(
        default=None, description="rows of one value per column and a probability"
    )
    histogram: JointHistogram | None = Field(default=None, description="edges and weights of two numeric columns")
    sample: tuple[tuple[Scalar, ...], ...] | None = Field(default=None, description="public rows, each alike")
    from_: str | None = Field(default=None, alias="from", min_length=1, description="a public csv or parquet file")

    @property
    def kind(self) -> str:
        """The key that was given."""
        return given(self, JOINT_KINDS)[0]


JOINT_KINDS = tuple(JointPrior.model_fields)
