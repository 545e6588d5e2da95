"""What is computed from noisy numbers: the columns of the answer, HAVING, ORDER BY. Post-processing costs nothing."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any, Literal

from sqlglot import Expr, exp
from sqlglot.expressions.core import Expression

from guessproof.errors import QueryError
from guessproof.intervals import EVERYTHING, Interval, point
from guessproof.sql.parse import locate, name_construct
from guessproof.sql.rules.signs import HOLDS, SIGNS
from guessproof.sql.rules.values import parse_number

if TYPE_CHECKING:
    from guessproof.sql.bins import Bins


@dataclass(frozen=True)
class Output:
    """One column of the answer: its name, and how it is computed from noisy numbers."""

    name: str
    formula: Expr
    is_time: bool = False  # in days since 1970

    @cached_property
    def measured(self) -> tuple[int, ...]:
        """The measurements that it uses."""
        return list_measurements(self.formula)

    @property
    def is_plain(self) -> bool:
        """Whether it is one noisy number as it is."""
        return isinstance(self.formula, Measured)


@dataclass(frozen=True)
class Key:
    """A column to group by, and its public list of values; with `bins` these are the names of the bins.

    `is_found`: there is no list. Its values are found in the table, and shown where enough units have them.
    """

    name: str
    column: str
    levels: tuple[str, ...]
    bins: Bins | None = None
    is_found: bool = False

    def rank(self, level: str | None) -> Any:
        """What its levels are sorted by: bins by their place, labels as texts."""
        if self.is_found:
            from guessproof.sql.found import rank_found

            return rank_found(level)
        return level if self.bins is None or level is None else self.levels.index(level)


def count_groups(keys: Iterable[Key]) -> int:
    """How many groups there are; of found ones more than any bound that is put on them."""
    return math.prod(FOUND if key.is_found else len(key.levels) for key in keys)


FOUND = 1 << 62  # how many values a key that is found in the table may have, for all that is known
ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Neg, exp.Abs, exp.Sqrt, exp.Least, exp.Greatest)
REMEDY = "outputs can use + - * /, ABS, SQRT, ROUND, LEAST and GREATEST of aggregates"

Numbers = Mapping[int, float]
Kind = Literal["number", "text"]


class Measured(Expression):
    """A noisy number in a formula, by its index. No text is parsed to this class, nor to the two below."""

    arg_types = {"index": True}  # noqa: RUF012 - as the parent declares it


class Ratio(Expression):
    """A noisy sum of deviations from a centre over a noisy count, kept within a range."""

    arg_types = dict.fromkeys(("total", "count", "low", "high", "centre"), True)


class GroupKey(Expression):
    """The value of a group's key, by its index."""

    arg_types = {"index": True}  # noqa: RUF012


def mark_measured(index: int) -> Expr:
    """The place of a noisy number."""
    return Measured(index=index)


def read_index(node: Expr) -> int:
    """Which noisy number, or which key, a place stands for."""
    return node.args["index"]


def mark_ratio(total: int, count: int, low: float, high: float, centre: float = 0.0) -> Expr:
    """The place of an average of two noisy numbers: of deviations from a centre, and how many there are."""
    return Ratio(total=total, count=count, low=low, high=high, centre=centre)


def read_ratio(node: Expr) -> tuple[int, int, float, float, float] | None:
    """Sum, count, range and centre of an average of two noisy numbers; None for anything else."""
    if not isinstance(node, Ratio):
        return None
    total, count, low, high, centre = (node.args[name] for name in Ratio.arg_types)
    return total, count, low, high, centre


def mark_key(index: int) -> Expr:
    """The place of a group's key."""
    return GroupKey(index=index)


INDICES = {Measured: ("index",), Ratio: ("total", "count")}  # which arguments are indices of noisy numbers


def list_measurements(node: Expr) -> tuple[int, ...]:
    """The noisy numbers that a formula uses."""
    leaves = node.find_all(*INDICES)
    return tuple(dict.fromkeys(leaf.args[name] for leaf in leaves for name in INDICES[type(leaf)]))


def move_measured(node: Expr, places: Sequence[int]) -> Expr:
    """The same formula of noisy numbers that stand elsewhere: number j at places[j]."""
    moved = node.copy()
    for leaf in list(moved.find_all(*INDICES)):
        for name in INDICES[type(leaf)]:
            leaf.set(name, places[leaf.args[name]])
    return moved


def check_output(node: Expr, sql: str) -> Kind:
    """Refuse what cannot be computed from noisy numbers; tell numbers from keys."""
    if isinstance(node, exp.Paren):
        return check_output(node.this, sql)
    if isinstance(node, (Measured, Ratio, GroupKey)):
        return "text" if isinstance(node, GroupKey) else "number"
    if parse_number(node) is not None:
        return "number"
    if isinstance(node, exp.Round):
        digits = node.args.get("decimals")
        count = 0.0 if digits is None else parse_number(digits)
        if count is None or count not in range(13) or node.args.get("truncate"):
            raise QueryError("the number of digits is not understood", sql, locate(node, sql), "write ROUND(x, 0…12)")
        return _check_number(node.this, sql)
    if isinstance(node, ARITHMETIC):
        for part in node.iter_expressions():
            _check_number(part, sql)
        return "number"
    if isinstance(node, exp.Anonymous):
        raise QueryError(f"there is no function {node.name}", sql, locate(node, sql), REMEDY)
    what = f"{name_construct(node, sql)} of an aggregate" if isinstance(node, exp.Func) else "this output"
    raise QueryError(f"{what} is not supported", sql, locate(node, sql), REMEDY)


def check_condition(node: Expr, sql: str) -> None:
    """Refuse a HAVING that is not a comparison of noisy numbers, or of keys and texts, or AND, OR, NOT of such."""
    if isinstance(node, (exp.And, exp.Or, exp.Not, exp.Paren)):
        for part in node.iter_expressions():
            check_condition(part, sql)
        return
    if type(node) not in SIGNS:
        remedy = "compare an output with a number, as HAVING n > 10"
        raise QueryError("HAVING needs a comparison", sql, locate(node, sql), remedy)
    kinds = {_check_compared(part, sql) for part in (node.this, node.expression)}
    if len(kinds) > 1:
        problem = "a number is compared with a text"
        raise QueryError(problem, sql, locate(node, sql), "groups are texts: compare them with a text in quotes")


def _check_compared(node: Expr, sql: str) -> Kind:
    return "text" if isinstance(node, exp.Literal) and node.is_string else check_output(node, sql)


def _check_number(node: Expr, sql: str) -> Kind:
    if check_output(node, sql) == "text":
        raise QueryError("a group is a text, not a number", sql, locate(node, sql), "compute with aggregates only")
    return "number"


def evaluate(node: Expr, numbers: Numbers, keys: tuple[Any, ...] = ()) -> Any:
    """The value of an output, a key or a condition; NaN where it has none."""
    if isinstance(node, exp.Paren):
        return evaluate(node.this, numbers, keys)
    if isinstance(node, (Measured, Ratio, GroupKey)):
        return _evaluate_leaf(node, numbers, keys)
    if isinstance(node, exp.Literal):
        return str(node.this) if node.is_string else float(node.this)
    if isinstance(node, (exp.And, exp.Or, exp.Not)):
        outcomes = [bool(evaluate(p, numbers, keys)) for p in node.iter_expressions()]
        if isinstance(node, exp.Not):
            return not outcomes[0]
        return all(outcomes) if isinstance(node, exp.And) else any(outcomes)
    if type(node) in SIGNS:
        sides = [evaluate(p, numbers, keys) for p in (node.this, node.expression)]
        return None not in sides and HOLDS[SIGNS[type(node)]](*sides)  # nothing is equal to a key that is missing
    return _compute(node, [evaluate(p, numbers, keys) for p in _list_operands(node)])


def _list_operands(node: Expr) -> list[Expr]:
    if isinstance(node, exp.Round):
        return [node.this]
    return list(node.iter_expressions())


def _evaluate_leaf(node: Expr, numbers: Numbers, keys: tuple[Any, ...]) -> Any:
    parts = read_ratio(node)
    if parts is None:
        return keys[read_index(node)] if isinstance(node, GroupKey) else numbers[read_index(node)]
    total, count, low, high, centre = parts
    return min(max(centre + numbers[total] / max(numbers[count], 1.0), low), high)


WORK: dict[type[Expr], Callable[..., float]] = {
    exp.Add: lambda a, b: a + b,
    exp.Sub: lambda a, b: a - b,
    exp.Mul: lambda a, b: a * b,
    exp.Div: lambda a, b: a / b if b else math.nan,
    exp.Neg: lambda a: -a,
    exp.Abs: lambda a: abs(a),
    exp.Sqrt: lambda a: math.sqrt(a) if a >= 0 else math.nan,
    exp.Least: lambda *parts: min(parts),
    exp.Greatest: lambda *parts: max(parts),
}


def _compute(node: Expr, parts: list[float]) -> float:
    try:
        return _round(parts[0], _read_digits(node)) if isinstance(node, exp.Round) else WORK[type(node)](*parts)
    except OverflowError:
        return math.nan


def _read_digits(node: Expr) -> int:
    digits = node.args.get("decimals")
    return 0 if digits is None else int(parse_number(digits) or 0)


def _round(a: float, digits: int) -> float:
    """Halves go away from zero, as engines round."""
    if not math.isfinite(a):
        return a
    return math.copysign(math.floor(abs(a) * 10**digits + 0.5) / 10**digits, a)


def enclose(node: Expr, ranges: Mapping[int, Interval]) -> Interval:
    """Where an output lies when each noisy number's truth lies in its range."""
    if isinstance(node, exp.Paren):
        return enclose(node.this, ranges)
    if isinstance(node, GroupKey):
        return EVERYTHING
    if isinstance(node, Measured):
        return ranges[read_index(node)]
    ratio = read_ratio(node)
    if ratio is not None:
        total, count, low, high, centre = ratio
        mean = ranges[total] * ranges[count].clamp(1.0, math.inf).reciprocal()
        return (mean + point(centre) if centre else mean).clamp(low, high)
    if isinstance(node, exp.Literal):
        return point(float(node.this))
    return _enclose_operation(node, [enclose(p, ranges) for p in _list_operands(node)])


def _enclose_operation(node: Expr, parts: list[Interval]) -> Interval:
    match node:
        case exp.Add():
            return parts[0] + parts[1]
        case exp.Sub():
            return parts[0] - parts[1]
        case exp.Mul():
            return parts[0] * parts[1]
        case exp.Div():
            return EVERYTHING if parts[1].holds(0.0) else parts[0] * parts[1].reciprocal()
        case exp.Neg():
            return -parts[0]
        case exp.Abs():
            return parts[0].absolute()
        case exp.Sqrt():
            return parts[0].clamp(0.0, math.inf).sqrt()
        case exp.Round():
            half = 0.5 * 10.0 ** -_read_digits(node)
            return Interval(parts[0].low - half, parts[0].high + half)
        case _:
            return reduce(Interval.maximum if isinstance(node, exp.Greatest) else Interval.minimum, parts)
