"""Record the public interface: every name of `guessproof.__all__` with its parameters, fields and methods.

    python tools/record_api.py > tests/data/api.json

A test compares the package with that file, so that no name, parameter, default or method is lost by accident. Types are
left out: names of private classes may change. Numbers and words that are defaults are recorded as Python writes them.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import operator
import re
from collections.abc import Callable
from typing import Any

import guessproof

# What modules of the package ask of each other, and no document names.
INTERNAL = frozenset(
    {
        *("alternatives", "asked", "attribute", "bounds_only", "conditioned", "known_truth", "runs", "several"),
        *(
            "states_truth",
            "truth_search",
            "typical",
            "worst",
            "check_true",
            "roughly",
            "range",
            "believed",
            "move",
            "rise",
        ),
        *(
            "cell_log_odds",
            "mass",
            "whole_outcomes",
            "response",
            "breaks",
            "diameter",
            "keeps_triangle",
            "line_form",
            "spread",
            "tail",
        ),
        *("adds_noise", "bend", "chart_label", "cost_on_grid", "density_words", "epsilon_following", "even_chance"),
        *("following", "follows_data", "integer_noise", "is_euclidean", "law", "log_density", "loss_distribution"),
        *("normal_posterior", "options", "shape", "symbols", "tails"),
    }
)
OPERATORS = frozenset(name for name in dir(operator) if name.startswith("__")) - set(dir(object))


def public_interface() -> dict[str, Any]:
    """Return the interface of every public name, sorted by name."""
    return {name: _interface(getattr(guessproof, name)) for name in sorted(guessproof.__all__) if name != "__version__"}


def _interface(value: Any) -> Any:
    if inspect.isclass(value):
        return _class_interface(value)
    return _parameters(value)


def _class_interface(value: type) -> dict[str, Any]:
    members = {name: _member(value, name) for name in sorted(dir(value)) if _is_public(value, name)}
    interface: dict[str, Any] = {"parameters": _parameters(value), "members": members}
    if dataclasses.is_dataclass(value):
        interface["fields"] = [field.name for field in dataclasses.fields(value) if _is_public(value, field.name)]
    return interface


def _is_public(value: type, name: str) -> bool:
    return name in OPERATORS or not (name.startswith("_") or name in INTERNAL)


def _member(value: type, name: str) -> str:
    member = inspect.getattr_static(value, name)
    if isinstance(member, (classmethod, staticmethod)):
        return f"{type(member).__name__} {_parameters(getattr(value, name))}"
    if inspect.isfunction(member):
        return _parameters(member)
    return "value"  # a property, a slot or a default of a field


def _parameters(function: Callable[..., Any]) -> str:
    signature = inspect.signature(function)
    bare = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in signature.parameters.values()]
    text = str(signature.replace(parameters=bare, return_annotation=inspect.Signature.empty))
    return re.sub(r"<function (\w+) at 0x\w+>", r"\1", text)


if __name__ == "__main__":
    print(json.dumps(public_interface(), indent=1))
