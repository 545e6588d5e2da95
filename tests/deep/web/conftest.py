"""The page of tests/web."""

from web.conftest import served

__all__ = ["served"]
