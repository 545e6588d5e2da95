"""The public surface: what `import guessproof` offers, and that it stays light."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import guessproof as gp
from guessproof import errors
from tools.record_api import public_interface


def test_every_public_name_is_there_and_documented() -> None:
    for name in gp.__all__:
        value = getattr(gp, name)
        assert name == "__version__" or value.__doc__, name


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = "import sys, guessproof; print([m for m in ('numpy', 'scipy', 'altair', 'rich') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_unknown_names_are_refused() -> None:
    assert not hasattr(gp, "no_such_name")
    assert set(gp.__all__) == set(dir(gp))


DOORS = (gp.choose, gp.release, gp.audit, gp.scan, gp.check, gp.report)


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
@pytest.mark.parametrize(
    ("given", "remedy"),
    [
        ("plan.toml", "gp.load_plan('plan.toml')"),
        (Path("plan.toml"), "gp.load_plan('plan.toml')"),
        ("[data]\nname = 1\n", "gp.loads_plan(text)"),
        ({"data": {}}, "gp.plan_of(tables)"),
        (None, "gp.load_plan"),
    ],
    ids=("name", "path", "text", "tables", "nothing"),
)
def test_what_is_no_plan_is_refused_with_the_way_to_one(door: Any, given: Any, remedy: str) -> None:
    with pytest.raises(errors.ParameterError) as refused:
        door(given)
    assert refused.value.field == "plan"
    assert remedy in refused.value.remedy


def test_bounds_and_loading_say_it_too() -> None:
    with pytest.raises(errors.ParameterError, match="is the name of a file, not a plan"):
        gp.bound_rows("plan.toml", epsilon=1.0)  # pyright: ignore[reportArgumentType]
    with pytest.raises(errors.ParameterError, match="not the name of a file"):
        gp.load_plan(None)  # pyright: ignore[reportArgumentType]


def test_no_name_parameter_or_method_is_lost() -> None:
    """A change that is meant is recorded anew: python tools/record_api.py > tests/data/api.json."""
    recorded = json.loads((Path(__file__).parent / "data" / "api.json").read_text())
    assert public_interface() == recorded
