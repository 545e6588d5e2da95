"""Files that only their owner can read, from the moment they exist."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from guessproof.errors import ParameterError


def check_private(field: str, path: str, kinds: tuple[str, ...]) -> Path:
    """A file of a known kind in a folder that can be written to; found out before anything is read."""
    target = Path(path)
    if target.suffix.lower() not in kinds:
        raise ParameterError(field, path, "is no kind of file that a scan writes", f"use {', '.join(kinds)}")
    folder = target.absolute().parent
    if target.is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK):
        raise ParameterError(field, path, "cannot be written there", "name a file in a folder of your own")
    return target


def write_private(path: Path, content: bytes) -> None:
    """Write a file of mode 0600, whole or not at all; one that others could read is replaced, not written into."""
    handle, scratch = tempfile.mkstemp(dir=path.absolute().parent, prefix=".guessproof-")  # mkstemp makes it 0600
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(scratch).replace(path)
    except BaseException:
        Path(scratch).unlink(missing_ok=True)
        raise
