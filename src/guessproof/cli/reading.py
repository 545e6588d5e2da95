"""Reading priors and goals that were typed as text. Nothing is executed: names and numbers only."""

from __future__ import annotations

import ast
import difflib
import inspect
from collections.abc import Mapping
from typing import Any

from guessproof import world
from guessproof.errors import GoalError, ParameterError, PriorError, TrueValueError
from guessproof.plan import goals as plan_goals
from guessproof.plan.grammar import Wish
from guessproof.plan.prior_tables import PriorTable
from guessproof.world import Attribute, Goal

_OTHERS = ("mixture", "truncated", "empirical", "categorical", "unknown", "partly_known")
_EXAMPLE = "write for instance: normal(20, 6.28)"
_LABELS = "write for instance: categorical({'yes': 0.2, 'no': 0.8})"


def read_prior(text: str) -> world.Prior:
    """A prior such as "normal(20, 6.28)", "categorical({'math': 0.5, 'cs': 0.5})" or "truncated(normal(20, 6), 0, 40)".

    >>> read_prior("normal(mean=20, sd=6.28)")
    normal(mean=20, sd=6.28)
    >>> read_prior("truncated('half between 10 and 30', 0, 60)")
    normal(mean=20, sd=14.826).given(0, 60)
    """
    spoken = world.read_half(text)
    if spoken is not None:
        return world.half_between(*spoken)
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        node = None
    if not isinstance(node, ast.Call):
        raise _misread(text)
    return _made(text, node)


def _misread(text: str) -> PriorError:
    labels = text.strip().startswith("categorical")
    return PriorError("prior", text, "is not understood", _LABELS if labels else _EXAMPLE)


def _made(text: str, node: ast.Call) -> Any:
    """The prior that a call spells; its arguments are numbers, texts, and priors again."""
    if not isinstance(node.func, ast.Name):
        raise _misread(text)
    families, name = PriorTable.families(), node.func.id
    if name not in (known := (*families, *_OTHERS)):
        close = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {close[0]}?" if close else f"use one of {', '.join(known)}"
        raise PriorError("prior", text, f"“{name}” is not a prior", hint)
    values = [_value(text, a) for a in node.args]
    named = {k.arg: _value(text, k.value) for k in node.keywords if k.arg}
    maker = getattr(world, name) if hasattr(world, name) else families[name]
    try:
        return maker(*values, **named)
    except TypeError:
        wanted = ", ".join(inspect.signature(maker).parameters)
        remedy = _LABELS if name == "categorical" else f"write {name}({wanted})"
        raise PriorError("prior", text, f"does not fit {name}", remedy) from None


def _value(text: str, node: ast.expr) -> Any:
    if isinstance(node, ast.Call):
        return _made(text, node)
    if isinstance(node, ast.Tuple):
        return tuple(_value(text, part) for part in node.elts)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        spoken = world.read_half(node.value)
        return node.value if spoken is None else world.half_between(*spoken)
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, RecursionError, MemoryError):
        raise _misread(text) from None


def read_goal(text: str, attribute: Attribute) -> Goal:
    """A goal such as "within 2", "within 5%", "exactly", "among math, cs", "inside 10 20" or "above 10".

    >>> read_goal("within 5%", Attribute("x", prior=world.normal(0, 1)))
    x within 5 %
    """
    try:
        found = plan_goals.read_goal(text, attribute.name)
        if isinstance(found.tree, Wish) and found.names == (attribute.name,):
            return found.build({attribute.name: attribute})
    except GoalError as error:  # what was typed stands a line above: no need to show it again
        raise GoalError("goal", text, error.problem, error.remedy.partition("\n")[0]) from None
    remedy = "write: within 2 | within 5% | exactly | among a, b | inside 10 20 | above 10"
    raise GoalError("goal", text, f"is not one wish about {attribute.name} alone", remedy)


def read_attributes(texts: list[str]) -> dict[str, Attribute]:
    """Attributes as "name: prior", one a text.

    >>> list(read_attributes(["rent: normal(700, 200)", "loan: normal(300, 150)"]))
    ['rent', 'loan']
    """
    found: dict[str, Attribute] = {}
    for text in texts:
        name, sign, prior = text.partition(":")
        if not sign or not name.strip() or "(" in name:
            raise PriorError("prior", text, "does not say whose prior it is", 'write "rent: normal(700, 200)"')
        found[name.strip()] = Attribute(name.strip(), prior=read_prior(prior.strip()))
    if len(found) < len(texts):
        raise PriorError("prior", texts, "names an attribute twice", "give each one prior")
    return found


def read_values(text: str, attributes: Mapping[str, Attribute]) -> dict[str, Any]:
    """True values as "rent=700, loan=300"."""
    found: dict[str, Any] = {}
    for part in text.split(","):
        name, sign, value = (piece.strip() for piece in part.partition("="))
        if not sign or name not in attributes:
            remedy = f"write for instance {', '.join(f'{n}=1' for n in attributes)}"
            raise TrueValueError("at", text, "does not say whose value it is", remedy)
        found[name] = read_value(value, attributes[name])
    return found


def read_known_formula(text: str, attributes: Mapping[str, Attribute]) -> dict[Any, Any]:
    """What is known of one attribute or of a formula, as "rent + loan: 900,1000"."""
    from guessproof.plan.arithmetic import read_formula
    from guessproof.plan.grammar import Misread

    what, sign, ends = (piece.strip() for piece in text.partition(":"))
    if not sign:
        raise ParameterError("knows", text, "does not say what is known", 'write "rent + loan: 900,1000"')
    if what in attributes:
        return {what: read_knowledge(ends, attributes[what])}
    try:
        return {read_formula(what, attributes): read_pair("knows", ends)}
    except Misread as error:
        raise ParameterError("knows", text, error.problem, error.remedy) from None


def read_value(text: str, attribute: Attribute) -> Any:
    """A true value: a number where the attribute has numbers, a category otherwise."""
    text = text.strip()
    if attribute.is_category:
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
    if isinstance(attribute.prior, world.Finite):
        return {read_value(v, attribute) for v in text.split(",")}
    return read_pair("knows", text)
