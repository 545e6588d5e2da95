"""The made-up sources of tests/families."""

from families.conftest import small_sources, sources

__all__ = ["small_sources", "sources"]
