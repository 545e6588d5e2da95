"""What every table of a plan file is made of: a frozen table, and the kinds of values that it may hold."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

Scalar = str | int | float | bool


class PlanTable(BaseModel):
    """A frozen table; keys that it does not know are refused."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        allow_inf_nan=False,
        defer_build=True,
        model_title_generator=lambda table: table.__name__.removesuffix("Table"),
    )


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _pair(value: Any) -> Any:
    """One number stands for a range of that number alone."""
    return (value, value) if isinstance(value, (int, float)) and not isinstance(value, bool) else value


MOST_TIMES = 1000  # releases of one plan
Whole = Annotated[int, BeforeValidator(_whole)]
Positive = Annotated[float, Field(gt=0, le=1e100)]
_DATE = {"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}([T ].*)?$", "description": "a date, of a column of times"}
_LENGTH = {
    "type": "string",
    "pattern": r"^\d+(\.\d*)? *(second|minute|hour|day|week|year)s?$",
    "description": "as 10 years",
}
# Dates and lengths of time are days before the tables are checked; editors see what is written.
Spot = Annotated[float, WithJsonSchema({"anyOf": [{"type": "number"}, _DATE]})]
Length = Annotated[Positive, WithJsonSchema({"anyOf": [{"type": "number", "exclusiveMinimum": 0}, _LENGTH]})]
Share = Annotated[float, Field(ge=0, le=1)]
Numbers = tuple[float, ...]
Spots = tuple[Spot, ...]
Span = Annotated[tuple[Share, Share], BeforeValidator(_pair, json_schema_input_type=Share | tuple[Share, Share])]


def given_keys(table: PlanTable, names: tuple[str, ...]) -> tuple[str, ...]:
    """Which of some keys of a table hold a value."""
    return tuple(name for name in names if getattr(table, name) is not None)
