"""The key of a sealed ledger. It comes from the environment or a file, never from the command line."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from guessproof.errors import LedgerError
from guessproof.ledger.book import checked_key

VARIABLE = "GUESSPROOF_LEDGER_KEY"


def read_key(file: str | os.PathLike[str] | None = None, environ: Mapping[str, str] | None = None) -> bytes | None:
    """The key in `file`, else in the environment, else None. Space at the ends does not count.

    >>> read_key(environ={"GUESSPROOF_LEDGER_KEY": " correct horse battery staple "})
    b'correct horse battery staple'
    """
    if file is not None:
        try:
            return checked_key(Path(file).read_bytes().strip(), f"the file {file}")
        except OSError as error:
            raise LedgerError(f"{file}: the key file cannot be read ({error.strerror}); name another one") from None
    text = (os.environ if environ is None else environ).get(VARIABLE)
    return None if text is None else checked_key(text.encode("utf-8", "surrogateescape").strip(), VARIABLE)
