"""The page says what the command line says, of the examples that tests/web leaves out."""

from __future__ import annotations

import pytest
from web.running import Served
from web.test_answers import FIRST, NAMES, check_example


@pytest.mark.parametrize("name", [name for name in NAMES if name not in FIRST])
def test_the_page_says_what_the_command_line_says(served: Served, name: str) -> None:
    check_example(served, name)
