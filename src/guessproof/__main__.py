"""The program: `guessproof`, or `python -m guessproof`."""

import gc
import os
import sys

_OBJECTS = 100_000  # that are made before garbage among them is looked for; Python says 700


def run() -> None:
    """Run one command in a process of its own.

    Reading its rooms makes very many objects that all stay: looking for garbage among them again and again, and once
    more at the end, takes a sixth of the time that a quick command takes. Nor are all installed packages asked whether
    they want to look on while plans are read.
    """
    gc.set_threshold(_OBJECTS, 20, 100)
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    from guessproof.cli.app import main  # after that

    try:
        main()
    finally:
        if "duckdb" not in sys.modules:  # it complains of every object that is left at the end
            gc.freeze()


if __name__ == "__main__":
    run()
