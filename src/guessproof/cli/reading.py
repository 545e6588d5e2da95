"""Reading priors and goals that were typed as text. Nothing is executed: names and numbers only."""

from __future__ import annotations

import ast
import difflib
from typing import Any

from guessproof.errors import GoalError, InputError, ParameterError, PriorError, TrueValueError
from guessproof.world import goals, priors
from guessproof.world.attributes import Attribute

_PRIORS = (
    "normal",
    "uniform",
    "exponential",
    "laplace",
    "histogram",
    "empirical",
    "categorical",
    "unknown",
    "partly_known",
)


def read_prior(text: str) -> priors.Prior:
    """A prior such as "normal(20, 6.28)" or "categorical({'math': 0.5, 'cs': 0.5})".

    >>> read_prior("normal(mean=20, sd=6.28)")
    normal(mean=20, sd=6.28)
    """
    name, values, named = _call(PriorError, "prior", text)
    if name not in _PRIORS:
        close = difflib.get_close_matches(name, _PRIORS, n=1)
        hint = f"did you mean {close[0]}?" if close else f"use one of {', '.join(_PRIORS)}"
        raise PriorError("prior", text, f"“{name}” is not a prior", hint)
    try:
        return getattr(priors, name)(*values, **named)
    except TypeError as error:
        raise PriorError("prior", text, str(error).replace("()", ""), "see guessproof choose --help") from None


def read_goal(text: str, attribute: Attribute) -> goals.Goal:
    """A goal such as "within 2", "within 5%", "exactly", "among math, cs" or "inside 10 20".

    >>> read_goal("within 5%", Attribute("x", prior=priors.normal(0, 1)))
    x within 5 %
    """
    word, _, rest = text.strip().partition(" ")
    rest = rest.strip()
    if word == "within" and rest.endswith("%"):
        return goals.within(attribute, percent=_number(rest[:-1], text))
    if word == "within":
        return goals.within(attribute, _number(rest, text))
    if word == "exactly" and not rest:
        return goals.exactly(attribute)
    if word == "among" and rest:
        return goals.among(attribute, [read_value(v, attribute) for v in rest.split(",")])
    if word == "inside":
        ends = [_number(v, text) for v in rest.replace(",", " ").split()]
        if len(ends) >= 2 and len(ends) % 2 == 0:
            return goals.inside(attribute, *zip(ends[::2], ends[1::2], strict=True))
    raise GoalError(
        "goal", text, "is not understood", "write: within 2 | within 5% | exactly | among a, b | inside 10 20"
    )


def read_value(text: str, attribute: Attribute) -> Any:
    """A true value: a number where the attribute has numbers, a category otherwise."""
    text = text.strip()
    prior = attribute.prior
    if isinstance(prior, priors.Finite) and not prior.is_line:
        return text
    try:
        return float(text)
    except ValueError:
        raise TrueValueError("value", text, "is not a number", f"{attribute.name} holds numbers") from None


def read_pair(field: str, text: str) -> tuple[float, float]:
    """Two numbers, as "0,120"."""
    try:
        low, high = (float(v) for v in text.split(","))
    except ValueError:
        raise ParameterError(field, text, "is not a pair of numbers", "write for instance 0,120") from None
    return low, high


def read_knowledge(text: str, attribute: Attribute) -> Any:
    """What is known already: an interval of numbers, or a set of values."""
    if isinstance(attribute.prior, priors.Finite):
        return {read_value(v, attribute) for v in text.split(",")}
    return read_pair("knows", text)


def _number(text: str, whole: str) -> float:
    try:
        return float(text.strip())
    except ValueError:
        raise GoalError("goal", whole, f"“{text.strip()}” is not a number", "write for instance: within 2") from None


def _call(error: type[InputError], field: str, text: str) -> tuple[str, list[Any], dict[str, Any]]:
    """The name and the literal arguments of something written like a call."""
    remedy = "write for instance: normal(20, 6.28)"
    try:
        node = ast.parse(text.strip(), mode="eval").body
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            raise error(field, text, "is not understood", remedy)
        values = [ast.literal_eval(a) for a in node.args]
        named = {k.arg: ast.literal_eval(k.value) for k in node.keywords if k.arg}
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise error(field, text, "is not understood", remedy) from None
    return node.func.id, values, named
