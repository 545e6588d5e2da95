"""The program: `guessproof`, or `python -m guessproof`."""

import gc

_OBJECTS = 100_000  # that are made before garbage among them is looked for; Python says 700


def run() -> None:
    """Run one command in a process of its own.

    Reading its rooms makes very many objects that all stay: looking for garbage among them again and again, and once
    more at the end, takes a sixth of the time that a quick command takes.
    """
    gc.set_threshold(_OBJECTS, 20, 100)
    from guessproof.cli.app import main  # after that

    try:
        main()
    finally:
        gc.freeze()


if __name__ == "__main__":
    run()
