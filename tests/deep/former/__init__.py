"""Tests of the parts of single solvers: they go when the solver they ask does."""
