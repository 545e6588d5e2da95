"""`python -m guessproof.papers`."""

import sys

from guessproof.papers.render import run

if __name__ == "__main__":
    sys.exit(run())
