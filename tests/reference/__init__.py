"""Slow, obvious references: each computes one kind of answer by brute force, without the package."""
