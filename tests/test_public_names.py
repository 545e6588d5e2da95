"""The public surface: what `import guessproof` offers, and that it stays light."""

from __future__ import annotations

import subprocess
import sys

import guessproof as gp


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
