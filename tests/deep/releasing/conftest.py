"""The table on Spark of tests/releasing."""

from releasing.test_spark import folder

__all__ = ["folder"]
