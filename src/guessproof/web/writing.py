"""The state written down: as plan.toml, as Python, as a command."""

from __future__ import annotations

import datetime
import json
import math
import re
from collections.abc import Mapping
from dataclasses import replace
from shlex import quote
from typing import Any

from guessproof import world
from guessproof.errors import GoalError, GuessproofError
from guessproof.risk import Attack
from guessproof.web.folder import Folder
from guessproof.web.states import Tables, cleaned, has_data, read_calculation
from guessproof.world import FUNCTIONS, Attribute, Formula, FormulaInside, FormulaWithin

_BARE = re.compile(r"[A-Za-z0-9_-]+\Z")
ORDER = ("data", "tables", "query", "queries", "columns", "prior", "attacker", "risk", "accuracy", "release", "labels")


def as_toml(state: Tables) -> str:
    """A plan file that means the same."""
    state = cleaned(state)
    names = sorted(state, key=lambda name: (ORDER.index(name) if name in ORDER else len(ORDER), name))
    return "\n\n".join(part for name in names for part in _tables((name,), state[name])) + "\n"


def _tables(path: tuple[str, ...], value: Any) -> list[str]:
    """A table under its own heading; tables of tables (columns, queries) each under theirs."""
    if not isinstance(value, Mapping):
        return [f"{_key(path[-1])} = {_value(value)}"]
    nested = path[0] in ("columns", "queries", "tables") and len(path) == 1
    if nested and value and all(isinstance(item, Mapping) for item in value.values()):
        return [part for name, item in value.items() for part in _tables((*path, str(name)), item)]
    heading = f"[{'.'.join(map(_key, path))}]"
    return ["\n".join([heading, *(f"{_key(str(k))} = {_value(v)}" for k, v in value.items())])]


def _key(name: str) -> str:
    return name if _BARE.match(name) else _text(name)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, (datetime.date, datetime.datetime)):
        return value.isoformat()
    if isinstance(value, Mapping):
        inner = ", ".join(f"{_key(str(k))} = {_value(v)}" for k, v in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    return f"[{', '.join(map(_value, value))}]"


def _number(value: float) -> str:
    if not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def as_python(state: Tables, folder: Folder) -> str:
    """The same in Python."""
    if has_data(state):
        return (
            f"import guessproof as gp\n\nplan = gp.loads_plan({as_toml(state)!r})\nprint(gp.choose(plan).explanation)\n"
        )
    found = read_calculation(state, folder)
    lines = ["import guessproof as gp", ""]
    attributes = found.attack.asked.attributes
    names = {a.name: _variable(a.name, i) for i, a in enumerate(attributes)}
    lines += [f"{names[attribute.name]} = {_attribute(attribute)}" for attribute in attributes]
    lines.append(f"attack = gp.Attack({', '.join(_attack(found.attack, names))})")
    limits = {"advantage": found.limits.advantage, "posterior": found.limits.posterior}
    asked = [f"{k}={v!r}" for k, v in limits.items() if v is not None] + (["both=True"] if found.limits.both else [])
    lines.append(f"print(attack.epsilon({', '.join(asked)}))")
    return "\n".join(lines) + "\n"


def _variable(name: str, index: int) -> str:
    return name if name.isidentifier() and name.isascii() and name not in ("gp", "attack", "print") else f"x{index + 1}"


def _attribute(attribute: Attribute) -> str:
    bounds = "" if attribute.bounds is None else f", bounds={attribute.bounds!r}"
    return f"gp.Attribute({attribute.name!r}, prior={_called(repr(attribute.prior))}{bounds})"


def _called(text: str) -> str:
    """Names of priors as the library exports them."""
    return re.sub(r"(?<![\w.'\"])([a-z_]+)\(", r"gp.\1(", text)


def _attack(attack: Attack, names: Mapping[str, str]) -> list[str]:
    parts = [_goal(attack.goal, names)]
    parts += [f"at={dict(attack.at)!r}"] if attack.at else []
    known = [f"{_known(name, names)}: {value!r}" for name, value in (attack.knows or {}).items()]
    parts += [f"knows={{{', '.join(known)}}}"] if known else []
    parts += [f"norm={attack.norm!r}"] if len(attack.goal.attributes) > 1 else []
    return parts + ([f"prior_factor={attack.prior_factor!r}"] if attack.prior_factor != 1 else [])


def _known(name: Any, names: Mapping[str, str]) -> str:
    return repr(name) if isinstance(name, str) else _formula(name, names)


def _formula(formula: Formula, names: Mapping[str, str]) -> str:
    """A formula of variables; those with functions have no Python of their own."""
    own = formula.on({a.name: replace(a, name=names[a.name]) for a in formula.attributes})
    if any(f"{function}(" in repr(own) for function in FUNCTIONS):
        raise GoalError("formula", formula, "uses a function", "state it in a plan")
    return repr(own).replace("^", "**")


def _goal(goal: world.Goal, names: Mapping[str, str]) -> str:
    if isinstance(goal, world.Not):
        return f"~({_goal(goal.part, names)})"
    if isinstance(goal, world.And | world.Or):
        sign = " & " if isinstance(goal, world.And) else " | "
        return sign.join(f"({_goal(part, names)})" for part in goal.parts)
    if isinstance(goal, world.Near):
        members = ", ".join(names[a.name] for a in goal.members)
        return f"gp.near([{members}], {goal.radius!r}, by={goal.by!r})"
    if isinstance(goal, FormulaWithin):
        size = repr(goal.radius) if goal.radius is not None else f"percent={goal.percent!r}"
        return f"gp.within({_formula(goal.formula, names)}, {size})"
    if isinstance(goal, FormulaInside):
        return f"gp.inside({_formula(goal.formula, names)}, ({goal.low!r}, {goal.high!r}))"
    name = names[goal.attribute.name]
    if isinstance(goal, world.Within):
        size = repr(goal.radius) if goal.radius is not None else f"percent={goal.percent!r}"
        return f"gp.within({name}, {size})"
    if isinstance(goal, world.Among):
        return f"gp.among({name}, {list(goal.values)!r})"
    if isinstance(goal, world.Inside):
        return f"gp.inside({name}, {', '.join(repr(tuple(pair)) for pair in goal.intervals)})"
    return f"gp.exactly({name})"


def as_command(state: Tables, folder: Folder) -> str | None:
    """The same on the command line; None where a calculation needs more than it takes."""
    if has_data(state):
        return "guessproof choose plan.toml"
    found = read_calculation(state, folder)
    attack, limits = found.attack, found.limits
    if attack.several is not None or isinstance(attack.goal, world.Compound) or attack.prior_factor != 1:
        return None
    attribute, wanted = attack.attribute, found.plan.wanted
    assert wanted is not None
    goal = wanted.text.strip().removeprefix(attribute.name).strip()
    words = ["guessproof choose", "--name", quote(attribute.name), "--prior", quote(repr(attribute.prior))]
    words += ["--goal", quote(goal)]
    words += [] if attribute.bounds is None else ["--bounds", quote(_pair(attribute.bounds))]
    words += [] if not attack.at else ["--at", quote(str(next(iter(attack.at.values()))))]
    words += [] if not attack.knows else ["--knows", quote(_pair(next(iter(attack.knows.values()))))]
    words += [] if limits.advantage is None else ["--advantage", repr(limits.advantage)]
    words += [] if limits.posterior is None else ["--posterior", repr(limits.posterior)]
    return " ".join(words + (["--both"] if limits.both else []))


def _pair(values: Any) -> str:
    return ",".join(_number(v) if isinstance(v, float) else str(v) for v in values)


def written(state: Tables, folder: Folder) -> dict[str, str | None]:
    """All three; a calculation that is not finished yet has its TOML only."""
    found: dict[str, str | None] = {"toml": as_toml(state), "python": None, "command": None}
    try:
        found["python"], found["command"] = as_python(state, folder), as_command(state, folder)
    except GuessproofError:
        return found
    return found


__all__ = ["as_command", "as_python", "as_toml", "written"]
