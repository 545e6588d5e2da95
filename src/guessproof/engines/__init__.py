"""Databases behind one tiny protocol: the table stays where it is, and only aggregates leave it."""

from guessproof.engines.base import Engine, open_engine

__all__ = ["Engine", "open_engine"]
